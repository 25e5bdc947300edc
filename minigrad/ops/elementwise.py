"""What is computed for each number by itself: operators, functions such as `exp`, comparisons, and `where`.

Operands broadcast, and their number types are promoted as in PyTorch. A wrong operand of a function is a TypeError,
shapes that do not broadcast are a RuntimeError.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors
from minigrad.operation import attach, public
from minigrad.ops.creation import converted, fitting
from minigrad.tensor import Tensor, plain, wrap
from minigrad.views import augmented, in_place, overwrite

NUMBER = (bool, int, float, np.generic)


def checked(function: str, result: Any, other: Any) -> Tensor:
    """The result; TypeError where `other` was neither tensor nor number."""
    if result is NotImplemented:
        raise errors.must_be_tensor(function, "other", 2, other)
    return result


def typed(x: Any, kind: dtypes.DType) -> Tensor:
    """A tensor of this number type; itself if it is one."""
    if not isinstance(x, Tensor):
        return wrap(dtypes.cast(x, kind))
    return x if x._data.dtype == kind.numpy else converted(x, kind)


def two_tensors(function: str, row: Any, x: Tensor, other: Any) -> Tensor:
    """The row of two tensors; TypeError for a number."""
    if not isinstance(other, Tensor):
        raise errors.must_be_tensor(function, "other", 2, other)
    return row(x, other)


def promoted(*operands: Any) -> list[Tensor]:
    """Tensors of one number type; RuntimeError if their shapes do not broadcast."""
    raw = [x._data if isinstance(x, Tensor) else plain(x) for x in operands]
    shapes = dict.fromkeys(x.shape for x in raw if getattr(x, "shape", ()))
    if len(shapes) > 1:
        errors.broadcast_shapes(*shapes)
    kind = dtypes.result_type(*raw)
    return [typed(x, kind) for x in operands]


# -------------------------------------------------------------- one argument


@public
def neg(input: Tensor) -> Tensor:
    """-input. RuntimeError for booleans."""
    if input._data.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )
    return table.neg(input)


@public
def abs(input: Tensor) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""
    return table.abs(input)


@public
def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1: the sign of each number. nan gives 0."""
    return table.sign(input)


@public
def square(input: Tensor) -> Tensor:
    """input ** 2."""
    return table.power(input, 2)


@public
def sqrt(input: Tensor) -> Tensor:
    """The square root; nan for negative numbers."""
    return table.sqrt(input)


@public
def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(input)."""
    return table.rsqrt(input)


@public
def reciprocal(input: Tensor) -> Tensor:
    """1 / input."""
    return table.reciprocal(input)


@public
def exp(input: Tensor) -> Tensor:
    """e to the power of each number. Integers give floats, as in all functions of floats.

    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return table.exp(input)


@public
def expm1(input: Tensor) -> Tensor:
    """exp(input) - 1, accurate near 0."""
    return table.expm1(input)


@public
def log(input: Tensor) -> Tensor:
    """The natural logarithm: -inf at 0, nan below."""
    return table.log(input)


@public
def log1p(input: Tensor) -> Tensor:
    """log(1 + input), accurate near 0."""
    return table.log1p(input)


@public
def log2(input: Tensor) -> Tensor:
    """The logarithm to base 2."""
    return table.log2(input)


@public
def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10."""
    return table.log10(input)


@public
def sin(input: Tensor) -> Tensor:
    """The sine of angles in radians."""
    return table.sin(input)


@public
def cos(input: Tensor) -> Tensor:
    """The cosine of angles in radians."""
    return table.cos(input)


@public
def tan(input: Tensor) -> Tensor:
    """The tangent of angles in radians."""
    return table.tan(input)


@public
def asin(input: Tensor) -> Tensor:
    """The angle in radians whose sine is given."""
    return table.asin(input)


@public
def acos(input: Tensor) -> Tensor:
    """The angle in radians whose cosine is given."""
    return table.acos(input)


@public
def atan(input: Tensor) -> Tensor:
    """The angle in radians whose tangent is given."""
    return table.atan(input)


@public
def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine."""
    return table.sinh(input)


