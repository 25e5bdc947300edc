"""From many numbers to few: sums, means, extremes, order, norms, running sums; and softmax, which weighs them.

`dim` is one dimension, several, or None for all of them; `keepdim` keeps reduced dimensions as size 1. Functions that
find an element return values and indices, as a named tuple.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, gathering, kernels
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.inplace import move_guards, renamed
from minigrad.operations import operation
from minigrad.public import (
    FUNCTIONS,
    as_one_node,
    check_asked,
    function,
    into,
    load,
    raw,
    register,
    return_type,
    wrapped,
)
from minigrad.tensor import Tensor, wrap

# ------------------------------------------------------------------------------------------- sums and means


def _along(name: str, input: Any, dim: Any, keepdim: Any, axis: Any, keepdims: bool) -> tuple[Any, bool]:
    """`dim` and `keepdim`, given under PyTorch's names or numpy's.  TypeError if an argument is of the wrong kind."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    if type(keepdim) is not bool:
        raise TypeError(f"{name}(): argument 'keepdim' must be bool, not {errors.type_name(keepdim)}")
    if axis is not None and dim is not None:
        raise TypeError(f"{name}() got an unexpected keyword argument 'axis'")
    return axis if dim is None else dim, keepdim or keepdims


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    out: Any = None,
) -> Tensor:
    """The sum of all elements, or along `dim`. Integers and booleans are summed as int64.

    >>> torch.tensor([[1, 2], [3, 4]]).sum(0)
    tensor([4, 6])
    """
    dim, keepdim = _along("sum", input, dim, keepdim, axis, keepdims)
    check_asked(dtype, out)
    if dtype is None and out is not None:
        dtype = out.dtype  # PyTorch casts first here
    if dtype is not None:
        input = input.to(dtype)
    if input._data.dtype.kind != "f":
        input = wrap(input._data.astype(np.int64))
    if dim is None and not keepdim:
        result = table.sum_all(input)
    else:
        result = table.sum_dims(input, check_dims(dim, input._data.ndim), keepdim)
    if dtype is not None:
        result = result.to(dtype)  # a sum of bytes is counted round at the end
    return result if out is None else into(out, result, "sum")


def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    out: Any = None,
) -> Tensor:
    """The mean of all elements, or along `dim`; for floats only, or with `dtype=`."""
    dim, keepdim = _along("mean", input, dim, keepdim, axis, keepdims)
    check_asked(dtype, out)
    if dtype is not None:
        input = input.to(dtype)
    if input._data.dtype.kind != "f":
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either a floating "
            "point or complex dtype. "
            f"Got: {input.dtype.tensor_name}"
        )
    if dim is None and not keepdim:
        result = table.mean_all(input)
    else:
        result = table.mean_dims(input, check_dims(dim, input._data.ndim), keepdim)
    return result if out is None else into(out, result, "mean")


register(sum, "sum")
register(mean, "mean")


@function
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum, with nan counted as 0."""
    if input._data.dtype.kind != "f":
        return sum(input, dim, keepdim, dtype=dtype)
    x = input if dtype is None else input.to(dtype)
    if x._data.dtype.kind != "f":
        return sum(x, dim, keepdim, dtype=dtype)
    return more.nansum(x, check_dims(dim, x._data.ndim), keepdim)


@function
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not nan."""
    if input._data.dtype.kind != "f":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.tensor_name}"
        )
    number = wrap((~np.isnan(input._data)).astype(input._data.dtype))
    return nansum(input, dim, keepdim, dtype=dtype) / sum(number, dim, keepdim)


