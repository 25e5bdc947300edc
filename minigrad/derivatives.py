"""The derivative table: one line an operation.

Third of the four files.  Each line gives the name PyTorch gives the node, the forward function, and one rule for each
input.  A rule maps g, the gradient of the output, to the gradient of that input.  The names it takes say what is kept
until backward: x, y and z are the inputs, out is the result, x_shape only a shape; any other name is an argument of the
forward function.  Nothing else is kept.

A rule may return a gradient that is still stretched by broadcasting, or of a wider type: the walk sums and casts it.
It returns a new array, g itself or a view of g, and uses only operators, methods that arrays and Tensors share, and
operations of this table: so that the same line runs on arrays, and on Tensors when derivatives are differentiated.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minigrad import dtypes, kernels
from minigrad.tape import TABLE, operation
from minigrad.tensor import Tensor


FLOAT64 = np.dtype(np.float64)


def floating(function: Any) -> Any:
    """A numpy function that gives floats of the default type when it is given integers."""

    def forward(x: Any) -> Any:
        return function(x if x.dtype.kind == "f" else dtypes.floating(x))

    return forward


def true_divide(x: Any, y: Any) -> Any:
    out = x / y
    whole = out.dtype is FLOAT64 and FLOAT64 not in (getattr(x, "dtype", None), getattr(y, "dtype", None))
    return out.astype(dtypes.get_default_dtype().numpy) if whole else out


# ----------------------------------------------------------------------------------------------------- arithmetic

add = operation("Add", operator.add, lambda g: g, lambda g: g)
sub = operation("Sub", operator.sub, lambda g: g, lambda g: -g)
rsub = operation("RsubBackward1", lambda x, y: y - x, lambda g: -g, lambda g: g)
mul = operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)
div = operation("Div", true_divide, lambda g, y: g / y, lambda g, x, y: -g * (x / y) / y)
neg = operation("Neg", operator.neg, lambda g: -g)
power = operation(
    "PowBackward0", lambda x, exponent: kernels.power(x, exponent), lambda g, x, exponent: g * power_slope(x, exponent)
)

# ----------------------------------------------------------------------------------------------------- elementwise

exp = operation("Exp", floating(np.exp), lambda g, out: g * out)
log = operation("Log", floating(np.log), lambda g, x: g / x)
sqrt = operation("Sqrt", floating(np.sqrt), lambda g, out: g / (2 * out))
sin = operation("Sin", floating(np.sin), lambda g, x: g * cos(x))
cos = operation("Cos", floating(np.cos), lambda g, x: -g * sin(x))
tanh = operation("Tanh", floating(np.tanh), lambda g, out: g - g * out * out)
sigmoid = operation("Sigmoid", floating(kernels.sigmoid), lambda g, out: g * (out - out * out))
relu = operation("Relu", lambda x: np.maximum(x, 0), lambda g, out: g * (out > 0))
sign = operation("Sign", np.sign, lambda g: g * 0)
abs = operation("Abs", np.absolute, lambda g, x: g * sign(x))

# ----------------------------------------------------------------------------------------------------- matrices

mm = operation("Mm", operator.matmul, lambda g, y: g @ y.mT, lambda g, x: x.mT @ g)
bmm = operation("Bmm", operator.matmul, lambda g, y: g @ y.mT, lambda g, x: x.mT @ g)

# ----------------------------------------------------------------------------------------------------- reductions

sum_all = operation("SumBackward0", lambda x: np.add.reduce(x, None), lambda g, x_shape: expand(g, x_shape))
sum_dims = operation(
    "SumBackward1",
    lambda x, dims, keepdim: np.add.reduce(x, dims, None, None, keepdim),
    lambda g, x_shape, dims, keepdim: expand(kept(g, x_shape, dims, keepdim), x_shape),
)

# ----------------------------------------------------------------------------------------------------- shapes


def kept(g: Any, x_shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> Any:
    """g with the reduced dimensions back, as size 1."""
    return g if keepdim else g.reshape(tuple(1 if i in dims else n for i, n in enumerate(x_shape)))


def power_slope(x: Any, exponent: float) -> Any:
    """exponent * x ** (exponent - 1), and 0 where the exponent is 0."""
    return x * 0 if exponent == 0 else exponent * x ** (exponent - 1)


expand = operation("Expand", lambda x, shape: np.broadcast_to(x, shape), lambda g: g, view=True)
reshape = operation("View", lambda x, shape: x.reshape(shape), lambda g, x_shape: g.reshape(x_shape), view=True)
permute = operation(
    "Permute",
    lambda x, dims: x.transpose(dims),
    lambda g, dims: permute(g, tuple(int(d) for d in np.argsort(dims))),
    view=True,
)
swap = operation(
    "Transpose", lambda x, i, j: x.swapaxes(i, j), lambda g, i, j: swap(g, i, j), view=True
)
select = operation(
    "Select", lambda x, key: x[key], lambda g, x_shape, key: place(g, x_shape, key), view=True
)
place = operation(
    "SelectBackward", lambda x, shape, key: kernels.put(shape, key, x), lambda g, key: select(g, key)
)
pick = operation("Index", lambda x, index: x[index], lambda g, x_shape, index: put(g, x_shape, index))
put = operation("IndexPut", lambda x, shape, index: kernels.put(shape, index, x), lambda g, index: pick(g, index))
clone = operation("Clone", lambda x: x.copy(), lambda g: g)
cast = operation("ToCopy", lambda x, dtype: dtypes.cast(x, dtype), lambda g: g)


def _name_the_lines() -> None:
    """Give each operation the name it has in this file."""
    for name, function in list(globals().items()):
        made = getattr(function, "operation", None)
        if made is not None and not made.name:
            made.name = function.__name__ = function.__qualname__ = name
            TABLE[name] = made


_name_the_lines()