@public
def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine."""
    return table.cosh(input)


@public
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, between -1 and 1."""
    return table.tanh(input)


@public
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)), between 0 and 1."""
    return table.sigmoid(input)


@public
def relu(input: Tensor) -> Tensor:
    """input where it is positive, else 0; its gradient at 0 is 0."""
    return table.relu(input)


@public
def erf(input: Tensor) -> Tensor:
    """The error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to input."""
    return table.erf(input)


@public
def floor(input: Tensor) -> Tensor:
    """The largest whole number that is not larger; its gradient is 0 everywhere."""
    return table.floor(input)


@public
def ceil(input: Tensor) -> Tensor:
    """The smallest whole number that is not smaller; its gradient is 0 everywhere."""
    return table.ceil(input)


@public
def trunc(input: Tensor) -> Tensor:
    """The whole part of each number; its gradient is 0 everywhere."""
    return table.trunc(input)


@public
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, half to even; or the nearest number with so many decimals."""
    return (table.round_decimals if decimals else table.round)(input, decimals)


@public
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """nan, inf and -inf replaced: by 0 and by the largest and smallest numbers of the type, unless given."""
    return table.nan_to_num(input, nan or 0.0, posinf, neginf)


# -------------------------------------------------------------- two arguments


def _scaled(row: Any, scaled_row: Any, x: Tensor, other: Any, alpha: Any) -> Any:
    """x + alpha * other, or the difference; alpha may be a float only where the result is one."""
    if alpha == 1:
        return row(x, other)
    whole = x._data.dtype.kind != "f" and not isinstance(other, float)
    if isinstance(alpha, float) and whole and not getattr(other, "dtype", dtypes.int64).is_floating_point:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return scaled_row(x, other, plain(alpha))


