"""The derivative table: every rule of the engine, one line an operation.

A line gives the name PyTorch gives the node, the forward function, and one
rule for each input.  A rule maps g, the gradient of the output, to the
gradient of that input.  The names it takes say what is saved for backward:

    x, y, z, u   the inputs, in order
    out          the result
    x_shape      only the shape of an input
    others       arguments of the forward function
Nothing else is saved.  None in place of a rule: that input has no gradient.
Rules use operators, methods that arrays and Tensors share, and operations of
this table: so they run on arrays in a plain backward pass, and on Tensors with
create_graph.  The walk sums over what was broadcast, and casts to the input's dtype.
"""

# mypy: disable-error-code="has-type"
# (rules name operations that are defined further down)

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import dtypes, kernels
from .kernels import Windows, count, fold_rows, of_kinds, whole
from .operation import enter, joined, operation
from .tensor import Tensor, wrap

Shape = tuple[int, ...]
floating = kernels.floating


def zeros(g: Any) -> Any:
    """Zeros like g: the gradient where a function does not depend on x."""
    return wrap(np.zeros_like(g._data)) if isinstance(g, Tensor) else np.zeros_like(g)


def underivable(g: Any) -> Any:
    """RuntimeError: this operation has no derivative, as in PyTorch."""
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


def differentiated_twice(g: Any) -> Any:
    """RuntimeError: this backward must not be differentiated."""
    raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


# The line breaks of a row show its parts.
# fmt: off


def several(names: str, *row: Any, **kinds: Any) -> Any:
    """Operations that differ only in the names of their nodes."""
    return (operation(name, *row, **kinds) for name in names.split())

# ------------------------------------------------------------ arithmetic

add = operation("Add", operator.add, lambda g: g, lambda g: g)
sub = operation("Sub", operator.sub, lambda g: g, lambda g: -g, promote=dtypes.promote_numbers)
rsub = operation("RsubBackward1", lambda x, number: number - x, lambda g: -g)
mul = operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)
div = operation("Div", kernels.true_divide, lambda g, y: g / y, lambda g, x, y: -g * ((x / y) / y))
neg = operation("Neg", kernels.negative, lambda g: -g)
reciprocal = operation("Reciprocal", floating(np.reciprocal), lambda g, out: -g * out * out)
power = operation("PowBackward0", kernels.power, lambda g, x, exponent: g * exponent * x ** (exponent - 1))
power_zero = operation("PowBackward0", kernels.power, lambda g, x: zeros(g))
power_tensor, power_base = several(
    "PowBackward1 PowBackward2", np.power,
    lambda g, x, y, out: where(y == 0, 0.0, g * y * x ** (y - 1)),
    lambda g, x, y, out: g * where((x == 0) & (y >= 0), 0.0, out * log(x)),
)
remainder, remainder_tensor = several(
    "RemainderBackward0 RemainderBackward1", whole(kernels.remainder, "remainder_cpu"),
    lambda g: g, lambda g, x, y: -g * div_rounded(x, y, "floor"),
)
fmod = operation("Fmod", whole(np.fmod, "fmod_cpu"), lambda g: g, lambda g, x, y: -g * div_rounded(x, y, "trunc"))
div_rounded = operation("DivBackward2", kernels.divide_rounded, zeros, zeros)
floor_divide = operation("NotImplemented", kernels.floor_divide, underivable, underivable)

# ----------------------------------------------------------- elementwise

