"""`record`, `step` and `draw` of a tensor of PyTorch: its own pass, with our rules, and nothing of the user's changed."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import viz
from minigrad.autograd import GradcheckError
from minigrad.record import Recording, check_graph, explain, record, replace
from minigrad.record.numbers import Extent, facts_of, number, short
from minigrad.record.recording import plain
from minigrad.viz import draw, step

from . import cases, graphs, random_programs
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


@pytest.mark.slow
def test_pytorch_is_not_imported_for_a_tensor_of_ours() -> None:
    code = (
        "import sys, minigrad; from minigrad.viz import step; x = minigrad.tensor(3.0, requires_grad=True);"
        "str(step(x * x)); minigrad.explain(x); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_pytorch_that_is_switched_off_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while a check runs an answer that uses minigrad."""

    class Off(types.ModuleType):
        def __getattr__(self, name: str) -> object:
            raise RuntimeError("switched off")

    monkeypatch.setitem(sys.modules, "torch", Off("torch"))
    x = minigrad.tensor(3.0, requires_grad=True)
    assert "leaf" in str(explain(x)) and record(x * x).steps


@pytest.mark.slow
def test_each_has_a_home_in_minigrad_viz() -> None:
    assert (viz.record, viz.explain, viz.check_graph) == (record, explain, check_graph)


@pytest.mark.slow
def test_what_is_no_tensor_gets_a_sentence() -> None:
    with pytest.raises(TypeError, match="takes a tensor of minigrad or of PyTorch, not int"):
        record(3)


@pytest.mark.slow
def test_a_complex_number_is_written_as_such() -> None:
    assert [number(np.complex64(z)) for z in (1 + 2j, -0.5j, 3 - 1j)] == ["1+2j", "0-0.5j", "3-1j"]
    shown = plain(np.array([1 + 2j, 3]), 16)
    assert shown["d"] == ["1+2j", "3+0j"] and shown["top"] == 3


@pytest.mark.slow
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
    return sorted(found, key=lambda each: (each[0], each[1], each[2].shape, np.round(np.nansum(each[2]), 6)))


def agreement(recording: Recording) -> tuple[str, str]:
    found = re.search(r"\((\d+) of (\d+) contributions\)", recording.remark)
    assert found, recording.remark
    return found[1], found[2]


BLOCK = 25


@only_with_torch
@pytest.mark.sweep(4)
@pytest.mark.parametrize("block", range(40))
def test_a_thousand_random_programs_give_the_contributions_that_ours_give(block: int) -> None:
    """All of them: `pytest -m sweep tests/viz/test_pytorch.py`."""
    import torch

    both = [(minigrad, minigrad.nn.functional, minigrad.autograd), (torch, torch.nn.functional, torch.autograd)]
    alike = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        spaces = [{"torch": engine, "F": functional, "Function": autograd.Function} for engine, functional, autograd in both]
        random_programs.run_in_both(random_programs.program(seed), *spaces)
        made = [{k: v for k, v in space.items() if re.fullmatch(r"t\d+", k) and k in spaces[0]} for space in spaces]
        roots = [random_programs.loss_of(tensors, seed) for tensors in made]
        ours, theirs = (record(root, names=tensors) for root, tensors in zip(roots, made, strict=True))
        assert ours.grads.keys() == theirs.grads.keys(), seed
        for name, grad in ours.grads.items():
            np.testing.assert_allclose(theirs.grads[name], grad, rtol=1e-6, atol=1e-8, err_msg=f"{seed} {name}")
        mine, found = contributions(ours), contributions(theirs)
        if [each[:2] for each in mine] == [each[:2] for each in found]:  # else one of them writes it with other operations
            alike += 1
            for (op, slot, a), (_, _, b) in zip(mine, found, strict=True):
                if op != "ReluBackward0" or np.isfinite(roots[0].item()):
                    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8, err_msg=f"{seed} {op} {slot}")
        if theirs.remark:
            agreed, compared = map(int, agreement(theirs))
            slopes = [theirs.places[step.node] for step in theirs.steps if theirs.places[step.node].op == "ReluBackward0"]
            other = sum(bool(np.isnan(place.value).any()) for place in slopes)
            assert agreed + other == compared, seed  # relu of nan lets the gradient through in PyTorch, and not here
    assert alike > BLOCK // 2


