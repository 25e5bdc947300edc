"""`record`, `step` and `draw` of a tensor of PyTorch: its own pass, with our rules, and nothing of the user's changed."""

from __future__ import annotations

import gc
import re
import subprocess
import sys

import numpy as np
import pytest

from minigrad.record import Recording, record
from minigrad.record.numbers import Extent, number, short
from minigrad.record.recording import facts_of, plain
from minigrad.viz import draw, step

from . import cases, graphs
from .test_against_torch import in_torch

with_torch = [pytest.mark.slow, pytest.mark.needs("torch")]


def only_with_torch(test):
    for mark in with_torch:
        test = mark(test)
    return test


@pytest.fixture(autouse=True)
def small_heap():
    """A recording looks for tensors among all objects: not among those of other tests."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


# ---------------------------------------------------------------- without PyTorch


def test_pytorch_is_not_imported_for_a_tensor_of_ours() -> None:
    code = (
        "import sys, minigrad; from minigrad.viz import step; x = minigrad.tensor(3.0, requires_grad=True);"
        "str(step(x * x)); minigrad.explain(x); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_no_tensor_gets_a_sentence() -> None:
    with pytest.raises(TypeError, match="takes a tensor of minigrad or of PyTorch, not int"):
        record(3)


def test_a_complex_number_is_written_as_such() -> None:
    assert [number(np.complex64(z)) for z in (1 + 2j, -0.5j, 3 - 1j)] == ["1+2j", "0-0.5j", "3-1j"]
    shown = plain(np.array([1 + 2j, 3]), 16)
    assert shown["d"] == ["1+2j", "3+0j"] and shown["top"] == 3


def test_an_extent_says_of_a_large_array_what_the_array_says() -> None:
    array = np.arange(-3000, 3000.0).reshape(60, 100)
    extent = Extent.of(array.shape, array[:8, :8], facts_of(array))
    assert short(extent) == short(array)
    assert plain(extent, 8) == plain(array, 8)
    assert extent.strides == (0, 0)


# ---------------------------------------------------------------- what PyTorch does


def contributions(recording: Recording) -> list[tuple[str, int, np.ndarray]]:
    """Every contribution by node, input and size, in an order that does not depend on that of the walk."""
    moves = [(recording.places[step.node].op, sent) for step in recording.steps for sent in step if not sent.skipped]
    found = [(op, sent.slot, np.asarray(sent.value, float)) for op, sent in moves]
    return sorted(found, key=lambda each: (each[0], each[1], each[2].shape, np.round(each[2].sum(), 6)))


def agreement(recording: Recording) -> tuple[str, str]:
    found = re.search(r"\((\d+) of (\d+) contributions\)", recording.remark)
    assert found, recording.remark
    return found[1], found[2]


@only_with_torch
def test_random_programs_give_the_contributions_that_ours_give() -> None:
    theirs = in_torch(graphs)
    for seed in range(100):
        loss, leaves = graphs.graph(seed)
        ours = contributions(record(loss, names=leaves))
        loss, leaves = theirs.graph(seed)
        recording = record(loss, names=leaves)
        found = contributions(recording)
        assert [each[:2] for each in found] == [each[:2] for each in ours], seed
        for (op, slot, a), (_, _, b) in zip(found, ours, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10, err_msg=f"{seed} {op} {slot}")
        agreed, compared = agreement(recording)
        assert agreed == compared


ALIKE = [c.__name__ for c in cases.CASES if not c.__name__.startswith("own_") and c.__name__ != "batched"]


@only_with_torch
@pytest.mark.parametrize("name", ALIKE)
def test_a_case_of_the_stepper_gives_the_same_rules_under_both_engines(name: str) -> None:
    def rules(module) -> list[tuple[str, str]]:
        loss, given = getattr(module, name)()
        recording = record(loss, given.get("gradient"), given["names"])
        return sorted((recording.places[step.node].op, sent.rule) for step in recording.steps for sent in step if sent.rule)

    assert rules(in_torch(cases)) == rules(cases)


OPERATIONS = """
x*2 | x*x | x+1 | 2-x | x/2 | 2/x | x**2 | x**x | 2**x | x.sum() | x.sum(-1, keepdim=True) | x.mean(1) | x.relu() | x.max()
x.max(1)[0] | x.amax(-1) | x@w | x@v | v@v | x.softmax(-1) | x.log_softmax(1) | F.mse_loss(x, x.detach()+1) | F.linear(x, w.t(), b)
x.view(2, 6) | x.t() | x.mT | x.permute(1, 0) | x[None].squeeze(0) | x[1:3] | x[:, 1] | x[torch.tensor([0, 1])] | x.expand(2, 4, 3)
torch.where(x > 0, x, x*2) | x.clamp(min=0) | x.std() | x.var(0) | x.norm(dim=1) | x.logsumexp(1) | F.layer_norm(x, (3,), v, v)
F.cross_entropy(x, torch.tensor([0, 1, 2, 0])) | F.binary_cross_entropy_with_logits(x, x.detach().sigmoid()) | F.gelu(x)
F.embedding(torch.tensor([0, 1]), x) | F.conv2d(x[None, None], torch.ones(2, 1, 3, 3)) | F.avg_pool2d(x[None, None], 2)
F.batch_norm(x, None, None, v, v, training=True) | x.cumsum(0) | x.prod() | x.masked_fill(x > 0, 0.) | torch.einsum('ij,jk->ik', x, w)
F.pad(x, (1, 1)) | x.sort()[0] | x.double() | torch.maximum(x, x*2) | x.gather(1, torch.zeros(4, 1, dtype=torch.long)) | x.repeat(2, 1)
"""  # noqa: E501
LACKING = {"F.silu(x)": "silu", "F.max_pool2d(x[None, None], 2)": "max_pool2d", "torch.fft.fft(x).abs()": "fftr2c"}


def tensors(torch) -> dict[str, object]:
    torch.manual_seed(0)
    shapes = {"x": (4, 3), "w": (3, 2), "b": (2,), "v": (3,)}
    made = {name: torch.randn(shape, requires_grad=True) for name, shape in shapes.items()}
    return made | {"torch": torch, "F": torch.nn.functional}


@only_with_torch
def test_each_rule_gives_pytorchs_number() -> None:
    import torch

    names = tensors(torch)
    for text in filter(None, (part.strip() for part in re.split(r"[|\n]", OPERATIONS))):
        out = eval(text, names)
        recording = record(out, torch.randn(out.shape, dtype=out.dtype), names)
        agreed, compared = agreement(recording)
        assert agreed == compared, text
        assert "this course does not have" not in str(recording.to_dict()), text


@only_with_torch
@pytest.mark.parametrize("text", LACKING)
def test_a_rule_that_the_table_lacks_is_said_to_be_missing(text: str) -> None:
    import torch

    names = tensors(torch)
    recording = record(eval(text, names).sum(), names=names)
    said = " ".join(sentence for move in recording.to_dict()["steps"] for sentence in move["text"])
    assert "A rule that this course does not have: for " in said
    assert f"backward of {LACKING[text]}" in str(recording)


@only_with_torch
def test_every_form_shows_a_small_network() -> None:
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    X, classes = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
    out = net(X)
    loss = torch.nn.functional.cross_entropy(out, classes)
    text = str(step(loss))
    assert "out -> net.2.weight: gᵀ @ tanh = " in text and "(8 of 8 contributions)" in text
    assert "addmm -> X: nothing, X does not require a gradient." in text
    assert "net.0.weight" in draw(loss).svg()
    bundle = step(loss)._repr_mimebundle_()
    assert "net.0.weight" in bundle["text/html"] and bundle["text/plain"] == text


# ---------------------------------------------------------------- nothing changes


def state(torch, module, loss) -> list[object]:
    """What a pass could change: numbers, versions, gradients, hooks, the random generator, modes."""
    found: list[object] = [torch.get_rng_state().tolist(), torch.is_grad_enabled(), module.training]
    for tensor in [*module.parameters(), *module.buffers()]:
        grad = tensor.grad
        found += [tensor._version, tensor.tolist(), id(grad), None if grad is None else (grad._version, grad.tolist())]
        found.append(len(tensor._backward_hooks or ()))
    return [*found, loss._version]


@only_with_torch
def test_nothing_of_the_users_changes() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(), torch.nn.Linear(3, 1))
    X = torch.randn(6, 4)
    net(X).sum().backward()  # there are gradients already
    hidden = net[0](X)
    hidden.retain_grad()
    loss = net[1:](hidden).sum()
    before = state(torch, net, loss)
    record(loss), str(step(loss)), draw(loss)
    assert hidden.grad is None
    assert state(torch, net, loss) == before
    with pytest.raises(RuntimeError, match="stopped"):
        handle = hidden.register_hook(lambda g: stop(RuntimeError("stopped")))
        record(loss)
    with pytest.raises(KeyboardInterrupt):
        handle.remove()
        handle = hidden.register_hook(lambda g: stop(KeyboardInterrupt()))
        record(loss)
    handle.remove()
    assert hidden.grad is None and state(torch, net, loss) == before
    loss.backward()  # nothing was freed
    assert hidden.grad is not None


def stop(error: BaseException) -> None:
    raise error


@only_with_torch
def test_a_thousand_recordings_leave_no_tensor() -> None:
    import torch

    w = torch.randn(3, requires_grad=True)

    def alive() -> int:
        gc.collect()
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    record((w * w).sum(), names={"w": w})
    before = alive()
    for _ in range(1000):
        record((w * w).sum(), names={"w": w})
    assert alive() == before


# ---------------------------------------------------------------- errors


@only_with_torch
def test_errors_are_pytorchs_with_a_note() -> None:
    import torch

    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="has no backward pass"):
        record(torch.ones(3))
    freed = (x * x).sum()
    freed.backward()
    with pytest.raises(RuntimeError, match="second time") as found:
        record(freed)
    assert "record before backward()" in found.value.__notes__[0]
    y = x.exp()
    overwritten = y.sum()
    y += 1
    with pytest.raises(RuntimeError, match="inplace operation") as found:
        record(overwritten)
    assert "y = y + 1" in found.value.__notes__[0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        record(x * 2)


@only_with_torch
def test_what_cannot_be_shown_is_a_type_error() -> None:
    import torch

    sparse = torch.eye(3).to_sparse().requires_grad_()
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
    for tensor in (sparse, nested, torch.ones(3, device="meta", requires_grad=True)):
        with pytest.raises(TypeError, match="takes dense tensors of PyTorch that hold numbers, not"):
            record(tensor)


@only_with_torch
def test_an_older_pytorch_gets_a_sentence(monkeypatch) -> None:
    import torch

    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(RuntimeError, match=r"PyTorch 2\.13 or newer; this is PyTorch 2\.5\.1"):
        record(torch.ones((), requires_grad=True) * 2)
