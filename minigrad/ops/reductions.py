"""From many numbers to few, or to others: sums, means, extremes, norms, softmax, order, running totals, counts.

`dim` is one dimension, several where a function says so, or None for all of them; `keepdim` keeps reduced dimensions as
size 1. A dimension that does not exist is an IndexError.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..errors import at_least, check, check_dim, reduced_dims
from ..kernels import median_places
from ..operation import attach, public
from ..tensor import Array, Tensor, wrap
from . import elementwise
from .elementwise import typed
from .results import Picked, return_type
from .shapes import along, cat

Dims = int | Sequence[int]

# -------------------------------------------------------------- sums and means


def _of_type(input: Tensor, dtype: Any) -> Tensor:
    """The input in this type; else integers and booleans as int64, in which they are added up."""
    whole = dtype is None and input._data.dtype.kind != "f"
    return typed(input, dtypes.int64) if whole else _to(dtype, input)


def _to(dtype: Any, x: Tensor) -> Tensor:
    return x if dtype is None else typed(x, dtypes.resolve(dtype))


@public
def sum(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of all elements, or along `dim`. Integers and booleans are summed as int64.

    >>> torch.tensor([[1, 2], [3, 4]]).sum(0)
    tensor([4, 6])
    """
    if dtype is not None or input._data.dtype.kind != "f":
        input = _of_type(input, dtype)
    if dim is None and not keepdim:
        result = table.sum_all(input)
    else:
        result = table.sum_dims(input, reduced_dims(dim, input._data.ndim), keepdim)
    return result if dtype is None else _to(dtype, result)


@public
def mean(
    input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: Any = None,
) -> Tensor:
    """The mean of all elements, or along `dim`; of floats only, or with `dtype=`."""
    input = _to(dtype, input)
    if input._data.dtype.kind != "f":
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be "
            f"either a floating point or complex dtype. Got: {input.dtype.tensor_name}"
        )
    if dim is None and not keepdim:
        return table.mean_all(input)
    return table.mean_dims(input, reduced_dims(dim, input._data.ndim), keepdim)


@public
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or along one dimension."""
    x = _of_type(input, dtype)
    if dim is None:
        return _to(dtype, table.prod_all(x))
    return _to(dtype, table.prod_dim(x, check_dim(dim, x.ndim), keepdim))


@public
def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The variance: squared distances from the mean over the number of elements less `correction`, which is 1."""
    return table.var(input, *_spread(input, dim, unbiased, correction), keepdim)


@public
def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """The standard deviation: the square root of the variance."""
    return table.std(input, *_spread(input, dim, unbiased, correction), keepdim)