exp = operation("Exp", floating(np.exp), lambda g, out: g * out)
expm1 = operation("Expm1", floating(np.expm1), lambda g, out: g * (out + 1))
log = operation("Log", floating(np.log), lambda g, x: g / x)
log1p = operation("Log1P", floating(np.log1p), lambda g, x: g / (x + 1))
log2 = operation("Log2", floating(np.log2), lambda g, x: g / (x * math.log(2)))
log10 = operation("Log10", floating(np.log10), lambda g, x: g / (x * math.log(10)))
sqrt = operation("Sqrt", floating(np.sqrt), lambda g, out: g / (2 * out))
rsqrt = operation("Rsqrt", floating(lambda x: 1 / np.sqrt(x)), lambda g, out: -0.5 * g * out**3)
sin = operation("Sin", floating(np.sin), lambda g, x: g * cos(x))
cos = operation("Cos", floating(np.cos), lambda g, x: -g * sin(x))
tan = operation("Tan", floating(np.tan), lambda g, out: g * (1 + out * out))
asin = operation("Asin", floating(np.arcsin), lambda g, x: g * rsqrt(1 - x * x))
acos = operation("Acos", floating(np.arccos), lambda g, x: -g * rsqrt(1 - x * x))
atan = operation("Atan", floating(np.arctan), lambda g, x: g / (x * x + 1))
atan2 = operation(
    "Atan2", lambda x, y: np.arctan2(dtypes.floating(x), dtypes.floating(y)),
    lambda g, x, y: g * where((x == 0) & (y == 0), 0.0, y / (x * x + y * y)),
    lambda g, x, y: g * where((x == 0) & (y == 0), 0.0, -x / (x * x + y * y)),
)
sinh = operation("Sinh", floating(np.sinh), lambda g, x: g * cosh(x))
cosh = operation("Cosh", floating(np.cosh), lambda g, x: g * sinh(x))
tanh = operation("Tanh", floating(np.tanh), lambda g, out: tanh_slope(g, out))
tanh_slope = operation(
    "TanhBackwardBackward0", lambda x, y: x * (1 - y * y),
    lambda g, y: tanh_slope(g, y), lambda g, x, y: -2 * g * x * y,
)
sigmoid = operation("Sigmoid", kernels.sigmoid, lambda g, out: g * (1 - out) * out)
logsigmoid = operation("LogSigmoid", kernels.logsigmoid, lambda g, x: g * sigmoid(-x))
softplus = operation(
    "Softplus", kernels.softplus,
    lambda g, x, beta, threshold: where(x * beta > threshold, g, g * sigmoid(x * beta)),
)
relu = operation("Relu", kernels.relu, lambda g, out: relu_slope(g, out))
relu_slope = operation(
    "ThresholdBackwardBackward0", lambda x, y: kernels.where(y > 0, x, 0.0),
    lambda g, y: relu_slope(g, y), zeros,
)
leaky_relu = operation(
    "LeakyRelu", of_kinds("f", "leaky_relu_cpu")(lambda x, slope: np.where(x > 0, x, x * slope)),
    lambda g, x, slope: locally_constant(where(x > 0, g, g * slope), x),
)
gelu = operation("Gelu", kernels.gelu, lambda g, x, approximate: g * gelu_slope(x, approximate))
erf = operation("Erf", kernels.erf, lambda g, x: g * (2 / math.sqrt(math.pi)) * exp(-x * x))

# ------------------------------------------------ comparing and choosing

abs = operation("Abs", of_kinds("fiu", "abs_cpu")(np.absolute), lambda g, x: g * sign(x))
sign = operation("Sign", kernels.sign, zeros)
floor, ceil, trunc = (
    operation(name, of_kinds("fiu", f"{name.lower()}_vml_cpu")(ufunc), zeros)
    for name, ufunc in (("Floor", np.floor), ("Ceil", np.ceil), ("Trunc", np.trunc))
)
round = operation(
    "Round", of_kinds("fiu", "round_vml_cpu")(lambda x, decimals: np.round(x, decimals)), zeros)