@public
def add(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input + alpha * other."""
    return checked("add", _scaled(table.add, table.add_scaled, input, other, alpha), other)


@public
def sub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input - alpha * other."""
    return checked("sub", _scaled(table.sub, table.sub_scaled, input, other, alpha), other)


@public
def mul(input: Tensor, other: Any) -> Tensor:
    """input * other."""
    return checked("mul", table.mul(input, other), other)


@public
def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; `rounding_mode` "floor" or "trunc" rounds the result and keeps integers."""
    if rounding_mode is None:
        return checked("div", table.div(input, other), other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return checked("div", table.div_rounded(input, other, rounding_mode), other)


@public
def true_divide(input: Tensor, other: Any) -> Tensor:
    """input / other, as `div`."""
    return checked("true_divide", table.div(input, other), other)


@public
def floor_divide(input: Tensor, other: Any) -> Tensor:
    """input / other rounded down; PyTorch has no gradient for it."""
    return checked("floor_divide", table.floor_divide(input, other), other)


@public
def remainder(input: Tensor, other: Any) -> Tensor:
    """input - other * floor(input / other): what Python's % gives, with the sign of `other`."""
    return checked("remainder", _remainder(input, other), other)


def _remainder(x: Tensor, other: Any) -> Any:
    return _rest(table.remainder, table.remainder_tensor, x, other)


def _rest(by_number: Any, by_tensor: Any, x: Tensor, other: Any) -> Any:
    if isinstance(other, Tensor):
        return by_tensor(x, other)
    if not isinstance(other, NUMBER):
        return NotImplemented
    return by_number(x, plain(other)) if x.is_floating_point() else by_tensor(*promoted(x, other))


@public
def fmod(input: Tensor, other: Any) -> Tensor:
    """input - other * trunc(input / other): what C's fmod gives, with the sign of `input`."""
    return checked("fmod", _rest(table.fmod, table.fmod_tensor, input, other), other)


@public
def pow(input: Any, exponent: Any) -> Tensor:
    """input ** exponent; one of the two may be a number."""
    return input**exponent


def _power(self: Tensor, exponent: Any) -> Any:
    if isinstance(exponent, Tensor):
        return table.power_tensor(self, exponent)
    if not isinstance(exponent, NUMBER):
        return NotImplemented
    return (table.power if exponent else table.power_zero)(self, plain(exponent))


def _power_of(self: Tensor, base: Any) -> Any:
    return table.power_base(*promoted(base, self)) if isinstance(base, NUMBER) else NotImplemented


@public
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle in radians of the points (other, input), between -pi and pi."""
    return two_tensors("atan2", table.atan2, input, other)


@public
def maximum(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two numbers; where they are equal, each gets half of the gradient."""
    return two_tensors("maximum", table.maximum, input, other)


@public
def minimum(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two numbers; where they are equal, each gets half of the gradient."""
    return two_tensors("minimum", table.minimum, input, other)


@public
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input); the weight is a number or a tensor."""
    for name, other in (("end", end), ("weight", weight)):
        if isinstance(other, Tensor) and other.ndim and other.dtype != input.dtype:
            ours, theirs = input.dtype.c_name, other.dtype.c_name
            raise RuntimeError(f"expected dtype {ours} for `{name}` but got dtype {theirs}")
    if isinstance(weight, Tensor):
        errors.broadcast_shapes(input.shape, end.shape, weight.shape)
        return table.lerp_tensor(input, end, weight)
    return table.lerp(input, end, weight)


# -------------------------------------------------------------- choosing


@public
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """input, but at least `min` and at most `max`: two numbers, two tensors, or None for no bound.

    Where a bound holds, no gradient passes; exactly at a bound it does.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return _clamped(table.clamp, table.clamp_tensor, input, min, max)


@public
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """input, but at least `min`."""
    return _clamped(table.clamp_min, table.clamp_min_tensor, input, min, None)


@public
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """input, but at most `max`."""
    return _clamped(table.clamp_max, table.clamp_max_tensor, input, None, max)


def _clamped(by_numbers: Any, by_tensors: Any, x: Tensor, min: Any, max: Any) -> Tensor:
    given = [bound for bound in (min, max) if bound is not None]
    if not x.is_floating_point():
        x = promoted(x, *given)[0]
    least, most = -math.inf, math.inf
    if not x.is_floating_point():
        least, most = np.iinfo(x._data.dtype).min, np.iinfo(x._data.dtype).max
    low, high = least if min is None else min, most if max is None else max
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return by_tensors(*promoted(x, low, high))
    return by_numbers(x, plain(low), plain(high))


@public
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition holds, else `other`. With the condition only: the indices where it holds.

    >>> torch.where(torch.tensor([True, False]), 1.0, torch.tensor([5.0, 6.0]))
    tensor([1., 6.])
    """
    if input is None and other is None:
        return tuple(wrap(part) for part in np.nonzero(np.atleast_1d(condition._data)))
    if condition.dtype not in (dtypes.bool_, dtypes.uint8):
        kind = condition.dtype.tensor_name
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}")
    x, y = promoted(input, other)
    if not condition.shape == x.shape == y.shape:
        errors.broadcast_shapes(condition.shape, x.shape, y.shape)
    return table.where(condition, x, y)


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor's elements where the condition holds, those of `other` elsewhere."""
    return where(condition, self, other)


# -------------------------------------------------------------- questions


def _compared(ufunc: Any, x: Tensor, other: Any) -> Any:
    """A bool tensor of what numpy's function says of the two; NotImplemented where `other` is no number."""
    if not isinstance(other, (Tensor, *NUMBER)):
        return NotImplemented
    a, b = x._data, other._data if isinstance(other, Tensor) else plain(other)
    if a.dtype.kind != "f" or hasattr(b, "dtype"):  # a number beside floats is one of them
        a, b = dtypes.promote(a, b)
    try:
        return wrap(ufunc(a, b))
    except ValueError as error:
        raise errors.refused(error, np.shape(a), np.shape(b)) from None


@public
def eq(input: Tensor, other: Any) -> Tensor:
    """input == other, elementwise: a bool tensor."""
    return checked("eq", input == other, other)


@public
def ne(input: Tensor, other: Any) -> Tensor:
    """input != other, elementwise: a bool tensor."""
    return checked("ne", _compared(np.not_equal, input, other), other)


@public
def lt(input: Tensor, other: Any) -> Tensor:
    """input < other, elementwise: a bool tensor."""
    return checked("lt", _compared(np.less, input, other), other)


@public
def le(input: Tensor, other: Any) -> Tensor:
    """input <= other, elementwise: a bool tensor."""
    return checked("le", _compared(np.less_equal, input, other), other)


@public
def gt(input: Tensor, other: Any) -> Tensor:
    """input > other, elementwise: a bool tensor."""
    return checked("gt", _compared(np.greater, input, other), other)


@public
def ge(input: Tensor, other: Any) -> Tensor:
    """input >= other, elementwise: a bool tensor."""
    return checked("ge", _compared(np.greater_equal, input, other), other)


@public
def isnan(input: Tensor) -> Tensor:
    """Is it nan? A bool tensor of the same shape."""
    return wrap(np.isnan(input._data))


@public
def isinf(input: Tensor) -> Tensor:
    """Is it inf or -inf? A bool tensor of the same shape."""
    return wrap(np.isinf(input._data))


@public
def isfinite(input: Tensor) -> Tensor:
    """Is it neither nan nor infinite? A bool tensor of the same shape."""
    return wrap(np.isfinite(input._data))


@public
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """|input - other| <= atol + rtol * |other|, elementwise: a bool tensor."""
    if input.dtype != other.dtype:
        raise RuntimeError(f"{input.dtype.tensor_name} did not match {other.dtype.tensor_name}")
    errors.broadcast_shapes(input.shape, other.shape)
    return wrap(np.isclose(input._data, other._data, rtol, atol, equal_nan))


@public
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close; a bool, not a tensor."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


@public
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same; a bool, not a tensor."""
    return input.shape == other.shape and bool(np.all(input._data == other._data))


@public
def logical_and(input: Tensor, other: Tensor) -> Tensor:
    """Are both not 0? A bool tensor."""
    return _compared(np.logical_and, input, other)


@public
def logical_or(input: Tensor, other: Tensor) -> Tensor:
    """Is one of them not 0? A bool tensor."""
    return _compared(np.logical_or, input, other)


@public
def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Is exactly one of them not 0? A bool tensor."""
    return _compared(np.logical_xor, input, other)


@public
def logical_not(input: Tensor) -> Tensor:
    """Is it 0 (or False)? A bool tensor of the same shape."""
    return wrap(np.logical_not(input._data))


# -------------------------------------------------------------- operators


def _question(ufunc: Any) -> Any:
    """The method behind an operator such as `<`."""

    def compare(self: Tensor, other: Any) -> Any:
        return _compared(ufunc, self, other)

    return compare


def _bitwise(ufunc: Any) -> Any:
    """The method behind `&`, `|` or `^`, which take integers and booleans."""

    def combine(self: Tensor, other: Any) -> Any:
        floats = [x for x in (self, other) if getattr(x, "dtype", dtypes.int64).is_floating_point]
        if floats:
            raise errors.not_implemented(f"{ufunc.__name__}_cpu", floats[0].dtype.tensor_name)
        return _compared(ufunc, self, other)

    return combine


def __invert__(self: Tensor) -> Tensor:
    if self.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return wrap(np.invert(self._data))


def __eq__(self: Tensor, other: Any) -> Any:
    if isinstance(other, np.ndarray):  # of the six, this one takes an array, too
        other = wrap(other)
    return _compared(np.equal, self, other)


def __pos__(self: Tensor) -> Tensor:
    return self


def __rsub__(self: Tensor, other: Any) -> Any:
    if type(other) in (int, float) and self.is_floating_point():
        return table.rsub(self, other)
    if not isinstance(other, NUMBER):
        return NotImplemented
    dtypes.promote_numbers(other, self._data)  # which refuses booleans
    return table.sub(*promoted(other, self))


def __rtruediv__(self: Tensor, other: Any) -> Any:
    return table.reciprocal(self) * other if isinstance(other, NUMBER) else NotImplemented


def _reflected(operator: Any) -> Any:
    """The method for a number in front: `2 % x`."""

    def method(self: Tensor, other: Any) -> Any:
        return operator(promoted(other, self)[0], self) if isinstance(other, NUMBER) else NotImplemented

    return method


# -------------------------------------------------------------- writing


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor's memory."""
    if not isinstance(src, (Tensor, *NUMBER)):
        raise errors.must_be_tensor("copy_", "other", 1, src)
    value = typed(src, self.dtype)
    shape = errors.broadcast_shapes(self.shape, value.shape)
    if shape != self.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}")
    overwrite(self, table.copied, value)
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """The same number everywhere."""
    if not isinstance(value, Tensor):
        return overwrite(self, table.fill, fitting(plain(value), self.dtype))
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return overwrite(self, table.fill_tensor, typed(value, self.dtype))


