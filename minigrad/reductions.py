"""From many numbers to few: sums, means, how far they spread, norms, running totals; and softmax.

`dim` is one dimension, several, or None for all of them; `keepdim` keeps reduced dimensions as size 1.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, gathering, layout
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.inplace import move_guards
from minigrad.public import (
    FUNCTIONS,
    as_one_node,
    check_asked,
    function,
    into,
    load,
    raw,
    register,
    with_indices,
    wrapped,
)
from minigrad.tensor import Tensor, method, wrap
from minigrad.versions import noticing

# ------------------------------------------------------------------------------------------- sums and means


def _along(dim: Any, keepdim: bool, axis: Any, keepdims: bool) -> tuple[Any, bool]:
    """`dim` and `keepdim`, given under PyTorch's names or numpy's."""
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
    dim, keepdim = _along(dim, keepdim, axis, keepdims)
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
    dim, keepdim = _along(dim, keepdim, axis, keepdims)
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


@method
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed down to a shape that broadcasts to this tensor's."""
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    if not shape:
        return sum(self)
    lead = self._data.ndim - len(shape)
    if lead < 0 or any(n not in (1, own) for n, own in zip(shape, self._data.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self._data.shape)}}}.")
    dims = (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 != self._data.shape[i + lead]))
    return table.sum_dims(self, dims, True).reshape(shape) if dims else self


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
        return float(correction)
    return 1 if unbiased is None or unbiased else 0


def _spread_arguments(name: str, input: Tensor, dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    if isinstance(dim, bool):  # var(x, False) means unbiased=False
        dim, unbiased = None, dim
    if input._data.dtype.kind != "f":
        own = name if name.endswith("mean") else "std and var"
        raise RuntimeError(f"{own} only support floating point and complex dtypes")
    dims = check_dims(dim, input._data.ndim)
    amount = _corrected(unbiased, correction)
    if layout.count(input._data.shape, dims) - amount <= 0 and input._data.size:
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
    if raw(free) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=4,
        )
        free = 0
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
    if x._data.size == 0 and (ord < 0 or math.isinf(ord)) and layout.count(x._data.shape, dims) == 0:
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
    return noticing(as_one_node(norm(input - other, p), "DistBackward0"), input, other)


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


# ------------------------------------------------------------------------------------------- softmax


def _softmax(name: str, recorded: Any, kernel: str) -> None:
    def call(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
        x = input if dtype is None else input.to(dtype)
        where = check_dim(dim, x._data.ndim)
        if x._data.dtype.kind != "f" and x._data.size:
            full = kernel if where == x._data.ndim - 1 else kernel.replace("lastdim_", "")
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
    return with_indices("cummax", more.cummax(input, where, np.asarray(index), True), index)


@function
def cummin(input: Tensor, dim: int) -> Any:
    """The smallest element so far along `dim`, and the index of its last occurrence."""
    if not input._data.ndim and dim not in (0, -1):
        raise IndexError(f"cummin(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    where = check_dim(dim, input._data.ndim)
    _, index = gathering.cumulative_best(input._data, where, np.less_equal)
    return with_indices("cummin", more.cummin(input, where, np.asarray(index), True), index)
