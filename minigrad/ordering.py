"""Which element: the largest, the middle one, the most frequent one; and all of them in order.

With `dim` these return values and indices, as a named tuple.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import gathering, kernels, layout
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.inplace import renamed
from minigrad.ops import indexing
from minigrad.public import FUNCTIONS, as_one_node, function, register, return_type, with_indices, wrapped
from minigrad.tensor import Tensor, wrap

# ------------------------------------------------------------------------------------------- extremes


def _empty(name: str, input: Tensor) -> None:
    if input._data.size == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument."
        )


def _extreme(name: str, whole: Any, along: Any, find: Any, binary: str) -> None:
    def call(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, Tensor):
            return FUNCTIONS[binary](input, dim)
        if dim is None:
            _empty(name, input)
            return whole(input)
        return _by_index(name, input, dim, keepdim, find, along)

    call.__doc__ = f"The {name}imum of all elements; with `dim`, values and indices; of two tensors, elementwise."
    made = function(call, name=name)

    def with_other(input: Tensor, *args: Any, other: Any = None, **keywords: Any) -> Any:
        return made(input, other) if other is not None else made(input, *args, **keywords)

    with_other.__name__, with_other.__doc__ = name, call.__doc__
    register(with_other, name)


def _by_index(name: str, input: Tensor, dim: Any, keepdim: bool, find: Any, along: Any) -> Any:
    x = input._data
    where = check_dim(dim, x.ndim)
    if x.ndim and x.shape[where] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {where} to have non-zero size.")
    places = np.asarray(find(x, where) if x.ndim else 0)
    index = places if not x.ndim else np.expand_dims(places, where)
    values = along(input, wrap(index), where, keepdim or not x.ndim)
    return with_indices(name, values, index if keepdim and x.ndim else places)


_extreme("max", table.max_all, more.max_dim, lambda x, d: x.argmax(d), "maximum")
_extreme("min", table.min_all, more.min_dim, lambda x, d: x.argmin(d), "minimum")


@function
def median(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The median (of an even number of elements the lower one); with `dim`, values and indices."""
    if dim is None:
        return table.median_all(input)
    kernels.refuse_booleans("median_out", input._data)
    return _by_index("median", input, dim, keepdim, gathering.median_index, more.median_dim)


@function
def nanmedian(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not nan."""
    if input._data.dtype.kind == "b":
        return median(input) if dim is None else median(input, dim, keepdim)
    if dim is None:
        kept = input._data[~np.isnan(input._data)]
        chosen = indexing.masked_select(input, wrap(~np.isnan(input._data))) if kept.size else input
        return _under_name(table.median_all(chosen), "NanmedianBackward0")

    def find(x: Any, d: int) -> Any:
        number = np.maximum((~np.isnan(x)).sum(d, keepdims=True) - 1, 0) // 2
        return np.take_along_axis(np.argsort(x, axis=d, kind="stable"), number, d).squeeze(d)

    found = _by_index("nanmedian", input, dim, keepdim, find, more.median_dim)
    _under_name(found[0], "NanmedianBackward1")
    return found


def _under_name(x: Tensor, name: str) -> Tensor:
    """x, its node shown under the name of PyTorch's operation."""
    if x._node is not None and not x.is_leaf:
        x._node.__class__ = renamed(type(x._node), name)
    return x


@function
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value along `dim` and where it last occurs."""
    return _by_index("mode", input, dim, keepdim, gathering.mode_index, more.mode)


@function
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest value along `dim` (k counts from 1) and its index."""
    where = check_dim(dim, input._data.ndim)
    size = input._data.shape[where] if input._data.ndim else 1
    if not size:
        raise IndexError(f"kthvalue(): Expected reduction dim {where} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {where}")
    return _by_index("kthvalue", input, dim, keepdim, lambda x, d: gathering.kth_smallest(x, k, d), more.kthvalue)


@function
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The largest element along `dim`; equal ones share the gradient."""
    return table.amax(input, _full_dims("amax", input, dim), keepdim)


@function
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The smallest element along `dim`; equal ones share the gradient."""
    return table.amin(input, _full_dims("amin", input, dim), keepdim)


def _full_dims(name: str, input: Tensor, dim: Any) -> tuple[int, ...]:
    dims = check_dims(dim, input._data.ndim)
    if input._data.size == 0 and layout.count(input._data.shape, dims) == 0:
        if dim in ((), None):
            _empty(name, input)
        several = dim if isinstance(dim, (tuple, list)) else (dim,)
        given = next(d for d in several if not input._data.shape[d])
        raise IndexError(f"{name}(): Expected reduction dim {given} to have non-zero size.")
    return dims


@function
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest and largest element."""
    if dim is None and not input._data.size:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    dims = () if dim is None else dim
    both = amin(input, dims, keepdim), amax(input, dims, keepdim)
    return return_type("aminmax")(*(as_one_node(found, "AminmaxBackward0") for found in both))


def _arg(name: str, find: Any) -> None:
    def call(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        x = input._data
        if x.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            if x.size == 0:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            place = np.asarray(find(x))
            return wrapped(place.reshape((1,) * x.ndim) if keepdim else place)
        where = check_dim(dim, x.ndim)
        if x.ndim and x.shape[where] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {where} to have non-zero size.")
        return wrapped(np.asarray(find(x, axis=where, keepdims=keepdim) if x.ndim else 0))

    call.__doc__ = f"The index of the first {name[3:]}imum: in the flattened tensor, or along `dim`."
    function(call, name=name)


_arg("argmax", np.argmax)
_arg("argmin", np.argmin)

# ------------------------------------------------------------------------------------------- order


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False) -> Any:
    """The elements in order along `dim`, and the indices they came from."""
    where = check_dim(dim, input._data.ndim)
    index = np.asarray(gathering.argsort(input._data, where, descending, stable))
    return with_indices("sort", more.sort(input, wrap(index), where, True), index)


function(sort)


@function
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort the tensor along `dim`."""
    return wrapped(np.asarray(gathering.argsort(input._data, check_dim(dim, input._data.ndim), descending, stable)))


@function
def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]


