"""Function: write an operation and its backward yourself, as with torch.autograd.Function.

Last of the six files.  A subclass has two static methods, `forward(ctx, ...)` and `backward(ctx, *gradients)`, and is
used by `apply`.  `forward` runs without recording; what `apply` writes to the tape is one node, whose contributions are
what `backward` returns.  The `ctx` that both receive carries what backward needs from one to the other.

An operation of the table has one output.  A Function may have several: then each output tensor has a small node of its
own (an Output) that passes its gradient on to the Function's node.  That node's gradient is a tuple, one entry for each
output, and the walk adds up what the Outputs contribute to it, as for any other node.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from . import derivatives as table
from . import errors
from .errors import check, freed
from .operation import record
from .tape import bump_version, counter, fit, is_grad_enabled, no_grad, overwritten
from .tensor import Node, Tensor, wrap
from .views import check_writable, rewrite_history


class Gradients(tuple[Any, ...]):
    """The gradients of several outputs, None for an output that has received none.  Two of them add output by output."""

    shape = dtype = None
    # what an array has that shares memory: so the walk does not add in place
    base = True
    # in a recorded pass the walk looks at the array of a Tensor
    _data = property(lambda self: self)

    def __add__(self, other: Any) -> Gradients:
        return Gradients(b if a is None else a if b is None else a + b for a, b in zip(self, other))


class Output(Node):
    """The node of one of several outputs: passes its gradient on as entry `output_nr` of a Gradients."""

    __slots__ = ()
    count: int

    @property
    def owner(self) -> Node:
        return self.parents[0]  # type: ignore[return-value]

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        return (Gradients(g if i == self.output_nr else None for i in range(self.count)),)


class FunctionNode(Node):
    """The node of a custom Function.  PyTorch's grad_fn is the ctx itself: so the two share their attributes."""

    __slots__ = ("ctx",)
    function: ClassVar[type[Function]]

    def contributions(self, g: Any, create_graph: bool) -> Any:
        return self.ctx._run(self, g if isinstance(g, Gradients) else (g,), create_graph)

    def output(self, i: int) -> Node:
        """The node of output number i."""
        several = len(self.ctx._outputs)
        if several == 1:
            return self
        shape, dtype = self.ctx._outputs[i]
        out = record(Output, (self,), ((),), None, np.empty(shape, dtype))
        out.output_nr, out.count = i, several
        return out

    # `y.grad_fn.saved_tensors`: what the class of ctx defines, the node has too.
    def __getattr__(self, name: str) -> Any:
        if name == "ctx" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"


