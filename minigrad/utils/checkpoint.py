"""torch.utils.checkpoint: give up what a stretch of the forward pass saved, and compute it again when backward asks.

Two ways, as in PyTorch.  Without `use_reentrant` nodes keep a number in place of each array, by saved-tensor hooks; the
first that backward unpacks runs the function again and stores what its nodes would have kept.  With it, the whole stretch
is one Function whose backward runs the function again, and a backward pass through that.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.function import Function
from minigrad.random import get_rng_state, set_rng_state
from minigrad.tape import backward_all, enable_grad, is_grad_enabled, mode
from minigrad.tensor import Tensor
from minigrad.versions import modified

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]

SAY_WHICH = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
    "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)
SAY_WHICH_SEQUENTIAL = (
    "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.9 "
    "we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)
NO_INPUT = "None of the inputs have requires_grad=True. Gradients will be None"
ONLY_BACKWARD = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
    ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the "
    "`inputs` argument."
)
UNPACKED = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling "
    "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use case."
)
MORE = (
    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n"
    "Tip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` or wrap "
    "the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable checkpoint-debug mode "
    "globally."
)
NO_OUTPUT = "none of output has requires_grad=True, this checkpoint() is not necessary"


class CheckpointError(RuntimeError):
    """The function did not save the same when it ran again."""


class _Enough(Exception):
    """Everything that the first run saved is there again: the rest of the function need not run."""


_early_stop: bool | None = None  # what `set_checkpoint_early_stop` says, for all checkpoints within its block


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether the second run of what is checkpointed within the `with` block stops as soon as it has saved everything."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def noop_context_fn() -> tuple[Any, Any]:
    """Two context managers that do nothing."""
    return nullcontext(), nullcontext()


@contextmanager
def _random_state(state: Tensor | None) -> Iterator[None]:
    """Within the block, random numbers as they were then."""
    if state is None:
        yield
        return
    now = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(now)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """function(*args), without keeping what its rules need: that is computed again in the backward pass.

    preserve_rng_state: let dropout and its like draw the same numbers again.  context_fn: gives two context managers, for
    the first run and for the second.  `debug` changes nothing here.  Shapes and types are what `function` gives.
    CheckpointError if the second run saves another number of tensors, or tensors of other shapes or types.
    """
    if use_reentrant is None:
        warnings.warn(SAY_WHICH, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if not is_grad_enabled():
        return function(*args, **kwargs)
    state = get_rng_state() if preserve_rng_state else None
    during_first, during_second = context_fn()
    versions = [(a, a._counter[0]) for a in args if isinstance(a, Tensor)]  # what the second run reads must be the same
    stops = early_stop if _early_stop is None else _early_stop
    first: list[tuple[Any, Any]] = []  # shape and type of each tensor of the first run
    runs: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()  # by backward pass: what it recomputed

    def pack(tensor: Tensor) -> int:
        first.append((tensor.shape, tensor.dtype))
        return len(first) - 1

    def run_again() -> dict[int, Any]:
        again: dict[int, Any] = {}
        for tensor, version in versions:
            if tensor._counter[0] != version:
                raise modified(tensor._data, tensor._node, tensor._counter[0], version)

        def store(tensor: Tensor) -> Tensor:
            if len(again) == len(first):
                if not unfinished:
                    raise CheckpointError(MORE)
                return tensor  # a backward pass within the first run: nobody has asked for what comes later
            again[len(again)] = tensor
            if stops and len(again) == len(first):
                raise _Enough
            return tensor

        try:
            with enable_grad(), _random_state(state), during_second, saved_tensors_hooks(store, lambda tensor: tensor):
                function(*args, **kwargs)
        except _Enough:
            pass  # the rest is not needed
        if len(again) != len(first):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(first)}\n"
                f"Number of tensors saved during recomputation: {len(again)}."
            )
        if determinism_check != "none":
            _check_same(first, again)
        return again

    def unpack(place: int) -> Any:
        running = mode.running
        if running is None:  # somebody looks at a node
            return run_again()[place]
        if running not in runs:
            runs[running] = run_again()
        tensor, runs[running][place] = runs[running][place], None
        if tensor is None:
            raise CheckpointError(UNPACKED)
        return tensor

    unfinished = True
    with saved_tensors_hooks(pack, unpack), during_first:
        answer = function(*args, **kwargs)
    unfinished = False
    return answer


def _check_same(first: list[tuple[Any, Any]], again: dict[int, Tensor]) -> None:
    found = [(shape, dtype, again[i].shape, again[i].dtype) for i, (shape, dtype) in enumerate(first)]
    wrong = [
        f"tensor at position {i}:\nsaved metadata: {{'shape': {shape}, 'dtype': {dtype}, 'device': device(type='cpu')}}\n"
        f"recomputed metadata: {{'shape': {now}, 'dtype': {kind}, 'device': device(type='cpu')}}"
        for i, (shape, dtype, now, kind) in enumerate(found)
        if (shape, dtype) != (now, kind)
    ]
    if wrong:
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
            "forward pass.\n" + "\n".join(wrong)
        )


class CheckpointFunction(Function):
    """The reentrant way: one node for the whole function, whose backward starts a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        """Run the function unrecorded; keep its tensors, its other arguments and the state of the random numbers."""
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn(NO_INPUT, stacklevel=3)
        ctx.function_again, ctx.state = function, get_rng_state() if preserve else None
        ctx.others = tuple(None if isinstance(a, Tensor) else a for a in args)
        ctx.save_for_backward(*(a if isinstance(a, Tensor) else None for a in args))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the function again, recorded, and send the gradients through that."""
        if mode.running is not None and mode.running.targets is not None:
            raise RuntimeError(ONLY_BACKWARD)
        args = tuple(
            other if t is None else t.detach().requires_grad_(t.requires_grad)
            for t, other in zip(ctx.saved_tensors, ctx.others, strict=True)
        )
        with enable_grad(), _random_state(ctx.state):
            outputs = ctx.function_again(*args)
        pairs = [
            (out, g)
            for out, g in zip(outputs if isinstance(outputs, tuple) else (outputs,), gradients, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(NO_OUTPUT)
        backward_all([out for out, _ in pairs], [g for _, g in pairs])
        return None, None, *(a.grad if isinstance(a, Tensor) else None for a in args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A chain of functions (or nn.Sequential) in so many stretches, all but the last with a checkpoint."""
    if use_reentrant is None:
        warnings.warn(SAY_WHICH_SEQUENTIAL, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain: Sequence[Callable[..., Any]] = (
        list(functions.children()) if hasattr(functions, "children") else list(functions)
    )
    size = len(chain) // segments

    def stretch(start: int, end: int) -> Callable[..., Any]:
        def run(x: Any) -> Any:
            for each in chain[start:end]:
                x = each(x)
            return x

        return run

    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            stretch(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return stretch(size * (segments - 1), len(chain))(input)
