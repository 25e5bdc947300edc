"""What the student calls, elementwise: operators, and functions such as `exp`, `clamp`, `where`.

Nothing here has a rule of its own: every derivative follows from the lines of the table. What is added is PyTorch's
face: names, keywords, number types and messages.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, inplace, kernels, layout
from minigrad import more_derivatives as more
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
    is_number,
    is_operand,
    methods,
    plain,
    raw,
    register,
    renamed,
    told,
    wrapped,
)
from minigrad.tape import Node
from minigrad.tensor import Tensor, method, wrap
from minigrad.versions import noticing

# ------------------------------------------------------------------------------------------- operators

methods.__add__ = methods.__radd__ = table.add
methods.__sub__ = table.sub
methods.__rsub__ = table.rsub
methods.__mul__ = methods.__rmul__ = table.mul
methods.__truediv__ = table.div


def _edges(node: Any) -> Any:
    """In PyTorch's node the number of 1 - x has no place."""
    both = Node.next_functions.fget(node)  # type: ignore[attr-defined]
    return both if node.parents[1] is not None else both[:1]


table.rsub.operation.further["next_functions"] = property(_edges)  # type: ignore[attr-defined]


@method
def __rtruediv__(self: Tensor, other: Any) -> Tensor:
    known = is_operand(other) or isinstance(other, np.ndarray)  # whose own `*` is asked
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
    return table.power(self, plain(exponent)) if exponent else table.power_zero(self, plain(exponent))


@method
def __rpow__(self: Tensor, base: Any) -> Tensor:
    if isinstance(base, Tensor):
        return _minding_booleans(table.power_tensor(base, self), self)
    return table.power_base(as_tensor_like(plain(base), self), *_promoted(self)) if isinstance(base, (int, float, np.generic)) else NotImplemented


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


def _underived(name: str) -> Any:
    """The rule of an operation that PyTorch has no rule for."""

    def refuse(g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return refuse


floor_division: Any = operation(
    "NotImplemented", lambda x, y: kernels.divide_rounded(x, y, "floor"), *[_underived("floor_divide")] * 2
)
step_function: Any = operation(
    "NotImplemented", lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype)[()], *[_underived("heaviside")] * 2
)
next_number: Any = operation(
    "Nextafter", np.nextafter, lambda g, x, y: table.where(x == y, g, 0.0), lambda g: table.zeros(g)
)


@method
def __floordiv__(self: Tensor, other: Any) -> Tensor:
    return floor_division(self, other)


@method
def __rfloordiv__(self: Tensor, other: Any) -> Tensor:
    return floor_division(as_tensor_like(other, self), self) if is_operand(other) else NotImplemented


@method
def __mod__(self: Tensor, other: Any) -> Tensor:
    return (more.remainder_tensor if isinstance(other, Tensor) else more.remainder)(self, other)


@method
def __rmod__(self: Tensor, other: Any) -> Tensor:
    return more.remainder_tensor(as_tensor_like(other, self), self) if is_operand(other) else NotImplemented


methods.__abs__ = table.abs

# ------------------------------------------------------------------------------------------- one argument


def _unary(name: str, recorded: Any, *names: str) -> None:
    def call(input: Tensor, *, out: Any = None) -> Tensor:
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
for _name in ("erf",):
    _unary(_name, getattr(more, _name))
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _unary(f"a{_name}", getattr(more, f"a{_name}"), f"arc{_name}") if hasattr(more, f"a{_name}") else None
_unary("trunc", more.trunc, "fix")
_unary("abs", table.abs, "absolute")
_unary("neg", __neg__, "negative")
_unary("sign", table.sign)
_unary("sgn", lambda x: noticing(out := as_one_node(table.sign(x), "SgnBackward0"), x, out))
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
    return noticing(more.copied(x, wrapped(angles)), x)


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
    out = table.rsub(_times(input, input, alpha), other)
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
        return other * alpha if is_number(other) else other
    if other._data.dtype.kind == "b":  # a boolean among booleans; elsewhere a number
        return wrap(other._data & bool(alpha)) if input._data.dtype.kind == "b" else converted(other, input.dtype) * alpha
    wide = dtypes.result_type(input._data, other._data)
    other = other if other.dtype is wide else converted(other, wide)  # in the type of the sum: bytes would overflow
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


def _copysign(x: Tensor, y: Any) -> Tensor:
    out = more.copysign(x, y)
    return out if isinstance(y, Tensor) else renamed(out, "CopysignBackward1")


_binary("true_divide", table.div)
_binary("floor_divide", __floordiv__)
_binary("pow", __pow__)
_binary("remainder", __mod__)
_binary("fmod", lambda x, y: (more.fmod_tensor if isinstance(y, Tensor) else more.fmod)(x, y))
_binary_of_tensors("atan2", more.atan2, "arctan2")
for _name in ("hypot", "fmax", "fmin"):
    _binary_of_tensors(_name, getattr(more, _name))
_binary("copysign", _copysign)
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


_binary_of_tensors("nextafter", lambda x, y: next_number(x if y.is_floating_point() else floating_input("nextafter_cpu", x), y))
_binary_of_tensors("maximum", table.maximum)
_binary_of_tensors("minimum", more.minimum)


def _pow_function(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input ** exponent; one of the two may be a number."""
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
    errors.broadcast_shapes(*(x._data.shape for x in (input, end, weight) if isinstance(x, Tensor)))
    if input._data.dtype.kind != "f":
        kernel = f"lerp_kernel_{'tensor' if isinstance(weight, Tensor) else 'scalar'}"
        raise errors.not_implemented(kernel, input.dtype.tensor_name)
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
            return more.clamp_tensor(*_promoted(input, -np.inf if min is None else min, np.inf if max is None else max))
        min, max = (b.item() if isinstance(b, Tensor) and not b._data.ndim else b for b in (min, max))
    min, max = (b.item() if isinstance(b, np.generic) else b for b in (min, max))
    if not all(b is None or isinstance(b, (int, float)) for b in (min, max)):
        raise TypeError("the bounds are two tensors or two numbers")
    kind = dtypes.result_type(input._data, *(b for b in (min, max) if b is not None))
    fitted = [b if b is None else dtypes.fitting(b, kind) for b in (min, max)]
    if not kind.is_floating_point:
        min, max = fitted
    least, most = (-np.inf, np.inf) if kind.is_floating_point else (np.iinfo(kind.numpy).min, np.iinfo(kind.numpy).max)
    return more.clamp(_typed(input, kind), least if min is None else min, most if max is None else max)


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
    result = table.where(condition if mask is condition._data else wrap(mask), x, y)
    return result if out is None else into(out, result, "where")


register(where, "where", method=False)


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor's elements where the condition holds, those of `other` elsewhere."""
    return where(condition, self, other)


methods.where = told(_where, "where", True)


# ------------------------------------------------------------------------------------------- writing

for _symbol, _recorded in (
    ("add", table.add), ("sub", table.sub), ("mul", table.mul), ("truediv", table.div), ("pow", __pow__),
    ("floordiv", __floordiv__), ("mod", __mod__),
):  # fmt: skip
    setattr(Tensor, f"__i{_symbol}__", inplace.assignment(_recorded))


@method
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and cast, into this tensor's memory."""
    if not is_operand(src):
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


