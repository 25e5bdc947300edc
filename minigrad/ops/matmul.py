"""Products of vectors and matrices, and Einstein's notation for all of them.

Matrix products do not promote number types: both sides must have the same one.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minigrad import derivatives as table
from minigrad import dtypes, errors
from minigrad.errors import check_dim
from minigrad.kernels import inverse_order
from minigrad.operation import attach, public
from minigrad.ops.shapes import expand_shape
from minigrad.tensor import Tensor

Shape = tuple[int, ...]


# ------------------------------------------------------------------ what does not fit together


def _by(shape: Shape) -> str:
    return "x".join(map(str, shape))


def check_dot(a: Shape, b: Shape) -> None:
    """RuntimeError unless both are vectors of one length."""
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if a != b:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of "
            f"elements, but got {a[0]} and {b[0]} elements respectively"
        )


def check_mv(a: Shape, b: Shape) -> None:
    """RuntimeError unless a matrix and a vector fit."""
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({_by(a)}), vec ({b[0]})")


def check_mm(a: Shape, b: Shape, first: str = "self", second: str = "mat2") -> None:
    """RuntimeError unless two matrices fit."""
    for name, shape in ((first, a), (second, b)):
        if len(shape) != 2:
            raise RuntimeError(f"{name} must be a matrix")
    if a[1] != b[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_by(a)} and {_by(b)})")


def check_bmm(a: Shape, b: Shape) -> None:
    """RuntimeError unless two batches of matrices fit."""
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] "
            f"but got: [{b[0]}, {b[1]}]."
        )


def check_matmul(a: Shape, b: Shape) -> None:
    """RuntimeError unless `a @ b` can be, in the words of the product that it would be."""
    if not a or not b:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    rows = a if len(a) < 2 else (math.prod(a[:-1]), a[-1])
    if len(b) == 1:
        (check_dot if len(a) == 1 else check_mv)(rows, b)
    elif len(b) == 2:
        check_mm((1, *a) if len(a) == 1 else rows, b)
    else:
        a = (1, *a) if len(a) == 1 else a
        batch = math.prod(errors.broadcast_shapes(a[:-2], b[:-2]))
        check_bmm((batch, *a[-2:]), (batch, *b[-2:]))


def check_addmm_dtypes(a: Any, b: Any, c: Any) -> None:
    """RuntimeError unless the number types of a + b @ c are the same."""
    for name, kind in (("self", a), ("mat1", b)):
        if kind is not c:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {kind.tensor_name} and {c.tensor_name}"
            )


def _check_types(x: Tensor, y: Tensor) -> None:
    """RuntimeError unless both have one number type; NotImplementedError for booleans."""
    a, b = x.dtype, y.dtype
    if a is b:
        if a is dtypes.bool_:
            raise errors.not_implemented("addmm_impl_cpu_", "Bool")
    elif x.ndim == y.ndim == 1:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {a.tensor_name} and {b.tensor_name}"
        )
    elif y.ndim == 1:
        names = f"{b.tensor_name}, {a.tensor_name}, and {b.tensor_name}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names}")
    elif y.ndim > 2:
        raise RuntimeError(f"expected scalar type {a.tensor_name} but found {b.tensor_name}")
    else:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.c_name} != {b.c_name}")


# ------------------------------------------------------------------ products


@public
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product of vectors, matrices and batches of matrices; batches broadcast.

    >>> torch.tensor([[1, 2], [3, 4]]) @ torch.tensor([1, 10])
    tensor([21, 43])
    """
    if not isinstance(other, Tensor):
        raise errors.must_be_tensor("matmul", "other", 2, other)
    return _product(input, other)


def _product(x: Tensor, y: Tensor) -> Tensor:
    a, b = x._data, y._data
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        _check_types(x, y)
    m, n = a.ndim, b.ndim
    if not m or not n or a.shape[-1] != b.shape[max(-2, -n)]:
        check_matmul(a.shape, b.shape)
    if m == n == 2:
        return table.mm(x, y)
    if n == 1 and m <= 2:
        return (table.dot if m == 1 else table.mv)(x, y)
    if n == 1:
        return table.unsafe_view(table.mv(_rows(x), y), a.shape[:-1])
    if m == 1 and n == 2:
        row = table.mm(x.unsqueeze(0), y)
        return table.squeeze_row(row, row._data.shape[1:])
    if m == 1:
        return _product(y.mT, x)
    if n == 2:
        return table.rows_mm(x, y)
    if m == 2 and x._node is not None:
        return _product(y.mT, x.mT).mT.contiguous()
    return table.batch_mm(x, y)


