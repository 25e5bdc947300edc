"""What is computed for each number by itself: operators, functions such as `exp`, comparisons, and `where`.

Operands broadcast, and their number types are promoted as in PyTorch. A wrong operand of a function is a TypeError,
shapes that do not broadcast are a RuntimeError.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..errors import at_least, check
from ..kernels import of_kinds
from ..operation import attach, public
from ..tensor import Tensor, plain, wrap
from ..views import check_writable, in_place, overwrite, write
from .creation import converted, result_type

NUMBER = (bool, int, float, np.generic)
OPERAND = (Tensor, np.ndarray, *NUMBER)


def kinds(*values: Any) -> set[Any]:
    """Which kinds of operands these are: Tensor, True for a number, False for anything else."""
    return {Tensor if isinstance(x, Tensor) else isinstance(x, NUMBER) for x in values}


def typed(x: Any, kind: dtypes.DType) -> Tensor:
    """A tensor of this number type; itself if it is one."""
    return converted(x, kind) if isinstance(x, Tensor) else wrap(dtypes.cast(x, kind))


def named(function: Any, name: str, doc: str) -> Any:
    """The function under this name, fit to be called by users."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(function)


# -------------------------------------------------------------- one argument


def of_one(row: Any, doc: str) -> Callable[[Tensor], Tensor]:
    """A row of the table as function, method and in-place method: `exp(x)`, `x.exp()` and `x.exp_()`."""

    def function(input: Tensor) -> Tensor:
        return row(input)

    row.__doc__ = doc
    attach(row, *in_place(row))
    return named(function, row.__name__, doc)


neg = of_one(table.neg, "-input.")
abs = of_one(table.abs, "The absolute value; its gradient at 0 is 0.")
sign = of_one(table.sign, "-1, 0 or 1: the sign of each number.")
sqrt = of_one(table.sqrt, "The square root; nan for negative numbers.")
rsqrt = of_one(table.rsqrt, "1 / sqrt(input).")
reciprocal = of_one(table.reciprocal, "1 / input.")
exp = of_one(table.exp, "e to the power of each number; integers give floats.")
expm1 = of_one(table.expm1, "exp(input) - 1, accurate near 0.")
log = of_one(table.log, "The natural logarithm: -inf at 0, nan below.")
log1p = of_one(table.log1p, "log(1 + input), accurate near 0.")
log2 = of_one(table.log2, "The logarithm to base 2.")
log10 = of_one(table.log10, "The logarithm to base 10.")
sin = of_one(table.sin, "The sine of angles in radians.")
cos = of_one(table.cos, "The cosine of angles in radians.")
tan = of_one(table.tan, "The tangent of angles in radians.")
asin = of_one(table.asin, "The angle in radians whose sine is given.")
acos = of_one(table.acos, "The angle in radians whose cosine is given.")
atan = of_one(table.atan, "The angle in radians whose tangent is given.")
sinh = of_one(table.sinh, "The hyperbolic sine.")
cosh = of_one(table.cosh, "The hyperbolic cosine.")
tanh = of_one(table.tanh, "The hyperbolic tangent, between -1 and 1.")
sigmoid = of_one(table.sigmoid, "1 / (1 + exp(-input)), between 0 and 1.")
relu = of_one(table.relu, "input where it is positive, else 0; its gradient at 0 is 0.")
erf = of_one(table.erf, "The error function: 2/√π times the integral of exp(-t²) from 0 to input.")
floor = of_one(table.floor, "Rounded down to a whole number; its gradient is 0.")
ceil = of_one(table.ceil, "Rounded up to a whole number; its gradient is 0.")
trunc = of_one(table.trunc, "The whole part of each number; its gradient is 0.")


@public
def square(input: Tensor) -> Tensor:
    """input ** 2."""
    return table.power(input, 2)


