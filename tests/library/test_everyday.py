"""What programs ask for around the mathematics: devices, datasets, switches.  Expected values are PyTorch's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.utils import data


def test_devices_can_be_named() -> None:
    cpu = mg.device("cuda" if mg.cuda.is_available() else "cpu")
    assert mg.zeros(2, device=cpu).to(cpu).device == cpu == mg.device(cpu) != "cpu"
    assert repr(mg.device("cuda", 1)) == "device(type='cuda', index=1)"
    assert (str(mg.device("cuda:1")), mg.device("mps").index, cpu.type) == ("cuda:1", None, "cpu")
    assert pickle.loads(pickle.dumps(mg.device("cpu:0"))) == mg.device("cpu:0") != cpu
    assert (mg.accelerator.is_available(), mg.accelerator.current_accelerator()) == (False, None)
    with mg.device("cpu") as here:
        assert mg.zeros(1).device == here
    assert not mg.backends.mps.is_available() and not mg.backends.cudnn.is_available()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (("foo",), "Expected one of cpu, cuda, ipu, .* device type at start of device string: foo"),
        (("cuda:x",), "Invalid device string: 'cuda:x'"),
        (("",), "Device string must not be empty"),
        (("cuda:1", 2), "must not include an index because index was passed explicitly: cuda:1"),
    ],
)
def test_wrong_devices(name: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        mg.device(*name)


@pytest.mark.parametrize(
    "use",
    [
        lambda: mg.zeros(2).to(device="cuda"),
        lambda: mg.zeros(2, device=mg.device("mps")),
        lambda: mg.nn.Linear(1, 1).to("cuda"),
        lambda: mg.set_default_device("cuda"),
        lambda: mg.Generator("cuda"),
        lambda: mg.device("cuda").__enter__(),
    ],
)
def test_other_devices_are_refused(use: Any) -> None:
    with pytest.raises(NotImplementedError, match="CPU only"):
        use()


def test_switches() -> None:
    net = mg.nn.Linear(2, 1)
    assert mg.compile(net) is net and mg.compile(dynamic=True)(abs) is abs
    mg.use_deterministic_algorithms(True)
    assert mg.are_deterministic_algorithms_enabled()
    mg.set_float32_matmul_precision("high")
    assert mg.get_float32_matmul_precision() == "high"
    with pytest.raises(RuntimeError, match="is not one of"):
        mg.set_float32_matmul_precision("low")


def test_a_tensor_says_where_it_is() -> None:
    x = mg.zeros(2)
    assert (x.is_cpu, x.is_cuda, x.is_sparse, x.get_device(), x.is_signed()) == (True, False, False, -1, True)
    assert not x.byte().is_signed()


def test_names_at_the_top() -> None:
    x = mg.tensor([-1.0, 2.0])
    assert mg.relu_(x) is x and x.tolist() == [0.0, 2.0]
    assert mg.sqrt_(mg.tensor([4.0])).item() == 2
    assert mg.cosine_similarity is mg.nn.functional.cosine_similarity and mg.vmap is mg.func.vmap


def test_functional_call() -> None:
    net = mg.nn.Sequential(mg.nn.Linear(2, 1), mg.nn.BatchNorm1d(1))
    weight = mg.tensor([[1.0, 2.0]], requires_grad=True)
    before = net[0].weight
    out = mg.func.functional_call(net[0], {"weight": weight, "bias": mg.zeros(1)}, (mg.ones(3, 2),))
    out.sum().backward()
    assert out.tolist() == [[3.0]] * 3 and weight.grad.tolist() == [[3.0, 3.0]]
    assert net[0].weight is before and before.grad is None
    state = {**dict(net.named_parameters()), **dict(net.named_buffers())}
    del state["1.running_mean"]
    mg.func.functional_call(net, [state, {"1.running_mean": mg.ones(1)}], mg.ones(3, 2), strict=True)
    assert net[1].running_mean.tolist() == [0.0]
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): '0.wieght'"):
        mg.func.functional_call(net, {"0.wieght": weight}, mg.ones(3, 2), strict=True)


def test_collate() -> None:
    items = [(1, 2.5, "a", {"k": mg.zeros(2)}, [1, 2]), (3, 4.5, "b", {"k": mg.ones(2)}, [3, 4])]
    number, real, text, table, pair = data.default_collate(items)
    assert (number.tolist(), real.tolist(), real.dtype, text) == ([1, 3], [2.5, 4.5], mg.float64, ("a", "b"))
    assert table["k"].tolist() == [[0, 0], [1, 1]] and [p.tolist() for p in pair] == [[1, 3], [2, 4]]
    assert data.default_collate([np.float32(1), np.float32(2)]).dtype is mg.float32
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        data.default_collate([[1], [1, 2]])


def test_datasets() -> None:
    both = data.ConcatDataset([data.TensorDataset(mg.arange(3)), data.TensorDataset(mg.arange(5))])
    assert [int(both[i][0]) for i in (0, 2, 3, 7, -1)] == [0, 2, 0, 4, 4]
    assert len(data.TensorDataset(mg.arange(3)) + both) == 11

    class Stream(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(5))

    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    batches = data.BatchSampler(data.SequentialSampler(range(5)), 2, False)
    loader = data.DataLoader(range(5), batch_sampler=batches, num_workers=2)
    assert (len(loader), [b.tolist() for b in loader]) == (3, [[0, 1], [2, 3], [4]])
    assert list(data.DataLoader(range(3), batch_size=None)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: data.DataLoader(range(3), shuffle=True, sampler=[0]), "mutually exclusive with shuffle"),
        (lambda: data.DataLoader(range(3), batch_size=None, drop_last=True), "mutually exclusive with drop_last"),
        (lambda: data.DataLoader(range(3), batch_size=2, batch_sampler=[[0]]), "mutually exclusive with batch_size"),
        (lambda: data.DataLoader(range(3), batch_size=0), "batch_size should be a positive integer"),
        (lambda: data.DataLoader(range(0), shuffle=True), "num_samples should be a positive integer"),
        (lambda: data.WeightedRandomSampler([[1.0]], 1), "weights should be a 1d sequence"),
        (lambda: data.random_split(range(3), [1, 1]), "Sum of input lengths does not equal"),
    ],
)
def test_loaders_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_mixed_precision_runs_in_full_precision() -> None:
    net = mg.nn.Linear(2, 1)
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available.  Disabling."):
        scaler = mg.cuda.amp.GradScaler()
    before = net.weight.detach().clone()
    with pytest.warns(UserWarning, match="CUDA is not available. Disabling"), mg.autocast("cuda", dtype=mg.float16):
        loss = net(mg.ones(1, 2)).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert mg.allclose(net.weight, before - 0.1) and loss.dtype is mg.float32
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})
    with mg.amp.autocast("cpu", enabled=False):
        assert net(mg.ones(1, 2)).dtype is mg.float32
    with pytest.raises(NotImplementedError, match="bfloat16"):
        mg.autocast("cpu")
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'tpu'"):
        mg.autocast("tpu")


def test_the_rooms_of_data_have_pytorchs_names() -> None:
    from minigrad.utils.data.dataloader import DataLoader  # type: ignore[import-untyped, import-not-found]
    from minigrad.utils.data.dataset import Dataset  # type: ignore[import-untyped, import-not-found]

    assert DataLoader is data.DataLoader and Dataset is data.Dataset and mg.cuda.memory_reserved() == 0


@pytest.mark.parametrize(
    ("transformed", "expected"),
    [  # each through b, which the function only closes over
        ("T.func.grad(lambda x: (x * x * b).sum())(a)", [2, 4]),
        ("T.func.grad_and_value(lambda x: (x * x * b).sum())(a)[1]", [1, 4]),
        ("T.func.grad(lambda x: T.func.grad(lambda y: (y * y * b * x).sum())(x).sum())(a)", [4, 8]),
        ("T.func.vjp(lambda x: x * x * b, a)[0]", [1, 4]),
        ("T.func.vjp(lambda x: x * x * b, a)[1](T.ones(2))[0]", [2, 4]),
        ("T.func.vjp(lambda x: x * x, a)[1](b)[0]", [2, 4]),
        ("T.func.jvp(lambda x: x * x * b, (a,), (T.ones(2),))[0]", [1, 4]),
        ("T.func.jvp(lambda x: x * x * b, (a,), (T.ones(2),))[1]", [2, 4]),
        ("T.func.jvp(lambda x: x * x, (a,), (b,))[1]", [2, 4]),
        ("T.func.jacrev(lambda x: x * x * b)(a)", [2, 4]),
        ("T.func.hessian(lambda x: (x * x * b).sum())(a)", [2, 2]),
    ],
)
def test_what_a_transformed_function_closes_over_gets_its_gradient(transformed: str, expected: list[float]) -> None:
    names = {"T": mg, "a": mg.tensor([1.0, 2.0]), "b": mg.tensor([3.0, 4.0], requires_grad=True)}
    eval(transformed, names).sum().backward()
    assert names["b"].grad.tolist() == expected
    with mg.no_grad():
        assert not eval(transformed, names).requires_grad
    names["b"].requires_grad_(False)
    assert not eval(transformed, names).requires_grad  # nobody outside knows the leaves that the transform made


def test_results_of_vjp_and_jvp_are_part_of_the_graph() -> None:
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    out, product = mg.func.vjp(lambda x: x * x, a)
    value, tangent = mg.func.jvp(lambda x: x * x * x, (a,), (mg.ones(2),))
    (out + product(mg.ones(2))[0] + value + tangent).sum().backward()
    assert a.grad.tolist() == [2 + 2 + 3 + 6, 4 + 2 + 12 + 12]


def test_names_of_autograd_are_where_pytorch_has_them() -> None:
    assert mg.autograd.function.once_differentiable is mg.autograd.once_differentiable
    with pytest.raises(AttributeError, match="has no attribute 'functions'"):
        _ = mg.autograd.functions


def test_vmap_names_the_dimension_that_is_missing() -> None:
    with pytest.raises(ValueError, match="Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0"):
        mg.func.vmap(lambda x: x)(mg.tensor(1.0))


def test_a_hook_on_several_gradients_wants_all_to_have_one() -> None:
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        mg.autograd.graph.register_multi_grad_hook([mg.ones(1), mg.ones(1, requires_grad=True)], print)


def test_a_margin_loss_of_one_row_has_the_shape_of_its_target() -> None:
    scores = mg.arange(4.0)
    assert mg.nn.functional.multi_margin_loss(scores, mg.tensor([3]), reduction="none").shape == (1,)
    assert mg.nn.functional.multi_margin_loss(scores, mg.tensor(3), reduction="none").shape == ()


def test_a_grid_of_a_single_point_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="behavior has changed for unit-size grids when align_corners=True"):
        mg.nn.functional.affine_grid(mg.ones(1, 2, 3), (1, 1, 1, 4), align_corners=True)


def test_a_part_that_gets_nothing_is_spoken_of() -> None:
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        parts = data.random_split(range(4), [0.9, 0.1])
    assert [len(part) for part in parts] == [4, 0]