@function
def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or along one dimension."""
    if dtype is not None:
        input = input.to(dtype)
    elif input._data.dtype.kind != "f":
        input = wrap(input._data.astype(np.int64))
    found = more.prod_all(input) if dim is None else more.prod_dim(input, check_dim(dim, input._data.ndim), keepdim)
    return found if dtype is None else found.to(dtype)


def _corrected(unbiased: Any, correction: Any) -> float:
    if correction is not None:
        return correction
    return 1 if unbiased is None or unbiased else 0


def _spread_arguments(name: str, input: Tensor, dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    if unbiased is not None and (not isinstance(unbiased, bool) or isinstance(dim, bool)):
        kinds = ", ".join(map(errors.type_name, (input, dim, unbiased)))
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:\n")
    if isinstance(dim, bool):  # var(x, False) means unbiased=False
        dim, unbiased = None, dim
    if input._data.dtype.kind != "f":
        own = name if name.endswith("mean") else "std and var"
        raise RuntimeError(f"{own} only support floating point and complex dtypes")
    dims = check_dims(dim, input._data.ndim)
    amount = _corrected(unbiased, correction)
    if kernels.count(input._data.shape, dims) - amount <= 0 and input._data.size:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
            "numel divided by output numel).",
            UserWarning,
            stacklevel=4,
        )
    return dims, amount


@function
def var(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The variance, dividing by the number of elements minus `correction` (1 unless given)."""
    dims, amount = _spread_arguments("var", input, dim, unbiased, correction)
    return more.var(input, dims, amount, keepdim)


@function
def std(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The square root of the variance."""
    dims, amount = _spread_arguments("std", input, dim, unbiased, correction)
    return more.std(input, dims, amount, keepdim)


@function
def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Variance and mean."""
    dims, amount = _spread_arguments("var_mean", input, dim, unbiased, correction)
    both = more.var(input, dims, amount, keepdim), table.mean_dims(input, dims, keepdim)
    return as_one_node(both[0], "VarMeanBackward0"), as_one_node(both[1], "VarMeanBackward0")


@function
def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean."""
    dims, amount = _spread_arguments("std_mean", input, dim, unbiased, correction)
    both = more.std(input, dims, amount, keepdim), table.mean_dims(input, dims, keepdim)
    return as_one_node(both[0], "StdMeanBackward0"), as_one_node(both[1], "StdMeanBackward0")


@function
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))), without overflow."""
    x = input if input._data.dtype.kind == "f" else input.to(dtypes.get_default_dtype())
    return more.logsumexp(x, check_dims(dim, x._data.ndim), keepdim)


# ------------------------------------------------------------------------------------------- norms


@function
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The p-norm of all elements or along `dim`: the 2-norm unless told otherwise."""
    if p == "nuc":
        return load("nuclear_norm")(input, (-2, -1) if dim is None else dim, keepdim)
    order = 2.0 if p in ("fro", None) else float(p)
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`linalg.vector_norm`: the norm of the elements along `dim` (None: of all), for any order."""
    if x._data.dtype.kind != "f":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype.tensor_name}"
        )
    if dtype is not None:
        x = x.to(_wider("linalg.vector_norm", x, dtypes.resolve(dtype)))
    dims = check_dims(dim, x._data.ndim)
    if x._data.size == 0 and (ord < 0 or math.isinf(ord)) and kernels.count(x._data.shape, dims) == 0:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    return more.vector_norm(x, float(ord), dims, keepdim)


def _wider(name: str, x: Tensor, wanted: dtypes.DType) -> dtypes.DType:
    """The type, if it is one of floats that holds all that x's does; else RuntimeError."""
    if not wanted.is_floating_point:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {wanted.tensor_name}")
    if wanted.itemsize < x._data.dtype.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({x.dtype.tensor_name}) should be convertible without narrowing to the "
            f"specified dtype ({wanted.tensor_name})"
        )
    return wanted


@function
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return as_one_node(norm(input - other, p), "DistBackward0")


