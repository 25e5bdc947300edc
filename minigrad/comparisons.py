"""Questions about numbers, and what is done with them bit by bit: nothing here has a gradient."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes, errors, inplace
from minigrad.public import as_tensor_like, function, is_operand, methods, plain, raw, wrapped
from minigrad.tensor import Tensor, method, wrap


def _compared(ufunc: Any, symbol: str, name: str, *names: str) -> None:
    def compare(self: Tensor, other: Any) -> Any:
        b = other._data if isinstance(other, Tensor) else plain(other)
        if not isinstance(other, Tensor) and not isinstance(b, (int, float)):
            return NotImplemented
        a = self._data
        if type(b) is not float or a.dtype.kind != "f":
            a, b = dtypes.promote(a, b)
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            raise errors.broadcast_mismatch(np.shape(a), np.shape(b)) or error from None

    def call(input: Tensor, other: Any) -> Tensor:
        found = compare(input, other)
        if found is NotImplemented:
            raise errors.must_be_tensor(name, "other", 2, other)
        return found

    call.__doc__ = f"Elementwise {symbol} of a tensor and a tensor or number: a bool tensor of their broadcast shape."
    setattr(Tensor, f"__{name}__", compare)
    function(call, name=name, names=names, inplace=True)


_compared(np.greater, ">", "gt", "greater")
_compared(np.greater_equal, ">=", "ge", "greater_equal")
_compared(np.less, "<", "lt", "less")
_compared(np.less_equal, "<=", "le", "less_equal")
_compared(np.equal, "==", "eq")
_compared(np.not_equal, "!=", "ne", "not_equal")


@method
def __eq__(self: Tensor, other: Any) -> Any:  # of the six, this one takes an array, too
    if isinstance(other, np.ndarray) and other.dtype.kind in "biuf":
        other = wrap(other)
    return self.eq(other) if isinstance(other, (Tensor, int, float, np.generic)) else NotImplemented


def _paired(a: Any, b: Any) -> tuple[Any, Any]:
    return dtypes.promote(raw(a), raw(b))


def _checked(ufunc: Any, a: Any, b: Any) -> Tensor:
    try:
        return wrapped(ufunc(a, b))
    except ValueError as error:
        raise errors.broadcast_mismatch(np.shape(a), np.shape(b)) or error from None


def _bitwise(ufunc: Any, name: str, symbol: str) -> None:
    def call(input: Tensor, other: Any) -> Tensor:
        if not is_operand(other):
            raise errors.must_be_tensor(name, "other", 2, other)
        a, b = _paired(input, other)
        if a.dtype.kind == "f":
            errors.broadcast_shapes(np.shape(a), np.shape(b))  # shapes are refused before types
            raise errors.not_implemented(f"{name}_cpu", dtypes.of(a.dtype).tensor_name)
        return _checked(ufunc, a, b)

    def operator_method(self: Tensor, other: Any) -> Any:
        return call(self, other) if is_operand(other) else NotImplemented

    call.__doc__ = f"Elementwise `{symbol}` of integers bit by bit, or of booleans; NotImplementedError for floats."
    function(call, name=name, inplace=True)
    setattr(Tensor, f"__{symbol}__", operator_method)
    setattr(Tensor, f"__r{symbol}__", operator_method)


_bitwise(np.bitwise_and, "bitwise_and", "and")
_bitwise(np.bitwise_or, "bitwise_or", "or")
_bitwise(np.bitwise_xor, "bitwise_xor", "xor")


@function(inplace=True)
def bitwise_not(input: Tensor) -> Tensor:
    """Every bit turned over; for booleans the opposite."""
    if input._data.dtype.kind == "f":
        raise errors.not_implemented("bitwise_not_cpu", input.dtype.tensor_name)
    return wrapped(np.invert(input._data))


@method
def __invert__(self: Tensor) -> Tensor:
    if self._data.dtype.kind == "f":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    inverted: Tensor = bitwise_not(self)
    return inverted


@function(name="bitwise_left_shift", inplace=True)
def left_shift(input: Tensor, other: Any) -> Tensor:
    """The bits of integers moved to the left by `other` places: times 2 ** other."""
    return _of_integers(np.left_shift, "lshift_cpu", input, other)


@function(name="bitwise_right_shift", inplace=True)
def right_shift(input: Tensor, other: Any) -> Tensor:
    """The bits of integers moved to the right by `other` places: divided by 2 ** other, rounded down."""
    return _of_integers(np.right_shift, "rshift_cpu", input, other)


@function(inplace=True)
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Elementwise the largest integer that divides both."""
    return _of_integers(np.gcd, "gcd_cpu", input, other)


