"""What a tensor is: an array of numbers, and the node that says how it was computed.

First of the six files to read.  You meet, in this order:

  Node     one recorded operation: the nodes of its inputs, and what its derivative needs
  Hooks    functions of the user that a backward pass calls at a node
  Tensor   data, node, version counter, and (for a view) the tensor whose memory it shares

The numbers are a numpy array; what PyTorch calls a view is numpy's view.  This file defines only what needs no operation:
operations, `x * w` among them, become methods of Tensor by `attach` (operation.py).
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from types import CodeType
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray

from . import dtypes, errors, printing
from .dtypes import CPU, Device, DType, Size
from .errors import check

# numpy.ndarray, or numpy.generic for a result with no dimensions
Array: TypeAlias = Any
Rule: TypeAlias = Callable[..., Any]
Hook: TypeAlias = Callable[..., Any]
# PyTorch shows their namespace
IN_CPP = ("AccumulateGrad", "CopyBackwards", "CopySlices", "NotImplemented")
# view operations with their arguments, the first one first
Path: TypeAlias = tuple[tuple[Rule, tuple[Any, ...]], ...]

# ------------------------------------------------------------------------------------------------ nodes


class Node:
    """One recorded operation.  PyTorch calls it a grad_fn; each operation has a subclass, such as MulBackward0."""

    __slots__ = ("__dict__", "__weakref__", "at", "code", "dtype", "parents", "saved", "seq", "shape", "versions")

    # its place on the tape: the newest node has the largest number
    seq: int
    # the nodes of its inputs; None where no gradient is wanted
    parents: tuple[Node | None, ...]
    # for each rule, what it takes besides g; None once a backward pass has freed it
    saved: tuple[Any, ...] | None
    # Counter, version, counter, version, ... of the saved tensors; None where a backward pass has nothing to free.
    versions: tuple[Any, ...] | None
    # of the output; None for a node with several outputs
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None
    # with `at`: the instruction of the user's code that recorded it
    code: CodeType
    at: int

    # the row of the table, for a node of the table
    operation: Any = None
    # None: see `contributions` in tape.py
    rules: tuple[Rule | None, ...] | None = None
    hooks: Hooks | None = None
    # which of several outputs it stands for
    output_nr = 0

    @property
    def owner(self) -> Node:
        """The node whose output this is: itself, unless it stands for one of several outputs."""
        return self

    def name(self) -> str:
        """PyTorch's name for this kind of node, such as 'MulBackward0'."""
        kind = type(self).__name__
        return f"torch::autograd::{kind}" if kind in IN_CPP else kind

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, its node and which of that node's outputs it was; (None, 0) for a constant."""
        rules = type(self).rules or range(len(self.parents))
        edges = [p for p, rule in zip(self.parents, rules) if rule is not None]
        return tuple((None, 0) if p is None else (p.owner, p.output_nr) for p in edges)

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary in which the user may store anything about this node."""
        return self.__dict__.setdefault("_metadata", {})  # type: ignore[no-any-return]

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; a tuple it returns replaces grad_inputs."""
        return Hooks.of(self).add("after", hook)

    def register_prehook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node; a tuple it returns replaces grad_outputs."""
        return Hooks.of(self).add("before", hook)


# nodes with hooks: while there are none, no pass looks for them
hooked: dict[weakref.ref[Node], None] = {}
hook_ids = count()


class Hooks:
    """The hooks of one node, in the order in which a backward pass calls them."""

    def __init__(self) -> None:
        # on the output: hook(grad)
        self.tensor: dict[int, Hook] = {}
        # the tensor whose `.grad` is wanted too
        self.retained: weakref.ref[Tensor] | None = None
        # on the node: hook(grad_outputs)
        self.before: dict[int, Hook] = {}
        # on the node: hook(grad_inputs, grad_outputs)
        self.after: dict[int, Hook] = {}
        # on a leaf: hook(leaf)
        self.accumulated: dict[int, Hook] = {}

    @classmethod
    def of(cls, node: Node) -> Hooks:
        """The hooks of this node, which has some from now on."""
        if node.hooks is None:
            node.hooks = cls()
        # when the node is freed, `pop` removes the entry
        hooked[weakref.ref(node, hooked.pop)] = None
        return node.hooks

    def add(self, kind: str, hook: Hook) -> RemovableHandle:
        """Register one more, and return the handle that removes it."""
        return RemovableHandle(getattr(self, kind), hook)


class RemovableHandle:
    """What registering a hook returns: `remove()` removes the hook, and so does the end of a `with` block."""

    # where PyTorch has it
    __module__ = "minigrad.utils.hooks"

    def __init__(self, hooks: dict[int, Hook], hook: Hook) -> None:
        self.hooks, self.id = hooks, next(hook_ids)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


# ------------------------------------------------------------------------------------------------ tensors


class Untracked(list[Any]):
    """The version counter of a tensor made in inference mode.  Reading it raises: no node may save such a tensor."""

    def __getitem__(self, place: Any) -> Any:
        raise RuntimeError(errors.INFERENCE_SAVED)


class Tensor:
    """An n-dimensional array that can remember how it was computed.  Make one with `minigrad.tensor(...)`."""

    # where users find it
    __module__ = "minigrad"
    __slots__ = ("__dict__", "__weakref__", "_counter", "_data", "_node")
    # `array * tensor` calls Tensor's method, not numpy's
    __array_priority__ = 1000

    _data: Array
    # None: requires no gradient
    _node: Node | None
    # [number of writes, where the last one was, the views alive]; all tensors of the memory share it
    _counter: list[Any]

    # Few tensors need these, so the class holds the defaults, and only such a tensor stores a value of its own.
    _grad: Tensor | None = None
    # for a view: whose memory it is, and how to find it there
    _view: tuple[Tensor, Path] | None = None

    # Python calls it only for a name that does not exist; a view that was written to has no `_node`
    def __getattr__(self, name: str) -> Any:
        if name == "_node":
            return self._made_again()
        raise errors.no_attribute(f"{type(self).__name__!r} object", name, type(self))

    # -------------------------------------------------------------------------------- what it holds

    @property
    def shape(self) -> Size:
        """The size of each dimension, as a tuple that prints like PyTorch's."""
        return tuple.__new__(Size, self._data.shape)

    @property
    def dtype(self) -> DType:
        """The number type of the elements, such as `minigrad.float32`."""
        return dtypes.of(self._data.dtype)

    @property
    def device(self) -> Device:
        """Where the numbers are: always the CPU."""
        return CPU

    @property
    def ndim(self) -> int:
        """The number of dimensions; 0 for a single number."""
        return int(self._data.ndim)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension.  IndexError if there is no such dimension."""
        return self.shape if dim is None else self.shape[errors.sized_dim(dim, self.ndim)]

    def numel(self) -> int:
        """The number of elements."""
        return int(self._data.size)

    def dim(self) -> int:
        """The number of dimensions, as `ndim`."""
        return int(self._data.ndim)

    def stride(self, dim: int | None = None) -> Any:
        """How many elements lie between neighbours along each dimension (numpy counts bytes)."""
        array = np.asarray(self._data)
        # numpy gives strides of 0 where there is nothing
        if not array.size:
            array = np.empty([n or 1 for n in array.shape], array.dtype)
        steps = tuple(s // array.itemsize for s in array.strides)
        return steps if dim is None else steps[errors.sized_dim(dim, self.ndim)]

    def storage_offset(self) -> int:
        """How many elements of its memory come before its first one."""
        array = base = np.asarray(self._data)
        while isinstance(base.base, np.ndarray):
            base = base.base
        start, first = (x.__array_interface__["data"][0] for x in (base, array))
        return int(first - start) // array.itemsize

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory side by side, the last dimension fastest."""
        return bool(np.asarray(self._data).flags.c_contiguous)

    # -------------------------------------------------------------------------------- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded; may be set on a leaf of floats only."""
        return (self._view is not None and self._view[0]._node is not None) or self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        check(isinstance(value, bool), "requires_grad must be a bool")
        check(self.is_leaf, errors.ONLY_LEAVES + ("" if value else errors.USE_DETACH))
        words = "only Tensors of floating point and complex dtype can require gradients"
        check(not value or self.is_floating_point(), words)
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """False if a recorded operation made it, True for every other tensor."""
        return self._node is None or not self._node.parents

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, None for a leaf."""
        return None if self._node is None or not self._node.parents else self._node.owner

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs this tensor is."""
        return 0 if self._node is None else self._node.output_nr

    @property
    def _version(self) -> int:
        """How often this memory was written to."""
        check(not self.is_inference(), "Inference tensors do not track version counter.")
        return int(self._counter[0])

    @property
    def _base(self) -> Tensor | None:
        """The tensor whose memory this is a view of; None where the memory is its own."""
        return None if self._view is None else self._view[0]

    def is_inference(self) -> bool:
        """Whether it was made in `inference_mode`, and so can never be part of a graph."""
        return isinstance(self._counter, Untracked)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated here; None before the first."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            warnings.warn(errors.NON_LEAF_GRAD, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(errors.GRAD_TYPE.format(errors.type_name(value)))
            check(value is not self, "can't assign Variable as its own grad")
            check(value.shape == self.shape, errors.GRAD_SHAPE.format([*value.shape], [*self.shape]))
            check(value.dtype is self.dtype, errors.GRAD_DTYPE.format(value.dtype, self.dtype))
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf stores its gradient in `.grad` (`retain_grad()` was called)."""
        hooks = None if self.is_leaf or self._node is None else self._node.hooks
        return hooks is not None and hooks.retained is not None

    def retain_grad(self) -> None:
        """Store the gradient of this non-leaf in `.grad` too (that of a leaf always is).

        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> y.exp().backward()
        >>> y.grad == y.exp()
        tensor(True)
        """
        check(self._node, "can't retain_grad on Tensor that has requires_grad=False")
        if self._node and not self.is_leaf:
            Hooks.of(self._node).retained = weakref.ref(self)

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is complete; a tensor it returns takes the gradient's place.

        >>> x = torch.tensor([3.0, -4.0], requires_grad=True)
        >>> handle = x.register_hook(lambda g: g.clamp(-1, 1))
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([ 1., -1.])
        """
        return self._hooks().add("tensor", hook)

    def register_post_accumulate_grad_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(leaf)` each time after a backward pass has added to its `.grad`."""
        hooks, words = self._hooks(), "post accumulate grad hooks cannot be registered on non-leaf tensors"
        check(self.is_leaf, words)
        return hooks.add("accumulated", hook)

    def _hooks(self) -> Hooks:
        node: Any = self._node
        check(node, "cannot register a hook on a tensor that doesn't require gradient")
        # no gradient reaches a view that was made while nothing was recorded
        return Hooks.of(Node() if node is self.__dict__.get("_unreached") else node)

    # -------------------------------------------------------------------------------- its numbers

    @property
    def data(self) -> Tensor:
        """The same memory with no history and a version counter of its own: backward passes do not notice writes through it."""
        t = wrap(self._writable())
        if isinstance(self._counter, Untracked):
            t._counter = Untracked(t._counter)
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        self._set_data(value)

    def _writable(self) -> Array:
        """The array itself, for a view or a write; a numpy scalar, which allows neither, becomes an array first."""
        if not isinstance(self._data, ndarray):
            self._data = np.asarray(self._data)
        return self._data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        return array.astype(dtype) if dtype is not None else array.copy() if copy else array

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What numpy's functions give for a tensor without a graph: a tensor again."""
        return wrap(array[()] if array.ndim == 0 else array)

    def item(self) -> Any:
        """The single element as a Python number, without history.  RuntimeError if there are several."""
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return self._data.item()

    def tolist(self) -> Any:
        """The numbers as nested lists, as deep as there are dimensions; a plain number where there are none."""
        return self._data.tolist()

    def _number(self) -> Any:
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._data.item()

    def __float__(self) -> float:
        if self.requires_grad:
            warnings.warn(errors.TO_SCALAR, stacklevel=2)
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __index__(self) -> int:
        if self.is_floating_point() or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._data.item())

    def __hash__(self) -> int:
        # `==` compares numbers; a tensor in a set or a dictionary is the object itself
        return id(self)

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        words = f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
        check(isinstance(value, (Tensor, np.generic, bool, int, float)), words)
        return bool(np.any(self._data == getattr(value, "_data", value)))

    # -------------------------------------------------------------------------------- how it looks

    def __repr__(self) -> str:
        return printing.shown(self)

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0 and type(self) is Tensor:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return repr(self)


def wrap(array: Array, node: Node | None = None) -> Tensor:
    """A Tensor around this very array: no copy, no conversion."""
    t = object.__new__(Tensor)
    t._data = array
    t._node = node
    t._counter = [0]
    return t


# What may be noted of a view, and of its views: that it cannot be written to while operations are recorded, because a
# function gave several at once, because of a custom Function, or because of the mode it was made in.
UNWRITABLE = ("_one_of", "_of_function", "_made_in")


def link_view(out: Tensor, base: Tensor, view: Rule, arguments: tuple[Any, ...]) -> None:
    """Note that `out` is view(base, *arguments): the two share their memory, and so their version counter."""
    counter = out._counter = base._counter
    # a view of a view has the same owner
    owner, path = base._view or (base, ())
    out._view = owner, (*path, (view, arguments))
    if base.__dict__:
        out.__dict__.update((note, base.__dict__[note]) for note in UNWRITABLE if note in base.__dict__)
    if not isinstance(counter, Untracked):
        if len(counter) < 3:
            # before the first write and the first view
            counter.extend((None, {})[len(counter) - 1 :])
        # When `out` is freed, Python calls `pop` with the reference, which removes the entry.
        counter[2][weakref.ref(out, counter[2].pop)] = None


def views_of(counter: list[Any]) -> list[Tensor]:
    """The views alive of the memory that this counter belongs to."""
    found = [reference() for reference in list(counter[2])] if len(counter) > 2 else []
    return [view for view in found if view is not None and view._view is not None]


def age_views(counter: list[Any]) -> None:
    """Take its node from each view of this memory, which was written to: `made_again` (views.py) gives it a new one."""
    for view in views_of(counter):
        if "_old" not in view.__dict__:
            view.__dict__["_old"], view._node = view._node, None
            del view._node


def plain(value: Any) -> Any:
    """A Python number from a number or a one-element tensor."""
    return value.item() if isinstance(value, (Tensor, np.generic)) else value
