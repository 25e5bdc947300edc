"""torch.autograd.function: the names under which custom Functions are also found, and what they have for PyTorch's sake."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.errors import type_name
from minigrad.function import Function, FunctionCtx, _is_one_of, once_differentiable
from minigrad.inplace import check_history, root_of
from minigrad.tape import mode, touch
from minigrad.tensor import Tensor, wrap

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class InplaceFunction(Function):
    """A Function, under an old name that says that it may write into its input (see `ctx.mark_dirty`)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# ---------------------------------------------------------------------------------- what forward did to its tensors


def _count_writes(ctx: Any, args: Sequence[Any], outputs: Sequence[Any], recording: bool) -> None:
    """Note that forward wrote into what it marked dirty.  RuntimeError where nobody may, or for what it kept back."""
    for t in ctx._dirty:
        touch(t._counter)
        if not _is_one_of(t, outputs):
            raise RuntimeError(errors.DIRTY_NOT_RETURNED)
        if not recording:
            continue
        if t._view is None and t._node is not None and t.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not _is_one_of(t, args):
            warnings.warn(errors.NOT_AN_INPUT, UserWarning, stacklevel=3)
        if t._view is not None and len(outputs) > 1:
            raise RuntimeError(errors.DIRTY_VIEW)
        check_history(t)


def _cut_off(ctx: Any, args: Sequence[Any], outputs: list[Any]) -> None:
    """What comes out where nothing is recorded requires no grad, whatever forward made it of."""
    for i, t in enumerate(outputs):
        if isinstance(t, Tensor) and t.requires_grad and t._view is None:
            outputs[i] = t.detach() if _is_one_of(t, args) else t.detach_()


# ---------------------------------------------------------------------------------------------- forward mode
#
# func.py pushes tangents forward by two backward passes: the first, from dummies, is linear in these; the second goes
# back through the first.  At a custom Function the first pass writes a _TurnedRound node in place of what `backward` would
# give: the second pass reaches it with the tangents of the inputs, and it answers with the student's `jvp`.

NO_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
ANOTHER_VIEW = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input "
    "inplace, then the jvp function must modify the corresponding gradient inplace."
)
OTHER_SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
    "Tensor is of size {} while the given forward gradient is of size {}."
)


def _save_for_forward(ctx: Any, *tensors: Tensor | None) -> None:
    """Keep tensors for `jvp`, where they are `ctx.saved_tensors`."""
    for t in tensors:
        if t is not None and not isinstance(t, Tensor):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
            )
    if mode.transforms:
        ctx._for_jvp = tensors


def _expect_jvp(ctx: Any, outputs: Sequence[Any]) -> None:
    """Note what `jvp` will need; a level of forward_ad asks for it at once."""
    tensors = [(i, t) for i, t in enumerate(outputs) if isinstance(t, Tensor)]
    ctx._for_jvp = tuple(ctx._entry(t, outputs) for t in ctx.__dict__.get("_for_jvp", ()))
    ctx._constants = [i for i, t in tensors if t._node is None]
    ctx._views = [i for i, t in tensors if "_of_function" in t.__dict__]
    if type(ctx).function.jvp is not None:
        for transform in mode.transforms:
            transform.recorded(ctx, outputs)


class _TurnedRound(Function):
    """From gradients of a Function's outputs to (no) gradients of its inputs; its backward is the Function's jvp."""

    jvp = None

    @staticmethod
    def forward(ctx: Any, node: FunctionCtx, *gradients: Tensor | None) -> Any:
        ctx.set_materialize_grads(False)
        ctx.node, ctx.key = node, mode.pushing
        return tuple(
            wrap(np.zeros(*meta)) if parent is not None else None
            for parent, meta in zip(node.parents, node.call, strict=True)
        )

    @staticmethod
    def backward(ctx: Any, *tangents: Tensor | None) -> Any:
        key, known = ctx.node.__dict__.get("_pushed", (None, ()))
        answers = known if key is not None and key is ctx.key else _moved(ctx.node, tangents)
        return None, *(t if wanted else None for t, wanted in zip(answers, ctx.needs_input_grad[1:], strict=True))


def _moved(node: Any, tangents: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """How the outputs of a Function move, as its jvp says.  RuntimeError for what cannot be the tangents of its outputs."""
    given: list[Any] = list(tangents)
    for i, meta in enumerate(node.call):
        if not node._is_tensor[i] or meta[1].kind != "f":
            given[i] = None
        elif given[i] is None:
            given[i] = wrap(np.zeros(*meta)) if node._materialize else None
        elif node._dirty:
            given[i] = given[i].clone()  # it will be written to
        if isinstance(given[i], Tensor):
            given[i]._writable()  # a view of a single number is a view too
    backward_keeps = node.kept
    node.kept = node._for_jvp
    try:
        answer = type(node).function.jvp(node, *given)
    finally:
        node.kept = backward_keeps
    answers = answer if isinstance(answer, tuple) else (answer,)
    for i, t in enumerate(answers):
        if t is not None and not isinstance(t, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_name(t)}) for grad output {i}.")
    if len(answers) != len(node._outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(node._outputs)} but got "
            f"{len(answers)})"
        )
    for i, (t, meta) in enumerate(zip(answers, node._outputs, strict=True)):
        if t is not None and i in node._constants:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a "
                "differentiable Tensor.You should return None at that position instead."
            )
        if t is None or meta is None:
            continue
        if node._dirty and not any(t is each and t._counter[0] for each in given):
            raise RuntimeError(NOT_IN_PLACE)
        if i in node._views and t._view is None:
            raise RuntimeError(NO_VIEW)
        if i in node._views and not any(root_of(t) is root_of(each) for each in given if each is not None):
            raise RuntimeError(ANOTHER_VIEW)
        if tuple(t.shape) != meta[0]:
            raise RuntimeError(OTHER_SIZE.format(list(meta[0]), list(t.shape)))
    return answers


def _turned_round(node: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """What stands, in a first pass of forward mode, for the gradients of the inputs."""
    return _TurnedRound.apply(node, *gradients)  # type: ignore[no-any-return]


def _jvp(ctx: Any, *tangents: Any) -> Any:
    """Yours to write, for forward mode: how each output moves (None: not at all), given how each argument of forward does."""
    raise NotImplementedError(
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )


def _vmap(info: Any, in_dims: Any, *args: Any) -> Any:
    """Raises NotImplementedError: a Function says here how it is mapped over a batch, or does not."""
    raise NotImplementedError(
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
    )


FunctionCtx.count_writes = _count_writes  # type: ignore[attr-defined]
FunctionCtx.cut_off = _cut_off  # type: ignore[attr-defined]
FunctionCtx.save_for_forward = _save_for_forward  # type: ignore[attr-defined]
FunctionCtx.expect_jvp = _expect_jvp  # type: ignore[attr-defined]
FunctionCtx.turned_round = _turned_round  # type: ignore[attr-defined]
Function.jvp = staticmethod(_jvp)  # type: ignore[attr-defined]
Function.vmap = staticmethod(_vmap)  # type: ignore[attr-defined]
Function.generate_vmap_rule = False  # type: ignore[attr-defined]
