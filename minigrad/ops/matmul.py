"""Products of vectors and matrices, and Einstein's notation for all of them.

Matrix products do not promote number types: both sides must have the same one.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import derivatives as table
from .. import errors
from ..dtypes import bool_
from ..errors import check, check_dim
from ..operation import attach, public
from ..tensor import Tensor
from .shapes import expand_shape, listed

Shape = tuple[int, ...]


# ------------------------------------------------------------------ what does not fit together


def _by(shape: Shape) -> str:
    return "x".join(map(str, shape))


def check_dot(a: Shape, b: Shape) -> None:
    """RuntimeError unless both are vectors of one length."""
    vectors = len(a) == len(b) == 1
    check(vectors, f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    sizes = f"expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements"
    words = f"{sizes}, but got {a[0]} and {b[0]} elements respectively"
    check(a == b, f"inconsistent tensor size, {words}")


def check_mv(a: Shape, b: Shape) -> None:
    """RuntimeError unless a matrix and a vector fit."""
    fit = len(a) == 2 and len(b) == 1
    check(fit, f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    check(a[1] == b[0], f"size mismatch, got input ({a[0]}), mat ({_by(a)}), vec ({b[0]})")


def check_mm(a: Shape, b: Shape) -> None:
    """RuntimeError unless two matrices fit."""
    for name, shape in (("self", a), ("mat2", b)):
        check(len(shape) == 2, f"{name} must be a matrix")
    words = f"mat1 and mat2 shapes cannot be multiplied ({_by(a)} and {_by(b)})"
    check(a[1] == b[0], words)


def check_bmm(a: Shape, b: Shape) -> None:
    """RuntimeError unless two batches of matrices fit."""
    for name, shape in (("batch1", a), ("batch2", b)):
        check(len(shape) == 3, f"{name} must be a 3D tensor")
    words = "Expected size for first two dimensions of batch2 tensor to be"
    wanted, given = [a[0], a[2]], [*b[:2]]
    check(wanted == given, f"{words}: {wanted} but got: {given}.")


def check_matmul(a: Shape, b: Shape) -> None:
    """RuntimeError unless `a @ b` can be, in the words of the product that it would be."""
    words = f"but they are {len(a)}D and {len(b)}D"
    check(a and b, f"both arguments to matmul need to be at least 1D, {words}")
    rows = a if len(a) < 2 else (math.prod(a[:-1]), a[-1])
    if len(b) == 1:
        (check_dot if len(a) == 1 else check_mv)(rows, b)
    elif len(b) == 2:
        check_mm((1, *a) if len(a) == 1 else rows, b)
    else:
        a = (1, *a) if len(a) == 1 else a
        batch = math.prod(errors.broadcast_shapes(a[:-2], b[:-2]))
        check_bmm((batch, *a[-2:]), (batch, *b[-2:]))


def check_types(x: Tensor, y: Tensor) -> None:
    """RuntimeError unless both have one number type, NotImplementedError for booleans."""
    a, b = x.dtype, y.dtype
    kinds = f"{a.c_name} != {b.c_name}"
    check(a is b, f"expected m1 and m2 to have the same dtype, but got: {kinds}")
    errors.numbers_only("addmm_impl_cpu_", a)


# ------------------------------------------------------------------ products


def _checked(check_shapes: Any, row: Any, x: Tensor, y: Tensor) -> Tensor:
    check_shapes(x._data.shape, y._data.shape)
    check_types(x, y)
    return row(x, y)


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
    if a.dtype is not b.dtype or a.dtype is bool_.numpy:
        check_types(x, y)
    m, n = a.ndim, b.ndim
    if not m or not n or a.shape[-1] != b.shape[max(-2, -n)]:
        check_matmul(a.shape, b.shape)
    if m == n == 2:
        return table.mm(x, y)
    if n == 1 and m <= 2:
        return (table.dot if m == 1 else table.mv)(x, y)
    if n == 1:
        rows = x.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return table.unsafe_view(table.mv(rows, y), a.shape[:-1])
    if m == 1:
        row = _product(x.unsqueeze(0), y)
        return table.squeeze_row(row, (*b.shape[:-2], b.shape[-1]))
    return (table.rows_mm if n == 2 else table.batch_mm)(x, y)


def __matmul__(self: Tensor, other: Any) -> Tensor:
    if not isinstance(other, Tensor):
        return NotImplemented
    return _product(self, other)


def __rmatmul__(self: Tensor, other: Any) -> Any:
    return NotImplemented


@public
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n, m) and (m, p): (n, p)."""
    return _checked(check_mm, table.mm, input, mat2)