nan_to_num = operation(
    "NanToNum", lambda x, nan, high, low: np.nan_to_num(x, True, nan, high, low),
    lambda g, x: g * (abs(x) < math.inf),
)
unless_smaller = lambda g, x, y: where(x < y, 0.0, where(x == y, g / 2, g))
unless_larger = lambda g, x, y: where(x > y, 0.0, where(x == y, g / 2, g))
maximum = operation("Maximum", np.maximum, unless_smaller, unless_larger)
minimum = operation("Minimum", np.minimum, unless_larger, unless_smaller)
clamp, clamp_min, clamp_max = several(
    "ClampBackward1 ClampMin ClampMax", lambda x, low, high: np.minimum(np.maximum(x, low), high),
    lambda g, x, low, high: where((low <= x) & (x <= high), g, 0.0),
)
at_least, clamp_min_tensor = several(
    "ClampBackward0 ClampMinBackward1", np.maximum,
    lambda g, x, y: where(x < y, 0.0, g), lambda g, x, y: where(x < y, g, 0.0),
)
at_most, clamp_max_tensor = several(
    "ClampBackward0 ClampMaxBackward1", np.minimum,
    lambda g, x, y: where(x > y, 0.0, g), lambda g, x, y: where(x > y, g, 0.0),
)
# x is the condition
where = operation(
    "Where", kernels.where,
    None,
    lambda g, x: where(x, g, 0.0), lambda g, x: where(x, 0.0, g),
)
# z is the mask
masked_fill, masked_fill_tensor = several(
    "MaskedFillBackward0 MaskedFillBackward1", lambda x, y, mask: np.where(mask, y, x),
    lambda g, z: where(z, 0.0, g), lambda g, z: where(z, g, 0.0),
    None,
)

# A gradient, x, that small changes of the input, y, do not change: y gets a gradient of zeros, not None.
locally_constant = operation("LocallyConstant", lambda x, y: x, lambda g: g, lambda g, y: zeros(y))

# Drawn numbers do not change with the parameters of their distribution.

drawn_bernoulli = operation("Bernoulli", lambda x, drawn: drawn, zeros)
drawn_normal = operation("NormalBackward3", lambda x, y, drawn: drawn, zeros, zeros, promote=None)

# A write replaces what was there, so the old numbers (x) get zeros.

fill = operation("FillBackward2", lambda x, value: np.full_like(x, value), zeros)
zero = operation("Zero", np.zeros_like, zeros)
copied = operation("CopyBackwards", kernels.copied, zeros, lambda g: g)

# ------------------------------------------------------------ reductions

# unreduce gives g its reduced dimensions again, as size 1, so that it can be
# broadcast with x; count(x_shape, dims) is how many elements were reduced.

