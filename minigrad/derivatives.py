"""The derivative table: one line an operation.

Third of the four files.  Each line gives the name PyTorch gives the node, the forward function, and one rule for each
input.  A rule maps g, the gradient of the output, to the gradient of that input.  The names it takes say what is kept
until backward: x, y and z are the inputs, out is the result, x_shape only a shape; any other name is an argument of the
forward function.  Nothing else is kept.

A rule may return a gradient that is still stretched by broadcasting, or of a wider type: the walk sums and casts it.
It returns a new array, g itself or a view of g, and uses only operators, methods that arrays and Tensors share, and
operations of this table: so that the same line runs on arrays, and on Tensors when derivatives are differentiated.
"""

# mypy: disable-error-code="has-type"
# (rules name operations that stand further down)

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minigrad import dtypes, gathering, kernels, layout
from minigrad.kernels import floating, fold_rows, largest, power_slope, smallest
from minigrad.layout import count, in_order
from minigrad.operations import operation
from minigrad.sums import total
from minigrad.tape import TABLE
from minigrad.tensor import Tensor, wrap

Shape = tuple[int, ...]


def constant(function: Any) -> Any:
    """A function whose derivative is 0 wherever it has one, such as a comparison: computed, never recorded."""

    def apply(x: Any, *others: Any) -> Any:
        if isinstance(x, Tensor) or (others and any(isinstance(y, Tensor) for y in others)):
            return wrap(function(*(a._data if isinstance(a, Tensor) else a for a in (x, *others))))
        return function(x, *others)

    apply.__doc__ = function.__doc__
    return apply


zeros, attained, tied, larger_share = map(
    constant, (np.zeros_like, kernels.attained, kernels.tied, kernels.larger_share)
)


# ------------------------------------------------------------------------------------------- arithmetic

add = operation("Add", operator.add, lambda g: g, lambda g: g)
sub = operation("Sub", operator.sub, lambda g: g, lambda g: -g)
rsub = operation("RsubBackward1", lambda x, y: y - x, lambda g: -g, lambda g: g)
mul = operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)
div = operation("Div", kernels.true_divide, lambda g, y: g / y, lambda g, x, y: -g * ((x / y) / y))
neg = operation("Neg", operator.neg, lambda g: -g)
reciprocal = operation("Reciprocal", floating(np.reciprocal), lambda g, out: -g * out * out)
power = operation("PowBackward0", kernels.power, lambda g, x, exponent: g * power_slope(x, exponent))
power_tensor = operation(
    "PowBackward1",
    kernels.power_tensor,
    lambda g, x, y, out: where(g * (y * x ** (y - 1)), 0.0, y != 0),
    lambda g, x, y, out: g * where(0.0, out * log(x), (x == 0) & (y >= 0)),
)
power_base = operation(
    "PowBackward2",
    kernels.power_base,
    lambda g, x, out, base: g * where(0.0, out * kernels.log_of(base), (x >= 0) & (base == 0)),
)

# ------------------------------------------------------------------------------------------- elementwise

exp = operation("Exp", kernels.exp, lambda g, out: g * out)
log = operation("Log", kernels.log, lambda g, x: g / x)
log1p = operation("Log1P", kernels.log1p, lambda g, x: g / (x + 1))
sqrt = operation("Sqrt", floating(np.sqrt), lambda g, out: g / (2 * out))
rsqrt = operation("Rsqrt", floating(lambda x: 1 / np.sqrt(x)), lambda g, out: g * -0.5 * out**3)
sin = operation("Sin", kernels.sin, lambda g, x: g * cos(x))
cos = operation("Cos", kernels.cos, lambda g, x: -g * sin(x))
tan = operation("Tan", floating(np.tan), lambda g, out: g * (1 + out * out))
tanh = operation("Tanh", kernels.tanh, lambda g, out: g * (1 - out * out))
sigmoid = operation("Sigmoid", floating(kernels.sigmoid), lambda g, out: g * (1 - out) * out)
relu = operation("Relu", kernels.relu, lambda g, out: gate(g, out))
gate = operation("ThresholdBackward", kernels.gate, lambda g, y: gate(g, y), lambda g, y: zeros(y))
abs = operation("Abs", kernels.absolute, lambda g, x: g * sign(x))
sign = operation("Sign", kernels.sign, lambda g: zeros(g))
maximum = operation(
    "Maximum",
    np.maximum,
    lambda g, x, y: where(0.0, g * larger_share(x, y), x < y),
    lambda g, x, y: where(0.0, g * larger_share(y, x), y < x),
)
where = operation(
    "Where",
    kernels.choose,
    lambda g, condition: where(g, 0.0, condition),
    lambda g, condition: where(0.0, g, condition),
)

# ------------------------------------------------------------------------------------------- matrices

# rows_mm multiplies the rows of x, however many leading dimensions they have; in linear, x is the bias.

