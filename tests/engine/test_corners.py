"""Corners that few programs reach, each with PyTorch's answer, recorded: so that every line of the engine is run here."""

# ruff: noqa: E501 (what PyTorch prints, as it is)

import warnings
from typing import Any

import pytest

import minigrad
import minigrad.distributions
import minigrad.utils.data
from minigrad import check_graph

TAKEN = [
    ('t.linalg.qr(t.tensor([[3.0, 0.0], [4.0, 5.0]]), mode="r")[1].abs()', "tensor([[5., 4.],\n        [0., 3.]])"),
    ('t.linalg.qr(t.tensor([[3.0], [4.0]]), mode="complete")[1].abs()', "tensor([[5.],\n        [0.]])"),
    ("t.linalg.svd(t.tensor([[3.0, 0.0], [0.0, 4.0]]), full_matrices=True)[1]", "tensor([4., 3.])"),
    ("t.linalg.matrix_norm(t.tensor([[1.0, -2.0], [3.0, 4.0]]), 1)", "tensor(6.)"),
    ('t.linalg.matrix_norm(t.tensor([[1.0, -2.0], [3.0, 4.0]]), float("inf"), keepdim=True)', "tensor([[7.]])"),
    ('t.linalg.matrix_norm(t.tensor([[1.0, -2.0], [3.0, 4.0]]), "nuc")', "tensor(7.0711)"),
    ('t.linalg.norm(t.tensor([[1.0, -2.0], [3.0, 4.0]]), "fro")', "tensor(5.4772)"),
    ("t.linalg.tensorinv(t.eye(4).reshape(2, 2, 4), ind=2).shape", "torch.Size([4, 2, 2])"),
    (
        "t.linalg.pinv(t.tensor([[2.0, 0.0], [0.0, 4.0]]), hermitian=True)",
        "tensor([[0.5000, 0.0000],\n        [0.0000, 0.2500]])",
    ),
    ("t.linalg.eigh(t.tensor([[2.0, 0.0], [0.0, 4.0]]))[0]", "tensor([2., 4.])"),
    (
        "t.vander(t.tensor([1.0, 2.0, 3.0]), N=2, increasing=True)",
        "tensor([[1., 1.],\n        [1., 2.],\n        [1., 3.]])",
    ),
    ("t.vander(t.tensor([1.0, 2.0]))", "tensor([[1., 1.],\n        [2., 1.]])"),
    ("t.ones(2).new_empty(3, 2).shape", "torch.Size([3, 2])"),
    ("t.ones(2).new_tensor([1, 2])", "tensor([1., 2.])"),
    ("t.asarray(t.ones(2), copy=True, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ("t.tensor([t.tensor(1), t.tensor(2)])", "tensor([1, 2])"),
    ("t.tensor([t.tensor([1.5]), 2])", "tensor([1.5000, 2.0000])"),
    ("t.FloatTensor(t.tensor([1, 2]).float())", "tensor([1., 2.])"),
    (
        't.nn.functional.interpolate(t.arange(4.0).reshape(1, 1, 2, 2), size=(3, 3), mode="bicubic")',
        "tensor([[[[-0.2604,  0.3264,  0.9132],\n          [ 0.9132,  1.5000,  2.0868],\n          [ 2.0868,  2.6736,  3.2604]]]])",
    ),
    (
        't.nn.functional.interpolate(t.arange(4.0).reshape(1, 1, 2, 2), size=3, mode="bicubic", align_corners=True)',
        "tensor([[[[0.0000, 0.5000, 1.0000],\n          [1.0000, 1.5000, 2.0000],\n          [2.0000, 2.5000, 3.0000]]]])",
    ),
    (
        't.nn.functional.interpolate(t.arange(4.0).reshape(1, 1, 4), size=2, mode="area")',
        "tensor([[[0.5000, 2.5000]]])",
    ),
    (
        "t.nn.functional.max_pool2d_with_indices(t.arange(16.0).reshape(1, 1, 4, 4), 2)",
        "(tensor([[[[ 5.,  7.],\n          [13., 15.]]]]), tensor([[[[ 5,  7],\n          [13, 15]]]]))",
    ),
    ("t.adaptive_max_pool1d(t.tensor([[1.0, 3.0, 2.0]]), 2)", "(tensor([[3., 3.]]), tensor([[1, 1]]))"),
    ("t.embedding(t.eye(2), t.tensor([1, 0]))", "tensor([[0., 1.],\n        [1., 0.]])"),
    (
        "t.nn.functional.mse_loss(t.tensor([1.0, 2.0]), t.tensor([3.0, 5.0]), weight=t.tensor([1.0, 3.0]))",
        "tensor(7.7500)",
    ),
    ("t.nn.functional.mse_loss(t.tensor([1.0, 2.0]), t.tensor([3.0, 5.0]), size_average=False)", "tensor(13.)"),
    ("t.nn.functional.mse_loss(t.tensor([1.0, 2.0]), t.tensor([3.0, 5.0]), reduce=False)", "tensor([4., 9.])"),
    (
        "t.nn.functional.cross_entropy(t.tensor([[1.0, 2.0]]), t.tensor([[0.25, 0.75]]), weight=t.tensor([1.0, 2.0]))",
        "tensor(0.7982)",
    ),
    ("t.nn.functional.cross_entropy(t.tensor([[1.0, 2.0]]), t.tensor([1]), size_average=True)", "tensor(0.3133)"),
    (
        "t.nn.functional.gaussian_nll_loss(t.tensor([[1.0, 2.0]]), t.tensor([[0.0, 0.0]]), t.tensor([2.0]))",
        "tensor(0.9716)",
    ),
    (
        "t.nn.functional.triplet_margin_with_distance_loss(t.tensor([[1.0, 2.0]]), t.tensor([[0.0, 2.0]]), t.tensor([[1.0, 3.0]]), swap=True)",
        "tensor(1.0000)",
    ),
    ("t.nn.functional.dropout1d(t.ones(2, 3, 4), 0.5).sum((1, 2)).shape", "torch.Size([2])"),
    ("t.nn.functional.alpha_dropout(t.ones(2), 1.0, training=True)", "tensor([0., 0.])"),
    ("t.nn.functional.alpha_dropout(t.ones(2), 0.5, training=False)", "tensor([1., 1.])"),
    (
        "(t.manual_seed(3), t.nn.functional.gumbel_softmax(t.tensor([[1.0, 2.0, 3.0]]), hard=True))[1]",
        "tensor([[1., 0., 0.]])",
    ),
    (
        "(t.manual_seed(3), t.nn.functional.dropout1d(t.ones(3, 2), 0.5))[1]",
        "tensor([[2., 2.],\n        [2., 2.],\n        [0., 0.]])",
    ),
    (
        "(t.manual_seed(3), t.nn.functional.dropout3d(t.ones(1, 3, 1, 1, 2), 0.5))[1]",
        "tensor([[[[[2., 2.]]],\n\n\n         [[[2., 2.]]],\n\n\n         [[[0., 0.]]]]])",
    ),
    (
        "t.nn.PixelUnshuffle(2)(t.arange(4.0).reshape(1, 1, 2, 2))",
        "tensor([[[[0.]],\n\n         [[1.]],\n\n         [[2.]],\n\n         [[3.]]]])",
    ),
    ("t.nn.PixelShuffle(2)(t.arange(4.0).reshape(1, 4, 1, 1))", "tensor([[[[0., 1.],\n          [2., 3.]]]])"),
    ("t.nn.AvgPool1d(2)(t.arange(4.0).reshape(1, 4))", "tensor([[0.5000, 2.5000]])"),
    ("t.nn.AvgPool2d(2)", "AvgPool2d(kernel_size=2, stride=2, padding=0)"),
    ("t.nn.PixelUnshuffle(2)", "PixelUnshuffle(downscale_factor=2)"),
    ("t.nn.Upsample(scale_factor=(2, 3))(t.ones(1, 1, 1, 1)).shape", "torch.Size([1, 1, 2, 3])"),
    ("t.nn.Upsample(size=3)", "Upsample(size=3, mode='nearest')"),
    ("t.nn.ConstantPad1d(1, 5.0)(t.ones(1, 2))", "tensor([[5., 1., 1., 5.]])"),
    ("t.nn.ChannelShuffle(2)", "ChannelShuffle(groups=2)"),
    (
        "t.nn.LocalResponseNorm(2)(t.tensor([[[1.0], [2.0], [3.0]]]))",
        "tensor([[[1.0000],\n         [1.9996],\n         [2.9985]]])",
    ),
    ("t.nn.utils.rnn.pad_sequence([t.ones(2), t.ones(1)], batch_first=True)", "tensor([[1., 1.],\n        [1., 0.]])"),
    (
        't.nn.utils.rnn.pad_sequence([t.ones(2), t.ones(1)], padding_value=7.0, padding_side="left")',
        "tensor([[1., 7.],\n        [1., 1.]])",
    ),
    (
        "t.nn.utils.rnn.unpad_sequence(t.nn.utils.rnn.pad_sequence([t.ones(2), t.ones(1)]), t.tensor([2, 1]))",
        "[tensor([1., 1.]), tensor([1.])]",
    ),
    (
        "t.nn.utils.rnn.unpack_sequence(t.nn.utils.rnn.pack_sequence([t.ones(2, 1), t.ones(1, 1)]))",
        "[tensor([[1.],\n        [1.]]), tensor([[1.]])]",
    ),
    (
        "t.renorm(t.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)",
        "tensor([[0.6000, 0.8000],\n        [0.3000, 0.4000]])",
    ),
    ("t.tensor([[3, 1], [2, 2]]).msort()", "tensor([[2, 1],\n        [3, 2]])"),
    ('t.quantile(t.tensor([1.0, 2.0, 4.0]), 0.6, interpolation="lower")', "tensor(2.)"),
    ('t.quantile(t.tensor([1.0, 2.0, 4.0]), 0.6, interpolation="higher")', "tensor(4.)"),
    ('t.quantile(t.tensor([1.0, 2.0, 4.0]), 0.6, interpolation="nearest")', "tensor(2.)"),
    ('t.quantile(t.tensor([1.0, 2.0, 4.0]), 0.6, interpolation="midpoint")', "tensor(3.)"),
    (
        "t.quantile(t.tensor([[1.0, 2.0], [3.0, 5.0]]), t.tensor([0.0, 0.5]), dim=1, keepdim=True)",
        "tensor([[[1.0000],\n         [3.0000]],\n\n        [[1.5000],\n         [4.0000]]])",
    ),
    ("t.quantile(t.tensor([[1.0, 2.0], [3.0, 5.0]]), 0.5, keepdim=True)", "tensor([[2.5000]])"),
    (
        "t.unique_consecutive(t.tensor([1, 1, 2, 1]), return_inverse=True, return_counts=True)",
        "(tensor([1, 2, 1]), tensor([0, 0, 1, 2]), tensor([2, 1, 1]))",
    ),
    ("t.histc(t.tensor([2.0, 2.0]), bins=2)", "tensor([0., 2.])"),
    ("t.searchsorted(t.tensor([[1, 3], [2, 4]]), t.tensor([[2], [5]]))", "tensor([[1],\n        [2]])"),
    ("t.trapezoid(t.tensor([1.0, 2.0, 4.0]), dx=2)", "tensor(9.)"),
    ("t.cumulative_trapezoid(t.tensor([1.0, 2.0, 4.0]), dx=2)", "tensor([3., 9.])"),
    (
        "t.mode(t.tensor([[1, 2, 2], [3, 3, 1]]))",
        "torch.return_types.mode(\nvalues=tensor([2, 3]),\nindices=tensor([2, 1]))",
    ),
    ("t.mode(t.tensor(4))", "torch.return_types.mode(\nvalues=tensor(4),\nindices=tensor(0))"),
    ("t.kthvalue(t.tensor(4.0), 1)", "torch.return_types.kthvalue(\nvalues=tensor(4.),\nindices=tensor(0))"),
    ("t.median(t.tensor(4.0), 0)", "torch.return_types.median(\nvalues=tensor(4.),\nindices=tensor(0))"),
    ("t.logsumexp(t.zeros(0), 0)", "tensor(-inf)"),
    ("t.softmax(t.zeros(0, 2), 1)", "tensor([], size=(0, 2))"),
    ("t.log_softmax(t.zeros(0, 2), 1)", "tensor([], size=(0, 2))"),
    ("t.softmax(t.tensor(3.0), 0)", "tensor(1.)"),
    ("t.log_softmax(t.tensor(3.0), 0)", "tensor(0.)"),
    ("t.tensor([2, -1, 3]) ** t.tensor([-1, -3, 2])", "tensor([ 0, -1,  9])"),
    ("t.sign(t.tensor([True, False]))", "tensor([ True, False])"),
    ("t.sign(t.tensor([3, -2]))", "tensor([ 1, -1])"),
    ("t.round(t.tensor([3, -2]))", "tensor([ 3, -2])"),
    ("t.tensor([]).median()", "tensor(nan)"),
    ("t.rot90(t.tensor([[1, 2], [3, 4]]), 2)", "tensor([[4, 3],\n        [2, 1]])"),
    ("t.rot90(t.tensor([[1, 2], [3, 4]]), 3)", "tensor([[3, 1],\n        [4, 2]])"),
    ("t.rot90(t.tensor([[1, 2], [3, 4]]), 0)", "tensor([[1, 2],\n        [3, 4]])"),
    ("t.rot90(t.tensor([[1, 2], [3, 4]]))", "tensor([[2, 4],\n        [1, 3]])"),
    (
        't.meshgrid([t.arange(2), t.arange(2)], indexing="xy")',
        "(tensor([[0, 1],\n        [0, 1]]), tensor([[0, 0],\n        [1, 1]]))",
    ),
    ("t.atleast_2d([t.ones(2), t.tensor(1.0)])", "(tensor([[1., 1.]]), tensor([[1.]]))"),
    (
        "t.ones(2, 4).unsafe_chunk(2, 1)",
        "(tensor([[1., 1.],\n        [1., 1.]]), tensor([[1., 1.],\n        [1., 1.]]))",
    ),
    ("t.ones(4).split_with_sizes([1, 3])", "(tensor([1.]), tensor([1., 1., 1.]))"),
    ("t.tensor_split(t.arange(4), (1, 3))", "(tensor([0]), tensor([1, 2]), tensor([3]))"),
    ("t.tensor(3.0).flatten()", "tensor([3.])"),
    ("t.ones(2, 3).adjoint().shape", "torch.Size([3, 2])"),
    ('t.zeros(3).scatter(0, t.tensor([1, 1]), 2.0, reduce="add")', "tensor([0., 4., 0.])"),
    (
        "t.zeros(1, dtype=t.float16).scatter_add(0, t.zeros(3000, dtype=t.int64), t.ones(3000, dtype=t.float16))",
        "tensor([3000.], dtype=torch.float16)",
    ),
    ("t.zeros(3).scatter_add(0, t.tensor([1]), t.tensor(2.0))", "tensor([0., 2., 0.])"),
    ("t.zeros(3).scatter_add(0, t.tensor(1), t.tensor([2.0, 3.0]))", "tensor([0., 2., 0.])"),
    ('t.ones(3).scatter(0, t.tensor([1, 1]), 2.0, reduce="multiply")', "tensor([1., 4., 1.])"),
    ("t.zeros(3, 3).fill_diagonal_(2.0)", "tensor([[2., 0., 0.],\n        [0., 2., 0.],\n        [0., 0., 2.]])"),
    ("t.zeros(4).slice_scatter(t.ones(2), 0, 1, 3)", "tensor([0., 1., 1., 0.])"),
    ("t.zeros(2, 2).index_fill(0, t.tensor([1]), 3)", "tensor([[0., 0.],\n        [3., 3.]])"),
    ("t.addbmm(t.zeros(1, 1), t.ones(2, 1, 3), t.ones(2, 3, 1))", "tensor([[6.]])"),
    ("t.ones(3000, dtype=t.float16).cumsum(0)[-1]", "tensor(3000., dtype=torch.float16)"),
    ("(t.full((5000,), 0.1).cumsum(0)[-1] - 500).item()", "0.0"),
    ("(t.full((1000,), 1.01).cumprod(0)[-1]).item()", "20958.95703125"),
    ('t.einsum("...ij->...ji", t.ones(1, 2, 3)).shape', "torch.Size([1, 3, 2])"),
    ("t.einsum(t.ones(2, 3), [0, ...], t.ones(2), [0], [...])", "tensor([2., 2., 2.])"),
    ("t.einsum(t.arange(4).view(2, 2), [30, 2])", "tensor([[0, 2],\n        [1, 3]])"),
    ("t.tensor(1.0).is_nonzero()", "True"),
    ('t.ones(2).type("torch.LongTensor")', "tensor([1, 1])"),
    ("t.ones(2).type_as(t.tensor([1]))", "tensor([1, 1])"),
    ("t.ones(2).where(t.tensor([True, False]), 3.0)", "tensor([1., 3.])"),
    ("t.where(t.tensor([1, 0], dtype=t.uint8), 1.0, 2.0)", "tensor([1., 2.])"),
    ("t.is_complex(t.ones(1))", "False"),
    ("t.result_type(t.tensor([1]), 1.0)", "torch.float32"),
    ("t.isreal(t.ones(1))", "tensor([True])"),
    ("t.signbit(t.tensor([-0.0, 1.0]))", "tensor([ True, False])"),
    ("t.iinfo(t.int8)", "iinfo(min=-128, max=127, dtype=int8)"),
    ("t.Size([2, 3]) + (1,)", "torch.Size([2, 3, 1])"),
    ("t.normal(0.0, 1.0, (0,))", "tensor([])"),
    ("t.rand_like(t.ones(0))", "tensor([])"),
    ("t.randint_like(t.ones(2), 1)", "tensor([0., 0.])"),
    ("t.range(1, 3)", "tensor([1., 2., 3.])"),
    ("t.logdet(t.tensor([[2.0]]))", "tensor(0.6931)"),
    ("list(t.utils.data.Subset([5, 6, 7], [2, 0]))", "[7, 5]"),
    ("len(t.utils.data.Subset([5, 6, 7], [2, 0]))", "2"),
    (
        "t.distributions.transforms.ComposeTransform([t.distributions.transforms.ExpTransform(), t.distributions.transforms.AffineTransform(1.0, 2.0)])(t.tensor(0.0))",
        "tensor(3.)",
    ),
    ("t.distributions.LogNormal(0.0, 1.0).support", "GreaterThan(lower_bound=0.0)"),
    ("t.distributions.Uniform(0.0, 3.0).stddev", "tensor(0.8660)"),
    ("t.distributions.Laplace(0.0, 3.0).stddev", "tensor(4.2426)"),
    ("t.distributions.Gumbel(0.0, 3.0).stddev", "tensor(3.8476)"),
    ("t.distributions.Exponential(4.0).mean", "tensor(0.2500)"),
    (
        "t.distributions.MultivariateNormal(t.zeros(1), scale_tril=t.tensor([[2.0]])).covariance_matrix",
        "tensor([[4.]])",
    ),
    (
        "t.distributions.MultivariateNormal(t.zeros(1), scale_tril=t.tensor([[2.0]])).precision_matrix",
        "tensor([[0.2500]])",
    ),
    ("t.autograd.functional.hessian(lambda x: t.tensor(1.0), t.ones(2))", "tensor([[0., 0.],\n        [0., 0.]])"),
    (
        "t.autograd.grad((lambda x: x * 2)(t.ones(1, requires_grad=True)).sum(), t.ones(1, requires_grad=True), allow_unused=True)",
        "(None,)",
    ),
    ("t.xlogy(t.tensor([0.0, 2.0]), t.tensor([0.0, 1.0]))", "tensor([0., 0.])"),
    ("t.special.i0(t.tensor([0.0, 1.0]))", "tensor([1.0000, 1.2661])"),
    ("t.conv2d(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 1), padding=0)", "tensor([[[[1., 1.],\n          [1., 1.]]]])"),
    ("t.zeros(()).index_copy(0, t.tensor([0, 0]), t.tensor([2.0, 1.0]))", "tensor(1.)"),
    ("t.zeros(()).index_add(0, t.tensor([0]), t.tensor(2.0))", "tensor(2.)"),
    ("t.zeros(3).index_copy(0, t.tensor([1]), t.tensor(2.0))", "tensor([0., 2., 0.])"),
    ("t.zeros(3).index_fill(0, t.tensor([2, 2]), t.tensor(1.0)).sum()", "tensor(1.)"),
    (
        "t.zeros(3, 2).index_add(1, t.tensor([1, 1]), t.ones(3, 2), alpha=2)",
        "tensor([[0., 4.],\n        [0., 4.],\n        [0., 4.]])",
    ),
    ('t.deg2rad(t.ones(1, requires_grad=True))', 'tensor([0.0175], grad_fn=<Deg2RadBackward0>)'),
    ('t.rad2deg(t.ones(1, requires_grad=True)).grad_fn.name()', "'Rad2DegBackward0'"),
    ('t.sgn(t.ones(1, requires_grad=True))', 'tensor([1.], grad_fn=<SgnBackward0>)'),
    ('t.rsub(t.ones(1, requires_grad=True), t.ones(1))', 'tensor([0.], grad_fn=<RsubBackward0>)'),
    ('t.rsub(t.ones(1, requires_grad=True), 1)', 'tensor([0.], grad_fn=<RsubBackward1>)'),
    ('t.std_mean(t.tensor([1.0, 2.0], requires_grad=True))', '(tensor(0.7071, grad_fn=<StdMeanBackward0>), tensor(1.5000, grad_fn=<StdMeanBackward0>))'),
    ('t.var_mean(t.tensor([1.0, 2.0], requires_grad=True))', '(tensor(0.5000, grad_fn=<VarMeanBackward0>), tensor(1.5000, grad_fn=<VarMeanBackward0>))'),
    ('t.aminmax(t.tensor([1.0, 2.0], requires_grad=True))', 'torch.return_types.aminmax(\nmin=tensor(1., grad_fn=<AminmaxBackward0>),\nmax=tensor(2., grad_fn=<AminmaxBackward0>))'),
    ('t.dist(t.ones(2, requires_grad=True), t.zeros(2))', 'tensor(1.4142, grad_fn=<DistBackward0>)'),
    ('t.cdist(t.ones(1, 2, requires_grad=True), t.zeros(1, 2))', 'tensor([[1.4142]], grad_fn=<CdistBackward0>)'),
    ('t.rot90(t.ones(1, 2, requires_grad=True))', 'tensor([[1.],\n        [1.]], grad_fn=<Rot90Backward0>)'),
    ('t.block_diag(t.ones(1, requires_grad=True), t.ones(1))', 'tensor([[1., 0.],\n        [0., 1.]], grad_fn=<BlockDiagBackward0>)'),
    ('t.ones(2, requires_grad=True).repeat_interleave(2)', 'tensor([1., 1., 1., 1.], grad_fn=<ViewBackward0>)'),
    ('t.ones(2, requires_grad=True) @ t.ones(2, 3)', 'tensor([2., 2., 2.], grad_fn=<SqueezeBackward4>)'),
    ('t.ones(2, 2, 3, requires_grad=True) @ t.ones(3)', 'tensor([[3., 3.],\n        [3., 3.]], grad_fn=<UnsafeViewBackward0>)'),
    ('t.ones(3, requires_grad=True) @ t.ones(2, 3, 1)', 'tensor([[3.],\n        [3.]], grad_fn=<UnsafeViewBackward0>)'),
    ('t.einsum("ij->ji", t.ones(1, 2, requires_grad=True))', 'tensor([[1.],\n        [1.]], grad_fn=<PermuteBackward0>)'),
    ('t.einsum("ij->i", t.ones(1, 2, requires_grad=True))', 'tensor([2.], grad_fn=<SumBackward1>)'),
    ('t.einsum("i,j->ij", t.ones(1, requires_grad=True), t.ones(2))', 'tensor([[1., 1.]], grad_fn=<MulBackward0>)'),
    ('t.einsum("ij,jk", t.ones(1, 2, requires_grad=True), t.ones(2, 1))', 'tensor([[2.]], grad_fn=<ViewBackward0>)'),
    ('t.einsum("ii", t.ones(2, 2, requires_grad=True))', 'tensor(2., grad_fn=<SumBackward1>)'),
    ('t.ones(2, 3, requires_grad=True).t().reshape(6)', 'tensor([1., 1., 1., 1., 1., 1.], grad_fn=<UnsafeViewBackward0>)'),
    ('t.ones(2, 3, requires_grad=True).t().flatten().grad_fn.next_functions[0][0].name()', "'CloneBackward0'"),
    ('t.ones(2, 3, requires_grad=True).t().reshape(3, 2, 1).grad_fn.name()', "'ReshapeAliasBackward0'"),
    ('t.tensor([1.0, 2.0], requires_grad=True).quantile(0.5)', 'tensor(1.5000, grad_fn=<SqueezeBackward4>)'),
    ('t.linalg.eigvalsh(t.eye(2).requires_grad_())', 'tensor([1., 1.], grad_fn=<LinalgEighBackward0>)'),
    ('t.linalg.svdvals(t.eye(2).requires_grad_())', 'tensor([1., 1.], grad_fn=<LinalgSvdBackward0>)'),
    ('t.linalg.qr(t.eye(1).requires_grad_())[1].abs().grad_fn.next_functions[0][0].name()', "'LinalgQrBackward0'"),
    ('t.linalg.solve(t.eye(2).requires_grad_(), t.ones(2))', 'tensor([1., 1.], grad_fn=<LinalgSolveExBackward0>)'),
    ('t.linalg.norm(t.ones(2, 2, requires_grad=True), 1)', 'tensor(2., grad_fn=<AmaxBackward0>)'),
    ('t.linalg.matrix_norm(t.ones(2, 3, 2, requires_grad=True), float("inf"))', 'tensor([2., 2.], grad_fn=<AmaxBackward0>)'),
    ('t.zeros(2, requires_grad=True).scatter(0, t.tensor([0]), 5.0)', 'tensor([5., 0.], grad_fn=<ScatterBackward1>)'),
    ('t.addmv(t.ones(1, requires_grad=True), t.ones(1, 2), t.ones(2))', 'tensor([3.], grad_fn=<AddmvBackward0>)'),
    ('t.addmm(t.tensor([[float("nan")]]), t.ones(1, 1), t.ones(1, 1), beta=0)', 'tensor([[1.]])'),
    ('t.addmm(t.ones(1, 1).long(), t.ones(1, 1).long(), t.ones(1, 1).long(), alpha=1.5)', 'tensor([[2]])'),
    ('t.cross(t.ones(3, requires_grad=True), t.zeros(3), dim=0)', 'tensor([0., 0., 0.], grad_fn=<LinalgCrossBackward0>)'),
    ('t.autograd.grad((lambda x: (x, x**0))(t.tensor(float("nan"), requires_grad=True))[1], t.tensor(0.0, requires_grad=True), allow_unused=True)', '(None,)'),
    ('t.func.grad(lambda x: x**0)(t.tensor(float("nan")))', 'tensor(0.)'),
    ('t.full((100,), 1000.0, dtype=t.float16).mean()', 'tensor(1000., dtype=torch.float16)'),
    ('t.sigmoid(t.tensor([-10.0, 0.3], dtype=t.float16))', 'tensor([4.5419e-05, 5.7422e-01], dtype=torch.float16)'),
    ('t.nn.functional.silu(t.tensor([-10.0, 0.5], dtype=t.float16))', 'tensor([-0.0005,  0.3113], dtype=torch.float16)'),
    ('t.nn.functional.gelu(t.tensor([2.0, 10000.0], dtype=t.float16))', 'tensor([1.9541e+00, 1.0000e+04], dtype=torch.float16)'),
    ('t.softmax(t.tensor([1.0, 2.0], dtype=t.float16), 0)', 'tensor([0.2690, 0.7310], dtype=torch.float16)'),
    ('t.iinfo(t.int32)', 'iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)'),
    ('type((t.ones(1, requires_grad=True) * 2).grad_fn)', "<class 'MulBackward0'>"),
    ('t.tensor([1]).broadcast_to(2, 2)', 'tensor([[1, 1],\n        [1, 1]])'),
    ('t.tensor([1, 2]).broadcast_to(2, 2)', 'tensor([[1, 2],\n        [1, 2]])'),
    ('t.ones(2).expand(size=(1, 2))', 'tensor([[1., 1.]])'),
    ('t.zeros(2, 3).permute(dims=(1, 0)).shape', 'torch.Size([3, 2])'),
    ('t.arange(4).reshape(shape=(2, 2))', 'tensor([[0, 1],\n        [2, 3]])'),
    ('t.tensordot(t.ones(2, 3), t.ones(3, 4), ([-1], [-2]))', 'tensor([[3., 3., 3., 3.],\n        [3., 3., 3., 3.]])'),
    ('t.einsum(",->", t.tensor(2.0), t.tensor(3.0))', 'tensor(6.)'),
    ('t.tensordot(t.tensor(2.0), t.tensor(3.0), 0)', 'tensor(6.)'),
]

REFUSED = [
    (
        "t.einsum(t.ones(2), [52])",
        ValueError,
        "einsum(): subscript in subscript list is not within the valid range [0, 52)",
    ),
    (
        "t.zeros(2, 3).scatter(0, t.zeros(2, 3, dtype=t.int64), t.ones(2, 1))",
        RuntimeError,
        "Expected index [2, 3] to be no larger than self [2, 3] apart from dimension 0 and to be no larger size than src "
        "[2, 1]",
    ),
    (
        "t.zeros(3).scatter_add_(0, t.tensor([0, 1]), t.tensor(1.0))",
        RuntimeError,
        "Expected index [2] to be no larger than self [3] apart from dimension 0 and to be no larger size than src []",
    ),
    (
        't.zeros(3).scatter_reduce(0, t.tensor([0, 1]), t.ones(2, 1), "sum")',
        RuntimeError,
        "Index tensor must have the same number of dimensions as src tensor",
    ),
    ("t.einsum([0], t.ones(2))", TypeError, "einsum(): argument 'equation' (position 1) must be str, not list"),
    (
        't.einsum("i")',
        ValueError,
        "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
        "subscripts list",
    ),
    (
        "t.nn.functional.soft_margin_loss(t.ones(2), t.ones(2, requires_grad=True))",
        RuntimeError,
        "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. This input cannot have requires_grad True.",
    ),
    (
        "t.nn.functional.soft_margin_loss(t.ones(2, 1), t.ones(2, 3))",
        RuntimeError,
        "output with shape [2, 1] doesn't match the broadcast shape [2, 3]",
    ),
    (
        "t.zeros(3).index_copy(0, t.tensor([1, 0]), t.tensor(2.0))",
        IndexError,
        "index_copy_(): When source is scalar, index should have one element (got 2)",
    ),
    (
        "t.zeros(3).index_add(0, t.tensor([1, 0]), t.tensor(2.0))",
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    (
        "t.zeros(3).index_add(0, t.tensor([1]), t.tensor(2.0))",
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [3] source.shape = []",
    ),
    (
        "t.zeros(3, 2).index_add(0, t.tensor([1]), t.ones(2))",
        RuntimeError,
        "index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0",
    ),
    (
        "t.zeros(3, 2).index_copy(0, t.tensor([1]), t.ones(2))",
        IndexError,
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (1), destination dimensionality (2)",
    ),
    (
        "t.zeros(3, 2).index_copy(0, t.tensor([1]), t.ones(1, 3))",
        RuntimeError,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 2 at dimension 0 and source slice shape: 3 at dimension 0.",
    ),
    (
        "t.zeros(3, 2).index_add(0, t.tensor([1]), t.ones(1, 1))",
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [3, 2] source.shape = [1, 1]",
    ),
    (
        "t.zeros(3, 2).index_add(0, t.tensor([1, 2]), t.ones(1, 2))",
        RuntimeError,
        "index_add_(): Number of indices (2) should be equal to source.size(dim): (1), for dim: 0",
    ),
    (
        "t.zeros(3, 2).index_copy(0, t.tensor([1, 2]), t.ones(1, 2))",
        IndexError,
        "index_copy_(): Number of indices (2) should be equal to source.size(dim) (1)",
    ),
    (
        "t.zeros(2, 3, 4).index_copy(1, t.tensor([0]), t.ones(2, 1, 5))",
        RuntimeError,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 2 4 at dimension 1 and source slice shape: 2 5 at dimension 0.",
    ),
    (
        "t.zeros(3).index_copy(0, t.tensor([0]), t.ones(1).double())",
        RuntimeError,
        "index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) Double",
    ),
    (
        "t.zeros(3, 2).index_fill(0, t.tensor([1]), t.ones(2))",
        RuntimeError,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).",
    ),
    (
        't.zeros(3, 2).index_reduce(0, t.tensor([1]), t.ones(2), "prod")',
        RuntimeError,
        "index_reduce_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0",
    ),
    ('t.linalg.inv(t.zeros(2, 2))', minigrad.linalg.LinAlgError, 'linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular.'),
    ('t.linalg.inv(t.stack([t.eye(2), t.tensor([[1.0, 2.0], [2.0, 4.0]])]))', minigrad.linalg.LinAlgError, 'linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion could not be completed because the input matrix is singular.'),
    ('t.linalg.solve(t.zeros(2, 2), t.ones(2))', minigrad.linalg.LinAlgError, 'torch.linalg.solve: The solver failed because the input matrix is singular.'),
    ('t.linalg.cholesky(t.tensor([[1.0, 2.0], [2.0, 1.0]]))', minigrad.linalg.LinAlgError, 'linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order 2 is not positive-definite).'),
    ('t.linalg.solve(t.eye(2), t.ones(3))', RuntimeError, 'linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)'),
    ('t.linalg.svd(t.zeros(2))', RuntimeError, 'linalg.svd: The input tensor A must have at least 2 dimensions.'),
    ('t.linalg.multi_dot([t.zeros(2, 3), t.zeros(2, 3)])', RuntimeError, 'multi_dot(): tensors 0 and 1 with shapes [2, 3] and [2, 3] cannot be multiplied'),
    ('t.linalg.multi_dot([t.tensor(2.0), t.ones(1)])', RuntimeError, 'multi_dot(): the first tensor must be 1D or 2D but got 0D'),
    ('t.linalg.multi_dot([t.eye(2), t.zeros(1, 2, 2), t.eye(2)])', RuntimeError, 'multi_dot(): tensor 1 must be 2D but got 3D'),
    ('t.linalg.multi_dot([t.eye(2)])', RuntimeError, 'multi_dot(): expected at least 2 tensors but got 1'),
    ('t.tensor([1, 2]).std()', RuntimeError, 'std and var only support floating point and complex dtypes'),
    ('t.var_mean(t.tensor([1, 2]))', RuntimeError, 'var_mean only support floating point and complex dtypes'),
    ('t.mean(t.ones(2), dtype=t.int64)', RuntimeError, 'mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: Long'),
    ('t.isclose(t.ones(2), t.ones(3))', RuntimeError, 'The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0'),
    ('t.lerp(t.zeros(2), t.zeros(2), t.zeros(3))', RuntimeError, 'The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0'),
    ('t.zeros(2).repeat(-1)', RuntimeError, 'Trying to create tensor with negative dimension -2: [-2]'),
    ('t.repeat_interleave(t.tensor([1, 2]), t.tensor([1, 3, 2]))', RuntimeError, 'repeats must have the same size as input along dim, but got repeats.size(0) = 3 and input.size(0) = 2'),
    ('t.rot90(t.zeros(2, 3), 1, (0, 2))', IndexError, 'Dimension out of range (expected to be in range of [-2, 1], but got 2)'),
    ('t.nn.functional.pad(t.zeros(2, 3), (1, 1), mode="reflect", value=1.0)', RuntimeError, 'Padding mode "reflect" doesn\'t take in value argument'),
    ('t.nn.functional.pad(t.zeros(3), (1, 1), mode="reflect")', NotImplementedError, 'Padding size 2 is not supported for 1D input tensor.\nSupported combinations for non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)'),
    ('t.nn.functional.pad(t.zeros(2, 3), (1.5, 1))', TypeError, "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type float at pos 0"),
    ('t.nn.functional.pad(t.zeros(2, 3), (-4, 0))', RuntimeError, 'narrow(): length must be non-negative.'),
    ('t.arange(5.0).unfold(0, -1, 1)', RuntimeError, 'size is -1 but must be >= 0'),
    ('t.tril_indices(-1, 3)', RuntimeError, 'row must be non-negative, got-1'),
    ('t.arange(7).split([2.0, 5])', TypeError, "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, but found element of type float at pos 0"),
    ('t.arange(7).split([8, -1])', RuntimeError, 'split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[8, -1]'),
    ('t.arange(7).split("a")', TypeError, "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not str"),
    ('t.round(t.tensor([155]), decimals=-1)', NotImplementedError, '"round_cpu" not implemented for \'Long\''),
    ('t.ones(2, 2, dtype=t.bool).expand(3)', RuntimeError, 'expand(CPUBoolType{[2, 2]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)'),
    ('t.broadcast_tensors(t.zeros(2), [1.0])', TypeError, 'expected Tensor as element 1 in argument 0, but got list'),
    ('t.einsum("i1->i", t.ones(2, 3))', RuntimeError, 'einsum(): invalid subscript given at index 1 in the equation string, subscripts must be in [a-zA-Z]'),
    ('t.einsum("i.j->i", t.ones(2, 3))', RuntimeError, "einsum(): found '.' for operand 0 that is not part of any ellipsis"),
    ('t.einsum("ii->i", t.ones(2, 3))', RuntimeError, "einsum(): subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
    ('t.einsum("ij,jk", t.ones(2, 3), 3)', TypeError, 'expected Tensor as element 1 in argument 1, but got int'),
    ('t.einsum("ij,jk", t.ones(2, 3), t.ones(3, 2).double())', RuntimeError, 'expected scalar type Float but found Double'),
    ('t.tensordot(t.ones(2, 3), t.ones(3, 4), 2)', RuntimeError, 'contracted dimensions need to match, but first has size 2 in dim -2 and second has size 3 in dim 0'),
    ('t.tensordot(t.ones(2, 3), t.ones(3, 4), 3)', RuntimeError, 'tensordot expects dims < ndim_a or ndim_b, but got dims=3'),
    ('t.addmm(t.ones(2, 2), t.ones(3), t.ones(3, 2))', RuntimeError, 'mat1 must be a matrix, got 1-D tensor'),
    ('t.addmm(t.ones(2, 2), t.ones(2, 3).double(), t.ones(3, 2))', RuntimeError, 'mat1 and mat2 must have the same dtype, but got Double and Float'),
    ('t.addmv(t.zeros(3), t.ones(2, 3), t.ones(3))', RuntimeError, 'size mismatch, got input (3), mat (2x3), vec (3)'),
    ('t.baddbmm(t.zeros(3), t.ones(2, 2, 3), t.ones(2, 3, 2))', RuntimeError, 'The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 2.  Target sizes: [2, 2, 2].  Tensor sizes: [3]'),
    ('t.nn.functional.linear(t.zeros(2, 3), t.zeros(4, 3), t.zeros(3))', RuntimeError, 'The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  Target sizes: [2, 4].  Tensor sizes: [3]'),
    ('t.nn.functional.linear(t.zeros(2, 3), t.zeros(1, 2, 3))', RuntimeError, 't() expects a tensor with <= 2 dimensions, but self is 3D'),
    ('t.nn.functional.linear(t.zeros(2, 3).double(), t.zeros(2, 3))', RuntimeError, 'expected m1 and m2 to have the same dtype, but got: double != float'),
    ('t.nn.functional.linear(t.zeros(2, 3).double(), t.zeros(2, 3), t.zeros(2))', RuntimeError, 'mat1 and mat2 must have the same dtype, but got Double and Float'),
    ('t.nn.functional.linear(t.tensor(1.0), t.zeros(2, 3))', RuntimeError, 'both arguments to linear need to be at least 1D, but they are 0D and 2D'),
]


def run(program: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(program, {"t": minigrad})


@pytest.mark.parametrize(("program", "shown"), TAKEN)
def test_shown(program: str, shown: str) -> None:
    assert repr(run(program)) == shown


@pytest.mark.parametrize(("program", "error", "message"), REFUSED)
def test_refused(program: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        run(program)
    assert str(caught.value) == message


def test_a_write_through_a_view_is_checked_like_any_operation() -> None:
    x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[1:] *= minigrad.tensor([2.0, 5.0])
    assert check_graph((y * y).sum())