sum_all = operation("SumBackward0", lambda x: kernels.total(x, None), lambda g, x_shape: expand(g, x_shape))
sum_dims = operation(
    "SumBackward1", kernels.sum_dims,
    lambda g, x_shape, dims, keepdim: expand(unreduce(g, x_shape, dims, keepdim), x_shape),
)
mean_all = operation("MeanBackward0", kernels.mean_all, lambda g, x_shape: expand(g / count(x_shape), x_shape))
mean_dims = operation(
    "MeanBackward1", kernels.mean_dims,
    lambda g, x_shape, dims, keepdim: expand(unreduce(g, x_shape, dims, keepdim) / count(x_shape, dims), x_shape),
)
prod_all = operation(
    "ProdBackward0", lambda x: kernels.product(x, None),
    lambda g, x, out: g * product_of_others(x, out, None),
)
prod_dim = operation(
    "ProdBackward1", kernels.prod_dim,
    lambda g, x, out, dim, keepdim: (
        unreduce(g, x.shape, (dim,), keepdim)
        * product_of_others(x, unreduce(out, x.shape, (dim,), keepdim), dim)),
)
var = operation(
    "Var", kernels.var,
    lambda g, x, dims, correction, keepdim: var_gradient(unreduce(g, x.shape, dims, keepdim), x, dims, correction),
)
std = operation(
    "Std", lambda x, dims, correction, keepdim: np.sqrt(kernels.var(x, dims, correction, keepdim)),
    lambda g, x, out, dims, correction, keepdim: var_gradient(
        unreduce(where(out == 0, 0.0, g / (2 * out)), x.shape, dims, keepdim), x, dims, correction),
)
vector_norm = operation(
    "LinalgVectorNorm", lambda x, dims, keepdim: np.sqrt(kernels.sum_dims(x * x, dims, keepdim)),
    lambda g, x, out, dims, keepdim: unreduce(g, x.shape, dims, keepdim) * direction(
        x, unreduce(out, x.shape, dims, keepdim)),
)
order_norm = operation(
    "LinalgVectorNorm", kernels.order_norm,
    lambda g, x, out, order, dims, keepdim: None if order == 0 else unreduce(g, x.shape, dims, keepdim) * sign(x) * where(
        x == 0, 1.0, direction(abs(x), unreduce(out, x.shape, dims, keepdim))) ** (order - 1),
)
logsumexp = operation(
    "Logsumexp", kernels.logsumexp,
    lambda g, x, out, dims, keepdim: (
        unreduce(g, x.shape, dims, keepdim) * exp(x - unreduce(out, x.shape, dims, keepdim))),
)
max_all, min_all, median_all = (
    operation(name, forward, lambda g, x, out: where(attained(x, out), g / attained(x, out).sum(), 0.0))
    for name, forward in (
        ("MaxBackward1", lambda x: kernels.largest(x, None)),
        ("MinBackward1", lambda x: kernels.smallest(x, None)),
        ("MedianBackward0", kernels.median),
    )
)
amax, amin = (
    operation(name, forward, lambda g, x, out, dims, keepdim: among_equals(
        unreduce(g, x.shape, dims, keepdim), x == unreduce(out, x.shape, dims, keepdim), dims
    ))
    for name, forward in (
        ("Amax", lambda x, dims, keepdim: kernels.largest(x, dims, None, None, keepdim)),
        ("Amin", lambda x, dims, keepdim: kernels.smallest(x, dims, None, None, keepdim)),
    )
)
# y is the index of the element chosen in each row
max_dim, min_dim, median_dim, sort, topk = several(
    "MaxBackward0 MinBackward0 MedianBackward1 Sort Topk", kernels.picked,
    lambda g, x_shape, y, dim, keepdim: put_along(unreduce(g, x_shape, (dim,), keepdim), y, x_shape, dim),
    None,
)
cumsum = operation(
    "Cumsum", kernels.cumsum,
    lambda g, dim: flip(cumsum(flip(g, (dim,)), dim), (dim,)),
)
cumprod = operation("Cumprod", kernels.cumprod, lambda g, x, out, dim: cumprod_gradient(g, x, out, dim))

# ---------------------------------------------------- softmax and losses

softmax = operation("Softmax", kernels.softmax, lambda g, out, dims: (g - sum_dims(g * out, dims, True)) * out)
log_softmax = operation("LogSoftmax", kernels.log_softmax, lambda g, out, dims: g - exp(out) * sum_dims(g, dims, True))
mse_loss = operation(
    "MseLoss", kernels.mse_loss,
    lambda g, x, y, reduction: each(g, x, reduction) * 2 * (x - y),
    lambda g, x, y, reduction: each(g, x, reduction) * 2 * (y - x),
)
smooth_l1_loss = operation(
    "SmoothL1Loss", kernels.smooth_l1_loss,
    lambda g, x, y, reduction, beta: each(g, x, reduction) * clamp((x - y) / beta, -1, 1),
    lambda g, x, y, reduction, beta: each(g, x, reduction) * clamp((y - x) / beta, -1, 1),
)
huber_loss = operation(
    "HuberLoss", kernels.huber_loss,
    lambda g, x, y, reduction, delta: each(g, x, reduction) * clamp(x - y, -delta, delta),
    lambda g, x, y, reduction, delta: each(g, x, reduction) * clamp(y - x, -delta, delta),
)
# z is the weight
bce_loss = operation(
    "BinaryCrossEntropy", kernels.bce_loss,
    lambda g, x, y, z, reduction: each(g, x, reduction) * weighted((x - y) / clamp((1 - x) * x, 1e-12, math.inf), z),
    lambda g, x, y, z, reduction: each(g, x, reduction) * weighted(log(1 - x) - log(x), z),
    None,
)
# z is the weight, u that of the 1s in y
bce_with_logits_loss = operation(
    "BinaryCrossEntropyWithLogits", kernels.bce_with_logits_loss,
    lambda g, x, y, z, u, reduction: (
        each(g, x, reduction) * weighted((1 - y) * sigmoid(x) - weighted(y, u) * sigmoid(-x), z)),
    lambda g, x, y, z, u, reduction: each(g, x, reduction) * weighted(logsigmoid(-x) - weighted(logsigmoid(x), u), z),
    None, None,
)
# y are the classes, z the weight of each
nll_loss, nll_loss2d = several(
    "NllLoss NllLoss2D", kernels.nll_loss,
    lambda g, x, y, z, total: locally_constant(
        put_along(-column(weighted(g, z) / (total or 1)), column(y), x.shape, 1), x),
    None, None,
)

