"""Function: write an operation and its backward yourself, as with torch.autograd.Function.

Last of the four files.  A subclass has two static methods, `forward(ctx, ...)` and `backward(ctx, *gradients)`, and is
used by `apply`.  The `ctx` that both receive is the node of the tape itself.  `forward` runs without recording; what
`apply` writes to the tape is one node whose contributions are what `backward` returns.

A node of the table has one output.  A Function may have several: then each output tensor has a small node of its own
(an Output) that hands its gradient on to the Function's node, which waits for all of them as for any other sum.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from minigrad import errors
from minigrad.birthplace import quoted
from minigrad.decorating import by_place, lent
from minigrad.inplace import rewrite_history
from minigrad.operations import operation
from minigrad.tape import Node, fit, freed, is_grad_enabled, no_grad, record
from minigrad.tensor import Tensor, wrap
from minigrad.versions import modified


class Slots(tuple[Any, ...]):
    """The gradient of a node with several outputs: one entry for each, None where none has come.  They add slot by slot."""

    shape = dtype = None
    base = True  # never a fresh array: the walk must not add into it

    def __add__(self, other: Any) -> Slots:
        return Slots(b if a is None else a if b is None else a + b for a, b in zip(self, other, strict=True))


class Output(Node):
    """One of several outputs of a Function's node: passes its gradient on, in its slot."""

    __slots__ = ()

    @property
    def owner(self) -> Node:
        node = self.parents[0]
        assert node is not None
        return node

    def lift(self, kept: Any) -> tuple[Any, ...]:
        return ((),)


def output_of(node: Node, i: int, n: int, array: Any) -> Node:
    """The node for output number i of n."""
    out = record(Output, (node,), ((),), None, array)
    out.rules = (lambda g: Slots(g if j == i else None for j in range(n)),)
    out.output_nr = i
    return out