def _spread(input: Tensor, dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    """The dimensions, and what the number of elements is lessened by."""
    # var(x, False) means unbiased=False
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    check(input._data.dtype.kind == "f", "std and var only support floating point and complex dtypes")
    if correction is None:
        correction = 0 if unbiased is False else 1
    return reduced_dims(dim, input.ndim), float(correction)


@public
def norm(
    input: Tensor, p: Any = "fro", dim: Dims | None = None, keepdim: bool = False, dtype: Any = None,
) -> Tensor:
    """The p-norm of all elements or along `dim`: the square root of the sum of squares, unless p is another number."""
    if isinstance(p, str) and p != "fro":
        raise TypeError(f"norm(): minigrad leaves out p={p!r}")
    return vector_norm(input, 2.0 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@public
def vector_norm(
    x: Tensor, ord: float = 2, dim: Dims | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of this order of all elements, or along `dim`; of floats only."""
    x = _to(dtype, x)
    errors.linalg_floats("vector_norm", x.dtype)
    dims = reduced_dims(dim, x.ndim)
    if ord == 2:
        return table.vector_norm(x, dims, keepdim)
    size = x.abs()
    if math.isinf(ord):
        words = f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor"
        check(0 not in [x.shape[d] for d in dims], words)
        return (table.amax if ord > 0 else table.amin)(size, dims, keepdim)
    return table.order_norm(x, ord, dims, keepdim) if ord != 1 else size.sum(dims, keepdim)


@public
def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))), without overflow."""
    x = input if input.is_floating_point() else typed(input, dtypes.get_default_dtype())
    return table.logsumexp(x, reduced_dims(dim, x.ndim), keepdim)


@public
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along `dim`: positive numbers whose sum is 1. Without overflow."""
    return soft(table.softmax, input, dim, dtype)


@public
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """log(softmax(input)) along `dim`, more accurate than the two one after the other."""
    return soft(table.log_softmax, input, dim, dtype)


def soft(row: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    """A softmax along `dim`, of floats."""
    x = _to(dtype, input)
    return row(x, (check_dim(dim, x._data.ndim),)[: x._data.ndim])


# -------------------------------------------------------------- extremes


def _picked(name: str, row: Any, x: Tensor, dim: int, places: Array, keepdim: bool) -> Picked:
    """Values and their indices along `dim`; `places` has the number of dimensions of x, at least one."""
    index = wrap(places if x.ndim else places.reshape(()))
    values = row(x, index, dim, keepdim)
    indices = index
    if x.ndim and not keepdim:
        indices = wrap(places.squeeze(dim))
        # the same memory: the node saved it, and notices a write
        indices._counter = index._counter
    return return_type(name)(values, indices)


def _extreme(
    name: str, whole: Any, row: Any, find: Any, x: Tensor, dim: int | None, keepdim: bool,
) -> Any:
    if dim is None:
        return whole(x)
    dim = check_dim(dim, x.ndim)
    places = find(np.atleast_1d(some(name, IndexError, x, dim)), dim)
    places = np.expand_dims(places, dim).astype(np.int64, copy=False)
    return _picked(name, row, x, dim, places, keepdim)


def some(name: str, kind: type[Exception], input: Tensor, dim: Any = None) -> Any:
    """The array, which must not be empty along the dimension that is reduced."""
    shape = input._data.shape
    if 0 in shape and dim in (None, ()):
        more = " Specify the reduction dim with the 'dim' argument." * (kind is RuntimeError)
        raise kind(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{more}")
    for d in reduced_dims(dim, len(shape)) if 0 in shape else ():
        if not shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return input._data


@overload
def max(input: Tensor, dim: int, keepdim: bool = False) -> Picked: ...
@overload
def max(input: Tensor, dim: Tensor | None = None, *, other: Tensor | None = None) -> Tensor: ...
@public
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The largest element; with `dim`, values and indices (values, indices); of two tensors, elementwise.

    Equal largest elements of all divide the gradient evenly; along `dim` the one at the index gets it.
    """
    if (second := _second("max", input, dim, keepdim, other)) is not None:
        return elementwise.maximum(input, second)
    return _extreme("max", table.max_all, table.max_dim, np.argmax, input, dim, keepdim)


@overload
def min(input: Tensor, dim: int, keepdim: bool = False) -> Picked: ...
@overload
def min(input: Tensor, dim: Tensor | None = None, *, other: Tensor | None = None) -> Tensor: ...
@public
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The smallest element; with `dim`, values and indices (values, indices); of two tensors, elementwise."""
    if (second := _second("min", input, dim, keepdim, other)) is not None:
        return elementwise.minimum(input, second)
    return _extreme("min", table.min_all, table.min_dim, np.argmin, input, dim, keepdim)


def _second(name: str, x: Tensor, dim: Any, keepdim: Any, other: Tensor | None) -> Tensor | None:
    """The other of two tensors; None for the extremes of one, which must not be empty."""
    second = dim if isinstance(dim, Tensor) else other
    if second is None:
        some(name, RuntimeError, x, dim)
    elif keepdim is not False:
        raise errors.no_form(name, x, second, keepdim)
    return second


@overload
def median(input: Tensor, dim: int, keepdim: bool = False) -> Picked: ...
@overload
def median(input: Tensor) -> Tensor: ...
@public
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median, of an even number of elements the lower one; with `dim`, values and indices."""
    return _extreme("median", table.median_all, table.median_dim, median_places, input, dim, keepdim)


@public
def amax(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """The largest element along `dim`; equal ones divide the gradient evenly."""
    some("amax", RuntimeError, input, dim)
    return table.amax(input, reduced_dims(dim, input.ndim), keepdim)


@public
def amin(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """The smallest element along `dim`; equal ones divide the gradient evenly."""
    some("amin", RuntimeError, input, dim)
    return table.amin(input, reduced_dims(dim, input.ndim), keepdim)


@public
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first maximum: in the flattened tensor, or along `dim`."""
    return _place("argmax", np.argmax, input, dim, keepdim)


@public
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the first minimum: in the flattened tensor, or along `dim`."""
    return _place("argmin", np.argmin, input, dim, keepdim)


def _place(name: str, find: Any, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    check(x.dtype is not dtypes.bool_, f"{name}(): does not support bool input")
    dim = None if dim is None else check_dim(dim, x.ndim)
    return wrap(find(some(name, IndexError, x, dim), dim, keepdims=keepdim).astype(np.int64))


# -------------------------------------------------------------- order


def _order(x: Array, dim: int, descending: bool) -> Array:
    """Where the sorted elements come from; equal ones keep their order, and nan counts as the largest."""
    x = np.atleast_1d(x)
    if not descending:
        return np.argsort(x, dim, kind="stable").astype(np.int64, copy=False)
    backwards = np.argsort(np.flip(x, dim), dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(backwards, dim).astype(np.int64, copy=False)


@public
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Picked:
    """The elements in order along `dim`, and the indices they came from. Equal elements keep their order."""
    dim = check_dim(dim, input.ndim)
    return _picked("sort", table.sort, input, dim, _order(input._data, dim, descending), True)


@public
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort the tensor along `dim`."""
    return wrap(_order(input._data, check_dim(dim, input.ndim), descending).reshape(input._data.shape))


@public
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Picked:
    """The k largest (or smallest) elements along `dim`, in order, and their indices."""
    dim = check_dim(dim, input.ndim)
    check(input.dtype is not dtypes.bool_, "topk does not support bool dtypes on CPU")
    check(0 <= k <= np.atleast_1d(input._data).shape[dim], "selected index k out of range")
    places = _order(input._data, dim, largest)
    places = places.take(range(k), dim) if input.ndim else places
    return _picked("topk", table.topk, input, dim, places, True)


# -------------------------------------------------------------- running totals


@public
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The sum up to each place, along `dim`."""
    return _to(dtype, table.cumsum(_of_type(input, dtype), check_dim(dim, input.ndim)))


@public
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The product up to each place, along `dim`."""
    return _to(dtype, table.cumprod(_of_type(input, dtype), check_dim(dim, input.ndim)))


@public
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along `dim`, n times; before that, `prepend` and `append` are joined to it."""
    check(input.ndim, "diff expects input to be at least one-dimensional")
    dim = check_dim(dim, input.ndim)
    if at_least(0, n, "order must be non-negative but got {}") == 0:
        return table.copied(input, input)
    parts = [part for part in (prepend, input, append) if part is not None]
    x = cat(parts, dim) if parts[1:] else input
    for _ in range(n if x.shape[dim] else 0):
        after, before = (table.slice_(x, along(dim, part)) for part in (slice(1, None), slice(0, -1)))
        x = after != before if x.dtype is dtypes.bool_ else after - before
    return x


# -------------------------------------------------------------- counting


@public
def any(input: Tensor, dim: Dims | None = None, keepdim: bool = False) -> Tensor:
    """Whether one element is true (not 0), of all or along `dim`."""
    return _asked(np.any, input, dim, keepdim)


@public
def all(input: Tensor, dim: Dims | None = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true (not 0), of all or along `dim`."""
    return _asked(np.all, input, dim, keepdim)


def _asked(ask: Any, x: Tensor, dim: Dims | None, keepdim: bool) -> Tensor:
    """The answer as a bool; of bytes as a byte, as in PyTorch. `dim=()` asks each element by itself."""
    dims = () if dim in ((), []) else reduced_dims(dim, x.ndim)
    answer = ask(x._data, dims, keepdims=keepdim)
    return wrap(answer.astype(np.uint8) if x.dtype is dtypes.uint8 else answer)


@public
def count_nonzero(input: Tensor, dim: Dims | None = None) -> Tensor:
    """How many elements are not 0, of all or along `dim`."""
    count = np.count_nonzero(np.asarray(input._data), reduced_dims(dim, input.ndim))
    return wrap(np.asarray(count, np.int64))


@public
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The distinct elements in order; if asked for, also which of them each element is, and how often each occurs."""
    axis = None if dim is None else check_dim(dim, input.ndim)
    values, inverse, counts = np.unique(input._data, False, True, True, axis, equal_nan=False)
    answer = [wrap(values)]
    if return_inverse:
        inverse = inverse.reshape(input.shape if dim is None else -1)
        answer.append(wrap(inverse.astype(np.int64)))
    if return_counts:
        answer.append(wrap(counts.astype(np.int64)))
    return tuple(answer) if answer[1:] else answer[0]


@public
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs in a vector, or the sum of its weights."""
    if input.dtype.category != dtypes.INTEGER:
        raise errors.not_implemented("bincount_cpu", input.dtype.tensor_name)
    x = input._data.astype(np.intp)
    right = x.ndim == 1 and not (x < 0).any()
    check(right, "bincount only supports 1-d non-negative integral inputs.")
    at_least(0, minlength, "minlength should be >= 0")
    if weights is None:
        return wrap(np.bincount(x, None, minlength).astype(np.int64))
    check(weights.shape == x.shape, "weights should be 1-d and have the same length as input")
    totals = np.bincount(x, weights._data, minlength)
    return wrap(totals.astype(weights._data.dtype) if weights.is_floating_point() else totals)


attach(sum, mean, prod, var, std, norm, logsumexp, softmax, log_softmax)
attach(max, min, median, amax, amin, argmax, argmin, sort, argsort, topk)
attach(cumsum, cumprod, diff, any, all, count_nonzero, unique, bincount)
