"""What kind of tensor this is: its number type and its device, and how it is made one of another kind."""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

from typing import Any

from minigrad import derivatives as table
from minigrad import dtypes
from minigrad.devices import check_device
from minigrad.public import converted, function, methods, plain, register, told
from minigrad.tensor import Tensor, method


@function
def to(input: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """The tensor in another number type: `x.to(float64)`, `x.to(other)`; itself if it has the type already."""
    wanted = keywords.get("dtype")
    check_device(keywords.get("device"))
    for arg in (*args, keywords.get("tensor")):
        if isinstance(arg, Tensor):
            wanted = arg.dtype
        elif isinstance(arg, dtypes.DType) or arg in (float, int, bool):
            wanted = dtypes.resolve(arg)
        elif not isinstance(arg, bool) and arg is not None:
            check_device(arg)
    if wanted is None or input._data.dtype == wanted.numpy:
        flags = [arg for arg in args if isinstance(arg, bool)]  # non_blocking, copy
        return table.clone(input) if keywords.get("copy") or flags[1:] == [True] else input
    return converted(input, dtypes.resolve(wanted))


def _converting(name: str, wanted: dtypes.DType) -> None:
    def convert(self: Tensor, *, memory_format: Any = None) -> Tensor:
        return self if self._data.dtype == wanted.numpy else converted(self, wanted)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {wanted}; itself if it is."
    setattr(Tensor, name, told(convert, name, True))


for _name in ("half", "float", "double", "short", "int", "long", "bool"):
    _converting(_name, dtypes.NAMES[_name])
_converting("byte", dtypes.uint8)
_converting("char", dtypes.int8)


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The tensor in another type; without an argument the name of its type, such as 'torch.FloatTensor'."""
    if dtype is None:
        return f"torch.{self.dtype.tensor_name}Tensor"
    if isinstance(dtype, str):
        found = [t for t in dtypes.NAMES.values() if dtype == f"torch.{t.tensor_name}Tensor"]
        if not found:
            raise ValueError(f"invalid type: '{dtype}'")
        return to(self, found[0])
    if dtype is Tensor:
        return to(self, dtypes.get_default_dtype())
    if dtype in (bool, int, float):
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    return to(self, dtypes.resolve(getattr(dtype, "dtype", dtype), "type"))


methods.type = type_


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the number type of another; itself if it has that."""
    return to(self, other.dtype)


@function
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floats."""
    return bool(input._data.dtype.kind == "f")


@function
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers: never."""
    return False


def is_tensor(obj: Any) -> bool:
    """Whether this is a Tensor."""
    return isinstance(obj, Tensor)


def result_type(tensor: Any, other: Any) -> dtypes.DType:
    """The type of the result of an operation on these two tensors or numbers."""
    return dtypes.result_type(*(t._data if isinstance(t, Tensor) else plain(t) for t in (tensor, other)))


def is_inference(tensor: Tensor) -> bool:
    """Whether it was made in `inference_mode`."""
    return tensor.is_inference()


register(is_tensor, "is_tensor", method=False)
register(is_inference, "is_inference", method=False)
register(result_type, "result_type", method=False)
for _public in (
    dtypes.promote_types, dtypes.can_cast, dtypes.finfo, dtypes.iinfo, dtypes.get_default_dtype, dtypes.set_default_dtype,
):  # fmt: skip
    register(_public, _public.__name__, method=False)


@method
def element_size(self: Tensor) -> int:
    """How many bytes an element takes."""
    return int(self._data.dtype.itemsize)


methods.nbytes = property(lambda self: int(self._data.nbytes), doc="How many bytes the elements take.")
methods.itemsize = property(element_size, doc="How many bytes an element takes.")


def _answer(name: str, value: Any, what: str) -> None:
    setattr(Tensor, name, property(lambda self: value, doc=what))


_answer("is_cpu", True, "Whether it lives on the CPU: always.")
for _device in ("cuda", "mps", "xpu", "meta"):
    _answer(f"is_{_device}", False, f"Whether it lives on a {_device} device: never.")
for _kind in ("sparse", "quantized", "nested"):
    _answer(f"is_{_kind}", False, f"Whether it is {_kind}: never.")


@method
def get_device(self: Tensor) -> int:
    """The number of its GPU: -1, there is none."""
    return -1


@method
def is_signed(self: Tensor) -> bool:
    """Whether its type has numbers below 0."""
    return self.dtype.is_signed


register(is_signed, "is_signed")


@method
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether it lies in memory that a GPU reads directly: never."""
    return False


@method
def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it lives on the CPU."""
    return self


@method
def bfloat16(self: Tensor) -> Tensor:
    """Raises NotImplementedError: minigrad leaves this type out."""
    return to(self, dtypes.left_out("bfloat16"))


def _layout(self: Tensor) -> Any:
    from minigrad.settings import strided

    return strided


methods.layout = property(_layout, doc="How the elements lie in memory: always by strides.")


@method
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Raises NotImplementedError: minigrad runs on the CPU only."""
    raise NotImplementedError("minigrad runs on the CPU only")