@public
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices, (b, n, m) and (b, m, p): (b, n, p)."""
    return _checked(check_bmm, table.bmm, input, mat2)


@public
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n, m) and a vector (m,): (n,)."""
    return _checked(check_mv, table.mv, input, vec)


@public
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of products of two vectors."""
    return _checked(check_dot, table.dot, input, tensor)


@public
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every product of an element of one vector and one of the other, (n,) and (m,): (n, m)."""
    for name, v in (("self", input), ("vec2", vec2)):
        check(v.ndim == 1, f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return table.mul(input.view(-1, 1), vec2)


@public
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last dimensions of both."""
    if not input.ndim or not other.ndim:
        return table.mul(input, other)
    check(input.shape[-1] == other.shape[-1], "inner() the last dimension must match on both input tensors")
    return tensordot(input, other, ([-1], [-1]))


@public
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    check_mm(mat1._data.shape, mat2._data.shape)
    check_types(mat1, mat2)
    expand_shape(input, (mat1.shape[0], mat2.shape[1]))
    x = input if beta == 1 else input * beta
    return table.addmm(x, mat1 if alpha == 1 else mat1 * alpha, mat2)


@public
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    errors.numbers_only("trace", input.dtype)
    check(input.ndim == 2, f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return input.diagonal().sum()


@public
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums of products over several dimensions.

    `dims` is a number, for the last of a and the first of b, or a pair of lists.
    """
    if isinstance(dims, int):
        errors.at_least(0, dims, "tensordot expects dims >= 0, but got dims={}")
        words = f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}"
        check(dims <= min(a.ndim, b.ndim), words)
        dims = range(-dims, 0), range(dims)
    left, right = ([check_dim(d, x.ndim) for d in part] for x, part in zip((a, b), dims))
    check(len(left) == len(right), "both dimension lists should have same length")
    for i, j in zip(left, right):
        m, n = a.shape[i], b.shape[j]
        words = f"first has size {m} in dim {i} and second has size {n} in dim {j}"
        check(m == n or 1 in (m, n), f"contracted dimensions need to match, but {words}")
        # the other is broadcast, so that it may be summed first
        if m == 1 != n:
            b = b.sum(j, True, dtype=b.dtype)
        if n == 1 != m:
            a = a.sum(i, True, dtype=a.dtype)
    rows = [d for d in range(a.ndim) if d not in left]
    columns = [d for d in range(b.ndim) if d not in right]
    high, wide = [a.shape[d] for d in rows], [b.shape[d] for d in columns]
    shared = math.prod(a.shape[d] for d in left)
    x = a.permute(*rows, *left).reshape(math.prod(high), shared)
    y = b.permute(*right, *columns).reshape(shared, math.prod(wide))
    return mm(x, y).reshape(high + wide)