@public
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, half to even; or the nearest number with so many decimals."""
    if decimals:
        errors.floats_only("round_cpu", input.dtype)
    return table.round(input, decimals)


@public
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """nan, inf and -inf replaced: by 0 and by the largest and smallest numbers of the type, unless given."""
    return table.nan_to_num(input, nan or 0.0, posinf, neginf)


# -------------------------------------------------------------- two arguments


def checked(function: str, result: Any, other: Any) -> Tensor:
    """The result; TypeError where `other` was neither tensor nor number."""
    if result is NotImplemented:
        raise errors.must_be_tensor(function, "other", 2, other)
    return result


def of_two(operation: Any, doc: str, name: str = "") -> Callable[[Tensor, Any], Tensor]:
    """An operation of a tensor and a tensor or number as function and method, under another name if one is given."""
    name = name or operation.__name__

    def function(input: Tensor, other: Any) -> Tensor:
        return checked(name, operation(input, other), other)

    made = named(function, name, doc)
    attach(made)
    return made


def of_tensors(row: Any) -> Any:
    """The operation, which refuses numbers."""
    return functools.wraps(row)(lambda x, y: row(x, y) if isinstance(y, Tensor) else NotImplemented)


def modulo(x: Any, y: Any) -> Any:
    return (table.remainder_tensor if isinstance(y, Tensor) else table.remainder)(x, y)


mul = of_two(table.mul, "input * other.")
true_divide = of_two(table.div, "input / other, as `div`.", "true_divide")
floor_divide = of_two(table.floor_divide, "input / other rounded down; no gradient.")
remainder = of_two(modulo, "The rest of a division, with the sign of `other`: Python's %.", "remainder")
fmod = of_two(table.fmod, "The rest of a division, with the sign of `input`: C's fmod.")
atan2 = of_two(of_tensors(table.atan2), "The angle in radians of the points (other, input).")
maximum = of_two(of_tensors(table.maximum), "The larger of two; equal ones share the gradient.")
minimum = of_two(of_tensors(table.minimum), "The smaller of two; equal ones share the gradient.")


@public
def add(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input + alpha * other."""
    return checked("add", table.add(input, _scaled(input, other, alpha)), other)


@public
def sub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input - alpha * other."""
    return checked("sub", table.sub(input, _scaled(input, other, alpha)), other)


def _scaled(input: Tensor, other: Any, alpha: Any) -> Any:
    """alpha * other, in a number type that the result of the whole can have."""
    known = isinstance(other, OPERAND)
    if not known or (type(alpha) is int and alpha == 1):
        return other
    kind, number = result_type(input, other), +plain(alpha)
    truth = kind is dtypes.bool_
    right = truth or not isinstance(alpha, bool)
    check(right, "Boolean alpha only supported for Boolean results.")
    right = kind.is_floating_point or not isinstance(number, float)
    words = "For integral input tensors, argument alpha must not be a floating point number."
    check(right, words)
    return bool(number) & other if truth else number * other


@public
def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; `rounding_mode` "floor" or "trunc" rounds the result and keeps integers."""
    if rounding_mode is None:
        return checked("div", table.div(input, other), other)
    return table.div_rounded(input, other, rounding_mode)


@public
def pow(input: Any, exponent: Any) -> Tensor:
    """input ** exponent; one of the two may be a number."""
    found = kinds(input, exponent)
    if Tensor not in found or False in found:
        raise errors.no_form("pow", input, exponent)
    return input**exponent