@function(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale down each slice along `dim` whose p-norm is larger than `maxnorm`."""
    if input._data.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input._data.ndim} dimensions")
    where_dim = check_dim(dim, input._data.ndim)
    rest = tuple(i for i in range(input._data.ndim) if i != where_dim)
    norms = more.vector_norm(input, float(p), rest, True)
    factor = FUNCTIONS["where"](norms > maxnorm, maxnorm / (norms + 1e-7), wrap(np.ones_like(norms._data)))
    return as_one_node(input * factor, "RenormBackward0")


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
    values = along(input, where, index, keepdim or not x.ndim)
    return return_type(name)(values, wrapped(index if keepdim and x.ndim else places))


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
        chosen = FUNCTIONS["masked_select"](input, wrap(~np.isnan(input._data))) if kept.size else input
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
    if input._data.size == 0 and kernels.count(input._data.shape, dims) == 0:
        if dim in ((), None):
            _empty(name, input)
        raise IndexError(f"{name}(): Expected reduction dim {dims[0]} to have non-zero size.")
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
    index = np.asarray(gathering.argsort(input._data, where, descending))
    return return_type("sort")(more.sort(input, where, index, True), wrapped(index))


function(sort)


@function
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort the tensor along `dim`."""
    return wrapped(np.asarray(gathering.argsort(input._data, check_dim(dim, input._data.ndim), descending)))


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
    index = index if not x.ndim else np.take(index, range(k), where)
    return return_type("topk")(more.topk(input, where, index, True), wrapped(index))


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
    below = FUNCTIONS["gather"](everything, -1, wrap((low + nan).astype(np.int64)))
    above = FUNCTIONS["gather"](everything, -1, wrap((high + nan).astype(np.int64)))
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


# ------------------------------------------------------------------------------------------- counting


def _truth(input: Tensor, found: Any) -> Any:
    """Answers as booleans, of bytes as bytes."""
    return np.asarray(found, np.uint8 if input._data.dtype == np.uint8 else bool)


@function(name="any")
def any_(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether one element is true (not 0)."""
    dims = check_dims(dim, input._data.ndim)
    return wrapped(_truth(input, np.any(input._data, axis=dims, keepdims=keepdim)))


@function(name="all")
def all_(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true (not 0)."""
    dims = check_dims(dim, input._data.ndim)
    return wrapped(_truth(input, np.all(input._data, axis=dims, keepdims=keepdim)))


@function
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not 0."""
    dims = check_dims(dim, input._data.ndim)
    return wrapped(np.asarray((input._data != 0).sum(axis=dims)))


def _underived(name: str, function: str) -> Any:
    def refuse(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{function}' is not implemented.")

    return operation(name, lambda x, array: array, refuse)


UNDERIVED = {
    name: _underived(name, function)
    for name, function in (
        ("Unique2", "_unique2"),
        ("UniqueDim", "unique_dim"),
        ("UniqueConsecutive", "unique_consecutive"),
    )
}


@function
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The distinct elements in order; perhaps where each came, and how often."""
    x = input._data
    axis = None if dim is None else check_dim(dim, x.ndim)
    found = np.unique(x, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)  # each nan is one of its own
    inverse = found[1].reshape(x.shape) if dim is None else found[1].reshape(-1)
    answer = [UNDERIVED["Unique2" if dim is None else "UniqueDim"](input, found[0])]
    answer += [wrap(inverse)] if return_inverse else []
    answer += [wrap(found[2])] if return_counts else []
    return answer[0] if len(answer) == 1 else tuple(answer)


@function
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements (or the slices along `dim`) without immediate repetitions."""
    x = np.asarray(input._data).reshape(-1) if dim is None else input._data
    where = 0 if dim is None else check_dim(dim, x.ndim)
    moved = np.moveaxis(x, where, 0)
    rows = moved.reshape(len(moved), kernels.count(moved.shape[1:]))
    starts = (
        np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(1)))) if len(rows) else np.zeros(0, np.int64)
    )
    answer = [UNDERIVED["UniqueConsecutive"](input, np.take(x, starts, where))]
    if return_inverse:
        inverse = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
        answer.append(wrap(inverse.reshape(input._data.shape) if dim is None else inverse))
    if return_counts:
        answer.append(wrap(np.diff(np.append(starts, len(rows)))))
    return answer[0] if len(answer) == 1 else tuple(answer)


@function
def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs, or the sum of its weights."""
    if input._data.dtype.kind in "bf":
        raise errors.not_implemented("bincount_cpu", input.dtype.tensor_name)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and (weights._data.ndim != 1 or weights._data.shape != input._data.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if input._data.ndim != 1 or np.any(input._data < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    counts = np.bincount(input._data, raw(weights), minlength)
    return wrap(
        counts.astype(weights._data.dtype) if weights is not None and weights._data.dtype.kind == "f" else counts
    )


@function
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall in each of `bins` equal intervals."""
    x = input._data
    kernels.refuse_booleans("linspace_cpu", x)
    if x.dtype.kind != "f":
        raise errors.not_implemented("histogram_cpu", input.dtype.tensor_name)
    _check_bins(bins)
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    low, high = (float(x.min()), float(x.max())) if min == max == 0 and x.size else (min, max)
    if not math.isfinite(low) or not math.isfinite(high):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    return wrap(np.histogram(x[(x >= low) & (x <= high)], bins, (low, high))[0].astype(x.dtype))


def _check_bins(bins: int) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")


@function
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements fall into each bin (their number, or their edges), or how much `weight`; and the edges."""
    from minigrad.creation import linspace

    x = input._data.ravel()
    if weight is not None and weight._data.shape != input._data.shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {[x.size, 1]} and weight with shape {list(weight._data.shape)}"
        )
    if weight is not None and weight._data.dtype != x.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
            f"got input({input.dtype.c_name}), and weight({weight.dtype.c_name})"
        )
    if isinstance(bins, Tensor):
        edges = bins._data
        if edges.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {edges.ndim} dimensions in the bins "
                "tensor for dimension 0"
            )
        if edges.dtype != x.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{input.dtype.c_name} and bins for dimension 0 with dtype {bins.dtype.c_name}"
            )
    else:
        _check_bins(bins)
        if range is not None and len(range) != 2:
            raise RuntimeError(
                f"torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got {len(range)}"
            )
        low, high = range or ((x.min().item(), x.max().item()) if x.size else (0.0, 1.0))
        if not math.isfinite(low) or not math.isfinite(high):
            raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = linspace(low, high, bins + 1, dtype=input.dtype)._data
    if x.dtype.kind != "f" or x.dtype.itemsize == 2:
        raise errors.not_implemented("histogramdd", input.dtype.tensor_name)
    weights = None if weight is None else weight._data.ravel()
    found = np.histogram(x, edges, weights=weights)[0].astype(x.dtype)
    if density:
        found = found / (found.sum() * np.diff(edges))
    return return_type("histogram")(wrap(found), wrap(edges))


