"""Products of vectors and matrices, and Einstein's notation for all of them.

`matmul` (the operator @) takes every pair of ranks; the special names (`mm`, `mv`, `bmm`, `dot`) take one each.
Matrix products do not promote number types: both sides must have the same one.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, kernels, layout
from minigrad import more_derivatives as more
from minigrad.public import FUNCTIONS, as_one_node, function, methods, owned, register, renamed
from minigrad.tensor import Tensor, method, wrap
from minigrad.versions import noticing


def matmul(input: Tensor, other: Any) -> Tensor:
    """The matrix product, for vectors, matrices and batches of matrices (batches broadcast).

    >>> torch.tensor([[1, 2], [3, 4]]) @ torch.tensor([1, 10])
    tensor([21, 43])
    """
    if not isinstance(other, Tensor):
        raise errors.must_be_tensor("matmul", "other", 2, other)
    a, b = input._data, other._data
    m, n = a.ndim, b.ndim
    if a.dtype is not b.dtype:
        raise _dtype_mismatch(a, b)
    if a.dtype is kernels.BOOLEAN:
        matmul(input.byte(), other.byte())  # shapes are refused before types
        vectors = "dot" if m == 1 else "addmv_impl_cpu"
        raise errors.not_implemented(vectors if n == 1 else "addmm_impl_cpu_" if n == 2 else "bmm", "Bool")
    try:
        if m == n == 2:
            return table.mm(input, other)
        if m > 2 and n == 2:
            if a.shape[-1] != b.shape[0]:
                raise ValueError
            return table.rows_mm(input, other)
        if m == 0 or n == 0:
            raise ValueError
        if n == 1:
            return (table.dot if m == 1 else table.mv if m == 2 else _batch_mv)(input, other)
        if m < 3 <= n and input._node is not None and not b.mT.flags.c_contiguous:
            other = table.clone(other)  # PyTorch folds the batch into one matrix, and so keeps a copy
        if m == 1:
            product = (table.mm if n == 2 else table.batch_mm)(input.unsqueeze(0), other)
            row = table.squeeze_dim(product, (*product._data.shape[:-2], product._data.shape[-1]))
            return as_one_node(row, "SqueezeBackward4" if n == 2 else "UnsafeViewBackward0")
        return table.batch_mm(input, other)
    except (ValueError, RuntimeError) as error:
        if str(error) == errors.INFERENCE_SAVED:
            raise
        raise errors.matmul_mismatch(tuple(a.shape), tuple(b.shape)) from None


def _batch_mv(x: Tensor, v: Tensor) -> Tensor:
    if x._data.shape[-1] != v._data.shape[0]:
        raise ValueError
    product = table.rows_mm(x, v.unsqueeze(1))
    return as_one_node(table.squeeze_dim(product, product._data.shape[:-1]), "UnsafeViewBackward0")


def _dtype_mismatch(a: Any, b: Any) -> RuntimeError:
    return errors.matmul_dtypes(dtypes.of(a.dtype), dtypes.of(b.dtype), a.ndim, b.ndim)


@method
def __matmul__(self: Tensor, other: Any) -> Tensor:
    if not isinstance(other, Tensor):
        return NotImplemented
    a, b = self._data, other._data
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and a.dtype is b.dtype is not kernels.BOOLEAN:
        return table.mm(self, other)  # most products: without a detour
    return matmul(self, other)


@method
def __rmatmul__(self: Tensor, other: Any) -> Tensor:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


function(matmul)
methods.matmul = matmul


def _product(name: str, shapes: str, check: Any, recorded: Any, second: str, kernel: str) -> None:
    """Register the product `name`, which calls its second argument `second`."""

    def call(input: Tensor, other: Any) -> Tensor:
        a, b = input._data, other._data
        check(tuple(a.shape), tuple(b.shape))
        if a.dtype != b.dtype:
            raise _dtype_mismatch(a, b)
        kernels.refuse_booleans(kernel, a)
        return recorded(input, other)

    call.__doc__ = f"The product of {shapes}.  RuntimeError for other shapes, and where the types differ."
    made = function(call, name=name)

    def flexible(input: Tensor, other: Any = None, **keywords: Any) -> Tensor:
        return made(input, keywords.pop(second) if second in keywords else other, **keywords)

    flexible.__name__, flexible.__doc__ = name, call.__doc__
    register(flexible, name)


def _vdot(x: Tensor, y: Tensor) -> Tensor:
    return renamed(table.dot(x, y), "VdotBackward0")


_product("mm", "two matrices, (n, m) and (m, p): (n, p)", errors.check_mm, table.mm, "mat2", "addmm_impl_cpu_")
_product("bmm", "two batches of matrices, (b, n, m) and (b, m, p): (b, n, p)", errors.check_bmm, table.bmm, "mat2", "bmm")
_product("mv", "a matrix (n, m) and a vector (m,): (n,)", errors.check_mv, table.mv, "vec", "addmv_impl_cpu")
_product("dot", "two vectors (n,): one number", errors.check_dot, table.dot, "tensor", "dot")
_product("vdot", "two vectors (n,): one number", errors.check_dot, _vdot, "other", "dot")


@function(names=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every product of an element of one vector and one of the other, (n,) and (m,) to (n, m)."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v._data.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v._data.ndim}-D")
    return table.mul(input.view(-1, 1), vec2)


@function
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimensions of both."""
    a, b = input._data, other._data
    if a.ndim == 0 or b.ndim == 0:
        return input * other
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    kernels.refuse_booleans("dot" if a.ndim == b.ndim == 1 else "addmm_impl_cpu_", a)
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    return tensordot(input, other, dims=([-1], [-1]))