@function(inplace=True)
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Elementwise the smallest positive integer that both divide."""
    return _of_integers(np.lcm, "lcm_cpu", input, other)


def _of_integers(ufunc: Any, kernel: str, input: Tensor, other: Any) -> Tensor:
    a, b = _paired(input, other)
    if a.dtype.kind not in "iu":
        raise errors.not_implemented(kernel, dtypes.of(a.dtype).tensor_name)
    return _checked(ufunc, a, b)


def _shift_operator(shift: Any) -> Any:
    return lambda self, other: shift(self, other) if is_operand(other) else NotImplemented


def _reflected(shift: Any) -> Any:
    return lambda self, other: shift(as_tensor_like(other, self), self) if is_operand(other) else NotImplemented


methods.__lshift__, methods.__rshift__ = map(_shift_operator, (left_shift, right_shift))
methods.__rlshift__, methods.__rrshift__ = map(_reflected, (left_shift, right_shift))
for _symbol in ("and", "or", "xor", "lshift", "rshift"):
    setattr(Tensor, f"__i{_symbol}__", inplace.assignment(getattr(Tensor, f"__{_symbol}__")))


def _logical(ufunc: Any, name: str) -> None:
    def call(input: Tensor, other: Tensor) -> Tensor:
        return _checked(ufunc, input._data, other._data)

    call.__doc__ = f"Elementwise {name.removeprefix('logical_')} of two tensors, where all but 0 is true: a bool tensor."
    function(call, name=name, inplace=True)


for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    _logical(_ufunc, _ufunc.__name__)


@function(inplace=True)
def logical_not(input: Tensor) -> Tensor:
    """Elementwise: is it 0 (or False)?  A bool tensor of the same shape."""
    return wrapped(np.logical_not(input._data))


def _tested(test: Any, name: str, what: str) -> None:
    def call(input: Tensor) -> Tensor:
        a = input._data
        return wrapped(test(a) if a.dtype.kind == "f" else test(a.astype(np.float64)))

    call.__doc__ = f"Elementwise: {what}?  A bool tensor of the same shape."
    function(call, name=name)


_tested(np.isnan, "isnan", "is it nan")
_tested(np.isinf, "isinf", "is it inf or -inf")
_tested(np.isfinite, "isfinite", "is it neither nan nor infinite")
_tested(np.isposinf, "isposinf", "is it inf")
_tested(np.isneginf, "isneginf", "is it -inf")
_tested(np.signbit, "signbit", "does it have a minus sign, as -0. does")
_tested(lambda a: np.ones(a.shape, bool), "isreal", "is it a real number, as all of them are here")


@function
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Elementwise |input - other| <= atol + rtol * |other|."""
    for name, size in (("rtol", rtol), ("atol", atol)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {size:g}")
    a, b = input._data, raw(other)
    if a.dtype != b.dtype:
        raise RuntimeError(f"{input.dtype.tensor_name} did not match {other.dtype.tensor_name}")
    errors.broadcast_shapes(a.shape, b.shape)
    return wrapped(np.asarray(np.isclose(a, b, rtol, atol, equal_nan)))


@function
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close; a bool, not a tensor."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._data))


@function
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same; a bool, not a tensor."""
    return bool(input._data.shape == other._data.shape and np.all(np.equal(*_paired(input, other))))


@function
def is_nonzero(input: Tensor) -> bool:
    """Whether the one number in here is not 0.  RuntimeError for another number of elements."""
    return bool(input)