def zero_(self: Tensor) -> Tensor:
    """Zeros everywhere."""
    return overwrite(self, table.zero)


# -------------------------------------------------------------- methods

ONE_ARGUMENT = (
    *(abs, sign, sqrt, rsqrt, reciprocal, exp, expm1, log, log1p, log2, log10, sin, cos, tan, asin, acos),
    *(atan, sinh, cosh, tanh, sigmoid, relu, erf, floor, ceil, trunc),
)
for _function in ONE_ARGUMENT:  # a method needs no check of its first argument: it is the operation itself
    _row = getattr(table, _function.__name__)
    _row.__doc__ = _function.__doc__
    attach(_row)

attach(neg, square, round, nan_to_num, add, sub, mul, div, true_divide, floor_divide, remainder, fmod, pow)
attach(atan2, maximum, minimum, lerp, clamp, clamp_min, clamp_max, eq, ne, lt, le, gt, ge)
attach(isnan, isinf, isfinite, isclose, allclose, equal, logical_and, logical_or, logical_xor, logical_not)
attach(copy_, fill_, zero_, where=_where)
attach(*in_place(*ONE_ARGUMENT, neg, square, round, nan_to_num, add, sub, mul, div, pow, remainder, fmod, clamp))

attach(__add__=table.add, __radd__=table.add, __sub__=table.sub, __rsub__=__rsub__)
attach(__mul__=table.mul, __rmul__=table.mul, __truediv__=table.div, __rtruediv__=__rtruediv__)
attach(__floordiv__=table.floor_divide, __rfloordiv__=_reflected(table.floor_divide))
attach(__mod__=_remainder, __rmod__=_reflected(table.remainder_tensor), __pow__=_power, __rpow__=_power_of)
attach(__neg__=neg, __pos__=__pos__, __abs__=table.abs, __invert__=__invert__)
attach(__eq__=__eq__, __ne__=_question(np.not_equal), __lt__=_question(np.less), __le__=_question(np.less_equal))
attach(__gt__=_question(np.greater), __ge__=_question(np.greater_equal))
for _name in ("and", "or", "xor"):
    _method = _bitwise(getattr(np, f"bitwise_{_name}"))
    attach(**{f"__{_name}__": _method, f"__r{_name}__": _method})
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    attach(**{f"__i{_name}__": augmented(getattr(Tensor, f"__{_name}__"))})