mm = operation("Mm", operator.matmul, lambda g, y: g @ y.mT, lambda g, x: x.mT @ g)
bmm = operation("Bmm", operator.matmul, lambda g, y: bmm(g, y.mT), lambda g, x: bmm(x.mT, g))
mv = operation("Mv", operator.matmul, lambda g, y: g.reshape((-1, 1)) * y, lambda g, x: x.mT @ g)
dot = operation("Dot", operator.matmul, lambda g, y: g * y, lambda g, x: g * x)
rows_mm = operation(
    "UnsafeViewBackward0", kernels.rows_mm, lambda g, y: rows_mm(g, y.mT), lambda g, x: fold_rows(x).mT @ fold_rows(g)
)
batch_mm = operation("UnsafeViewBackward0", operator.matmul, lambda g, y: g @ y.mT, lambda g, x: x.mT @ g)
linear = operation(  # x is the bias, y the input with any number of leading dimensions, z the weight (out, in)
    "Addmm",
    kernels.linear,
    lambda g: g,
    lambda g, z: rows_mm(g, z),
    lambda g, y: fold_rows(g).mT @ fold_rows(y),
)

# ------------------------------------------------------------------------------------------- reductions

sum_all = operation("SumBackward0", lambda x: total(x, None), lambda g, x_shape: expand(g, x_shape))
sum_dims = operation(
    "SumBackward1",
    total,
    lambda g, x_shape, dims, keepdim: expand(kept(g, x_shape, dims, keepdim), x_shape),
)
mean_all = operation(
    "MeanBackward0",
    kernels.mean_all,
    lambda g, x_shape: stretch(g / count(x_shape), x_shape),
)
mean_dims = operation(
    "MeanBackward1",
    kernels.mean_dims,
    lambda g, x_shape, dims, keepdim: stretch(kept(g, x_shape, dims, keepdim) / count(x_shape, dims), x_shape),
)
max_all, min_all, median_all = (
    operation(name, forward, lambda g, x, out: where(g * tied(x, out, None), 0.0, attained(x, out)))
    for name, forward in (
        ("MaxBackward1", lambda x: largest(x, None)),
        ("MinBackward1", lambda x: smallest(x, None)),
        ("MedianBackward0", kernels.median_all),
    )
)
amax, amin = (
    operation(
        name,
        forward,
        lambda g, x, out, dims, keepdim: (
            kept(g, x.shape, dims, keepdim) * tied(x, kept(out, x.shape, dims, keepdim), dims, False)
        ),
    )
    for name, forward in (
        ("Amax", lambda x, dims, keepdim: in_order(largest(x, dims, None, None, keepdim))),
        ("Amin", lambda x, dims, keepdim: in_order(smallest(x, dims, None, None, keepdim))),
    )
)
softmax = operation("Softmax", kernels.softmax, lambda g, out, dim: (g - sum_dims(g * out, (dim,), True)) * out)
log_softmax = operation("LogSoftmax", kernels.log_softmax, lambda g, out, dim: g - exp(out) * sum_dims(g, (dim,), True))


def kept(g: Any, x_shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Any:
    """g with the reduced dimensions back, as size 1."""
    return g if keepdim else g.reshape(tuple(1 if i in dims else n for i, n in enumerate(x_shape)))


def stretch(g: Any, shape: Shape) -> Any:
    """g repeated to this shape; a Tensor, which may be written into, in memory of its own."""
    wide = expand(g, shape)
    return clone(wide) if isinstance(wide, Tensor) else wide


# ------------------------------------------------------------------------------------------- shapes

clone = operation("Clone", layout.duplicate, lambda g: g)
cast = operation("ToCopy", dtypes.cast, lambda g: g)
expand = operation("Expand", layout.broadcast, lambda g: g, view=True)
reshape = operation("View", lambda x, shape: x.reshape(shape), lambda g, x_shape: g.reshape(x_shape), view=True)
squeeze, squeeze_dim, squeeze_dims, unsqueeze, alias = (
    operation(name, lambda x, shape: x.reshape(shape), lambda g, x_shape: g.reshape(x_shape), view=True)
    for name in ("SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2", "Unsqueeze", "Alias")
)
permute = operation(
    "Permute", lambda x, dims: x.transpose(dims), lambda g, dims: permute(g, layout.inverse_order(dims)), view=True
)
swap, transpose = (operation(name, layout.swap, lambda g, i, j: swap(g, i, j), view=True) for name in ("Transpose", "T"))

# ------------------------------------------------------------------------------------------- parts

# A part picked by integers and slices is a view; one picked by index arrays or masks is a copy.

select, slice_, split, split_sizes, unbind, narrowed_alias = (
    operation(name, lambda x, key: x[key], lambda g, x_shape, key: place(g, x_shape, key), view=True, part=True)
    for name in ("Select", "Slice", "Split", "SplitWithSizes", "Unbind", "Alias")
)
place = operation("SliceBackward", lambda x, shape, key: gathering.put(shape, key, x), lambda g, key: slice_(g, key))
pick = operation("Index", gathering.indexed, lambda g, x_shape, index: put(g, x_shape, index))
put = operation("IndexPut", lambda x, shape, index: gathering.put(shape, index, x), lambda g, index: pick(g, index))

TABLE.update({name: f.operation for name, f in list(globals().items()) if hasattr(f, "operation")})
for _name, _operation in TABLE.items():
    _operation.name = _operation.function.__name__ = _name