def _rows(x: Tensor) -> Tensor:
    """All rows of x under one another."""
    shape = x._data.shape
    return x.reshape(math.prod(shape[:-1]), shape[-1])


def __matmul__(self: Tensor, other: Any) -> Tensor:
    if not isinstance(other, Tensor):
        return NotImplemented
    return _product(self, other)


def __rmatmul__(self: Tensor, other: Any) -> Any:
    return NotImplemented


@public
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n, m) and (m, p): (n, p)."""
    check_mm(input._data.shape, mat2._data.shape)
    _check_types(input, mat2)
    return table.mm(input, mat2)


@public
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices, (b, n, m) and (b, m, p): (b, n, p)."""
    check_bmm(input._data.shape, mat2._data.shape)
    _check_types(input, mat2)
    return table.bmm(input, mat2)


@public
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n, m) and a vector (m,): (n,)."""
    check_mv(input._data.shape, vec._data.shape)
    _check_types(input, vec)
    return table.mv(input, vec)


@public
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of products of two vectors."""
    check_dot(input._data.shape, tensor._data.shape)
    _check_types(input, tensor)
    return table.dot(input, tensor)


@public
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every product of an element of one vector and one of the other, (n,) and (m,): (n, m)."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return table.mul(input.view(-1, 1), vec2)


@public
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last dimensions of both."""
    if not input.ndim or not other.ndim:
        return table.mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@public
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    check_mm(mat1._data.shape, mat2._data.shape, "mat1", "mat2")
    check_addmm_dtypes(input.dtype, mat1.dtype, mat2.dtype)
    target = mat1.shape[0], mat2.shape[1]
    kind = f"torch.{input.dtype.tensor_name}Tensor"
    expand_shape(input._data.shape, target, kind)
    return table.addmm(input, mat1, mat2, beta, alpha)


@public
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return table.trace(input)


@public
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums of products over several dimensions.

    `dims` is a number, for the last of a and the first of b, or a pair of lists.
    """
    left, right = _pairs(dims, a.ndim, b.ndim)
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    for i, j in zip(left, right):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.shape[i]} in dim {i} and second has size {b.shape[j]} in dim {j}"
            )
    left = [check_dim(d, a.ndim) for d in left]
    right = [check_dim(d, b.ndim) for d in right]
    for i, j in zip(left, right):
        if a.shape[i] != b.shape[j]:  # against a single number all are summed
            a = a.sum(i, keepdim=True)
            b = b.sum(j, keepdim=True)
    rows = [d for d in range(a.ndim) if d not in left]
    columns = [d for d in range(b.ndim) if d not in right]
    x = a.permute(*rows, *left).reshape(_count(a, rows), _count(a, left))
    y = b.permute(*right, *columns).reshape(_count(b, right), _count(b, columns))
    shape = [a.shape[d] for d in rows] + [b.shape[d] for d in columns]
    return mm(x, y).reshape(shape)


def _pairs(dims: Any, m: int, n: int) -> tuple[list[int], list[int]]:
    if not isinstance(dims, int):
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
        return left, right
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(m, n):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


def _count(x: Tensor, dims: Sequence[int]) -> int:
    return math.prod(x._data.shape[d] for d in dims)


# ------------------------------------------------------------------- einsum