@function
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along `dim`, in order, and their indices."""
    x = input._data
    where = check_dim(dim, x.ndim)
    if not 0 <= k <= (x.shape[where] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if x.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    index = np.asarray(gathering.argsort(x, where, largest))
    if x.ndim and k and (gathering.chance_decides(x, where, index, k) if sorted else x.size <= gathering.FEW):
        from minigrad.selecting import selected

        index = selected(x, where, largest, k, sorted)
    elif x.ndim:
        index = np.take(index, range(k), where)
    return with_indices("topk", more.topk(input, wrap(index), where, True), index)


@function
def quantile(input: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles (0 <= q <= 1), interpolated between neighbours."""
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=False)


@function
def nanquantile(
    input: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-quantiles of the elements that are not nan."""
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=True)


def _quantile(input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    if input._data.dtype.kind != "f" or input._data.dtype.itemsize == 2:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not input._data.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    quantiles = q if isinstance(q, Tensor) else wrap(np.asarray(q, input._data.dtype))
    if quantiles._data.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if quantiles._data.dtype != input._data.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if np.any(quantiles._data < 0) or np.any(quantiles._data > 1):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            + interpolation
        )
    x = input.reshape(-1) if dim is None else input
    where = 0 if dim is None else check_dim(dim, input._data.ndim)
    moved = x.movedim(where, -1) if x._data.ndim else x.reshape(1)
    ordered = sort(moved, -1)[0]
    size = moved._data.shape[-1]
    number = (~np.isnan(moved._data)).sum(-1, keepdims=True)
    if not ignore_nan:
        number = np.where(number < size, 0, number)
    flat = quantiles.reshape((-1,) + (1,) * moved._data.ndim)
    place = flat * wrap(np.maximum(number - 1, 0).astype(input._data.dtype))
    low, high = np.floor(place._data), np.ceil(place._data)
    if interpolation == "lower":
        high = low
    elif interpolation == "higher":
        low = high
    elif interpolation == "nearest":
        low = high = np.round(place._data)
    nan = np.where(number == 0, size - 1, 0)  # where all elements, or one of them, are nan: the last one is
    everything = ordered.unsqueeze(0).expand((flat._data.shape[0], *ordered._data.shape))
    below = indexing.gather(everything, -1, wrap((low + nan).astype(np.int64)))
    above = indexing.gather(everything, -1, wrap((high + nan).astype(np.int64)))
    if interpolation == "midpoint":
        result = more.lerp(below, above, 0.5)
    elif interpolation == "linear":
        result = more.lerp_tensor(below, above, place - wrap(low))
    else:
        result = below
    result = result.squeeze(-1)
    if keepdim and input._data.ndim:
        result = result.unsqueeze(where + 1) if dim is not None else result.reshape((-1,) + (1,) * input._data.ndim)
    return as_one_node(result if quantiles._data.ndim else result.squeeze(0), "SqueezeBackward4")
