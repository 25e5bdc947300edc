"""A function that computes with PyTorch, watched as it runs: each result's value, and the line that made it.

A finished graph holds only what its rules need; while a function runs every
result passes by.  Random generators, buffers and modes of the modules in
sight are afterwards as before.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType
from typing import Any, NamedTuple

from .. import errors
from .numbers import Array
from .pytorch_pass import Arrays, is_pytorch, random_state


class Noted(NamedTuple):
    """A result: its value, and the instruction of the user's code that made it, if that is known."""

    value: Array
    code: CodeType | None = None
    at: int = 0


@contextmanager
def watched(known: dict[Any, Any], function: Any, names: Mapping[str, Any]) -> Iterator[None]:
    """Meanwhile results of PyTorch are noted in `known`, by node and output; nothing happens where it is not imported.

    function: what will run.  names: its surroundings, in which modules are looked for.
    """
    torch: Any = sys.modules.get("torch")
    # another one, or one switched off
    if torch is None or torch.__name__ != "torch" or "overrides" not in vars(torch):
        yield
        return
    arrays, ours = Arrays(torch), (os.path.dirname(torch.__file__), errors.PACKAGE)

    def note(result: Any, frame: Any) -> None:
        for t in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(t, torch.Tensor) and t.requires_grad and not t.is_leaf and t.layout is torch.strided:
                site = () if frame is None else (frame.f_code, frame.f_lasti)
                known.setdefault((t.grad_fn, t.output_nr), Noted(arrays.copied(t), *site))

    class Forward(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, call: Any, types: Any, args: Any = (), keywords: Any = None) -> Any:
            # what a custom Function made passes by only here
            note(args, None)
            result = call(*args, **(keywords or {}))
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
                frame = frame.f_back
            note(result, frame)
            return result

    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    with ExitStack() as stack:
        stack.enter_context(random_state(torch))
        near = [m for m in (function, *names.values(), *cells) if isinstance(m, torch.nn.Module)]
        for module in {part for m in near for part in m.modules()}:
            stack.enter_context(module_state(module))
        stack.enter_context(Forward())
        yield


@contextmanager
def module_state(module: Any) -> Iterator[None]:
    """Meanwhile a module has copies of its buffers; its mode is put back too."""
    buffers, training = dict(module._buffers), module.training
    module._buffers.update({name: b if b is None else b.clone() for name, b in buffers.items()})
    try:
        yield
    finally:
        module._buffers.clear()
        module._buffers.update(buffers)
        module.training = training


# ------------------------------------------------------ inputs
def leaves(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs, of which tensors of PyTorch require a gradient, if none was said to: then copies of them do."""
    tensors = {name: t for name, t in inputs.items() if is_pytorch(t) and t.is_floating_point()}
    if any(t.requires_grad for t in tensors.values()):
        return dict(inputs)
    return {**inputs, **{name: t.detach().clone().requires_grad_() for name, t in tensors.items()}}


def numbers_of(value: Any) -> Array | None:
    """The numbers of a leaf of PyTorch, which may be changed; None for anything else."""
    changeable = is_pytorch(value) and value.requires_grad and value.is_leaf
    return value.detach().double().cpu().numpy() if changeable else None


def leaf_like(old: Any, array: Array) -> Any:
    """A leaf of PyTorch with other numbers."""
    return old.detach().new_tensor(array).requires_grad_()