# -------------------------------------------------------------- matrices

mm, bmm, batch_mm = several(
    "Mm Bmm UnsafeViewBackward0", operator.matmul,
    lambda g, y: g @ y.mT, lambda g, x: x.mT @ g,
)
mv = operation("Mv", operator.matmul, lambda g, y: g.reshape((-1, 1)) * y, lambda g, x: x.mT @ g)
dot = operation("Dot", operator.matmul, lambda g, y: g * y, lambda g, x: g * x)
# x has any number of leading dimensions
rows_mm = operation(
    "UnsafeViewBackward0", kernels.rows_mm,
    lambda g, y: rows_mm(g, y.mT),
    lambda g, x: fold_rows(x).mT @ fold_rows(g),
)
# x is the bias, y the input, z the (out, in) weight
linear, linear_nd = several(
    "Addmm View", kernels.linear,
    lambda g: g, lambda g, z: rows_mm(g, z),
    lambda g, y: fold_rows(g).mT @ fold_rows(y),
)
addmm = operation("Addmm", lambda x, y, z: x + y @ z, lambda g: g, lambda g, z: g @ z.mT, lambda g, y: y.mT @ g)
det = operation("LinalgDet", kernels.det, lambda g, x, out: (g * out)[..., None, None] * inv(x).mT)
inv = operation("LinalgInvEx", kernels.inverse, lambda g, out: -(out.mT @ g @ out.mT))
solve = operation(
    "LinalgSolveEx", kernels.solve,
    lambda g, x, out: -(solve(x.mT, g) @ out.mT),
    lambda g, x, out: solve(x.mT, g),
)

# ----------------------------------------------------------------- shape

clone = operation("Clone", lambda x: x.copy(), lambda g: g)
cast = operation("ToCopy", dtypes.cast, lambda g: g)
expand = operation("Expand", kernels.expand, lambda g: g, view=True)
reshape, squeeze, squeeze_dim, unsqueeze = several(
    "View SqueezeBackward0 SqueezeBackward1 Unsqueeze",
    lambda x, shape: x.reshape(shape),
    lambda g, x_shape: g.reshape(x_shape),
    view=True,
)
# of a result that nothing else holds, so no view
unsafe_view, squeeze_row = several(
    "UnsafeViewBackward0 SqueezeBackward4", lambda x, shape: x.reshape(shape),
    lambda g, x_shape: g.reshape(x_shape),
)
permute = operation(
    "Permute", lambda x, dims: x.transpose(dims),
    lambda g, dims: permute(g, kernels.inverse_order(dims)),
    view=True,
)
swap, transpose = several("Transpose T", kernels.swap, lambda g, i, j: swap(g, i, j), view=True)
diagonal = operation(
    "Diagonal", kernels.diagonal,
    lambda g, x_shape, offset, i, j: put_diagonal(g, x_shape, offset, i, j),
    view=True,
)
put_diagonal, diag_embed = several(
    "DiagonalBackward DiagEmbed", kernels.put_diagonal,
    lambda g, offset, i, j: diagonal(g, offset, i, j),
)
flip = operation("Flip", kernels.flip, lambda g, dims: flip(g, dims))
roll = operation(
    "Roll", lambda x, shifts, dims: np.roll(x, shifts, dims),
    lambda g, shifts, dims: roll(g, kernels.negated(shifts), dims),
)
repeat = operation(
    "Repeat", lambda x, repeats: np.tile(x, repeats),
    lambda g, x_shape, repeats: unrepeat(g, x_shape, repeats),
)
tril = operation("Tril", lambda x, offset: np.tril(x, offset), lambda g, offset: tril(g, offset))
triu = operation("Triu", lambda x, offset: np.triu(x, offset), lambda g, offset: triu(g, offset))
pad = operation("ConstantPadNd", kernels.pad, lambda g, widths: pad(g, kernels.negated_pairs(widths), 0.0))