@function(inplace=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix._data.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix._data.ndim}-D tensor")
    errors.check_mm(tuple(mat1._data.shape), tuple(mat2._data.shape), "mat1", "mat2")
    target = (mat1._data.shape[0], mat2._data.shape[1])
    errors.expand_shape(tuple(input._data.shape), target, f"torch.{input.dtype.tensor_name}Tensor")
    kernels.refuse_booleans("addmm_impl_cpu_", input._data)
    errors.check_addmm_dtypes(input.dtype, mat1.dtype, mat2.dtype)
    if input._data.dtype.kind != "f":  # of integers, in whole numbers
        beta, alpha = int(beta), int(alpha)
    return more.addmm(input, mat1, mat2, beta, alpha)


def _check_factors(kind: dtypes.DType, **factors: Any) -> None:
    for name, value in factors.items():
        if isinstance(value, float) and not kind.is_floating_point:
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


def _check_kinds(name: str, input: Tensor, first: Tensor, second: Tensor) -> None:
    """RuntimeError if what is added is of another type than the factors, which have one."""
    kinds = [x.dtype for x in (input, first, second)]
    if len(set(kinds)) == 1 or kinds[1] is not kinds[2]:
        return
    if name == "baddbmm":
        given = ", ".join(f"{n} {kind.c_name}" for n, kind in zip(("input", "batch1:", "batch2:"), kinds))
        raise RuntimeError(f"Input dtypes must be the same, got: {given}")
    names = [kind.tensor_name for kind in kinds]
    if name == "addmv":
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and {names[2]}"
        )
    raise RuntimeError(f"self and mat2 must have the same dtype, but got {names[0]} and {names[2]}")