@public
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input); the weight is a number or a tensor."""
    a, b = input.dtype, end.dtype
    check(a is b, f"expected dtype {a.c_name} for `end` but got dtype {b.c_name}")
    errors.floats_only("lerp_kernel_scalar", input.dtype)
    return input - weight * (input - end)


# -------------------------------------------------------------- choosing


@public
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """input, but at least `min` and at most `max`: two numbers, two tensors, or None for no bound.

    Where a bound holds, no gradient passes; exactly at a bound it does.
    """
    return _clamped(table.clamp, table.at_least, table.at_most, input, min, max)


@public
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """input, but at least `min`."""
    return _clamped(table.clamp_min, table.clamp_min_tensor, None, input, min, None)


@public
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """input, but at most `max`."""
    return _clamped(table.clamp_max, None, table.clamp_max_tensor, input, None, max)


def _clamped(row: Any, at_least: Any, at_most: Any, x: Tensor, low: Any, high: Any) -> Tensor:
    """Between two numbers or two tensors; whole numbers stay whole where the bounds are."""
    bounds = [bound for bound in (low, high) if bound is not None]
    check(bounds, "torch.clamp: At least one of 'min' or 'max' must not be None")
    found = kinds(*bounds)
    if len(found) > 1 or False in found:
        raise errors.no_form("clamp", x, *bounds)
    if Tensor in found:
        x = x if low is None else at_least(x, low)
        return x if high is None else at_most(x, high)
    least = -math.inf if low is None else float(low)
    most = math.inf if high is None else float(high)
    clamped = row(x, least, most)
    return clamped if x.is_floating_point() else typed(clamped, dtypes.result_type(x._data, *bounds))


def places_of(x: Tensor) -> tuple[Tensor, ...]:
    """For each dimension, where the elements are that are not 0."""
    found = np.nonzero(np.atleast_1d(x._data))
    return tuple(wrap(index.astype(np.int64)) for index in found)


@public
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition holds, else `other`. With the condition only: the indices where it holds.

    >>> torch.where(torch.tensor([True, False]), 1.0, torch.tensor([5.0, 6.0]))
    tensor([1., 6.])
    """
    if input is None and other is None:
        return places_of(condition)
    if condition.dtype is dtypes.uint8:
        warnings.warn("where received a uint8 condition tensor.", stacklevel=3)
        condition = condition.bool()
    wrong = f"but got a tensor with dtype {condition.dtype.tensor_name}"
    right = condition.dtype is dtypes.bool_
    check(right, f"where expected condition to be a boolean tensor, {wrong}")
    if False in kinds(input, other):
        raise errors.no_form("where", condition, input, other)
    raw = [x._data if isinstance(x, Tensor) else plain(x) for x in (input, other)]
    errors.broadcast_shapes(condition.shape, *map(np.shape, raw))
    kind = dtypes.result_type(*raw)
    return table.where(condition, typed(input, kind), typed(other, kind))


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor's elements where the condition holds, those of `other` elsewhere."""
    return where(condition, self, other)


# -------------------------------------------------------------- questions


def compared(ufunc: Any) -> Any:
    """A method that asks numpy's function of two operands, such as `x < y`."""

    def compare(self: Tensor, other: Any) -> Any:
        a = self._data
        # a number beside floats is one of them
        if type(other) in (int, float) and a.dtype.kind == "f":
            return wrap(ufunc(a, other))
        if not isinstance(other, OPERAND):
            return NotImplemented
        a, b = dtypes.promote(a, other._data if isinstance(other, Tensor) else plain(other))
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            raise errors.refused(error, np.shape(a), np.shape(b)) from None

    return compare


def logical(ufunc: Any, doc: str) -> Any:
    return of_two(of_tensors(compared(ufunc)), doc, ufunc.__name__)


eq = of_two(compared(np.equal), "input == other: a bool tensor.", "eq")
ne = of_two(compared(np.not_equal), "input != other: a bool tensor.", "ne")
lt = of_two(compared(np.less), "input < other: a bool tensor.", "lt")
le = of_two(compared(np.less_equal), "input <= other: a bool tensor.", "le")
gt = of_two(compared(np.greater), "input > other: a bool tensor.", "gt")
ge = of_two(compared(np.greater_equal), "input >= other: a bool tensor.", "ge")
logical_and = logical(np.logical_and, "Are both not 0? A bool tensor.")
logical_or = logical(np.logical_or, "Is one of them not 0? A bool tensor.")
logical_xor = logical(np.logical_xor, "Is exactly one of them not 0? A bool tensor.")


def asked(ufunc: Any, doc: str) -> Callable[[Tensor], Tensor]:
    """What numpy's function says of each number, as function and method."""

    def function(input: Tensor) -> Tensor:
        return wrap(ufunc(input._data))

    made = named(function, ufunc.__name__, doc)
    attach(made)
    return made


isnan = asked(np.isnan, "Is it nan? A bool tensor.")
isinf = asked(np.isinf, "Is it inf or -inf? A bool tensor.")
isfinite = asked(np.isfinite, "Is it neither nan nor infinite? A bool tensor.")
logical_not = asked(np.logical_not, "Is it 0 (or False)? A bool tensor.")