# These take any number of tensors; the one rule serves input number i.

cat = joined(
    "Cat", lambda arrays, dim, bounds: np.concatenate(arrays, dim),
    lambda g, i, dim, bounds: part(g, dim, slice(*bounds[i : i + 2])),
)
stack = joined("Stack", np.stack, lambda g, i, dim: part(g, dim, i))

# -------------------------------------------------------------- indexing

# Indexing with integers and slices gives a view; its rule, `place`, puts g at
# these places of a tensor of zeros.

select, slice_, split, split_sizes, unbind, narrowed_alias = several(
    "Select Slice Split SplitWithSizes Unbind Alias", lambda x, key: x[key],
    lambda g, x_shape, key: place(g, x_shape, key),
    view=True,
)
place = operation("SliceBackward", kernels.place, lambda g, key: slice_(g, key))

# Indexing with tensors and masks gives a copy; y is the index, for `dims`.

pick = operation("Index", kernels.pick, lambda g, x_shape, y, dims: put(g, y, x_shape, dims), None)
# saves x too, as PyTorch does
masked_select = operation("MaskedSelect", kernels.pick, lambda g, x, y, dims: put(g, y, x.shape, dims), None)
index_select = operation(
    "IndexSelect", kernels.select_rows,
    lambda g, x_shape, y, dims: put(g, y, x_shape, dims),
    None,
)
# the row `padding` gets no gradient
embedding = operation(
    "Embedding", lambda x, y, padding: x[y],
    lambda g, x_shape, y, padding: put(where((y != padding)[..., None], g, 0.0), y, x_shape, (0,)),
    None,
)
put = operation("IndexPut", kernels.put, lambda g, y, dims: pick(g, y, dims), None)
index_put = operation(
    "IndexPut", kernels.index_put,
    lambda g, y, dims: index_put(g, y, 0, dims),
    None,
    lambda g, y, dims: pick(g, y, dims),
)
index_add = operation("IndexAdd", kernels.index_add, lambda g: g, None, lambda g, y, z, dims: index_select(g, y, dims))
gather = operation("Gather", kernels.gather, lambda g, x, y, dim: put_along(g, y, x.shape, dim), None)
put_along = operation("ValueSelectingReductionBackward", kernels.put_along, lambda g, y, dim: gather(g, y, dim), None)
scatter = operation(
    "ScatterBackward0", kernels.scatter,
    lambda g, y, dim: scatter_value(g, y, 0, dim),
    None,
    lambda g, y, dim: gather(g, y, dim),
)
scatter_value = operation("ScatterBackward1", kernels.scatter, lambda g, y, dim: scatter_value(g, y, 0, dim), None)
scatter_add = operation("ScatterAdd", kernels.scatter_add, lambda g: g, None, lambda g, y, dim: gather(g, y, dim))

# ---------------------------------------------------- layers of networks

# y is the weight and z the bias.  In a convolution and in pooling,
# `windows` holds size, stride and so on of the windows on the input.