def _added(name: str, multiply: str) -> None:
    def call(input: Tensor, first: Tensor, second: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        if name == "addr":
            for which, factor in (("vec1", first), ("vec2", second)):
                if factor._data.ndim != 1:
                    raise RuntimeError(f"addr: Expected 1-D argument {which}, but got {factor._data.ndim}-D")
        else:
            _check_kinds(name, input, first, second)
        product = FUNCTIONS[multiply](first, second)
        if input._data.dtype.kind != "f" and name != "addr":  # of integers, in whole numbers
            beta, alpha = int(beta), int(alpha)
        if name == "addr":
            _check_factors(dtypes.promote_types(input.dtype, product.dtype), beta=beta, alpha=alpha)
            if not input.dtype.category and not product.dtype.category:  # of booleans: or, and
                beta, alpha = builtins.bool(beta), builtins.bool(alpha)
        if name == "addbmm":
            product = product.sum(0)
        own, target = tuple(input._data.shape), tuple(product._data.shape)
        if name == "addmv" and own not in (target, (1,), ()):
            matrix = "x".join(map(str, first._data.shape))
            raise RuntimeError(f"size mismatch, got input ({own[0]}), mat ({matrix}), vec ({second._data.shape[0]})")
        errors.expand_shape(own, target, f"torch.{input.dtype.tensor_name}Tensor")
        out = kernels.weighted_sum(input, beta, product, alpha)
        return as_one_node(table.clone(out) if out is product else out, f"{name.capitalize()}Backward0")

    call.__doc__ = f"beta * input + alpha * {multiply}(first, second)."
    function(call, name=name, inplace=True)


for _name, _multiply in (("addmv", "mv"), ("addr", "outer"), ("baddbmm", "bmm"), ("addbmm", "bmm")):
    _added(_name, _multiply)


@function
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """Sum products over several dimensions: the last of a with the first of b, or pairs of lists."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a._data.dtype != b._data.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._data.ndim, b._data.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(-dims, 0)), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
        for d in left:
            errors.check_dim(d, a._data.ndim)
        for d in right:
            errors.check_dim(d, b._data.ndim)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    for i, j in zip(left, right):
        m, n = a._data.shape[i], b._data.shape[j]
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second has size {n} in dim {j}"
            )
    left, right = [d % a._data.ndim for d in left], [d % b._data.ndim for d in right]
    for i, j in zip(left, right):
        if 1 in (a._data.shape[i], b._data.shape[j]):  # broadcast: sum the other one first
            a = a if a._data.shape[i] == 1 else table.sum_dims(a, (i,), True)
            b = b if b._data.shape[j] == 1 else table.sum_dims(b, (j,), True)
    keep_a = [d for d in range(a._data.ndim) if d not in left]
    keep_b = [d for d in range(b._data.ndim) if d not in right]
    n = math.prod(a._data.shape[d] for d in left)
    shape = tuple(a._data.shape[d] for d in keep_a) + tuple(b._data.shape[d] for d in keep_b)
    x = a.permute((*keep_a, *left)).reshape(math.prod(a._data.shape[d] for d in keep_a), n)
    y = b.permute((*right, *keep_b)).reshape(n, math.prod(b._data.shape[d] for d in keep_b))
    kernels.refuse_booleans("addmm_impl_cpu_", x._data)
    return table.mm(x, y).reshape(shape)


@function
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of input times the whole of other."""
    n = builtins.max(input._data.ndim, other._data.ndim)
    a = (1,) * (n - input._data.ndim) + tuple(input._data.shape)
    b = (1,) * (n - other._data.ndim) + tuple(other._data.shape)
    left = input.reshape(tuple(s for size in a for s in (size, 1)))
    right = other.reshape(tuple(s for size in b for s in (1, size)))
    return owned((left * right).reshape(tuple(p * q for p, q in zip(a, b))))


@function
def cross(input: Tensor, other: Tensor, dim: Any = None) -> Tensor:
    """The vector product in three dimensions."""
    if input._data.ndim != other._data.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    shape = errors.broadcast_shapes(tuple(input._data.shape), tuple(other._data.shape))
    if dim is None:
        found = [d for d, n in enumerate(shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    where = errors.check_dim(dim, len(shape))
    if shape[where] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input._data.shape[where]} and "
            f"{other._data.shape[where]}"
        )
    if input._data.dtype != other._data.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.tensor_name} but found {other.dtype.tensor_name}")
    x, y = input.expand(shape), other.expand(shape)
    out = x.roll(-1, where) * y.roll(1, where) - x.roll(1, where) * y.roll(-1, where)
    needed = [t for t, of in ((other, input), (input, other)) if of.requires_grad]
    return noticing(as_one_node(out, "LinalgCrossBackward0"), *needed)

# ------------------------------------------------------------------------------------------- einsum


def einsum(equation: Any, /, *operands: Any) -> Tensor:
    """Einstein's summation, such as einsum("ij,jk->ik", a, b): repeated letters are multiplied, missing ones summed.

    Each operand is arranged so that its letters stand in one common order; then operands are multiplied from left to
    right, and a letter is summed as soon as no later operand needs it. `...` stands for dimensions that broadcast.
    Numbers may stand for letters: einsum(a, [0, 1], b, [1, 2], [0, 2]).

    >>> torch.einsum("ij,j->i", torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 10]))
    tensor([21, 43])
    """
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(equation, Tensor):
        equation, operands = _in_letters((equation, *operands))
    elif not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    for place, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 1, but got {errors.type_name(x)}")
    inputs, output, size = _parse(equation.replace(" ", ""), operands)
    order = sorted(set("".join(inputs)) - set(output), key="".join(inputs).index)
    letters = list(output) + order
    if len(operands) == 1:
        only = _in_order(operands[0], inputs[0], letters)[0]
        return table.sum_dims(only, tuple(range(len(output), len(letters))), False) if order else only
    pieces = [_arranged(x, letters_in, letters) for x, letters_in in zip(operands, inputs)]
    last = {c: builtins.max(i for i, names in enumerate(inputs) if c in names) for c in letters if c in size}
    result = pieces[0]
    result = _summed_away(result, [i for i, c in enumerate(letters) if c in order and last[c] == 0])
    for k, piece in enumerate(pieces[1:], 1):
        gone = [i for i, c in enumerate(letters) if c in order and last[c] == k]
        result = _contracted(result, piece, gone)
    return owned(result.reshape(tuple(result._data.shape[: len(output)])) if order else result)