class FunctionCtx:
    """What `forward` and `backward` call ctx: it holds what the user stores in it, and what the methods below are given."""

    # for each argument of apply, does it want a gradient?
    needs_input_grad: tuple[bool, ...] = ()
    # for each argument of apply, is it a tensor?
    _tensors: tuple[bool, ...] = ()
    # the arguments, a tensor's shape and dtype in its place (for check_graph)
    _call: tuple[Any, ...] = ()
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _materialize = True
    # each output's shape and dtype; None for one that is no tensor
    _outputs: tuple[Any, ...] = ()
    # weak: the node holds the ctx
    _node: Callable[[], FunctionNode | None] = staticmethod(lambda: None)

    def __getattr__(self, name: str) -> Any:
        hint = f" ({errors.LEFT_OUT})" if name in ("saved_variables", "save_for_forward") else ""
        raise AttributeError(f"'FunctionCtx' object has no attribute {name!r}{hint}")

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for backward: checked against in-place changes, and freed with the graph."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that forward changed these inputs in place; they must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None instead of zeros for outputs that have received no gradient."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` was given.  RuntimeError once freed, or if one of them was changed in place."""
        node = self._node()
        if node is None:
            return self._to_save
        if node.saved is None:
            raise freed(node)
        return tuple(None if each is None else restored(node, *each) for each in node.saved)

    def _run(self, node: FunctionNode, given: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
        """Call the user's backward, and check what it returns: one gradient for each argument of forward."""
        gradients = [
            np.zeros(*like) if g is None and like is not None and self._materialize else g
            for g, like in zip(given, self._outputs)
        ]
        gradients = [g if g is None or isinstance(g, Tensor) else wrap(g) for g in gradients]
        answer = type(node).function.backward(self, *gradients)
        found = list(answer) if isinstance(answer, tuple) else [answer]
        n = len(node.parents)
        # As PyTorch does, accept further Nones at the end.
        while len(found) > n and found[-1] is None:
            found.pop()
        check(len(found) == n, errors.GRADIENT_COUNT.format(node.name(), n, len(found)))
        return tuple(self._checked(node, i, g, create_graph) for i, g in enumerate(found))

    def _checked(self, node: FunctionNode, i: int, g: Any, create_graph: bool) -> Any:
        """The gradient that backward returned for argument i, in the argument's shape and dtype."""
        parent = node.parents[i]
        if g is None:
            return None
        check(self._tensors[i], errors.NOT_A_VARIABLE.format(node.name(), i + 1))
        check(isinstance(g, Tensor), f"expected Variable or None (got {errors.type_name(g)})")
        if parent is None:
            return None
        # [...] makes a view, which the walk never adds into: the array is the user's.
        raw = g if create_graph else g._data[...] if isinstance(g._data, np.ndarray) else g._data
        try:
            return fit(raw, parent)
        except RuntimeError:
            shape = list(parent.shape or ())
            raise RuntimeError(errors.INVALID_GRADIENT.format(node.name(), i, list(g.shape), shape)) from None


def restored(node: FunctionNode, tensor: Any, output: int | None, counter: list[Any], version: int) -> Tensor:
    """A saved tensor as backward gets it, from its `saved_entry`.  RuntimeError if it was changed in place since."""
    # packed by saved_tensors_hooks
    if not isinstance(tensor, Tensor | np.ndarray | np.generic):
        tensor = wrap(tensor.value(), tensor.node)
    if counter[0] != version:
        array, origin = (tensor._data, tensor._node) if isinstance(tensor, Tensor) else (tensor, node)
        raise overwritten(node, counter, version, array, origin)
    if output is None:
        return tensor  # type: ignore[no-any-return]
    made = wrap(getattr(tensor, "_data", tensor), node.output(output))
    made._counter = counter
    return made


class Function:
    """Subclass it, give it static `forward` and `backward`, and call `apply`.

    forward(ctx, *args) -> Tensor or tuple: computes, unrecorded; saves what backward needs by ctx.save_for_backward.
    backward(ctx, *gradients) -> one gradient for each argument of forward, None where there is none to give.

    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x**2
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    kind: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.kind = type(f"{cls.__name__}Backward", (FunctionNode,), {"function": cls, "__slots__": ()})

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise RuntimeError(errors.LEGACY_FUNCTION)

    @staticmethod
    def forward(*args: Any, **keywords: Any) -> Any:
        """Yours to write: forward(ctx, *args), or forward(*args) with a `setup_context`; gives a tensor or a tuple."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Yours to write, if forward takes no ctx: save in it what backward needs, `ctx.save_for_backward(...)`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Yours to write: a gradient for each argument of forward (None where there is none), given those of its outputs."""
        raise NotImplementedError(errors.NO_BACKWARD)

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Any:
        """Run forward, and write one node to the tape if an argument wants a gradient."""
        separate = cls.setup_context is not Function.setup_context
        if separate or keywords:
            first = () if separate else (None,)
            bound = inspect.signature(cls.forward).bind(*first, *args, **keywords)
            bound.apply_defaults()
            args = bound.args[len(first) :]
        ctx = FunctionCtx()
        ctx._tensors = tuple(isinstance(a, Tensor) for a in args)
        ctx._call = tuple((a._data.shape, a._data.dtype) if isinstance(a, Tensor) else a for a in args)
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recording = is_grad_enabled() and any(ctx.needs_input_grad)
        with no_grad():
            result = cls.forward(*args) if separate else cls.forward(ctx, *args)
            if separate:
                cls.setup_context(ctx, args, result)
        outputs = list(result) if isinstance(result, tuple) else [result]
        check_dirty(ctx, outputs, recording)
        outputs = [as_output(t, ctx, args, recording) for t in outputs]
        if recording and any(isinstance(t, Tensor) for t in outputs):
            write_node(cls.kind, ctx, args, outputs)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def check_dirty(ctx: FunctionCtx, outputs: Sequence[Any], recording: bool) -> None:
    """Note that forward wrote into what it marked dirty.  RuntimeError where that is forbidden, or not returned."""
    for t in ctx._dirty:
        bump_version(t)
        check(among(t, outputs), errors.DIRTY_NOT_RETURNED)
        if recording and t._view is None and t._node is not None and t.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if recording:
            check_writable(t)


def as_output(t: Any, ctx: FunctionCtx, args: Sequence[Any], recording: bool) -> Any:
    """The output as a tensor that can get the Function's node: not an input itself, nor a view with a node of its own."""
    if not isinstance(t, Tensor) or among(t, ctx._dirty):
        return t
    if among(t, args):
        fresh = t.detach()
        fresh.__dict__["_of_function"] = True
        if among(t, ctx._constant):
            ctx._constant += (fresh,)
        return fresh
    # the Function's node has no rule for writes to an input's memory
    if t._view is not None:
        t.__dict__["_of_function"] = True
        t.__dict__.pop("_made_in", None)
    if not recording:
        return t if t._view is not None or t._node is None else t.detach()
    t._node = None
    t.__dict__.pop("_view", None)
    return t


def write_node(kind: type[FunctionNode], ctx: FunctionCtx, args: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Record the Function's node, give it to the outputs that have a gradient, and save what backward needs."""
    ctx._outputs = tuple((t._data.shape, t._data.dtype) if isinstance(t, Tensor) else None for t in outputs)
    parents = tuple(a._node if isinstance(a, Tensor) else None for a in args)
    first = next(t for t in outputs if isinstance(t, Tensor))
    node: Any = record(kind, parents, (), (), first._data)
    # From here on, node and ctx have one dictionary: in PyTorch they are one object.
    ctx.__dict__.update(node.__dict__)
    node.ctx, node.__dict__, ctx._node = ctx, ctx.__dict__, weakref.ref(node)
    if len(outputs) > 1:
        node.shape = node.dtype = None
    for i, t in enumerate(outputs):
        if isinstance(t, Tensor) and t.is_floating_point() and not among(t, ctx._constant):
            if among(t, ctx._dirty):
                rewrite_history(t, node.output(i))
            else:
                t._node = node.output(i)
    node.saved = tuple(saved_entry(node, i, t, outputs) for i, t in enumerate(ctx._to_save))
    ctx._to_save = ()


def saved_entry(node: Node, i: int, t: Any, outputs: Sequence[Any]) -> Any:
    """What a node stores of a saved tensor.  Of an output only the array: the tensor holds the node, which would be a cycle."""
    if t is None:
        return None
    if not isinstance(t, Tensor):
        words = f"save_for_backward can only save variables, but argument {i} is of type"
        raise TypeError(f"{words} {errors.type_name(t)}")
    place = next((k for k, out in enumerate(outputs) if out is t and t._node is not None), None)
    value = t if place is None else t._data
    # set by saved_tensors_hooks
    pack = node.__dict__.get("pack")
    return (pack(t._data, t._node) if pack else value), place, counter(t), t._counter[0]


def among(t: Any, tensors: Sequence[Any]) -> bool:
    """Whether t is one of these very objects (`in` would compare numbers)."""
    return any(t is each for each in tensors)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a backward that cannot itself be differentiated: a second derivative through it raises.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.x = x
    ...         return x * x
    ...
    ...     @staticmethod
    ...     @torch.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return g * 2 * ctx.x
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            answer = backward(ctx, *gradients)
        if not is_grad_enabled() or not any(isinstance(g, Tensor) and g.requires_grad for g in gradients):
            return answer
        answers = answer if isinstance(answer, tuple) else (answer,)
        found = tuple(table.refuse(a.detach().requires_grad_()) if isinstance(a, Tensor) else a for a in answers)
        return found if isinstance(answer, tuple) else found[0]

    return wrapper


__all__ = ["Function", "FunctionCtx", "once_differentiable"]
errors.namespace(__name__)