layer_norm, batch_norm = several(
    "NativeLayerNorm NativeBatchNorm", lambda x, y, z, stats: standard(x, stats) * y + z,
    lambda g, x, y, stats: standard_slope(g * y, x, stats),
    lambda g, x, stats: g * standard(x, stats),
    lambda g, x: locally_constant(g, x),
)
conv2d = operation(
    "Convolution", kernels.conv2d,
    lambda g, x, y, windows, groups: conv_input(g, x.shape, y, windows, groups),
    lambda g, x, y, windows, groups: conv_weight(g, x, y.shape, windows, groups),
    lambda g, x, y: locally_constant(sum_dims(g, (0, 2, 3), False), x),
)
# y is the index of the largest element of each window
max_pool2d = operation(
    "MaxPool2DWithIndices", kernels.pick,
    lambda g, x, y, dims: locally_constant(put(g, y, x.shape, dims), x),
    None,
)
avg_pool2d = operation(
    "AvgPool2D", kernels.avg_pool2d,
    lambda g, x, windows: locally_constant(fold(averaged(g, windows), x.shape, windows), x),
)
unfold = operation("Im2Col", kernels.unfold, lambda g, x_shape, windows: fold(g, x_shape, windows))
fold = operation("Col2Im", kernels.fold, lambda g, windows: unfold(g, windows))

# --------------------------------------------- functions that rules call

# fmt: on


def unreduce(g: Any, x_shape: Shape, dims: Shape, keepdim: bool) -> Any:
    """g with the reduced dimensions back, as size 1."""
    if keepdim or not x_shape:
        return g
    return g.reshape(tuple(1 if i in dims else n for i, n in enumerate(x_shape)))


def attained(x: Any, out: Any) -> Any:
    """Where x is the maximum (or minimum); a nan counts as one."""
    return (x == out) | (x != x)


def among_equals(g: Any, same: Any, dims: Shape) -> Any:
    """g divided evenly among the elements that equal the maximum."""
    return g * same / sum_dims(same, dims, True)


def each(g: Any, x: Any, reduction: str) -> Any:
    """The gradient of each element's loss, from that of their mean or sum."""
    return g / count(x.shape) if reduction == "mean" else g


def weighted(x: Any, weight: Any) -> Any:
    """x * weight, or x where there is no weight."""
    return x if weight is None else x * weight


def column(x: Any) -> Any:
    """x with a new dimension after the first, unless it is one number."""
    return x[:, None] if x.ndim else x


def moments(x: Any, dims: Shape, eps: float) -> tuple[Any, ...]:
    """dims, eps, the mean of x over dims, and 1 / sqrt(variance + eps): what `standard` has to know."""
    mean = mean_dims(x, dims, True)
    centred = x - mean
    return dims, eps, mean, rsqrt(mean_dims(centred * centred, dims, True) + eps)


def standard(x: Any, stats: Any) -> Any:
    """x with mean 0 and variance 1.  The moments of an array are known; those of a Tensor have to be recorded."""
    _, _, mean, scale = moments(x, *stats[:2]) if isinstance(x, Tensor) else stats
    return (x - mean) * scale


def standard_slope(g: Any, x: Any, stats: Any) -> Any:
    """The gradient of `standard`: x also changes the mean and the scale."""
    dims, _, mean, scale = moments(x, *stats[:2]) if isinstance(x, Tensor) else stats
    out = (x - mean) * scale
    return (g - mean_dims(g, dims, True) - out * mean_dims(g * out, dims, True)) * scale


def conv_input(g: Any, x_shape: Shape, y: Any, windows: Windows, groups: int) -> Any:
    """The gradient of a convolution's input, added up over its windows."""
    n, outputs, rows, columns = g.shape
    size = outputs // groups
    weight = y.reshape((groups, size, count(y.shape[1:])))
    back = weight.mT @ g.reshape((n, groups, size, rows * columns))
    return fold(back.reshape((n, groups * back.shape[2], rows * columns)), x_shape, windows)