register(einsum, "einsum", method=False)


def _in_letters(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation and the operands of einsum(a, [0, 1], b, [1, 2], [0, 2]): a capital is less than a small letter."""
    names = [*(chr(ord("A") + i) for i in range(26)), *(chr(ord("a") + i) for i in range(26))]

    def spelled(subscripts: Any) -> str:
        for n in subscripts:
            if n is not Ellipsis and not 0 <= n < len(names):
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return "".join("..." if n is Ellipsis else names[n] for n in subscripts)

    pairs = len(args) // 2
    equation = ",".join(spelled(subscripts) for subscripts in args[1 : 2 * pairs : 2])
    if len(args) % 2:
        equation += "->" + spelled(args[-1])
    return equation, args[0 : 2 * pairs : 2]


def _parse(equation: str, operands: tuple[Any, ...]) -> tuple[list[str], str, dict[str, int]]:
    """The letters of each operand and of the output (with `...` spelled out), and every letter's size."""
    for at, c in enumerate(equation):
        if not (c.isascii() and c.isalpha()) and c not in ".,->":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]"
            )
    left, arrow, right = equation.partition("->")
    for place, c in enumerate(equation):
        letter = (c.isascii() and c.isalpha()) or c == "." or (c == "," and place < len(left))
        if not letter and not (arrow and place in (len(left), len(left) + 1)):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in [a-zA-Z]"
            )
    terms = left.split(",")
    if len(terms) != len(operands):
        few = "more" if len(terms) < len(operands) else "fewer"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    spare = iter(chr(c) for c in range(0x3B1, 0x3B1 + 64))
    dots: list[str] = []
    for i, (term, x) in enumerate(zip(terms, operands)):
        if term.count("...") > 1:
            raise RuntimeError(f"einsum(): found '.' for operand {i} for which an ellipsis was already found")
        if "." in term.replace("...", ""):
            raise RuntimeError(f"einsum(): found '.' for operand {i} that is not part of any ellipsis")
        named = len(term.replace("...", ""))
        extra = x._data.ndim - named
        if ("..." not in term and extra) or extra < 0:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({x._data.ndim}) for operand {i} and no ellipsis was given"
            )
        while "..." in term and len(dots) < extra:
            dots.insert(0, next(spare))
    inputs = []
    for term, x in zip(terms, operands):
        extra = x._data.ndim - len(term.replace("...", ""))
        inputs.append(term.replace("...", "".join(dots[len(dots) - extra :]) if extra else ""))
    if "." in right.replace("...", ""):
        raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)")
    if arrow:
        output = right.replace("...", "".join(dots))
    else:
        everything = "".join(inputs)
        output = "".join(dots) + "".join(sorted(c for c in set(everything) - set(dots) if everything.count(c) == 1))
    size: dict[str, int] = {}
    for k, (names, x) in enumerate(zip(inputs, operands)):
        for c, n in zip(names, x._data.shape):
            first = x._data.shape[names.index(c)]
            if n != first:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {k} but the sizes don't match, {n} != {first}"
                )
            if size.get(c, 1) != 1 and n not in (1, size[c]):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not broadcast with previously seen "
                    f"size {size[c]}"
                )
            size[c] = builtins.max(n, size.get(c, 1)) if n != 0 else 0
    for c in output:
        if c not in size:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
        if output.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
    return inputs, output, size


def _in_order(x: Tensor, names: str, letters: list[str]) -> tuple[Tensor, str]:
    """x with its dimensions in the order of the letters, and their names; a repeated letter is a diagonal."""
    while len(set(names)) < len(names):
        c = next(c for c in names if names.count(c) > 1)
        i, j = (k for k, d in enumerate(names) if d == c and names[:k].count(c) < 2)
        x = x.diagonal(0, i, j)
        names = "".join(d for k, d in enumerate(names) if k not in (i, j)) + c
    order = sorted(range(len(names)), key=lambda k: letters.index(names[k]))
    return table.permute(x, tuple(order)), "".join(names[k] for k in order)