def einsum(equation: str, *operands: Any) -> Tensor:
    """Einstein's summation: repeated letters are multiplied, missing ones summed.

    Each operand gets one dimension for each letter, in one order for all; then operands
    are multiplied from left to right, and a letter is summed as soon as no later operand
    has it. `...` stands for dimensions that broadcast.

    >>> torch.einsum("ij,j->i", torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 10]))
    tensor([21, 43])
    """
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {errors.type_name(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    terms, output = _terms(equation.replace(" ", ""), operands)
    _check_letters(terms, output, operands)
    summed = [c for c in dict.fromkeys("".join(terms)) if c not in output]
    order = output + "".join(summed)
    pieces = [_arranged(x, term, order) for x, term in zip(operands, terms)]
    last = {c: i for i, term in enumerate(terms) for c in term}

    def ending(i: int) -> tuple[int, ...]:
        return tuple(order.index(c) for c in summed if last[c] == i)

    if len(pieces) == 1:
        return table.sum_dims(pieces[0], ending(0), False) if summed else pieces[0]
    result = _summed(pieces[0], ending(0))
    for i, piece in enumerate(pieces[1:], 1):
        result = _contracted(result, piece, ending(i))
    return result.reshape(result._data.shape[: len(output)]) if summed else result


def _terms(equation: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the output; digits name the dimensions of `...`."""
    left, arrow, right = equation.partition("->")
    for at, c in enumerate(equation):
        part_of_arrow = arrow and at in (len(left), len(left) + 1)
        if not (c.isascii() and c.isalpha()) and c not in ".," and not part_of_arrow:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation "
                "string, subscripts must be in [a-zA-Z]"
            )
    terms = left.split(",")
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at "
            "least one operand and its subscripts list"
        )
    if len(terms) != len(operands):
        few = "more" if len(terms) < len(operands) else "fewer"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    rests = [_rest(i, term, x) for i, (term, x) in enumerate(zip(terms, operands))]
    dots = "0123456789"[: max(rests)]
    terms = [t.replace("...", dots[len(dots) - n :]) for t, n in zip(terms, rests)]
    if arrow:
        return terms, right.replace("...", dots)
    every = "".join(terms)
    once = [c for c in sorted(set(every)) if every.count(c) == 1 and c not in dots]
    return terms, dots + "".join(once)


def _rest(i: int, term: str, x: Any) -> int:
    """How many dimensions of operand i `...` stands for."""
    if not isinstance(x, Tensor):
        raise TypeError(f"expected Tensor as element {i} in argument 1, but got {errors.type_name(x)}")
    letters = term.replace("...", "", 1)
    if "." in letters:
        raise RuntimeError(f"einsum(): found '.' for operand {i} that is not part of any ellipsis")
    rest = x.ndim - len(letters)
    if rest < 0 or (rest and letters == term):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(letters)}) does "
            f"not match the number of dimensions ({x.ndim}) for operand {i} and no "
            "ellipsis was given"
        )
    return rest


def _check_letters(terms: list[str], output: str, operands: Sequence[Tensor]) -> None:
    """RuntimeError for sizes that do not fit, or an output that cannot be."""
    size: dict[str, int] = {}
    for i, (term, x) in enumerate(zip(terms, operands)):
        own: dict[str, int] = {}
        for c, n in zip(term, x._data.shape):
            if own.setdefault(c, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't match, {n} != {own[c]}"
                )
            if n != 1 and size.get(c, 1) not in (1, n):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {i} which does "
                    f"not broadcast with previously seen size {size[c]}"
                )
            size[c] = n if n != 1 else size.get(c, 1)
    for c in output:
        if c not in size:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
        if output.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")


def _arranged(x: Tensor, term: str, order: str) -> Tensor:
    """x with one dimension for each letter, of size 1 for those that it does not have."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = x.diagonal(0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    for c in order:
        if c not in term:
            x = x.unsqueeze(-1)
            term += c
    return table.permute(x, tuple(term.index(c) for c in order))


def _summed(x: Tensor, dims: Sequence[int]) -> Tensor:
    return table.sum_dims(x, tuple(dims), True) if dims else x


def _contracted(x: Tensor, y: Tensor, gone: Sequence[int]) -> Tensor:
    """x * y summed over the dimensions `gone`, by one product of batches of matrices."""
    if x.dtype is not y.dtype and gone:
        raise RuntimeError(f"expected scalar type {x.dtype.tensor_name} but found {y.dtype.tensor_name}")
    x = _summed(x, [d for d in gone if y._data.shape[d] == 1 != x._data.shape[d]])
    y = _summed(y, [d for d in gone if x._data.shape[d] == 1 != y._data.shape[d]])
    a, b = x._data.shape, y._data.shape
    if not gone:
        return table.mul(x, y)
    dims = [d for d in range(len(a)) if d not in gone]
    batch = [d for d in dims if a[d] != 1 and b[d] != 1]
    rows = [d for d in dims if d not in batch and b[d] == 1]
    columns = [d for d in dims if d not in batch and d not in rows]
    n, k = _count(x, batch), _count(x, gone)
    left = x.permute(*batch, *rows, *gone, *columns).reshape(n, _count(x, rows), k)
    right = y.permute(*batch, *gone, *columns, *rows).reshape(n, k, _count(y, columns))
    sizes = [*(a[d] for d in (*batch, *rows)), *(b[d] for d in columns)]
    product = bmm(left, right).view(*sizes, *(1 for _ in gone))
    return product.permute(inverse_order((*batch, *rows, *columns, *gone)))


attach(__matmul__, __rmatmul__, matmul, mm, bmm, mv, dot, outer, inner, addmm, trace)