@only_with_torch
def test_random_graphs_give_the_contributions_that_ours_give() -> None:
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
F.embedding(torch.tensor([0, 1]), x) | F.conv2d(x[None, None], torch.ones(2, 1, 3, 3))
x.cumsum(0) | x.prod() | x.masked_fill(x > 0, 0.) | torch.einsum('ij,jk->ik', x, w)
v.T | v.sum().std(correction=0) | x.diagonal() | x.sort()[0] | x.double() | torch.maximum(x, x*2) | x.gather(1, torch.zeros(4, 1, dtype=torch.long)) | x.repeat(2, 1)
"""  # noqa: E501
UNKNOWN = "A rule that this course does not have: for "
OTHER = "PyTorch saves other values here than minigrad's rule takes: for "
LACKING = {
    "F.silu(x)": ("silu", UNKNOWN), "torch.fft.fft(x).abs()": ("fftr2c", UNKNOWN),
    "F.pad(x, (1, 1))": ("constantpadnd", OTHER), "F.max_pool2d(x[None, None], 2)": ("max_pool2d", OTHER),
    "F.avg_pool2d(x[None, None], 2)": ("avgpool2d", OTHER), "x.split(2)[0]": ("split", OTHER),
    "F.batch_norm(x, None, None, training=True)": ("batch_norm", OTHER),
}  # fmt: skip


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
def test_our_number_stands_beside_pytorchs() -> None:
    import torch

    x, w = torch.ones(3, 4), torch.randn(4, 5, requires_grad=True)
    out = x @ w
    _, sent = record(out, torch.ones(3, 5)).steps[0]
    assert sent.note.startswith(f"minigrad's rule gives 4×5 numbers, size {number(3 * 20**0.5)}, too. A full Jacobian")
    with replace("mm", (lambda g, y: 2 * (g @ y.T), lambda g, x: 2 * (x.T @ g))):
        recording = record(out, torch.ones(3, 5))
    _, sent = recording.steps[0]
    assert f"size {number(6 * 20**0.5)}, but PyTorch does not" in sent.note
    assert agreement(recording) == ("0", "1")


@only_with_torch
def test_a_value_that_pytorch_did_not_keep_is_said_to_be_missing() -> None:
    import torch

    x = torch.tensor([1.0, -2.0], requires_grad=True)

    def inside():
        return torch.nn.functional.pad(torch.nn.functional.silu(x * 2), (1, 1)) + 1

    recording = record(inside().sum())
    lost = [(p.symbol, p.missing) for p in recording.places if p.missing]
    said = "PyTorch did not keep this value: no rule needs it"
    assert lost == [("silu", said), ("constantpadnd", said), ("+", said)]
    product = place(recording, "x * 2")
    assert product.value.tolist() == [2, -4], "silu has saved it"
    assert any(node.get("missing") == said for node in recording.to_dict()["nodes"])


@only_with_torch
@pytest.mark.parametrize("text", LACKING)
def test_a_node_without_a_rule_says_why(text: str) -> None:
    import torch

    names = tensors(torch)
    recording = record(eval(text, names).sum(), names=names)
    said = " ".join(sentence for move in recording.to_dict()["steps"] for sentence in move["text"])
    symbol, why = LACKING[text]
    assert why in said
    assert f"backward of {symbol}" in str(recording)


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


@only_with_torch
def test_tensors_that_are_too_large_to_be_copied_are_shown() -> None:
    import torch

    net = torch.nn.Linear(100, 100)
    X = torch.randn(50, 100)
    h = torch.relu(net(X))
    out = net(h) + h
    loss = (out * out).mean()
    shown = step(loss)
    assert "50×100 numbers, size " in str(shown) and "net.weight" in shown.svg()
    recording = record(loss)
    assert not recording.remark, "no rule was given what it takes, so none was compared"
    for name, tensor in {"net.weight": net.weight, "X": X, "out": out}.items():
        value = place(recording, name).value
        assert isinstance(value, Extent) and value.corner[0, 0] == tensor[0, 0], name
    grad = recording.grads["net.weight"]
    loss.backward()
    assert isinstance(grad, Extent) and np.isclose(grad.facts["norm"], float(net.weight.grad.norm()), rtol=1e-4)


@only_with_torch
def test_large_weights_that_have_a_gradient_already_are_shown_without_a_warning() -> None:
    """As in the second step of any training."""
    import torch

    net, X = torch.nn.Linear(100, 50), torch.randn(4, 100)
    net(X).sum().backward()
    loss = net(X).square().mean()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str(step(loss))
    assert np.isclose(facts_of(record(loss).steps[-1].before)["norm"], float(net.weight.grad.norm()), rtol=1e-4)
    loss.backward()
    assert f"store net.weight.grad = 50×100 numbers, size {number(net.weight.grad.norm().item())}" in text


@only_with_torch
def test_a_part_of_a_long_pass_with_large_tensors_is_shown() -> None:
    import torch

    w, h = torch.full((70, 70), 1.001, requires_grad=True), torch.randn(70, 70)
    for _ in range(700):
        h = torch.tanh(h * w) + w
    assert "nodes are left out here" in str(step(h.sum(), around=900).data)


# ---------------------------------------------------------------- nothing changes


def state(torch, module, loss) -> list[object]:
    """What a pass could change: numbers, versions, gradients, hooks, the random generator, modes."""
    found: list[object] = [torch.get_rng_state().tolist(), torch.is_grad_enabled(), module.training]
    for tensor in [*module.parameters(), *module.buffers()]:
        grad = tensor.grad
        found += [tensor._version, tensor.tolist(), id(grad), None if grad is None else (grad._version, grad.tolist())]
        found.append(None if tensor._backward_hooks is None else [*tensor._backward_hooks])
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
        with pytest.raises(TypeError, match="this takes dense PyTorch tensors of numbers, not"):
            record(tensor)


@only_with_torch
def test_an_older_pytorch_gets_a_sentence(monkeypatch) -> None:
    import torch

    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(RuntimeError, match=r"PyTorch 2\.13 or newer, and not PyTorch 2\.5\.1"):
        record(torch.ones((), requires_grad=True) * 2)


# ---------------------------------------------------------------- lines, and a function that runs


def place(recording: Recording, name: str):
    return next(place for place in recording.places if place.name == name)


@only_with_torch
def test_lines_and_names_are_read_from_the_source() -> None:
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)

        def forward(self, x):
            h = self.a(x)
            h = torch.relu(h)
            return self.b(h) / 2

    net, X, y = Net(), torch.randn(5, 4), torch.randn(5, 2)
    out = net(X)
    diff = out - y
    loss = (diff**2).mean() + 0.1 * diff.abs().sum()
    recording = record(loss)
    source = {p.name: p.source for p in recording.places}
    assert source["out"] == "return self.b(h) / 2" and source["h"] == "h = torch.relu(h)"
    assert source["addmm"] == "h = self.a(x)" and source["diff"] == "diff = out - y"
    assert source["diff.abs()"].startswith("loss = ") and place(recording, "diff.abs()").where.startswith("test_pytorch.py:")
    assert "diff -> y: nothing, y does not require a gradient." in str(recording)


@only_with_torch
def test_a_function_shows_its_forward_pass_and_leaves_modules_and_the_generator_as_they_were() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Dropout())
    X, runs = torch.randn(4, 2), []

    def f(x):
        runs.append(1)
        net.eval()
        net.train()
        h = net(X) * x
        return (h.detach() * h).sum()

    x = torch.tensor(3.0)
    buffers = [(b, b.clone(), b._version) for b in net.buffers()]
    generator = torch.get_rng_state()
    text = str(step(f, x=x))
    assert len(runs) == 1 and text.startswith("Forward pass\n") and "h = net(X) * x, shape 4×2" in text
    assert "h.detach(): nothing, detach() cut it off from its history" in text
    assert not x.requires_grad and net.training and torch.equal(torch.get_rng_state(), generator)
    for now, (buffer, copy, version) in zip(net.buffers(), buffers, strict=True):
        assert now is buffer and torch.equal(now, copy) and now._version == version


@only_with_torch
def test_an_input_can_be_changed() -> None:
    import torch

    from minigrad.viz.program import Program

    program = Program(lambda x: (x * x).sum(), {"x": torch.tensor([1.0, 2.0])})
    assert program.run().grads["x"].tolist() == [2, 4]
    assert program.editable() == {"x": {"s": [2], "d": [1.0, 2.0]}}
    assert program.change("x", 1, 5.0).grads["x"].tolist() == [2, 10]


# ---------------------------------------------------------------- explain, check_graph


@only_with_torch
def test_explain_says_why_a_gradient_is_none_or_zero() -> None:
    import torch

    w, b, X = torch.ones(3, requires_grad=True), torch.tensor(-9.0, requires_grad=True), torch.ones(4, 3)
    cut = (X @ w).detach()
    loss = (cut * b).sum()
    said = explain(w)
    assert "grad is None because no path leads to it from loss: cut by detach, in test_pytorch.py" in said
    assert '"cut = (X @ w).detach()"' in said and "gets no .grad: cut by detach" in explain(cut)
    assert "It is no leaf: SumBackward0 made it" in explain(loss)
    assert "Its .grad is None because loss.backward() has not run." in explain(b)
    loss = torch.relu(X @ w + b).sum()
    loss.backward()
    assert "Its .grad is 0 in every number." in explain(w)


@only_with_torch
def test_the_picture_shows_the_line_of_a_cut() -> None:
    import torch

    w, X = torch.ones(3, requires_grad=True), torch.ones(4, 3)
    aside = (X @ w).detach()
    with torch.no_grad():
        frozen = X @ w
    copied, b = torch.tensor((X @ w).tolist()), w[0]
    loss = (aside * b + frozen * b + copied * b + X.sum(1) * b).sum()
    data = step(loss).data
    cuts = {node["name"]: (node["cut"], node["src"]) for node in data["nodes"] if "cut" in node}
    assert cuts == {
        "aside": ("detach", "aside = (X @ w).detach()"), "frozen": ("no_grad", "frozen = X @ w"),
    }  # fmt: skip
    sentences = " ".join(move["text"][0] for move in data["steps"] if move["kind"] == "skip")
    for line in ("aside = (X @ w).detach()", "with torch.no_grad():"):
        assert re.search(rf'cut by \w+, in test_pytorch.py:\d+: "{re.escape(line)}', sentences)
    assert "X.sum(1) does not require a gradient" in sentences
    assert any("aside = (X @ w).detach()" in text for block in data["code"] for _, text in block["lines"])
    assert re.search(r'cut by no_grad, in .*: "with torch.no_grad\(\):"', explain(frozen))

    def f(a):
        b = (a * 2).detach()
        return (a * b).sum()

    assert re.search(r'nothing, it was cut by detach, in .*: "b = \(a \* 2\).detach\(\)"', str(step(f, a=torch.ones(2))))


@only_with_torch
def test_check_graph_names_the_first_node_at_fault() -> None:
    import torch

    p = torch.tensor([0.0, 0.5], requires_grad=True)
    fine = (p * 2).exp().sum()
    assert check_graph(fine)
    logs = torch.log(p)
    loss = (logs * p).sum()
    with pytest.raises(GradcheckError, match=r"^logs is inf in 1 of 2 numbers, in test_pytorch.py:\d+: \"logs = torch.log"):
        check_graph(loss)
    roots = torch.sqrt(p)
    loss = roots.sum()
    with pytest.raises(GradcheckError, match=r"what roots contributes to the gradient of p is inf in 1 of 2 numbers"):
        check_graph(loss)


@only_with_torch
def test_explain_names_the_cut_that_leads_to_the_loss() -> None:
    import torch

    w, b, X = torch.ones(3, requires_grad=True), torch.ones(1, requires_grad=True), torch.ones(4, 3)
    frozen = torch.nn.Linear(2, 1).requires_grad_(False)
    seen = (X @ w).detach()
    h = torch.tensor((X @ w).tolist())
    loss = (h * b).sum()
    loss.backward()
    with torch.no_grad():
        b -= 0.1 * b.grad
    print(loss.item(), seen)
    said = explain(w)
    assert "cut by tolist" in said and not any(word in said for word in ("seen", "item", "no_grad"))
    assert "its requires_grad is False" in explain(frozen.weight)


@only_with_torch
def test_check_graph_says_the_worst_first_and_lets_a_mask_be() -> None:
    import torch

    scores, mask = torch.zeros(2, 3, requires_grad=True), torch.tensor([[True, False, False], [False, True, False]])
    masked = scores.masked_fill(mask, float("-inf"))
    loss = (masked.softmax(1) * torch.tensor([1.0, 2.0, 3.0])).sum()
    assert check_graph(loss)
    closed = scores.masked_fill(mask | True, float("-inf"))
    weights = closed.softmax(1)
    total = weights.sum()
    with pytest.raises(GradcheckError, match=r'^weights is nan .*: "weights = closed.softmax\(1\)": its inputs hold inf, but'):
        check_graph(total)
    distance = (scores**2).sum().sqrt()
    loss = torch.relu(distance - 1) + distance
    with pytest.raises(GradcheckError, match=r"^what distance contributes .* is inf"):
        check_graph(loss)


@only_with_torch
def test_what_a_module_made_has_the_line_of_its_call_and_not_that_of_the_data() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Sigmoid(), torch.nn.Linear(2, 1))
    pixels = torch.randint(100, 256, (4, 3)).float()
    out = net(pixels)
    loss = out.mean()
    assert place(record(loss), "sigmoid").source == "out = net(pixels)"


@only_with_torch
def test_check_graph_does_not_call_finite_what_it_has_not_seen() -> None:
    import torch

    w = torch.ones(4, 3, requires_grad=True)
    weights = w.masked_fill(torch.tensor(True), -torch.inf).softmax(1)
    loss = (weights * torch.ones(4, 3)).sum()
    with pytest.raises(GradcheckError, match=r"^weights is nan .*: PyTorch did not keep all of its inputs"):
        check_graph(loss)


DECORATED = """
import torch
from minigrad.record import explain