def conv_weight(g: Any, x: Any, y_shape: Shape, windows: Windows, groups: int) -> Any:
    """The gradient of a convolution's weight: g times the windows, summed."""
    n, outputs, rows, columns = g.shape
    inputs, places = count(y_shape[1:]), rows * columns
    seen = unfold(x, windows).reshape((n, groups, inputs, places))
    g = g.reshape((n, groups, outputs // groups, places))
    return sum_dims(g @ seen.mT, (0,), False).reshape(y_shape)


def averaged(g: Any, windows: Windows) -> Any:
    """g divided evenly among the elements of each window, as columns."""
    n, channels, rows, columns = g.shape
    size, places = count(windows.kernel), rows * columns
    g = expand((g / size).reshape((n, channels, 1, places)), (n, channels, size, places))
    return g.reshape((n, channels * size, places))


def gelu_slope(x: Any, approximate: str) -> Any:
    """The derivative of gelu, or of its approximation by tanh."""
    if approximate == "none":
        density = exp(-x * x / 2) * (1 / math.sqrt(2 * math.pi))
        return (1 + erf(x * math.sqrt(0.5))) / 2 + x * density
    a = math.sqrt(2 / math.pi)
    t = tanh(a * (x + 0.044715 * x**3))
    slope = a * (1 + 3 * 0.044715 * x * x)
    return (1 + t) / 2 + x / 2 * (1 - t * t) * slope


def var_gradient(g: Any, x: Any, dims: Shape, correction: float) -> Any:
    """g * 2 (x - mean) / (n - correction)."""
    return 2 * g * (x - mean_dims(x, dims, True)) / (count(x.shape, dims) - correction)


def direction(x: Any, norm: Any) -> Any:
    """x / norm, and 0 where the norm is 0."""
    return x / where(norm == 0, math.inf, norm)


def product_of_others(x: Any, out: Any, dim: int | None) -> Any:
    """For each element the product of the others, of all or along one dimension."""
    if x.ndim == 0:
        return 1
    if dim is None:
        return product_of_others(x.reshape((-1,)), out, 0).reshape(x.shape)
    if not kernels.has_zero(x):
        return out / x
    return to_last(prod_dim(each_one(to_last(x, dim)), x.ndim, False), dim)


def cumprod_gradient(g: Any, x: Any, out: Any, dim: int) -> Any:
    """For each element the sum of g times the products up to there, without this element."""
    if count(x.shape) <= 1 or x.shape[dim] == 1:
        return g
    if not kernels.has_zero(x):
        return flip(cumsum(flip(g * out, (dim,)), dim), (dim,)) / x
    n, g = x.ndim, to_last(g, dim)
    products = triu(cumprod(each_one(to_last(x, dim)), n), 0)
    return to_last(sum_dims(g.reshape((*g.shape[:-1], 1, g.shape[-1])) * products, (n,), False), dim)


def each_one(x: Any) -> Any:
    """(..., n) to (..., n, n): in row i element i is replaced by 1."""
    n = x.shape[-1]
    rows = expand(x.reshape((*x.shape[:-1], 1, n)), (*x.shape, n))
    return where(np.eye(n, dtype=bool), 1.0, rows)


def to_last(x: Any, dim: int) -> Any:
    """x with this dimension and the last one exchanged."""
    return swap(x, dim, x.ndim - 1)


def unrepeat(g: Any, shape: Shape, repeats: Shape) -> Any:
    """The sum of g over the repetitions."""
    shape = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    folded = g.reshape(tuple(n for pair in zip(repeats, shape) for n in pair))
    return sum_dims(folded, tuple(range(0, 2 * len(shape), 2)), False)


def part(g: Any, dim: int, key: Any) -> Any:
    """The part of g along one dimension."""
    return slice_(g, (slice(None),) * dim + (key, ...))


# ------------------------------------------------ writing into a view

# x owns the memory, y was written to its view
copy_slices = operation(
    "CopySlices", kernels.write_view, lambda g, path: cut_view(g, path), lambda g, path: kernels.follow(g, path)
)
cut_view = operation("CutView", kernels.cut_view, lambda g, path: cut_view(g, path))
refuse = operation("Error", lambda x: x.copy(), differentiated_twice)


enter(globals())
