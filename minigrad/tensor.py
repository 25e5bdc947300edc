"""A Tensor: an array, and the node of the tape that made it.

This is the first of four files to read (tensor.py, tape.py, derivatives.py, function.py).  Here you meet

  _data     the numbers: a numpy array (or a numpy scalar, which is faster, where there is only one number)
  _node     the step of the tape that produced them; None means that nobody wants a gradient
  _counter  how often the numbers were written to, in a list that every view of the same memory shares

and what can be asked of a tensor without computing anything: its shape, its place in the graph, its numbers.
Operations (`x * y`, `x.sum()`, ...) are not written here: each is one line of derivatives.py, and becomes a method there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy import ndarray

from minigrad import dtypes, errors, printing
from minigrad.dtypes import CPU, Device, DType, Size

if TYPE_CHECKING:
    from minigrad.tape import Node

Array = Any  # numpy.ndarray or numpy.generic
F = TypeVar("F", bound=Callable[..., Any])


class Untracked(list[Any]):
    """The counter of a tensor made in inference mode: nothing can be kept for a backward pass that looks at it."""

    def __getitem__(self, place: Any) -> Any:
        if place != 0:  # its views, not its version
            return super().__getitem__(place)
        raise RuntimeError(errors.INFERENCE_SAVED)


class Tensor:
    """An n-dimensional array that can remember how it was computed.  Make one with `minigrad.tensor(...)`."""

    __module__ = "minigrad"  # where users find it
    __slots__ = ("__dict__", "__weakref__", "_counter", "_data", "_node")
    __array_priority__ = 1000  # so that numpy leaves `array * tensor` to us (and we refuse it, as PyTorch does)
    __hash__ = lambda self: id(self)  # a tensor is itself

    _data: Array
    _node: Node | None
    _counter: list[Any]  # [number of writes], then what inplace.py adds

    # What few tensors have: the class holds the default, and a tensor that differs keeps its own value.
    _grad: Tensor | None = None
    _view: Any = None  # for a view: how to find it in its base (see inplace.py)

    if TYPE_CHECKING:  # operations are attached by the modules that define them

        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

    def __init_subclass__(cls, **keywords: Any) -> None:
        """A subclass may add methods; what operations give is a plain Tensor, and they ask no `__torch_function__`."""
        super().__init_subclass__(**keywords)
        if "__torch_function__" in cls.__dict__:
            raise NotImplementedError("minigrad's operations ask no __torch_function__: it would never be called")

    if TYPE_CHECKING:  # the old constructor, see creation.py

        def __new__(cls, *data: Any) -> Self: ...

    def __getattr__(self, name: str) -> Any:  # asked only for what is not there
        raise errors.no_attribute(f"{type(self).__name__!r} object", name, type(self))

    # ------------------------------------------------------------------ what it holds

    @property
    def shape(self) -> Size:
        """The size of each dimension, as a tuple that prints like PyTorch's."""
        return tuple.__new__(Size, self._data.shape)  # numpy's shapes need no check

    @property
    def dtype(self) -> DType:
        """The number type of the elements, such as `minigrad.float32`."""
        return dtypes.of(self._data.dtype)

    @property
    def device(self) -> Device:
        """Where the numbers live: always the CPU."""
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
        if not array.size:  # numpy takes no steps where there is nothing
            array = np.empty([n or 1 for n in array.shape], array.dtype)
        steps = tuple(s // array.itemsize for s in array.strides)
        return steps if dim is None else steps[errors.sized_dim(dim, self.ndim)]

    def storage_offset(self) -> int:
        """How many elements of its memory stand before its first one."""
        array = base = np.asarray(self._data)
        while isinstance(base.base, np.ndarray):
            base = base.base
        start, first = (x.__array_interface__["data"][0] for x in (base, array))
        return int(first - start) // array.itemsize

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory side by side, the last dimension fastest."""
        return bool(np.asarray(self._data).flags.c_contiguous)

    # ------------------------------------------------------------------ its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded; may be set on a leaf of floats only."""
        return self._node is not None or (self._view is not None and self._base.requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if not self.is_leaf:
            hint = (
                " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
            raise RuntimeError(f"you can only change requires_grad flags of leaf variables.{'' if value else hint}")
        if value and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    @property
    def is_leaf(self) -> bool:
        """True for what the user made, False for what an operation made on the way to a gradient."""
        return self._node is None or not self._node.parents

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, None for a leaf."""
        return None if self.is_leaf else self._node.owner  # type: ignore[union-attr]

    @property
    def _version(self) -> int:
        """How often this memory was written to."""
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(self._counter[0])

    def is_inference(self) -> bool:
        """Whether it was made in `inference_mode`, and so can never be part of a graph."""
        return isinstance(self._counter, Untracked)

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs this tensor is."""
        return 0 if self._node is None else self._node.output_nr

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up here; None before the first."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            warnings.warn(errors.NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_grad(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {errors.type_name(value)}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. "
                "Please ensure that the gradient and the tensor are the same size"
            )
        wanted = self.__dict__.get("_grad_dtype", self.dtype)
        if wanted is not None and value.dtype != wanted:
            theirs, ours = value.dtype.c_name, wanted.tensor_name
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{theirs}' to a tensor with grad_dtype '{ours}'. The "
                "gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
                "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. "
                "Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
            )

    @property
    def data(self) -> Tensor:
        """The same memory with no history and a version counter of its own: writes through it go unnoticed."""
        return wrap(self._writable())

    @data.setter
    def data(self, value: Tensor) -> None:
        set_data(self, value)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # ------------------------------------------------------------------ its numbers

    def _writable(self) -> Array:
        """The array itself, fit to be shared: a numpy scalar becomes an array without dimensions first."""
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
        """The one number in here as a Python number (cut off from the graph)."""
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
        if self._node is not None:
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first.",
                UserWarning,
                stacklevel=2,
            )
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self._data.dtype.kind == "f" or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, (Tensor, int, float, np.generic)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            )
        other = value._data if isinstance(value, Tensor) else value
        return bool(np.any(self._data == other))

    # ------------------------------------------------------------------ how it looks

    def __repr__(self) -> str:
        return printing.shown(self)

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0 and type(self) is Tensor:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return repr(self)


def set_data(tensor: Tensor, value: Tensor) -> None:
    """Let the tensor have another one's memory; its place in the graph and its counter stay."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if tensor._node is not None and value._data.dtype.kind != "f":
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    tensor._data = array = value._writable()
    if tensor._node is not None and tensor.is_leaf:  # gradients are to have the new shape and type
        tensor._node.shape, tensor._node.dtype = array.shape, array.dtype


def wrap(array: Array, node: Node | None = None) -> Tensor:
    """A Tensor around this very array (no copy, no conversion)."""
    t = object.__new__(Tensor)
    t._data = array
    t._node = node
    t._counter = [0]
    return t


def plain(value: Any) -> Any:
    """A Python number from a number or a one-element tensor."""
    return value.item() if isinstance(value, (Tensor, np.generic)) else value


def method(function: F) -> F:
    """Attach a function to Tensor under its own name: how the later files add their operations."""
    function.__qualname__ = f"Tensor.{function.__name__}"  # which is how Python's own errors name it
    setattr(Tensor, function.__name__, function)
    return function