class Body(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(3, 2)

    @torch.no_grad()
    def forward(self, x):
        return torch.relu(self.a(x))

body, head = Body(), torch.nn.Linear(2, 1)
loss = head(body(torch.ones(4, 3))).sum()
loss.backward()
print(explain(body.a.weight))
"""


@only_with_torch
def test_explain_names_a_decorator_that_cuts(tmp_path) -> None:
    (tmp_path / "bug.py").write_text(DECORATED, encoding="utf-8")
    told = subprocess.run([sys.executable, "bug.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.endswith('from loss: cut by no_grad, in bug.py:10: "@torch.no_grad()".\n'), told


# ---------------------------------------------------------------- devices and dtypes


def squared(t):
    return t * t


@only_with_torch
def test_each_kind_of_graph_can_be_shown() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 3 * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g  # wrong

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    half = x.bfloat16() * 3
    assert record(half.sum()).grads["x"].tolist() == [3, 3] and agreement(record(half.sum())) == ("3", "3")
    own = Triple.apply(x)
    loss = own.sum()
    assert "Triple.backward: return 2 * g" in str(record(loss).to_dict())
    z = torch.tensor([1 + 2j], requires_grad=True)
    assert "2+4j" in str(record((z * z.conj()).real.sum()))
    y = x * 2
    y[0] = 5
    assert record(y.sum()).grads["x"].tolist() == [0, 2]
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(g) or g * 10)
    assert "a hook makes it [10, 10]" in str(record(y.sum())) and len(seen) == 1
    assert record(checkpoint(torch.sin, x, use_reentrant=False).sum()).grads.keys() == {"x"}
    first, second = (x * 2).split(1)
    assert record((first * second).sum()).grads["x"].tolist() == [8, 4]
    traced = torch.jit.trace(squared, torch.ones(2))
    assert record(traced(x).sum()).grads["x"].tolist() == [2, 4]
    scripted = torch.jit.script(squared)
    assert record(scripted(x).sum()).grads["x"].tolist() == [2, 4]
    compiled = torch.compile(lambda t: torch.sin(t) * t, backend="aot_eager")
    assert "x: backward of CompiledFunction = " in str(record(compiled(x).sum()))
    table = torch.nn.Embedding(5, 2, sparse=True)
    assert record(table(torch.tensor([1, 1])).sum()).grads["table.weight"][1].tolist() == [2, 2]
    with pytest.raises(RuntimeError) as found:
        record(checkpoint(torch.sin, x, use_reentrant=True).sum())
    assert "use_reentrant=False can be shown" in found.value.__notes__[0]


@only_with_torch
def test_half_precision_agrees_to_its_own_precision() -> None:
    import torch

    for dtype in (torch.float16, torch.bfloat16):
        x = torch.linspace(0.1, 2, 12, dtype=dtype).reshape(3, 4).requires_grad_()
        w = torch.linspace(-1, 1, 8, dtype=dtype).reshape(4, 2).requires_grad_()
        loss = torch.tanh(x @ w).square().mean()
        recording = record(loss)
        agreed, compared = agreement(recording)
        assert agreed == compared != "0" and recording.grads["x"].shape == (3, 4)


@only_with_torch
def test_a_wrong_function_shows_its_lines_and_gradcheck_finds_it() -> None:
    import torch

    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.tensor([1.5, -2.0], dtype=torch.float64, requires_grad=True)
    recording = record(Triple.apply(x).sum())
    sent = recording.steps[1].contributions[0]
    assert sent.value.tolist() == [2, 2] and "Triple.backward: return g * 2" in str(recording.to_dict())
    assert not torch.autograd.gradcheck(Triple.apply, (x,), raise_exception=False)


@only_with_torch
def test_views_in_place_hooks_and_checkpoints_give_pytorchs_gradients() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def programs(x):
        y = x * 2
        y[0].mul_(3)
        yield (y.view(2, 2).t() * x.reshape(2, 2)).sum()
        y = x * 2
        y += x
        yield (y * y).sum()
        y = x.exp()
        y.register_hook(lambda g: g * 10)
        y.retain_grad()
        yield (y[1:] * y[:-1]).sum()
        yield checkpoint(lambda t: torch.sin(t) * t, x, use_reentrant=False).sum()

    x = torch.tensor([1.0, -2.0, 0.5, 3.0], requires_grad=True)
    for loss in programs(x):
        grads = record(loss, names={"x": x}).grads["x"]
        np.testing.assert_allclose(grads, torch.autograd.grad(loss, x)[0], rtol=1e-6)
        assert x.grad is None


@only_with_torch
def test_a_module_in_a_wrapper_has_the_wrappers_names() -> None:
    import torch

    class Replicated(torch.nn.Module):
        """Takes a batch apart and puts it together, as DataParallel does on several devices."""

        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, x):
            return torch.cat([self.module(part) for part in x.chunk(2)])

    net = Replicated(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()))
    loss = net(torch.randn(4, 3)).sum()
    recording = record(loss)
    assert {"net.module.0.weight", "net.module.0.bias"} == recording.grads.keys()
    assert str(recording).count("-> net.module.0.weight") == 2
    wrapped = torch.nn.DataParallel(torch.nn.Linear(3, 1))
    assert "wrapped.module.weight" in record(wrapped(torch.randn(2, 3)).sum()).grads


@only_with_torch
def test_cuda_is_shown_from_the_cpu() -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("optional: there is no CUDA device here")
    x = torch.ones(2, device="cuda", requires_grad=True)
    assert record((x * 3).sum()).grads["x"].tolist() == [3, 3]