# ------------------------------------------------------------------- einsum


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Einstein's summation: repeated letters are multiplied, missing ones summed.

    Operands are multiplied from left to right, and a letter is summed as soon as no
    later operand has it. `...` stands for dimensions that are the same in all.

    >>> torch.einsum("ij,j->i", torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 10]))
    tensor([21, 43])
    """
    if not isinstance(equation, str):
        raise errors.must_be("str", "einsum", "equation", 1, equation)
    operands = tuple(listed(operands))
    terms, output = _terms(equation.replace(" ", ""), operands)
    pairs = [_without_repeats(x, term) for x, term in zip(operands, terms)]
    result, letters = pairs[0]
    for i, (x, term) in enumerate(pairs[1:], 1):
        wanted = output + "".join(terms[i + 1 :])
        result, letters = _multiplied(result, letters, x, term, wanted)
    result, letters = _summed(result, letters, output)
    return _in_order(result, letters, output)


def _terms(equation: str, operands: Sequence[Tensor]) -> tuple[list[str], str]:
    """The letters of each operand and of the output; digits name the dimensions of `...`."""
    left, arrow, output = equation.partition("->")
    terms = left.split(",")
    few = "more" if len(terms) < len(operands) else "fewer"
    words = f"einsum(): {few} operands were provided than specified in the equation"
    check(len(terms) == len(operands), words)
    rests = []
    for i, (term, x) in enumerate(zip(terms, operands)):
        letters = term.replace("...", "")
        rest = x.ndim - len(letters)
        words = f"the number of subscripts in the equation ({len(letters)}) does not match"
        where = f"the number of dimensions ({x.ndim}) for operand {i}"
        fits = rest == 0 or (rest > 0 and letters != term)
        check(fits, f"einsum(): {words} {where} and no ellipsis was given")
        rests.append(rest)
    dots = "0123456789"[: max(rests)]
    terms = [term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, rests)]
    every = "".join(terms)
    once = "".join(c for c in sorted(set(every)) if every.count(c) == 1 and c not in dots)
    output = output.replace("...", dots) if arrow else dots + once
    for c in output:
        words = f"einsum(): output subscript {c}"
        check(c in every, f"{words} does not appear in the equation for any input operand")
        check(output.count(c) == 1, f"{words} appears more than once in the output")
    size: dict[str, int] = {}
    for i, (term, x) in enumerate(zip(terms, operands)):
        for c, n in zip(term, x.shape):
            seen = size.setdefault(c, n)
            words = f"einsum(): subscript {c} has size {n} for operand {i}"
            check(n == seen, f"{words} which does not broadcast with previously seen size {seen}")
    return terms, output


def _without_repeats(x: Tensor, term: str) -> tuple[Tensor, str]:
    """The diagonal, where a letter names two dimensions."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i, j = term.index(c), term.rindex(c)
            x = x.diagonal(0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return x, term


def _summed(x: Tensor, letters: str, wanted: str) -> tuple[Tensor, str]:
    """The sum over the letters that are not wanted."""
    gone = tuple(i for i, c in enumerate(letters) if c not in wanted)
    rest = "".join(c for c in letters if c in wanted)
    return (x.sum(gone) if gone else x), rest


def _in_order(x: Tensor, letters: str, order: str) -> Tensor:
    return table.permute(x, tuple(letters.index(c) for c in order)) if letters != order else x


def _multiplied(x: Tensor, a: str, y: Tensor, b: str, wanted: str) -> tuple[Tensor, str]:
    """x * y summed over the letters that are not wanted, by one product of batches of matrices."""
    x, a = _summed(x, a, wanted + b)
    y, b = _summed(y, b, wanted + a)
    size = dict(zip(a + b, (*x.shape, *y.shape)))
    batch = "".join(c for c in a if c in b and c in wanted)
    gone = "".join(c for c in a if c in b and c not in wanted)
    rows, columns = "".join(c for c in a if c not in b), "".join(c for c in b if c not in a)
    n, r, k, m = (math.prod(size[c] for c in part) for part in (batch, rows, gone, columns))
    left = _in_order(x, a, batch + rows + gone).reshape(n, r, k)
    right = _in_order(y, b, batch + gone + columns).reshape(n, k, m)
    letters = batch + rows + columns
    # where nothing is summed, booleans can be multiplied too
    product = bmm(left, right) if k != 1 else table.mul(left, right)
    return product.reshape([size[c] for c in letters]), letters


attach(__matmul__, __rmatmul__, matmul, mm, bmm, mv, dot, outer, inner, addmm, trace)