class FunctionCtx(Node):
    """What `forward` and `backward` call ctx: the node, and the things only a custom Function needs to say."""

    __slots__ = ()

    function: ClassVar[type[Function]]
    _is_tensor: tuple[bool, ...] = ()
    call: tuple[Any, ...] = ()  # the arguments of apply, a tensor's shape and type in its place (for check_graph)
    needs_input_grad: tuple[bool, ...] = ()  # for each argument of apply: does it want a gradient?
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _materialize = True
    _outputs: tuple[Any, ...] = ()  # each output's shape and type, None for what is no tensor

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward: checked against in-place changes, and freed with the graph."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that forward changed these inputs in place; they must be returned."""
        if not all(isinstance(t, Tensor) for t in tensors):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs have no gradient."""
        if not all(isinstance(t, Tensor) for t in tensors):
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None, not zeros, for outputs that nobody used."""
        if not isinstance(value, bool):
            raise TypeError("set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)")
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` was given.  RuntimeError once freed, or if one of them was changed in place."""
        if self.kept is None:
            raise freed(self)
        return tuple(None if entry is None else self._restore(*entry) for entry in self.kept)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def _restore(self, tensor: Any, output: int | None, counter: list[Any], version: int) -> Tensor:
        if hasattr(tensor, "unpack"):
            tensor = tensor.value() if output is not None else wrap(tensor.value(), tensor.node)
        if counter[0] != version:
            writer = counter[1][0] and counter[1][0]() if len(counter) > 1 and counter[1] else None
            maker = self if output is not None else writer or tensor._node
            error = modified(tensor._data if output is None else tensor, maker, counter[0], version)
            error.add_note(
                f"minigrad: saved by {type(self).function.__name__}{quoted(self.code, self.at)}, changed in place since."
            )
            raise error
        if output is None:
            return tensor  # type: ignore[no-any-return]
        made = wrap(tensor, self._node_of(output))
        made._counter = counter
        return made

    def _node_of(self, i: int) -> Node:
        n = len(self._outputs)
        return self if n == 1 else output_of(self, i, n, np.empty(*self._outputs[i]))

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        """Call the student's backward and check what comes back, in the order of forward's arguments."""
        given = g if isinstance(g, Slots) else (g,)
        gradients = [
            _as_tensor(np.zeros(*meta) if x is None and meta is not None and self._materialize else x)
            for x, meta in zip(given, self._outputs, strict=True)
        ]
        answer = lent(self, type(self).function._backward(), *gradients)
        shares = list(answer) if isinstance(answer, tuple) else [answer]
        n = len(self.parents)
        while len(shares) > n and shares[-1] is None:
            shares.pop()
        if len(shares) != n:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(shares)})"
            )
        return tuple(self._checked(i, share, create_graph) for i, share in enumerate(shares))

    def _checked(self, i: int, share: Any, create_graph: bool) -> Any:
        parent = self.parents[i]
        if share is None:
            return _nothing(parent, create_graph)
        if not self._is_tensor[i]:
            raise RuntimeError(
                f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                "but the corresponding forward input was not a Variable"
            )
        if not isinstance(share, Tensor):
            raise RuntimeError(f"expected Variable or None (got {errors.type_name(share)})")
        if parent is None:
            return None
        raw = share if create_graph else share._data[...] if isinstance(share._data, np.ndarray) else share._data
        try:
            return fit(raw, parent)
        except RuntimeError:
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {i} - got {list(share.shape)} but "
                f"expected shape compatible with {list(parent.shape or ())}"
            ) from None

    def _claim(self, args: Sequence[Any], outputs: list[Any]) -> None:
        """Make each output one that can have this node: no input as it came, and nobody's view."""
        floats = [t for t in outputs if isinstance(t, Tensor) and t._data.dtype.kind == "f"]
        several = sum(not _is_one_of(t, self._constant) for t in floats) > 1
        origin = type(self).function.__name__, is_grad_enabled(), several, any(self.needs_input_grad)
        for i, out in enumerate(outputs):
            if not isinstance(out, Tensor) or _is_one_of(out, self._dirty):
                continue
            if _is_one_of(out, args):
                if _is_one_of(out, self._to_save) and type(self).function.setup_context is not Function.setup_context:
                    raise RuntimeError(errors.SAVED_AS_IS)
                outputs[i] = out.detach()
                if _is_one_of(out, self._constant):
                    self._constant += (outputs[i],)
                    continue
            elif out._view is None:
                continue
            elif is_grad_enabled():
                out._node = None
                del out.__dict__["_view"]  # the Function's node, and not the view's own rule, leads back from it
            if out._data.dtype.kind == "f" and (is_grad_enabled() or outputs[i] is out):
                outputs[i].__dict__["_of_function"] = origin

    def _record(self, parents: tuple[Any, ...], outputs: Sequence[Any]) -> None:
        """Write this node to the tape, and give it to the outputs that have a gradient."""
        self._outputs = tuple((t._data.shape, t._data.dtype) if isinstance(t, Tensor) else None for t in outputs)
        if not any(self._outputs):
            return
        written = record(type(self), parents, (), (), next(t._data for t in outputs if isinstance(t, Tensor)))
        for name in ("seq", "parents", "kept", "guards", "shape", "dtype", "code", "at"):
            setattr(self, name, getattr(written, name))
        self.__dict__.update(written.__dict__)
        if len(outputs) > 1:
            self.shape = self.dtype = None
        for i, t in enumerate(outputs):
            if not isinstance(t, Tensor):
                continue
            if t._data.dtype.kind != "f" or _is_one_of(t, self._constant):
                t._node = None
            elif _is_one_of(t, self._dirty):
                rewrite_history(t, self._node_of(i))
            else:
                t._node = self._node_of(i)

    def _save(self, outputs: Sequence[Any]) -> None:
        """Keep what `save_for_backward` was given: of an output its place and array, else the tensor; and its version."""
        if not any(self._outputs):
            return
        pack = self.__dict__.pop("pack", None)  # set by saved_tensors_hooks

        for i, t in enumerate(self._to_save):
            if t is not None and not isinstance(t, Tensor):
                raise errors.cannot_save(i, t)
        self.kept = tuple(self._entry(t, outputs, pack) for t in self._to_save)
        self._to_save = ()

    def _entry(self, t: Tensor | None, outputs: Sequence[Any], pack: Any = None) -> Any:
        if t is None:
            return None
        for i, out in enumerate(outputs):
            if out is t and t._node is not None:  # the array only: keeping the tensor would close a circle
                return (pack(t._data) if pack else t._data, i, t._counter, t._counter[0])
        return (pack(t._data, t._node) if pack else t, None, t._counter, t._counter[0])

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"


def _nothing(parent: Node | None, create_graph: bool) -> Any:
    """What goes on where a Function gave None: nothing, but to another Function zeros, for it is asked all the same."""
    owner = None if parent is None else parent.owner
    if not isinstance(owner, FunctionCtx) or not owner._materialize:
        return None
    zeros = np.zeros(parent.shape, parent.dtype)  # type: ignore[union-attr, arg-type]
    return wrap(zeros) if create_graph else zeros


def _is_one_of(t: Any, tensors: Sequence[Any]) -> bool:
    """Whether it is one of these very objects (`in` would compare their numbers)."""
    return any(t is each for each in tensors)


def _as_tensor(g: Any) -> Any:
    return g if g is None or isinstance(g, Tensor) else wrap(g)


class Function:
    """Subclass it, give it static `forward` and `backward`, and call `apply`.

    forward(ctx, *args) -> Tensor or tuple: computes, unrecorded; keeps what backward needs by ctx.save_for_backward.
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

    _node: ClassVar[type[FunctionCtx]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._node = type(f"{cls.__name__}Backward", (FunctionCtx,), {"function": cls, "__slots__": ()})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Yours to write: forward(ctx, *args), or forward(*args) with a `setup_context`; gives a tensor or a tuple."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Yours to write, if forward takes no ctx: keep in it what backward needs, `ctx.save_for_backward(...)`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Yours to write: a gradient for each argument of forward (None where there is none), given those of its outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward  # PyTorch's other name for it: a subclass may define one of the two

    @classmethod
    def _backward(cls) -> Callable[..., Any]:
        if cls.vjp is not Function.vjp and cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
                "of them."
            )
        return cls.backward if cls.vjp is Function.vjp else cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and write one node to the tape if an argument wants a gradient."""
        separate = cls.setup_context is not Function.setup_context
        if separate:  # setup_context sees the defaults too, all in their places
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        args = by_place(cls.forward, 0 if separate else 1, args, kwargs) if kwargs else args
        ctx: FunctionCtx = object.__new__(cls._node)
        ctx.seq = ctx.at = ctx.kept = ctx.guards = ctx.code = ctx.shape = ctx.dtype = ()  # type: ignore[assignment]
        ctx.parents = parents = tuple(a._node if isinstance(a, Tensor) else None for a in args)
        ctx._is_tensor = tuple(isinstance(a, Tensor) for a in args)
        ctx.call = tuple((a._data.shape, a._data.dtype) if isinstance(a, Tensor) else a for a in args)
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recording = is_grad_enabled() and any(ctx.needs_input_grad)
        with no_grad():
            result = cls.forward(*args) if separate else lent(ctx, cls.forward, *args)
            if separate:
                lent(ctx, cls.setup_context, args, result)
        outputs = list(result) if isinstance(result, tuple) else [result]
        ctx.count_writes(args, outputs, recording)  # type: ignore[attr-defined]
        ctx._claim(args, outputs)
        if recording:
            ctx._record(parents, outputs)
            ctx._save(outputs)
        else:
            ctx.cut_off(args, outputs)  # type: ignore[attr-defined]
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


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
        guarded = tuple(refuse(a.detach().requires_grad_()) if isinstance(a, Tensor) else a for a in answers)
        return guarded if isinstance(answer, tuple) else guarded[0]

    return wrapper


def _refused(g: Any) -> Any:
    raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


refuse = operation("Error", lambda x: x.copy(), _refused)