@function
def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Between which boundaries each element falls."""
    if boundaries._data.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._data.ndim})")
    found = np.asarray(np.searchsorted(boundaries._data, input._data, "right" if right else "left"))
    return wrapped(found.astype(np.int32) if out_int32 else found)


@function
def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Tensor:
    """Where to insert each value so that the sequence stays in order, along the last dimension."""
    where: Any = side or ("right" if right else "left")
    rows, found = sorted_sequence._data, np.asarray(raw(values))
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if where not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if not rows.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if not found.ndim and rows.ndim > 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({rows.ndim}) and input value's dim(0) numel(1)"
        )
    if rows.ndim > 1 and rows.shape[:-1] != found.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {list(rows.shape)} and input value tensor "
            f"{list(found.shape)}"
        )
    if sorter is not None:
        _check_sorter(rows.shape, sorter)
        rows = np.take_along_axis(rows, sorter._data, -1)
    if rows.ndim == 1:
        places = np.asarray(np.searchsorted(rows, found, where))
    else:
        places = np.zeros(found.shape, np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            places[at] = np.searchsorted(rows[at], found[at], where)
    return wrapped(places.astype(np.int32) if out_int32 else places)


def _check_sorter(shape: tuple[int, ...], sorter: Tensor) -> None:
    if sorter._data.shape != shape:
        raise RuntimeError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(shape)}and got "
            f"sorter tensor {list(sorter._data.shape)}"
        )
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.tensor_name}"
        )
    if np.any((sorter._data < 0) | (sorter._data >= shape[-1])):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


# ------------------------------------------------------------------------------------------- softmax


def _softmax(name: str, recorded: Any, kernel: str) -> None:
    def call(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
        x = input if dtype is None else input.to(dtype)
        where = check_dim(dim, x._data.ndim)
        if x._data.dtype.kind != "f" and x._data.size:
            full = kernel if where == x._data.ndim - 1 else kernel.replace("lastdim_", "").replace("_impl", "")
            raise errors.not_implemented(full, x.dtype.tensor_name)
        if not x._data.ndim:
            column = recorded(x.reshape(1), 0)
            result = as_one_node(column.reshape(()), recorded.operation.node_name)
            move_guards(column._node, column._counter, result._counter)
            return result
        return recorded(x, where)

    call.__doc__ = f"{name} along `dim`, without overflow."
    function(call, name=name)


_softmax("softmax", table.softmax, "softmax_lastdim_kernel_impl")
_softmax("log_softmax", table.log_softmax, "log_softmax_lastdim_kernel_impl")

# ------------------------------------------------------------------------------------------- running totals


def _running(input: Tensor, dim: int, dtype: Any) -> tuple[Tensor, int]:
    x = input if dtype is None else input.to(dtype)
    if x._data.dtype.kind != "f" and dtype is None:
        x = wrap(x._data.astype(np.int64))
    return x, check_dim(dim, x._data.ndim)


def _as_asked(result: Tensor, dtype: Any) -> Tensor:
    """numpy adds up integers as int64: narrower ones are counted round at the end."""
    return result if dtype is None else result.to(dtype)


@function(inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The sum so far, along `dim`."""
    return _as_asked(more.cumsum(*_running(input, dim, dtype)), dtype)


