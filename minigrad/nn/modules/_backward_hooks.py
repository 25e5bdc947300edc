"""Backward hooks of modules: two identity functions around a forward, whose nodes see the gradients pass.

The one on the outputs learns `grad_output`; the one on the inputs learns `grad_input` and calls the hooks. A module
none of whose inputs requires grad has no second node: then the hooks run at the first, with grad_input None.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from minigrad.autograd.function import Function
from minigrad.creation import zeros
from minigrad.tape import is_grad_enabled
from minigrad.tensor import Tensor


class BackwardHookFunction(Function):
    """The identity, recorded."""

    jvp = None  # forward mode goes by the backward

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients


class Boundary:
    """The two nodes around one call of one module."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.grad_output: Any = None
        self.has_inputs = False
        self.output_places: list[int] = []
        self.input_places: list[int] = []

    def entered(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with the tensors that require grad passed through the first identity."""
        self.input_count = len(args)
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        if not is_grad_enabled() or not any(args[i].requires_grad for i in places):
            return args
        self.has_inputs, self.input_places = True, places
        self.input_zeros = [partial(zeros, args[i].shape, dtype=args[i].dtype) for i in places]
        passed = BackwardHookFunction.apply(*(args[i] for i in places))
        passed = passed if isinstance(passed, tuple) else (passed,)
        node = next(t.grad_fn for t in passed if t.grad_fn is not None)
        node.register_hook(self._inputs_done)
        changed = list(args)
        for place, tensor in zip(places, passed, strict=True):
            changed[place] = tensor
        return tuple(changed)

    def left(self, result: Any) -> Any:
        """The result, with its tensors passed through the second identity."""
        outputs = result if isinstance(result, tuple) else (result,)
        places = [i for i, t in enumerate(outputs) if isinstance(t, Tensor)]
        if not any(outputs[i].requires_grad for i in places):
            return result
        self.output_count, self.output_places = len(outputs), places
        passed = BackwardHookFunction.apply(*(outputs[i] for i in places))
        passed = passed if isinstance(passed, tuple) else (passed,)
        node = next(t.grad_fn for t in passed if t.grad_fn is not None)
        node.register_prehook(self._outputs_arrived)
        changed = list(outputs)
        for place, tensor in zip(places, passed, strict=True):
            changed[place] = tensor
        if not isinstance(result, tuple):
            return changed[0]
        return result._make(changed) if hasattr(result, "_make") else tuple(changed)  # a named tuple keeps its names

    def _outputs_arrived(self, gradients: tuple[Any, ...]) -> Any:
        full: list[Any] = [None] * self.output_count
        for place, g in zip(self.output_places, gradients, strict=True):
            full[place] = g
        self.grad_output = tuple(full)
        for hook in list(self.module._backward_pre_hooks.values()):
            answer = hook(self.module, self.grad_output)
            if answer is not None:
                self.grad_output = answer if isinstance(answer, tuple) else (answer,)
        if not self.has_inputs:
            for hook in list(self.module._backward_hooks.values()):
                answer = hook(self.module, (None,) * self.input_count, self.grad_output)
                if answer is not None and not (isinstance(answer, tuple) and all(a is None for a in answer)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        return tuple(self.grad_output[place] for place in self.output_places)

    def _inputs_done(self, grad_inputs: tuple[Any, ...], _: Any) -> Any:
        if self.grad_output is None:  # another backward pass that comes by the inputs, but not from the outputs
            return None
        full: list[Any] = [None] * self.input_count
        for place, g, nothing in zip(self.input_places, grad_inputs, self.input_zeros, strict=True):
            full[place] = nothing() if g is None else g  # as PyTorch shows a tensor that wants no gradient
        answer: Any = tuple(full)
        for hook in list(self.module._backward_hooks.values()):
            changed = hook(self.module, answer, self.grad_output)
            if changed is not None:
                changed = changed if isinstance(changed, tuple) else (changed,)
                if len(changed) != len(answer):
                    raise RuntimeError(
                        f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                        f"{len(answer)}"
                    )
                answer = changed
        self.grad_output = None
        return tuple(
            None if g is None else answer[place] for place, g in zip(self.input_places, grad_inputs, strict=True)
        )