@public
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False,
) -> Tensor:
    """|input - other| <= atol + rtol * |other|: a bool tensor."""
    a, b = input.dtype.tensor_name, other.dtype.tensor_name
    check(a == b, f"{a} did not match {b}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        at_least(0, value, name + " must be greater than or equal to zero, but got {}")
    errors.broadcast_shapes(input._data.shape, other._data.shape)
    return wrap(np.isclose(input._data, other._data, rtol, atol, equal_nan))


@public
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False,
) -> bool:
    """Whether all elements are close; a bool, not a tensor."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


@public
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same; a bool, not a tensor."""
    return input.shape == other.shape and bool(np.all(input._data == other._data))


# -------------------------------------------------------------- operators


def __pos__(self: Tensor) -> Tensor:
    return self


def __invert__(self: Tensor) -> Tensor:
    if self.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return wrap(~self._data)


def __rsub__(self: Tensor, other: Any) -> Any:
    if type(other) in (int, float) and self.is_floating_point():
        return table.rsub(self, other)
    return table.sub(other, self)


def __rtruediv__(self: Tensor, other: Any) -> Any:
    return table.reciprocal(self) * other if isinstance(other, NUMBER) else NotImplemented


def __pow__(self: Tensor, exponent: Any) -> Any:
    if isinstance(exponent, Tensor):
        return table.power_tensor(self, exponent)
    if not isinstance(exponent, NUMBER):
        return NotImplemented
    return (table.power if exponent else table.power_zero)(self, plain(exponent))


def __rpow__(self: Tensor, base: Any) -> Any:
    if not isinstance(base, NUMBER):
        return NotImplemented
    kind = dtypes.result_type(self._data, plain(base))
    return table.power_base(typed(base, kind), self)


def left_out(self: Tensor, other: Any) -> Any:
    raise TypeError("minigrad leaves out << and >>")


# -------------------------------------------------------------- writing


def augmented(operation: Any) -> Callable[[Tensor, Any], Any]:
    """The method behind an augmented assignment, such as `x += y`."""

    def assign(self: Tensor, other: Any) -> Any:
        __tracebackhide__ = True
        return write(self, operation, other)

    return assign


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor's memory."""
    check_writable(self)
    value = typed(src, self.dtype)
    errors.broadcast_shapes(self.shape, value.shape)
    return write(self, table.copied, value)


def fill_(self: Tensor, value: Any) -> Tensor:
    """The same number everywhere."""
    if isinstance(value, Tensor):
        words = f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        check(not value.ndim, words)
        return overwrite(self, table.copied, typed(value, self.dtype))
    if not isinstance(value, NUMBER):
        raise errors.no_form("fill_", value)
    return overwrite(self, table.fill, dtypes.cast(plain(value), self.dtype))


def zero_(self: Tensor) -> Tensor:
    """Zeros everywhere."""
    return overwrite(self, table.zero)


# -------------------------------------------------------------- methods

attach(square, round, nan_to_num, add, sub, div, pow, lerp, clamp, clamp_min, clamp_max)
attach(isclose, allclose, equal, copy_, fill_, zero_, where=_where)
attach(*in_place(square, round, nan_to_num, add, sub, mul, div, pow, remainder, fmod, clamp))

attach(__add__=table.add, __radd__=table.add, __sub__=table.sub, __rsub__=__rsub__)
attach(__mul__=table.mul, __rmul__=table.mul, __truediv__=table.div, __rtruediv__=__rtruediv__)
attach(__floordiv__=table.floor_divide, __rfloordiv__=lambda x, y: table.floor_divide(y, x))
attach(__mod__=modulo, __rmod__=lambda x, y: table.remainder_tensor(y, x))
attach(__pow__=__pow__, __rpow__=__rpow__)
attach(__lshift__=left_out, __rshift__=left_out)
attach(__neg__=table.neg, __pos__=__pos__, __abs__=table.abs, __invert__=__invert__)
attach(__eq__=compared(np.equal), __ne__=compared(np.not_equal))
attach(__lt__=compared(np.less), __le__=compared(np.less_equal))
attach(__gt__=compared(np.greater), __ge__=compared(np.greater_equal))
for _name in ("and", "or", "xor"):
    _ufunc = of_kinds("biu", f"bitwise_{_name}_cpu")(getattr(np, f"bitwise_{_name}"))
    _method = compared(_ufunc)
    attach(**{f"__{_name}__": _method, f"__r{_name}__": _method})
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    attach(**{f"__i{_name}__": augmented(getattr(Tensor, f"__{_name}__"))})
