"""What the student calls, elementwise: operators, and functions such as `exp`, `clamp`, `where`.

Nothing here has a rule of its own: every derivative follows from the lines of the table. What is added is PyTorch's
face: names, keywords, number types and messages. Reductions, shapes, picking, products and layers follow in their
own files.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import (
    diagonals,
    dtypes,
    errors,
    inplace,
    joining,
    kernels,
    ordering,
    picking,
    products,
    rearranging,
    reductions,
    shapes,
    splitting,
)
from minigrad import more_derivatives as more
from minigrad.devices import check_device
from minigrad.operations import note_lost, operation
from minigrad.public import (
    as_float_like,
    as_one_node,
    as_tensor_like,
    converted,
    floating_input,
    function,
    in_place,
    into,
    methods,
    plain,
    raw,
    register,
    told,
    wrapped,
)
from minigrad.tensor import Tensor, method, wrap

# ------------------------------------------------------------------------------------------- operators

methods.__add__ = methods.__radd__ = table.add
methods.__sub__ = table.sub
methods.__rsub__ = table.rsub
methods.__mul__ = methods.__rmul__ = table.mul
methods.__truediv__ = table.div


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic))


def _is_operand(value: Any) -> bool:
    return isinstance(value, Tensor) or _is_number(value)


@method
def __rtruediv__(self: Tensor, other: Any) -> Tensor:
    known = _is_operand(other) or isinstance(other, np.ndarray)  # whose own `*` is asked
    return table.reciprocal(self) * other if known else NotImplemented


def _minding_booleans(result: Tensor, *operands: Any) -> Tensor:
    """The rules of ** and logaddexp subtract from an operand, or one from the other: PyTorch minds if that is a boolean."""
    if result._node is not None and any(isinstance(x, Tensor) and x._data.dtype.kind == "b" for x in operands):
        result._node.rules = tuple(_subtracted for _ in result._node.parents)
    return result


def _subtracted(*_: Any) -> Any:
    raise RuntimeError(dtypes.BOOLEAN_SUBTRACTION)


@method
def __pow__(self: Tensor, exponent: Any) -> Tensor:
    if isinstance(exponent, Tensor):
        return _minding_booleans(table.power_tensor(self, exponent), exponent)
    if not isinstance(exponent, (int, float, np.generic)):
        return NotImplemented
    return table.power(self, plain(exponent))


@method
def __rpow__(self: Tensor, base: Any) -> Tensor:
    if isinstance(base, Tensor):
        return _minding_booleans(table.power_tensor(base, self), self)
    return table.power_base(self, plain(base)) if isinstance(base, (int, float, np.generic)) else NotImplemented


@method
def __pos__(self: Tensor) -> Tensor:
    if self._data.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@method
def __neg__(self: Tensor) -> Tensor:
    if self._data.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    return table.neg(self)


def _refuse_rounding(g: Any) -> Any:
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


floor_division: Any = operation(
    "NotImplemented", lambda x, y: kernels.divide_rounded(x, y, "floor"), _refuse_rounding, _refuse_rounding
)
step_function: Any = operation(
    "NotImplemented", lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype)[()], _refuse_rounding, _refuse_rounding
)
next_number: Any = operation(
    "Nextafter", np.nextafter, lambda g, x, y: table.where(0.0, g, x == y), lambda g: table.zeros(g)
)
for _refusing in (floor_division, step_function):
    _refusing.operation.node.__name__ = "NotImplemented"  # PyTorch's name, without "Backward0"


@method
def __floordiv__(self: Tensor, other: Any) -> Tensor:
    return floor_division(self, other)


@method
def __rfloordiv__(self: Tensor, other: Any) -> Tensor:
    return floor_division(as_tensor_like(other, self), self) if _is_operand(other) else NotImplemented


@method
def __mod__(self: Tensor, other: Any) -> Tensor:
    return (more.remainder_tensor if isinstance(other, Tensor) else more.remainder)(self, other)


@method
def __rmod__(self: Tensor, other: Any) -> Tensor:
    return more.remainder_tensor(as_tensor_like(other, self), self) if _is_operand(other) else NotImplemented


methods.__abs__ = table.abs

# ------------------------------------------------------------------------------------------- comparisons


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
        if not _is_operand(other):
            raise errors.must_be_tensor(name, "other", 2, other)
        a, b = _paired(input, other)
        if a.dtype.kind == "f":
            raise errors.not_implemented(f"{name}_cpu", dtypes.of(a.dtype).tensor_name)
        return _checked(ufunc, a, b)

    def operator_method(self: Tensor, other: Any) -> Any:
        return call(self, other) if _is_operand(other) else NotImplemented

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


@method
def __reversed__(self: Tensor) -> Tensor:
    """Turned around along the first dimension."""
    turned: Tensor = self.flip(0) if self.ndim else self
    return turned


@method
def __delitem__(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


@function(name="bitwise_left_shift", inplace=True)
def left_shift(input: Tensor, other: Any) -> Tensor:
    """The bits of integers moved to the left by `other` places: times 2 ** other."""
    return _shifted(np.left_shift, "lshift_cpu", input, other)


@function(name="bitwise_right_shift", inplace=True)
def right_shift(input: Tensor, other: Any) -> Tensor:
    """The bits of integers moved to the right by `other` places: divided by 2 ** other, rounded down."""
    return _shifted(np.right_shift, "rshift_cpu", input, other)


def _shifted(ufunc: Any, kernel: str, input: Tensor, other: Any) -> Tensor:
    a, b = _paired(input, other)
    if a.dtype.kind not in "iu":
        raise errors.not_implemented(kernel, dtypes.of(a.dtype).tensor_name)
    return _checked(ufunc, a, b)


def _shift_operator(shift: Any) -> Any:
    return lambda self, other: shift(self, other) if _is_operand(other) else NotImplemented


def _reflected(shift: Any) -> Any:
    return lambda self, other: shift(as_tensor_like(other, self), self) if _is_operand(other) else NotImplemented


methods.__lshift__, methods.__rshift__ = map(_shift_operator, (left_shift, right_shift))
methods.__rlshift__, methods.__rrshift__ = map(_reflected, (left_shift, right_shift))


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
    if not isinstance(other, Tensor):
        raise errors.must_be_tensor("equal", "other", 2, other)
    return bool(input._data.shape == other._data.shape and np.all(np.equal(*_paired(input, other))))


# ------------------------------------------------------------------------------------------- one argument


def _unary(name: str, recorded: Any, *names: str) -> None:
    def call(input: Tensor, *, out: Any = None) -> Tensor:
        if not isinstance(input, Tensor):
            raise errors.must_be_tensor(name, "input", 1, input)
        result = recorded(input)
        return result if out is None else into(out, result, name)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Elementwise {name}."
    register(call, name, *names)
    recorded.__doc__ = recorded.__doc__ or call.__doc__
    for each in (name, *names):
        in_place(each, recorded)
        register(getattr(Tensor, f"{each}_"), f"{each}_", method=False)
        if hasattr(recorded, "operation"):  # a method needs no check of its first argument: it is the operation itself
            setattr(Tensor, each, recorded)


for _name in ("exp", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "reciprocal"):
    _unary(_name, getattr(table, _name))
for _name in ("exp2", "expm1", "log2", "log10", "sinh", "cosh", "sinc", "floor", "ceil", "frac"):
    _unary(_name, getattr(more, _name))
for _name in ("erf", "erfc", "erfinv", "lgamma", "digamma"):
    _unary(_name, getattr(more, _name))
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _unary(f"a{_name}", getattr(more, f"a{_name}"), f"arc{_name}") if hasattr(more, f"a{_name}") else None
_unary("trunc", more.trunc, "fix")
_unary("abs", table.abs, "absolute")
_unary("neg", __neg__, "negative")
_unary("sign", table.sign)
_unary("sgn", lambda x: as_one_node(table.sign(x), "SgnBackward0"))
_unary("positive", __pos__)
_unary("square", lambda x: table.power(x, 2))
_unary("deg2rad", lambda x: as_one_node(x * (np.pi / 180), "Deg2RadBackward0"))
_unary("rad2deg", lambda x: as_one_node(x * (180 / np.pi), "Rad2DegBackward0"))


@function
def angle(input: Tensor) -> Tensor:
    """The angle of a real number: 0, or pi for what is negative."""
    x = input if input._data.dtype.kind == "f" else converted(input, dtypes.get_default_dtype())
    numbers = x._data
    angles = np.where(np.isnan(numbers), numbers, np.where(numbers < 0, np.pi, 0)).astype(numbers.dtype)
    return more.copied(x, wrapped(angles))


@function(inplace=True)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, through which gradients flow; laid out in memory as `input` is, or in order (contiguous_format)."""
    copy = table.clone(input)
    if str(memory_format).endswith("contiguous_format") and copy._data.ndim:
        copy._data = kernels.in_order(copy._data)
    return copy


