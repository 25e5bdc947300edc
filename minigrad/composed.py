"""Operations composed of those in the table, and what the student calls: operators, methods, functions.

Nothing here has a rule of its own: a derivative of what is composed follows from the lines of derivatives.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, indexing, inplace
from minigrad.tape import mode
from minigrad.tensor import Tensor, method, wrap

# ----------------------------------------------------------------------------------------------------- operators

Tensor.__add__ = Tensor.__radd__ = table.add
Tensor.__sub__ = table.sub
Tensor.__rsub__ = table.rsub
Tensor.__mul__ = Tensor.__rmul__ = table.mul
Tensor.__truediv__ = table.div
Tensor.__neg__ = table.neg
Tensor.__abs__ = table.abs
for _name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "abs", "sign", "neg", "clone"):
    setattr(Tensor, _name, getattr(table, _name))


def _compare(function: Any) -> Any:
    def compare(self: Tensor, other: Any) -> Any:
        b = other._data if isinstance(other, Tensor) else other
        if not isinstance(b, (int, float, np.generic, np.ndarray)):
            return NotImplemented
        return wrap(function(*dtypes.promote(self._data, b)))

    return compare


Tensor.__gt__, Tensor.__ge__ = _compare(np.greater), _compare(np.greater_equal)
Tensor.__lt__, Tensor.__le__ = _compare(np.less), _compare(np.less_equal)
Tensor.__eq__, Tensor.__ne__ = _compare(np.equal), _compare(np.not_equal)


@method
def pow(self: Tensor, exponent: Any) -> Tensor:
    """self ** exponent."""
    return table.power(self, exponent)


Tensor.__pow__ = pow


@method
def sum(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum over all elements, or over the dimensions `dim`."""
    if dim is None:
        return table.sum_all(self)
    return table.sum_dims(self, errors.check_dims(dim, self._data.ndim), keepdim)


@method
def mean(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    total = self.sum(dim, keepdim)
    return total * (total.numel() / self.numel())


@method
def detach(self: Tensor) -> Tensor:
    """The same numbers in the same memory, cut off from the graph."""
    out = wrap(self._writable())
    out._version = self._version
    return out


@method
def to(self: Tensor, dtype: Any) -> Tensor:
    return self if self.dtype is dtype else table.cast(self, dtype)


@method
def reshape(self: Tensor, *shape: Any) -> Tensor:
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return table.reshape(self, errors.infer_size(sizes, self.numel()))


Tensor.mT = property(lambda self: table.swap(self, -2, -1))
Tensor.T = property(lambda self: table.permute(self, tuple(range(self._data.ndim))[::-1]))


@method
def matmul(self: Tensor, other: Tensor) -> Tensor:
    return table.mm(self, other)


Tensor.__matmul__ = matmul


@method
def __getitem__(self: Tensor, index: Any) -> Tensor:
    parsed = indexing.parse(index, self._data.shape)
    view = table.select(self, parsed.basic)
    return view if parsed.advanced is None else table.pick(view, parsed.advanced)


@method
def copy_(self: Tensor, source: Any) -> Tensor:
    """Write `source` into this tensor's memory."""
    inplace.check_writable(self)
    value = source if isinstance(source, Tensor) else wrap(np.asarray(source, self._data.dtype))
    inplace.commit(self, table.expand(self.to(value.dtype) * 0 + value if False else value, self._data.shape).clone())
    return self


@method
def add_(self: Tensor, other: Any) -> Tensor:
    return inplace.write(self, table.add, other)


@method
def zero_(self: Tensor) -> Tensor:
    inplace.check_writable(self)
    inplace.commit(self, wrap(np.zeros(self._data.shape, self._data.dtype)))
    return self


@method
def exp_(self: Tensor) -> Tensor:
    return inplace.write(self, table.exp)


Tensor.__iadd__ = add_