@function(inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The product so far, along `dim`."""
    return _as_asked(more.cumprod(*_running(input, dim, dtype)), dtype)


@function
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The log of the sum of exponentials so far."""
    return more.logcumsumexp(input, check_dim(dim, input._data.ndim))


@function
def cummax(input: Tensor, dim: int) -> Any:
    """The largest element so far along `dim`, and the index of its last occurrence."""
    if not input._data.ndim and dim not in (0, -1):
        raise IndexError(f"cummax(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    where = check_dim(dim, input._data.ndim)
    _, index = gathering.cumulative_best(input._data, where, np.greater_equal)
    return return_type("cummax")(more.cummax(input, where, np.asarray(index), True), wrap(index))


@function
def cummin(input: Tensor, dim: int) -> Any:
    """The smallest element so far along `dim`, and the index of its last occurrence."""
    if not input._data.ndim and dim not in (0, -1):
        raise IndexError(f"cummin(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    where = check_dim(dim, input._data.ndim)
    _, index = gathering.cumulative_best(input._data, where, np.less_equal)
    return return_type("cummin")(more.cummin(input, where, np.asarray(index), True), wrap(index))


@function
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along `dim`, n times."""
    if not input._data.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    where = check_dim(dim, input._data.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return input.clone()
    for end in (prepend, append):
        if end is not None:
            _check_end(input._data.shape, where, end._data.shape)
    x = FUNCTIONS["cat"]([t for t in (prepend, input, append) if t is not None], where)
    for _ in range(builtins.min(n, x._data.shape[where])):
        count = x._data.shape[where]
        after, before = x.narrow(where, 1, count - 1), x.narrow(where, 0, count - 1)
        x = after ^ before if x._data.dtype.kind == "b" else after - before
    return x


def _check_end(shape: tuple[int, ...], dim: int, end: tuple[int, ...]) -> None:
    if len(end) != len(shape):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, given) in enumerate(zip(shape, end, strict=True)):
        if d != dim and n != given:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {n}, but got tensor.size({d}) = {given}"
            )


def _check_places(name: str, y: Tensor, x: Tensor | None, dim: int) -> None:
    either = "`y`" if x is None else "`x` or `y`"
    if "b" in [t._data.dtype.kind for t in (y, x) if t is not None]:
        raise RuntimeError(f"{name}: received a bool input for {either}, but bool is not supported")
    if x is not None and x._data.ndim == 1 and len(x) != y._data.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")


@function(names=("trapz",))
def trapezoid(y: Tensor, x: Any = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral of samples y along `dim`, by trapezia."""
    where = check_dim(dim, y._data.ndim)
    _check_places("trapezoid", y, x, where)
    n = y._data.shape[where]
    if n == 0:
        return sum(y, where)
    sums = y.narrow(where, 1, n - 1) + y.narrow(where, 0, n - 1)
    if x is None:
        return sum(sums, where) * (dx / 2)
    steps = diff(x, dim=where if x._data.ndim == y._data.ndim else -1)
    if x._data.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y._data.ndim - where - 1))
    return sum(sums * steps, where) / 2


@function
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integral of samples y along `dim`."""
    where = check_dim(dim, y._data.ndim)
    _check_places("cumulative_trapezoid", y, x, where)
    n = y._data.shape[where]
    if n == 0:
        return y.clone()
    sums = y.narrow(where, 1, n - 1) + y.narrow(where, 0, n - 1)
    if x is None:
        return cumsum(sums, where) * (dx / 2)
    steps = diff(x, dim=where if x._data.ndim == y._data.ndim else -1)
    if x._data.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y._data.ndim - where - 1))
    return cumsum(sums * steps, where) / 2


def _check_cov_weights(name: str, weights: Any, kinds: str, wanted: str, observations: int) -> None:
    if weights is None:
        return
    array = weights._data
    if array.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {array.ndim} dimensions"
        )
    if array.dtype.kind not in kinds:
        kind = weights.dtype.tensor_name
        raise RuntimeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {kind} dtype")
    if array.size != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {array.size} != "
            f"{observations}"
        )
    if array.size and array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@function
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance matrix (n, n) of n variables (rows) over observations (columns); a number for a vector.

    `fweights` say how often each observation came (integers), `aweights` how much it counts (floats): one for each.
    RuntimeError for booleans, for more than two dimensions, for weights of another type or number, or below 0.
    """
    if input._data.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input._data.ndim} dimensions"
        )
    if input._data.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    input = input if input._data.dtype.kind == "f" else input.to(dtypes.get_default_dtype())
    x = input.reshape(1, -1) if input._data.ndim < 2 else input
    _check_cov_weights("fweights", fweights, "iu", "integral", x._data.shape[1])
    _check_cov_weights("aweights", aweights, "f", "floating point", x._data.shape[1])
    weight: Any = 1 if fweights is None else fweights.to(x.dtype)
    weight = weight if aweights is None else weight * aweights.to(x.dtype)
    if fweights is None and aweights is None:
        total: Any = x._data.shape[1]
        centre, free = x.mean(1, keepdim=True), total - correction
    else:
        total = weight.sum()
        centre = (x * weight).sum(1, keepdim=True) / total
        squares = total if aweights is None else (weight * aweights.to(x.dtype)).sum() / total
        free = total - correction * (1 if aweights is None else squares)
    free = free if isinstance(free, Tensor) else builtins.max(free, 0)
    centred = x - centre
    return (centred * weight @ centred.mT / free).squeeze()


@function
def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients."""
    c = cov(input)
    if not c._data.ndim:
        return c / c
    size = c.diagonal().sqrt()
    return FUNCTIONS["clamp"](c / size.unsqueeze(1) / size.unsqueeze(0), -1, 1)