def _arranged(x: Tensor, names: str, letters: list[str]) -> Tensor:
    """x with one dimension for each letter, in order, of size 1 where it does not have it."""
    x, names = _in_order(x, names, letters)
    own = dict(zip(names, x._data.shape))
    return x.reshape(tuple(own.get(c, 1) for c in letters))


def _summed_away(x: Tensor, dims: list[int]) -> Tensor:
    return table.sum_dims(x, tuple(dims), True) if dims else x


def _contracted(x: Tensor, y: Tensor, gone: list[int]) -> Tensor:
    """x * y summed over the dimensions `gone`, by one batched matrix product."""
    a, b = x._data.shape, y._data.shape
    if gone and x.dtype is not y.dtype:
        raise RuntimeError(f"expected scalar type {x.dtype.tensor_name} but found {y.dtype.tensor_name}")
    x = _summed_away(x, [d for d in gone if b[d] == 1 != a[d]])
    y = _summed_away(y, [d for d in gone if a[d] == 1 != b[d]])
    a, b = x._data.shape, y._data.shape
    inner_dims = [d for d in gone if a[d] != 1 or b[d] != 1]
    if not inner_dims:
        return x * y
    n = len(a)
    batch = [d for d in range(n) if d not in inner_dims and a[d] != 1 and b[d] != 1]
    rows = [d for d in range(n) if d not in inner_dims and d not in batch and b[d] == 1]
    columns = [d for d in range(n) if d not in inner_dims and d not in batch and d not in rows]
    k = math.prod(a[d] for d in inner_dims)
    shared = tuple(a[d] for d in batch)
    order = [*batch, *rows, *columns, *inner_dims]
    left = x.permute([*batch, *rows, *inner_dims, *columns]).reshape((*shared, math.prod(a[d] for d in rows), k))
    right = y.permute([*batch, *inner_dims, *columns, *rows]).reshape((*shared, k, math.prod(b[d] for d in columns)))
    product = matmul(left, right)
    arranged = product.reshape((*shared, *(a[d] for d in rows), *(b[d] for d in columns), *((1,) * len(inner_dims))))
    return arranged.permute(layout.inverse_order(tuple(order)))


@function
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The p-norm distance of every row of x1 (..., n, d) from every row of x2 (..., m, d): (..., n, m).

    RuntimeError for a negative p, or rows of two lengths.
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if x._data.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._data.ndim}D")
        if x._data.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype.tensor_name}")
    if x1._data.dtype.char == x2._data.dtype.char == "e":
        raise errors.not_implemented("cdist", "Half")
    columns = x1._data.shape[-1], x2._data.shape[-1]
    if columns[0] != columns[1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {columns[0]} X2: {columns[1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.tensor_name} but found {x2.dtype.tensor_name}")
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p == 0:  # how many coordinates differ: a number without slope
        return table.sign(difference).abs().sum(-1)
    out = more.vector_norm(difference, float(p), (difference._data.ndim - 1,), False)
    return noticing(as_one_node(out, "CdistBackward0"), x1, x2)


@function(method=False)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows of a matrix (n, d): n * (n - 1) / 2 numbers.

    RuntimeError for a tensor of another number of dimensions, or for a negative p.
    """
    if input._data.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._data.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = np.triu_indices(input._data.shape[0], 1)
    difference = table.pick(input, (first,)) - table.pick(input, (second,))
    if p == 0:  # how many coordinates differ: a number without slope
        return table.sign(difference).abs().sum(-1)
    return noticing(as_one_node(more.vector_norm(difference, float(p), (1,), False), "PdistBackward0"), input)


@function
def matrix_power(input: Tensor, n: int) -> Tensor:
    """A square matrix (..., n, n) multiplied by itself, n times; negative powers are those of the inverse.

    RuntimeError if the matrices are not square, LinAlgError if one has no inverse and n is negative.
    """
    shape = input._data.shape
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
        )
    if n < 0:
        return matrix_power(more.inv(input), -n)
    if n == 0:
        return more.copied(input, wrap(np.eye(shape[-1], dtype=input._data.dtype)))
    if n == 1:
        return table.clone(input)
    if n == 3:  # PyTorch multiplies in this order
        return matmul(matmul(input, input), input)
    result: Any = None
    square = input  # to the powers 1, 2, 4, ...: those that n is the sum of are multiplied
    while n:
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    return result