@function(name="round", inplace=True)
def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, half to even; or the nearest number with so many decimals."""
    if decimals and input._data.dtype.kind != "f":
        raise errors.not_implemented("round_cpu", input.dtype.tensor_name)
    return more.round(input, decimals)


@function(inplace=True)
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(p / (1 - p)), the inverse of sigmoid; `eps` keeps p away from 0 and 1."""
    return more.logit(input, None if eps is None else float(eps))


@function(inplace=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """nan, inf and -inf replaced: by 0 and by the largest and smallest numbers of the type, unless given."""
    return more.nan_to_num(input, nan or 0.0, posinf, neginf)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of `digamma`, elementwise; n = 0 is `digamma` itself."""
    return _polygamma(input, n)


register(polygamma, "polygamma", method=False)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of `digamma`, elementwise."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return more.polygamma(self, n)


methods.polygamma = _polygamma
in_place("polygamma", _polygamma)


# ------------------------------------------------------------------------------------------- two arguments


def _binary(name: str, recorded: Any, *names: str) -> Any:
    def call(input: Tensor, other: Any) -> Tensor:
        return _with_operand(name, recorded(input, other), other)

    call.__doc__ = f"Elementwise {name} of a tensor and a tensor or number."
    return function(call, name=name, names=names, inplace=True)


def _binary_of_tensors(name: str, recorded: Any, *names: str) -> Any:
    def call(input: Tensor, other: Tensor) -> Tensor:
        return recorded(input, other)

    call.__doc__ = f"Elementwise {name} of two tensors."
    return function(call, name=name, names=names, inplace=True)


@function(inplace=True)
def add(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input + alpha * other."""
    return _with_operand("add", table.add(input, _times(input, other, alpha)), other)


@function(names=("subtract",), inplace=True)
def sub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input - alpha * other."""
    return _with_operand("sub", table.sub(input, _times(input, other, alpha)), other)


@function
def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """other - alpha * input."""
    out = table.rsub(input if alpha == 1 else input * alpha, other)
    return as_one_node(out, "RsubBackward0") if isinstance(other, Tensor) else out


def _is_integer(x: Any) -> bool:
    return x._data.dtype.kind != "f" if isinstance(x, Tensor) else not isinstance(x, float)


def _times(input: Tensor, other: Any, alpha: Any) -> Any:
    """other * alpha, which stays boolean if `other` is; RuntimeError for a float where all else is integers."""
    if isinstance(alpha, float) and _is_integer(input) and _is_integer(other):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if alpha is True and not input._data.dtype.kind == getattr(raw(other), "dtype", np.dtype(type(other))).kind == "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if alpha == 1:
        return other
    if input._data.dtype.kind in "iu" and _is_integer(other):
        dtypes.fitting(plain(alpha), dtypes.result_type(input._data, raw(other)))
    if not isinstance(other, Tensor):
        return other * alpha if _is_number(other) else other
    if other._data.dtype.kind == "b":  # a boolean among booleans; elsewhere a number
        return wrap(other._data & bool(alpha)) if input._data.dtype.kind == "b" else to(other, input.dtype) * alpha
    return other * alpha


def _with_operand(name: str, result: Any, other: Any) -> Tensor:
    if result is NotImplemented:
        raise errors.must_be_tensor(name, "other", 2, other)
    return result


def _scaled(written: Any) -> Any:
    """`add_` or `sub_`, with what `alpha` multiplies worked out first: what is left is written without a detour."""

    @functools.wraps(written)
    def write(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        __tracebackhide__ = True
        if len(args) == 1 and keywords.keys() == {"alpha"} and not inplace.shared(self._data, raw(args[0])):
            args = (_times(self, args[0], keywords.pop("alpha")),)
        return written(self, *args, **keywords)

    return write


for _name in ("add_", "sub_", "subtract_"):
    setattr(Tensor, _name, _scaled(getattr(Tensor, _name)))

_binary("mul", table.mul, "multiply")


@function(names=("divide",), inplace=True)
def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; `rounding_mode` "floor" or "trunc" rounds the result and keeps integers."""
    if rounding_mode is None:
        return _with_operand("div", table.div(input, other), other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return more.div_rounded(input, as_tensor_like(other, input), rounding_mode)


_binary("true_divide", table.div)
_binary("floor_divide", __floordiv__)
_binary("pow", __pow__)
_binary("remainder", __mod__)
_binary("fmod", lambda x, y: (more.fmod_tensor if isinstance(y, Tensor) else more.fmod)(x, y))
_binary_of_tensors("atan2", more.atan2, "arctan2")
for _name in ("hypot", "fmax", "fmin"):
    _binary_of_tensors(_name, getattr(more, _name))
_binary("copysign", more.copysign)
_binary_of_tensors("logaddexp", lambda x, y: _minding_booleans(more.logaddexp(x, y), x, y))
_binary_of_tensors("logaddexp2", lambda x, y: _minding_booleans(more.logaddexp2(x, y), x, y))
_binary("xlogy", lambda x, y: more.xlogy(x, as_float_like(y, x)))


def _heaviside(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype is not y.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return step_function(x, y)


_binary_of_tensors("heaviside", _heaviside)
_binary("float_power", lambda x, y: x.double() ** (y.double() if isinstance(y, Tensor) else float(y)))
_float_power_ = methods.float_power_


@method
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """`float_power`, written into this tensor, which has to be float64."""
    if self.dtype is not dtypes.float64:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.tensor_name} but the operation's result requires dtype "
            "Double"
        )
    return _float_power_(self, exponent)


_binary_of_tensors("ldexp", lambda x, y: x * 2.0**y)


def _of_integers(ufunc: Any) -> Any:
    def call(x: Tensor, y: Tensor) -> Tensor:
        a, b = _paired(x, y)
        if a.dtype.kind not in "iu":
            raise errors.not_implemented(f"{ufunc.__name__}_cpu", dtypes.of(a.dtype).tensor_name)
        return _checked(ufunc, a, b)

    return call


_binary_of_tensors("gcd", _of_integers(np.gcd))
_binary_of_tensors("lcm", _of_integers(np.lcm))
_binary_of_tensors("nextafter", lambda x, y: next_number(x if y.is_floating_point() else floating_input("nextafter_cpu", x), y))
_binary_of_tensors("maximum", table.maximum)
_binary_of_tensors("minimum", more.minimum)


def _pow_function(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input ** exponent; one of the two may be a number."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        types = f"{errors.type_name(input)}, {errors.type_name(exponent)}"
        raise TypeError(f"pow() received an invalid combination of arguments - got ({types}), but expected one of:\n")
    result = input**exponent
    return result if out is None else into(out, result, "pow")


register(_pow_function, "pow")


@function(inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
    for name, other in (("end", end), ("weight", weight)):
        if not isinstance(other, Tensor) or (name == "weight" and not other._data.ndim):
            continue
        if other._data.dtype is not input._data.dtype:
            raise RuntimeError(f"expected dtype {input.dtype.c_name} for `{name}` but got dtype {other.dtype.c_name}")
    if input._data.dtype.kind != "f":
        kernel = f"lerp_kernel_{'tensor' if isinstance(weight, Tensor) else 'scalar'}"
        raise errors.not_implemented(kernel, input.dtype.tensor_name)
    errors.broadcast_shapes(*(x._data.shape for x in (input, end, weight) if isinstance(x, Tensor)))
    return more.lerp_tensor(input, end, weight) if isinstance(weight, Tensor) else more.lerp(input, end, weight)


@function(inplace=True)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    x, y, z = _promoted(input, tensor1, tensor2)
    kernels.refuse_booleans("addcmul_cpu_out", x._data)
    factor = plain(value) if x._data.dtype.kind == "f" else int(plain(value))
    return _watching(more.addcmul(x, y, z, factor), (y, tensor1), (z, tensor2))


INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
    "tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
    "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
    "addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
)


@function(inplace=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 / tensor2; RuntimeError if both of these are integers."""
    if tensor1._data.dtype.kind != "f" and tensor2._data.dtype.kind != "f":
        raise RuntimeError(INTEGER_ADDCDIV)
    x, y, z = _promoted(input, tensor1, tensor2)
    return _watching(more.addcdiv(x, y, z, plain(value)), (y, tensor1), (z, tensor2))


def _promoted(*tensors: Any) -> tuple[Any, ...]:
    """Tensors (or None) of one type, checked to broadcast."""
    tensors = tuple(t if isinstance(t, Tensor) else plain(t) for t in tensors)
    present = [t for t in tensors if t is not None]
    errors.broadcast_shapes(*(np.shape(raw(t)) for t in present))
    wanted = dtypes.result_type(*(raw(t) for t in present))
    return tuple(None if t is None else _typed(t, wanted) for t in tensors)


def _watching(result: Tensor, *pairs: tuple[Tensor, Tensor]) -> Tensor:
    """The result, whose node keeps the first of each pair: made of the second, and spoilt by a write into that."""
    for made, given in pairs:
        inplace.move_guards(result._node, made._counter, given._counter)
    return result


def _typed(t: Any, wanted: dtypes.DType) -> Any:
    if not isinstance(t, Tensor):
        return wrap(dtypes.cast(t, wanted))
    return t if t._data.dtype == wanted.numpy else converted(t, wanted)


@function(inplace=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the same shape and type with one number everywhere."""
    if isinstance(value, Tensor) and value._data.ndim:
        dims = value._data.ndim
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {dims} dimensions.")
    return more.copied(input, value if isinstance(value, Tensor) else wrap(dtypes.fitting(plain(value), input.dtype)))


@function(names=("conj", "resolve_conj", "resolve_neg", "conj_physical"))
def real(input: Tensor) -> Tensor:
    """The tensor itself: minigrad has real numbers only."""
    return input


def imag(input: Tensor) -> Tensor:
    """RuntimeError: minigrad has real numbers only."""
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


register(imag, "imag", method=False)
methods.real, methods.imag = property(real), property(imag)


# ------------------------------------------------------------------------------------------- choosing


@function(inplace=True, names=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """input, but at least `min` and at most `max`: numbers or tensors."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if all(b is None or isinstance(b, Tensor) for b in (min, max)):
            return more.clamp_tensor(*_promoted(input, min, max))
        min, max = (b.item() if isinstance(b, Tensor) and not b._data.ndim else b for b in (min, max))
    min, max = (b.item() if isinstance(b, np.generic) else b for b in (min, max))
    if not all(b is None or isinstance(b, (int, float)) for b in (min, max)):
        raise TypeError("the bounds are two tensors or two numbers")
    kind = dtypes.result_type(input._data, *(b for b in (min, max) if b is not None))
    fitted = [b if b is None else dtypes.fitting(b, kind) for b in (min, max)]
    if not kind.is_floating_point:
        min, max = fitted
    return more.clamp(_typed(input, kind), min, max)


@function(inplace=True)
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """input, but at least `min`."""
    return _shown_as("ClampMinBackward", clamp(input, min, None), min)


@function(inplace=True)
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """input, but at most `max`."""
    return _shown_as("ClampMaxBackward", clamp(input, None, max), max)


def _shown_as(name: str, x: Tensor, bound: Any) -> Tensor:
    if x._node is not None:
        x._node.__class__ = inplace.renamed(type(x._node), f"{name}{1 if isinstance(bound, Tensor) else 0}")
    return x


def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """`input` where the condition holds, else `other`. With the condition only: the indices where it holds.

    >>> torch.where(torch.tensor([True, False]), 1.0, torch.tensor([5.0, 6.0]))
    tensor([1., 6.])
    """
    if input is None and other is None:
        return tuple(wrap(part) for part in np.nonzero(np.atleast_1d(condition._data)))
    mask = condition._data
    if mask.dtype.kind != "b":
        if mask.dtype != np.uint8:
            raise RuntimeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.tensor_name}"
            )
        mask = mask.astype(bool)
    x, y = _promoted(input, other)
    for number in (input, other):
        if not isinstance(number, Tensor):
            dtypes.fitting(plain(number), dtypes.before_half(x.dtype))
    errors.broadcast_shapes(np.shape(mask), np.shape(raw(x)), np.shape(raw(y)))
    result = table.where(x, y, mask)
    return result if out is None else into(out, result, "where")


register(where, "where", method=False)


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor's elements where the condition holds, those of `other` elsewhere."""
    return where(condition, self, other)


methods.where = told(_where, "where", True)


@function
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` where the mask holds."""
    if mask._data.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.c_name}")
    errors.broadcast_shapes(mask._data.shape, input._data.shape)
    if isinstance(value, Tensor) and value._data.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._data.ndim} dimension(s)."
        )
    number = dtypes.fitting(plain(value), input.dtype)
    fill = value if isinstance(value, Tensor) else wrap(number)
    return more.masked_fill(input, _typed(fill, input.dtype), mask._data)


def _masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    errors.broadcast_shapes(input._data.shape, mask._data.shape)  # written into, the tensor is named first
    return masked_fill(input, mask, value)


in_place("masked_fill", _masked_fill_)


# ------------------------------------------------------------------------------------------- number types


@function
def to(input: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """The tensor in another number type: `x.to(float64)`, `x.to(other)`; itself if it has the type already."""
    wanted = keywords.get("dtype")
    known = {"dtype", "device", "non_blocking", "copy", "memory_format", "other"}
    typed = wanted is None or isinstance(wanted, dtypes.DType) or wanted in (float, int, bool)
    if not known.issuperset(keywords) or not typed:
        given = ", ".join([*map(errors.type_name, args), *(f"{n}={errors.type_name(v)}" for n, v in keywords.items())])
        raise TypeError(f"to() received an invalid combination of arguments - got ({given}), but expected one of:\n")
    check_device(keywords.get("device"))
    for arg in args:
        if isinstance(arg, Tensor):
            wanted = arg.dtype
        elif isinstance(arg, dtypes.DType) or arg in (float, int, bool):
            wanted = dtypes.resolve(arg)
        elif not isinstance(arg, bool) and arg is not None:
            check_device(arg)
    if wanted is None or input._data.dtype == wanted.numpy:
        return table.clone(input) if keywords.get("copy") else input
    return converted(input, dtypes.resolve(wanted))


def _converting(name: str, wanted: dtypes.DType) -> None:
    def convert(self: Tensor, *, memory_format: Any = None) -> Tensor:
        return self if self._data.dtype == wanted.numpy else converted(self, wanted)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {wanted}; itself if it is."
    setattr(Tensor, name, convert)


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


@function
def is_nonzero(input: Tensor) -> bool:
    """Whether the one number in here is not 0.  RuntimeError for another number of elements."""
    return bool(input)


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

# ------------------------------------------------------------------------------------------- writing

for _symbol, _recorded in (
    ("add", table.add), ("sub", table.sub), ("mul", table.mul), ("truediv", table.div), ("pow", __pow__),
    ("floordiv", __floordiv__), ("mod", __mod__),
    *((symbol, getattr(methods, f"__{symbol}__")) for symbol in ("and", "or", "xor", "lshift", "rshift")),
):  # fmt: skip
    setattr(Tensor, f"__i{_symbol}__", inplace.assignment(_recorded))


@method
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor's memory."""
    if not _is_operand(src):
        raise errors.must_be_tensor("copy_", "other", 1, src)
    value = src.to(self.dtype) if isinstance(src, Tensor) else wrap(dtypes.cast(src, self.dtype))
    inplace.check_writable(self)
    inplace.check_overlap(self, (value,))
    together = errors.broadcast_shapes(self._data.shape, value._data.shape)
    if together != self._data.shape:
        raise RuntimeError(
            f"output with shape {list(self._data.shape)} doesn't match the broadcast shape {list(together)}"
        )
    inplace.copy(self, more.copied, value)
    return self


@method
def fill_(self: Tensor, value: Any) -> Tensor:
    """The same number everywhere."""
    if isinstance(value, Tensor) and value._data.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._data.ndim} dimensions."
        )
    if isinstance(value, Tensor):
        return inplace.overwrite(self, more.fill_tensor, value.to(self.dtype))
    if not isinstance(value, (int, float, np.generic)):
        kind = errors.type_name(value)
        raise TypeError(f"fill_() received an invalid combination of arguments - got ({kind}), but expected one of:\n")
    return inplace.overwrite(self, more.fill, dtypes.fitting(plain(value), self.dtype))


@method
def zero_(self: Tensor) -> Tensor:
    """Zeros everywhere."""
    return inplace.overwrite(self, more.zero)


@method
def apply_(self: Tensor, callable: Any) -> Tensor:
    """Write callable(v) for each number v: a call of Python each, and no gradient.  RuntimeError if it requires grad."""
    return _written_each("apply_", self, callable)


@method
def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Write callable(u, v) for each of these numbers u and those v of a tensor that broadcasts, as `apply_` does."""
    return _written_each("map_", self, callable, tensor)


@method
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """`map_` with two more tensors."""
    return _written_each("map2_", self, callable, x, y)


def _written_each(name: str, target: Tensor, function: Any, *others: Tensor) -> Tensor:
    if any(t.requires_grad for t in (target, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    inplace.check_writable(target)
    shape = target._data.shape
    numbers = zip(*(np.broadcast_to(t._data, shape).ravel().tolist() for t in (target, *others)), strict=True)
    values = np.array([function(*each) for each in numbers]).reshape(shape)
    inplace.commit(target, wrap(dtypes.cast(values, target.dtype)))
    return target


@method
def detach(self: Tensor) -> Tensor:
    """The same numbers in the same memory, cut off from the graph."""
    out = wrap(self._writable())
    out._counter = self._counter
    if self._node is not None:
        note_lost(out, "detach")
    return out


register(detach, "detach", method=False)


@method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both have one shape."""
    return bool(self._data.shape == other._data.shape)


@method
def element_size(self: Tensor) -> int:
    """How many bytes an element takes."""
    return int(self._data.dtype.itemsize)


methods.nbytes = property(lambda self: int(self._data.nbytes), doc="How many bytes the elements take.")
methods.itemsize = property(element_size, doc="How many bytes an element takes.")
methods.ndimension, methods.nelement = Tensor.dim, Tensor.numel
register(Tensor.numel, "numel")


@method
def data_ptr(self: Tensor) -> int:
    """Where the first element stands in memory: equal for tensors that share it."""
    return int(self._writable().ctypes.data)


@method
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed down to a shape that broadcasts to this tensor's."""
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    if not shape:
        return reductions.sum(self)
    lead = self._data.ndim - len(shape)
    if lead < 0 or any(n not in (1, own) for n, own in zip(shape, self._data.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self._data.shape)}}}.")
    dims = (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 != self._data.shape[i + lead]))
    return table.sum_dims(self, dims, True).reshape(shape) if dims else self


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


# The other files of operations attach their methods when they are loaded (those of public.LATER: later).
FILES = (diagonals, joining, ordering, picking, products, rearranging, reductions, shapes, splitting)
