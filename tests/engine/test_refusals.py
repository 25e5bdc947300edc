"""What is refused, in PyTorch's words, and what is taken though it looks unusual: recorded from PyTorch."""

# ruff: noqa: E501 (messages as they are)

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad.nn.functional

REFUSED = [
    ("t.maximum(x, 0)", TypeError, "maximum(): argument 'other' (position 2) must be Tensor, not int"),
    ("t.fmax(x, 0)", TypeError, "fmax(): argument 'other' (position 2) must be Tensor, not int"),
    ("t.logaddexp(x, 1.0)", TypeError, "logaddexp(): argument 'other' (position 2) must be Tensor, not float"),
    ("t.logical_or(b, True)", TypeError, "logical_or(): argument 'other' (position 2) must be Tensor, not bool"),
    ("t.isclose(x, 1.0)", TypeError, "isclose(): argument 'other' (position 2) must be Tensor, not float"),
    ("t.isclose(x, x, rtol=-1.0)", RuntimeError, "rtol must be greater than or equal to zero, but got -1"),
    ("t.outer(x[0], 2)", TypeError, "outer(): argument 'vec2' (position 2) must be Tensor, not int"),
    (
        "t.maximum(x, np.float32(1))",
        TypeError,
        "maximum(): argument 'other' (position 2) must be Tensor, not numpy.float32",
    ),
    (
        "x - True",
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    ),
    ("b & 1.5", NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    ("x << 1", NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'"),
    ("b // b", NotImplementedError, "\"div_floor_cpu\" not implemented for 'Bool'"),
    ("b % b", NotImplementedError, "\"remainder_cpu\" not implemented for 'Bool'"),
    ("None // x", TypeError, "unsupported operand type(s) for //: 'NoneType' and 'Tensor'"),
    ("x.sum_to_size(2, 2)", RuntimeError, "size {[2, 2]} is not expandable to size {[2, 3]}."),
    ("x.clone().copy_(None)", TypeError, "copy_(): argument 'other' (position 1) must be Tensor, not NoneType"),
    ("t.full((2,), t.zeros(3))", TypeError, "full(): argument 'fill_value' (position 2) must be Number, not Tensor"),
    ("t.cat([])", ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    (
        "t.movedim(x, (0, 1), (0,))",
        RuntimeError,
        "movedim: Invalid source or destination dims: source ([0, 1] dims) should contain the same number of dims as destination ([0] dims)",
    ),
    ("t.movedim(x, (0, 0), (0, 1))", RuntimeError, "movedim: repeated dim in `source` ([0, 0])"),
    (
        "x[0, 0].tensor_split(2)",
        RuntimeError,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    ),
    ("x.tensor_split(-1)", RuntimeError, "number of sections must be larger than 0, got -1"),
    (
        "x[0].vsplit(1)",
        RuntimeError,
        "torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with 1 dimensions!",
    ),
    (
        "x.hsplit(2)",
        RuntimeError,
        "torch.hsplit attempted to split along dimension 1, but the size of the dimension 3 is not divisible by the split_size 2!",
    ),
    ("t.fliplr(x[0])", RuntimeError, "Input must be >= 2-d."),
    ("t.rot90(x, 1, (0,))", RuntimeError, "expected total rotation dims == 2, but got dims = 1"),
    ("t.rot90(x, 1, (1, 1))", RuntimeError, "expected rotation dims to be different, but got dim0 = 1 and dim1 = 1"),
    ("t.diag_embed(x, 0, 1, 1)", RuntimeError, "diagonal dimensions cannot be identical 1, 1"),
    ("t.diff(x, -1)", RuntimeError, "order must be non-negative but got -1"),
    ("t.roll(x, [])", RuntimeError, "`shifts` required"),
    ("t.renorm(x[0], 2, 0, 1.0)", RuntimeError, "renorm: input needs at least 2 dimensions, got 1 dimensions"),
    ("t.bucketize(x, x)", RuntimeError, "boundaries tensor must be 1 dimension, but got dim(2)"),
    (
        "t.cov(x, fweights=t.ones(3))",
        RuntimeError,
        "cov(): expected fweights to have integral dtype but got fweights with Float dtype",
    ),
    (
        "t.cov(x, aweights=t.ones(2))",
        RuntimeError,
        "cov(): expected aweights to have the same numel as there are observations in the input but got 2 != 3",
    ),
    ("t.cov(x, fweights=t.tensor([1, -1, 2]))", RuntimeError, "cov(): fweights cannot be negative"),
    (
        "t.masked_scatter(x, x, x)",
        RuntimeError,
        "masked_scatter_ only supports boolean masks, but got mask with dtype Float",
    ),
    ("t.multinomial(x - 1, 1)", RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0"),
    ("t.multinomial(x * 0, 2)", RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)"),
    (
        "t.multinomial(x[0] - 1, 2, replacement=True)",
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry < 0)",
    ),
    ("t.multinomial(x, 4)", RuntimeError, "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
    ("t.multinomial(x, 0)", RuntimeError, "cannot sample n_sample <= 0 samples"),
    (
        "t.multinomial(t.arange(3), 1)",
        RuntimeError,
        "multinomial only supports floating-point dtypes for input, got: Long",
    ),
    ("t.nn.functional.hardtanh(x, 1.0, -1.0)", ValueError, "min_val cannot be greater than max_val"),
    (
        "t.nn.functional.softshrink(x, -0.5)",
        RuntimeError,
        "lambda must be in range [0, 3.40282e+38] for input dtype Float, but found -0.5",
    ),
    ("t.nn.functional.rrelu(x, 0.3, 0.1)", RuntimeError, "Lower bound should be less than or equal to the upper bound"),
    (
        "t.nn.functional.prelu(x, x)",
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 6 and channel size = 3.",
    ),
    (
        "t.nn.functional.rms_norm(x, (2,))",
        RuntimeError,
        "Given normalized_shape=[2], expected input with shape [*2], but got input of size[2, 3]",
    ),
    (
        "t.nn.functional.rms_norm(x, (3,), x)",
        RuntimeError,
        "Expected weight to be of same shape as normalized_shape, but got weight of shape [2, 3] and normalized_shape = [3]",
    ),
    (
        "t.nn.functional.triplet_margin_loss(x, x, x[0])",
        RuntimeError,
        "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor 2D, positive 2D, and negative 1D inputs",
    ),
    ("t.nn.functional.embedding(t.tensor([0]), x[0])", RuntimeError, "'weight' must be 2-D"),
    (
        "t.nn.functional.conv2d(x[None, None], x[None, None], stride=0)",
        RuntimeError,
        "non-positive stride is not supported",
    ),
    (
        "t.nn.functional.conv2d(x[None, None], x[None, None], padding=-1)",
        RuntimeError,
        "negative padding is not supported",
    ),
    (
        "t.nn.functional.conv2d(x[None, None], x[None, None], dilation=0)",
        RuntimeError,
        "dilation should be greater than zero, but got [0, 0]",
    ),
    (
        "t.nn.functional.conv2d(x[None, None], x[None, None], groups=0)",
        RuntimeError,
        "non-positive groups is not supported",
    ),
    ("t.nn.functional.conv1d(x[None], x)", RuntimeError, "weight should have at least three dimensions"),
    (
        "t.nn.functional.conv1d(x[None], x[None], t.ones(1).double())",
        RuntimeError,
        "Input type (float) and bias type (double) should be the same",
    ),
    (
        "t.nn.functional.cosine_similarity(t.arange(3), t.arange(3), 0)",
        RuntimeError,
        "expected common dtype to be floating point, yet common dtype is Long",
    ),
    ("t.take_along_dim(x, t.tensor([-1, 0]))", RuntimeError, "index -1 is out of bounds for dimension 0 with size 6"),
    (
        "t.take_along_dim(x, t.tensor([[0.0], [0.0]]), 1)",
        RuntimeError,
        "torch.take_along_dim(): dtype of indices should be Long but got Float",
    ),
    (
        "t.take_along_dim(x, t.tensor([0, 0]), 1)",
        RuntimeError,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got 2 dimensions for input, and 1 dimensions for indices",
    ),
    (
        "t.conv2d(t.zeros(1, 4, 5, 5), t.zeros(3, 2, 3, 3), groups=2)",
        RuntimeError,
        "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of size [[3, 2, 3, 3]] instead",
    ),
    (
        "t.matrix_power(x, 2)",
        RuntimeError,
        "linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices",
    ),
    (
        "t.matrix_power(x[0], 2)",
        RuntimeError,
        "linalg.matrix_power: The input tensor A must have at least 2 dimensions.",
    ),
    (
        "t.cov(t.zeros(2, 2, 2, dtype=t.bool))",
        RuntimeError,
        "cov(): expected input to have two or fewer dimensions but got an input with 3 dimensions",
    ),
    ("t.cdist(x, x, p=-1)", RuntimeError, "cdist only supports non-negative p values"),
    ("t.pdist(x[0])", RuntimeError, "pdist only supports 2D tensors, got: 1D"),
    ("t.pdist(x, -1)", RuntimeError, "pdist only supports non-negative p values"),
    ("t.nn.functional.linear(x, x[0], t.zeros(()))", RuntimeError, "mat2 must be a matrix, got 1-D tensor"),
    ("x[0].__setitem__(t.ones(3).to(t.uint8), 5)", RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"),
    ("x.__delitem__(0)", TypeError, "Tensor does not support deleting items"),
    ("t.take_along_dim(x, i[0], 0)", RuntimeError, "torch.take_along_dim(): input and indices should have the same number of dimensions, but got 2 dimensions for input, and 1 dimensions for indices"),
    ("t.take_along_dim(x, i.int(), 0)", RuntimeError, "torch.take_along_dim(): dtype of indices should be Long but got Int"),
    ("t.take_along_dim(x, x)", RuntimeError, "gather(): Expected dtype int32/int64 for index"),
    ("t.unravel_index(b, (2, 3))", TypeError, "expected 'indices' to be integer dtype, but got torch.bool"),
    ("t.unravel_index(i, (2, 3.0))", TypeError, "expected 'shape' sequence to only contain ints, but got <class 'float'>"),
    ("t.unravel_index(i, (2, -3))", ValueError, "'shape' cannot have negative values, but got (2, -3)"),
    ("t.unravel_index(i, (0, 3))", RuntimeError, "ZeroDivisionError"),
    ("t.broadcast_shapes((2, -3), (1,))", ValueError, "Attempting to broadcast a dimension with negative length!"),
    ("t.tensor_split(x, t.tensor(1.1))", RuntimeError, "tensor_split expected tensor_indices_or_sections to have dtype of long, but got Float"),
    ("t.ones(2).resize_(2, 4, 2**29, 2**29)", RuntimeError, "Storage size calculation overflowed with sizes=[2, 4, 536870912, 536870912]"),
    ("x.imag", RuntimeError, "imag is not implemented for tensors with non-complex dtypes."),
    ("x.flip()", TypeError, 'flip() missing 1 required positional arguments: "dims"'),
    ("t.mm(x, x.T, out=t.ones(2, 2).double())", RuntimeError, "Expected out tensor to have dtype float, but got double instead"),
    ("t.max(x, 0, out=(t.ones(3), t.ones(3)))", RuntimeError, "Expected out tensor to have dtype long int, but got float instead"),
    ("t.add(x[0, :2], 1, out=x[0, 1:])", RuntimeError, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."),
    ("t.cat([x[0], x[1]], out=x.view(6))", RuntimeError, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."),
    ("t.add(x[0], 1, out=t.ones(1).expand(3))", RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation."),
    ("t.zeros(2, dtype=t.float32, out=i)", RuntimeError, "dtype Float does not match dtype of out parameter (Long)"),
    ("t.normal(x, -x)", RuntimeError, "normal expects all elements of std >= 0.0"),
    ("t.ones(2).uniform_(0, float('inf'))", RuntimeError, "to is out of bounds for float"),
    ("t.ones(2, dtype=t.uint8).random_(0, 300)", RuntimeError, "to - 1 is out of bounds for unsigned char"),
    ("t.ones(2).random_(0)", RuntimeError, "random_ expects 'from' to be less than 'to', but got from=0 >= to=0"),
    ("t.polygamma(-1, x)", RuntimeError, "polygamma(n, x) does not support negative n."),
    ("t.combinations(x[0], r=-1)", RuntimeError, "Expect a non-negative number, but got -1"),
    ("x.as_strided((2,), (-1,))", RuntimeError, "as_strided: Negative strides are not supported at the moment, got strides: [-1]"),
    ("x.as_strided((2,), (1, 1))", RuntimeError, "mismatch in length of strides and shape"),
    ("t.meshgrid()", RuntimeError, "meshgrid expects a non-empty TensorList"),
    ("t.ones(2, 0).kthvalue(1)", IndexError, "kthvalue(): Expected reduction dim 1 to have non-zero size."),
    ("t.quantile(t.ones(0), 0.5)", RuntimeError, "quantile() input tensor must be non-empty"),
    ("t.bincount(x[0])", NotImplementedError, "\"bincount_cpu\" not implemented for 'Float'"),
    ("t.bincount(i[0], weights=x)", RuntimeError, "weights should be 1-d and have the same length as input"),
    ("t.heaviside(x, i)", RuntimeError, "heaviside is not yet implemented for tensors with different dtypes."),
    ("t.add(i, 1, alpha=True)", RuntimeError, "Boolean alpha only supported for Boolean results."),
    ("x[0].fill_diagonal_(1)", RuntimeError, "dimensions must larger than 1"),
    ("t.ones(2, 2, 3).fill_diagonal_(1)", RuntimeError, "all dimensions of input must be of equal length"),
    ("[1] in x", RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'list'>."),
    ("t.empty(2**20, 2**20, device='meta')", NotImplementedError, "minigrad runs on the CPU only, not on device 'meta'"),
    ("x[0].H", RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor."),
]
TAKEN = [
    ("i[t.tensor(1, dtype=t.uint8)].shape", "torch.Size([1, 2, 3])"),  # a byte is a mask, also without dimensions
    ("i[t.tensor([0, 1], dtype=t.uint8)]", "tensor([[3, 4, 5]])"),
    ("t.unravel_index(t.tensor([9, -1, 3]), (2, 3))", "(tensor([1, 1, 1]), tensor([0, 2, 0]))"),
    ("t.unique(t.tensor([1, t.nan, t.nan]), return_counts=True)", "(tensor([1., nan, nan]), tensor([1, 1, 1]))"),
    ("t.linspace(0, 1, 3, out=t.ones(3).double())", "tensor([0.0000, 0.5000, 1.0000], dtype=torch.float64)"),
    ("t.arange(3, out=t.ones(0))", "tensor([0., 1., 2.])"),
    ("t.full((2,), 2.5, out=t.ones(2).int())", "tensor([2, 2], dtype=torch.int32)"),
    ("t.repeat_interleave(t.tensor([1, 0, 2]))", "tensor([0, 2, 2])"),
    ("t.combinations(x[0], r=0)", "tensor([])"),
    ("t.block_diag().shape", "torch.Size([1, 0])"),
    ("t.cat([t.ones(0), t.ones(0)], dim=1)", "tensor([])"),
    ("t.zeros(2, 0, 3).stride()", "(3, 3, 1)"),
    ("t.autograd.grad(t.sinc(y := t.tensor([0, 1e-30, 0.5]).requires_grad_()).sum(), y)", "(tensor([ 0.0000,  0.0000, -1.2732]),)"),
    *((f"t.tensor([200, 100], dtype=t.uint8).{name}", shown) for name, shown in (
        ("sum(dtype=t.uint8)", "tensor(44, dtype=torch.uint8)"),
        ("sum(0, dtype=t.int8)", "tensor(44, dtype=torch.int8)"),
        ("nansum(dtype=t.int16)", "tensor(300, dtype=torch.int16)"),
        ("cumsum(0, dtype=t.uint8)", "tensor([200,  44], dtype=torch.uint8)"),
        ("cumprod(0, dtype=t.int16)", "tensor([  200, 20000], dtype=torch.int16)"),
        ("all()", "tensor(1, dtype=torch.uint8)"),
        ("any(0, keepdim=True)", "tensor([1], dtype=torch.uint8)"),
    )),
    ("t.tensor([2.7, 1.6]).sum(dtype=t.int32)", "tensor(3, dtype=torch.int32)"),
    ("t.tensor([2.7, 1.6]).nansum(dtype=t.int32)", "tensor(3, dtype=torch.int32)"),
    ("t.sum(x, 0, out=t.ones(3, dtype=t.int64))", "tensor([3, 5, 7])"),
    ("t.bucketize(t.nan, t.tensor([1.0, 2.0]), right=True)", "tensor(2)"),
    ("t.zeros(7, 3).fill_diagonal_(1, wrap=True).nonzero()[:, 0].tolist()", "[0, 1, 2, 4, 5, 6]"),
    ("t.zeros(7, 3).fill_diagonal_(1).nonzero()[:, 0].tolist()", "[0, 1, 2]"),
    ("t.zeros(2, 2, 2).fill_diagonal_(1).nonzero().tolist()", "[[0, 0, 0], [1, 1, 1]]"),
    ("t.float_power(2.7, t.tensor([8.5]))", "tensor([4640.7908], dtype=torch.float64)"),
    ("t.lerp(t.tensor([6e4]).half(), t.tensor([-6e4]).half(), 0.5)", "tensor([0.], dtype=torch.float16)"),
    ("x[1, 1:].storage_offset(), x[1].untyped_storage().nbytes()", "(4, 24)"),
    ("x[1].untyped_storage().data_ptr() == x.data_ptr()", "True"),
    ("(x.t().storage().__setitem__(1, 5), x[0])[1]", "tensor([0., 5., 2.])"),
    ("i[1].storage()", " 0\n 1\n 2\n 3\n 4\n 5\n[torch.storage.TypedStorage(dtype=torch.int64, device=cpu) of size 6]"),
    ("x[:, t.newaxis].shape", "torch.Size([2, 1, 3])"),
    ("t.detach(x.requires_grad_()).requires_grad", "False"),
    ("x.is_same_size(i)", "True"),
    ("t.add(2, 3)", "tensor(5)"),
    ("t.div(3, 2, rounding_mode='floor')", "tensor(1)"),
    ("t.mul(2, 3.0)", "tensor(6.)"),
    ("x[0].real", "tensor([0., 1., 2.])"),
    ("x.H.shape", "torch.Size([3, 2])"),
    ("t.remainder(7, x + 1)", "tensor([[0., 1., 1.],\n        [3., 2., 1.]])"),
    ("t.floor_divide(7, x + 1)", "tensor([[7., 3., 2.],\n        [1., 1., 1.]])"),
    ("t.add(1, x)", "tensor([[1., 2., 3.],\n        [4., 5., 6.]])"),
    ("t.sub(1, x, alpha=2)", "tensor([[ 1., -1., -3.],\n        [-5., -7., -9.]])"),
    ("t.mul(2.5, i)", "tensor([[ 0.0000,  2.5000,  5.0000],\n        [ 7.5000, 10.0000, 12.5000]])"),
    ("t.true_divide(1, x + 1)", "tensor([[1.0000, 0.5000, 0.3333],\n        [0.2500, 0.2000, 0.1667]])"),
    ("t.bitwise_and(3, i)", "tensor([[0, 1, 2],\n        [3, 0, 1]])"),
    ("t.bitwise_left_shift(1, i)", "tensor([[ 1,  2,  4],\n        [ 8, 16, 32]])"),
    ("1 << i", "tensor([[ 1,  2,  4],\n        [ 8, 16, 32]])"),
    ("8 >> i", "tensor([[8, 4, 2],\n        [1, 0, 0]])"),
    ("t.xlogy(2, x + 1)", "tensor([[0.0000, 1.3863, 2.1972],\n        [2.7726, 3.2189, 3.5835]])"),
    ("t.float_power(2, i)", "tensor([[ 1.,  2.,  4.],\n        [ 8., 16., 32.]], dtype=torch.float64)"),
    ("t.add(i, b, alpha=2)", "tensor([[0, 1, 2],\n        [5, 6, 7]])"),
    ("t.full((2,), t.tensor(3, dtype=t.uint8))", "tensor([3, 3])"),
    ("t.linspace(4.3, -3, 6, dtype=t.int64)", "tensor([ 4,  2,  1,  0, -1, -3])"),
    ("t.logspace(0, 1.2, 3, dtype=t.int64)", "tensor([ 1,  3, 10])"),
    ("t.addmv(i[0, :2], i[:, :2], i[0, :2], beta=0.6, alpha=1.6)", "tensor([1, 4])"),
    ("t.prod(b, 1, dtype=t.bool)", "tensor([False,  True])"),
    ("t.polygamma(1, i + 1)", "tensor([[1.6449, 0.6449, 0.3949],\n        [0.2838, 0.2213, 0.1813]])"),
    ("t.angle(-i)", "tensor([[0.0000, 3.1416, 3.1416],\n        [3.1416, 3.1416, 3.1416]])"),
    (
        "t.nn.functional.cosine_similarity(x, x.double() + 1, 0)",
        "tensor([0.9701, 0.9908, 0.9965], dtype=torch.float64)",
    ),
    ("(lambda y: (y.__ilshift__(1), y)[1])(i.clone())", "tensor([[ 0,  2,  4],\n        [ 6,  8, 10]])"),
    ("t.matrix_power(x[:, :2].requires_grad_(), 0)", "tensor([[1., 0.],\n        [0., 1.]], grad_fn=<CopyBackwards>)"),
    ("t.matrix_power(x[:, :2].requires_grad_(), 1)", "tensor([[0., 1.],\n        [3., 4.]], grad_fn=<CloneBackward0>)"),
    (
        "t.matrix_power(x[:, :2].requires_grad_(), 3)",
        "tensor([[12., 19.],\n        [57., 88.]], grad_fn=<MmBackward0>)",
    ),
    (
        "t.matrix_power(x[:, :2].requires_grad_(), 5)",
        "tensor([[ 264.,  409.],\n        [1227., 1900.]], grad_fn=<MmBackward0>)",
    ),
    ("t.take_along_dim(x, t.tensor([[-1], [0]]), 1)", "tensor([[2.],\n        [3.]])"),
    ("t.take_along_dim(x, i.flip(0))", "tensor([3., 4., 5., 0., 1., 2.])"),
    ("t.polygamma(1, x + 1)", "tensor([[1.6449, 0.6449, 0.3949],\n        [0.2838, 0.2213, 0.1813]])"),
    ("(x + 1).polygamma_(2)", "tensor([[-2.4041, -0.4041, -0.1541],\n        [-0.0800, -0.0488, -0.0328]])"),
    ("t.cov(x)", "tensor([[1., 1.],\n        [1., 1.]])"),
]


def run(program: str) -> Any:
    i = mg.arange(6).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(program, {"t": mg, "np": np, "x": i.float(), "i": i, "b": i > 2})


@pytest.mark.parametrize(("program", "error", "message"), REFUSED)
def test_refused(program: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        run(program)
    assert type(caught.value) is error and str(caught.value) == message


@pytest.mark.parametrize(("program", "shown"), TAKEN)
def test_taken(program: str, shown: str) -> None:
    assert repr(run(program)) == shown
