"""A recording says what backward() does: the same numbers, in the walk's order, without touching anything."""

import json
import linecache

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import Function
from minigrad.operation import TABLE
from minigrad.record import bugs
from minigrad.record.formula import formulas_of, shown, without_g
from minigrad.record.names import term
from minigrad.record.numbers import number
from minigrad.record.recorder import record
from minigrad.record.recording import Recording
from minigrad.viz.part import excerpt
from minigrad.viz.rules import judge
from tests.together import first, together

from . import cases, graphs
from .dressed import data_of

SEEDS = first(15, of=60)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_final_ledger_is_grad(seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    recording = record(loss, names=leaves)
    assert all(leaf.grad is None for leaf in leaves.values())
    loss.backward()
    for name, leaf in leaves.items():
        if leaf.grad is None:
            assert name not in recording.grads
        else:
            np.testing.assert_array_equal(recording.grads[name], leaf.grad.numpy())


@pytest.mark.parametrize("seed", SEEDS)
def test_every_ledger_adds_up_to_what_its_node_then_speaks_with(seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    recording = record(loss, names=leaves)
    for step in recording.steps:
        rows = graphs.ledger(recording, step.node)
        if step.node == recording.root:
            np.testing.assert_array_equal(step.upstream, recording.seed)
            continue
        assert [s.arrived for _, s in rows] == list(range(1, len(rows) + 1)), "k of n, in order"
        assert rows and rows[-1][1].arrived == rows[-1][1].expected, "a node speaks when all have arrived"
        np.testing.assert_array_equal(rows[-1][1].after, step.upstream)


@pytest.mark.parametrize("seed", range(12))
def test_the_final_ledger_is_the_slope_of_the_loss(seed: int) -> None:
    loss, leaves = graphs.graph(seed, cuts=False)
    recording = record(loss, names=leaves)
    for name, grad in recording.grads.items():
        leaf = leaves[name]
        for index in list(np.ndindex(*leaf.shape))[:3]:
            sides = [moved(seed, name, index, h) for h in (1e-6, -1e-6)]
            slope = (sides[0] - sides[1]) / 2e-6
            assert np.isclose(grad[index], slope, rtol=2e-3, atol=2e-4), (name, index)


def moved(seed: int, name: str, index: tuple, h: float) -> float:
    """The loss of the same graph with one number of one leaf moved."""
    original = torch.randn
    names = iter(f"p{i}" for i in range(9))

    def nudged(*args, **kwargs):
        value = original(*args, **kwargs)
        if next(names) == name:
            array = value.numpy().copy()
            array[index] += h
            value = torch.tensor(array)
        return value

    torch.randn = nudged
    try:
        return graphs.graph(seed, cuts=False)[0].item()
    finally:
        torch.randn = original


@pytest.mark.parametrize("seed", first(8, of=20))
def test_the_text_is_the_recording(seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    recording = record(loss, names=leaves)
    lines, data = recording.lines(), recording.to_dict()
    assert len(lines) == len(data["steps"])
    assert str(recording).count("\n") == len(lines)
    for line, step in zip(lines, data["steps"], strict=True):
        name = data["nodes"][step["node"]]["name"]
        assert line.startswith((f"{name} -> ", f"start {name}: ", f"store {name}.grad"))
        if step["kind"] == "send":
            assert f": {step['rule']} = " in line
            assert f"({step['arrived'][0]} of {step['arrived'][1]})" in line


@pytest.mark.parametrize("seed", range(8))
def test_the_same_recording_is_the_same_bytes(seed: int) -> None:
    first, second = (
        json.dumps(record(loss, names=leaves).to_dict(), allow_nan=False)
        for loss, leaves in (graphs.graph(seed) for _ in range(2))
    )
    assert first == second


def test_nothing_is_touched_and_nothing_is_freed() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.retain_grad()
    z = y * x
    record(z)
    assert x.grad is None and y.grad is None
    z.backward()
    assert x.grad.item() == 27.0 and y.grad.item() == 3.0


def test_a_freed_graph_says_how_to_get_a_fresh_one() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(
        RuntimeError, match=r"Run the lines that compute the tensor again.*retain_graph=True"
    ) as caught:
        record(y)
    assert any("y = x * x" in note for note in caught.value.__notes__)


def test_an_overwritten_value_is_found_before_the_walk() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y**2).sum()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        record(z)


def test_roots_without_a_graph_or_without_a_gradient_are_refused() -> None:
    with pytest.raises(RuntimeError, match="does not require grad"):
        record(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        record(torch.tensor([1.0, 2.0], requires_grad=True) * 2)
    with pytest.raises(TypeError, match="not float"):
        record(1.0)  # type: ignore[arg-type]


def test_the_second_pass_starts_from_the_old_grad() -> None:
    loss, given = cases.second_pass()
    recording = record(loss, **given)
    (leaf,) = [s for s in recording.steps if s.kind == "leaf"]
    assert (leaf.before, leaf.upstream, leaf.after) == (6, 6, 12)
    assert "already held 6 from an earlier pass: 6 + 6 = 12" in recording.sentences(recording.steps[-1])[0]


def test_names_come_from_the_callers_variables_and_source() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    weights = [torch.tensor(1.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)]
    k = torch.tensor(3.0)
    total = (x * weights[0] + weights[1]) * k
    recording = record(total)
    assert [p.name for p in recording.places] == ["x", "weights[0]", "weights[1]", "x * weights[0]",
                                                  "x * weights[0] + weight\u2026", "k", "total"]  # fmt: skip
    assert recording.places[-1].source == "total = (x * weights[0] + weights[1]) * k"
    assert recording.places[-1].where.startswith("test_recording.py:")
    assert [float(p.value) for p in recording.places] == [2, 1, 5, 2, 7, 3, 21]


def test_a_notebook_cell_has_lines_but_no_number() -> None:
    file = "<ipython-input-7-abc>"
    source = "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"torch": torch}
    exec(compile(source, file, "exec"), space)
    recording = record(space["y"], names=space)
    assert recording.places[-1].where == "line 2" and recording.places[-1].source == "y = x * 3"


def test_a_fan_in_counts_its_arrivals_and_a_square_has_two_rows() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    rows = graphs.ledger(record(y), 0)
    assert [(s.slot, s.arrived, s.expected, float(s.after)) for _, s in rows] == [
        (0, 1, 2, 3.0),
        (1, 2, 2, 6.0),
    ]
    assert rows[0][1].before is None


def test_a_broadcast_is_summed_over_the_stretched_axes() -> None:
    loss, _ = cases.broadcast()
    contributions = {p: s for step in record(loss, names={}).steps for s in step if (p := s.summed)}
    assert sorted(contributions) == [(0,), (1,)]
    assert contributions[0,].raw.shape == (2, 3) and contributions[0,].value.shape == (3,)


def test_kinds_of_arithmetic() -> None:
    def kinds(case):
        loss, given = case()
        return {
            s.how
            for step in record(loss, given.get("gradient"), names={}).steps
            for s in step
            if not s.skipped
        }

    assert kinds(cases.matmul) == {"matmul"}
    assert kinds(cases.shapes) == {"spread", "elementwise", "move", "copy"}
    assert "scatter" in kinds(cases.index)
    assert "function" in kinds(cases.custom)
    assert "slot" in kinds(cases.two_outputs)


def test_a_custom_function_shows_the_line_that_it_returned() -> None:
    loss, _ = cases.custom()
    sent = next(s for step in record(loss, names={}).steps for s in step if s.how == "function")
    assert sent.rule == "g * ctx.k"
    assert sent.note == "Scale.backward: return (g * ctx.k, None)"


class Deaf(Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, g):
        return torch.tensor(3.0)


class Listening(Deaf):
    @staticmethod
    def backward(ctx, *gradients):
        return 3 * gradients[0]


@pytest.mark.parametrize("function, said", [(Deaf, 1), (Listening, 0)])
def test_it_is_said_when_a_rule_does_not_use_the_upstream_gradient(function, said) -> None:
    recording = record(function.apply(torch.tensor(2.0, requires_grad=True)) * 5, names={})
    assert str(recording.to_dict()).count("(the upstream gradient is not used): for") == said


def test_the_walk_of_a_broken_engine_is_recorded_as_it_is() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with torch.broken("M23"):
        y = (x * 3) * 5
        grads = record(y, names={"x": x}).grads
    assert grads["x"] == 3.0, "the local factor alone"


@pytest.mark.parametrize("bug", sorted(bugs.BUGS.keys() - {"M27"}))  # M27 ends in an error, in backward() too
def test_a_ledger_says_what_a_broken_walk_does(bug: str) -> None:
    def run(x, w):
        h = x * w + x
        return (h * h + torch.relu(h)).mean() * x.sum()

    x = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    w = torch.tensor([3.0], requires_grad=True)
    with torch.broken(bug):
        loss = run(x, w)
        recording = record(loss, names={"x": x, "w": w, "loss": loss})
        loss.backward()
    for name, leaf in {"x": x, "w": w}.items():
        np.testing.assert_allclose(recording.grads[name], leaf.grad.numpy(), 1e-6, err_msg=name)
    held: dict[int, np.ndarray] = {recording.root: recording.seed}
    assert any(step.early for step in recording.steps) == (bug in ("M20", "M21", "M21-visits"))
    for step in recording.steps:
        if step.node in held and not step.early:
            np.testing.assert_allclose(step.upstream, held[step.node], 1e-6)
        for sent in step:
            assert sent.before is None or np.array_equal(sent.before, held[sent.parent])
            held[sent.parent] = sent.after


def test_where_the_later_share_is_kept_the_ledger_says_so() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with torch.broken("M19"):
        y = x * x + x * 5
        words = " ".join(graphs.sentences(record(y, names={"x": x})))
    assert "x held 3 and now receives 3. Afterwards it holds 3: a contribution was lost (3 of 3" in words
    with torch.broken("M21-zero"):
        start = record(x * 5, names={}).to_dict()["steps"][0]["text"][0]
    assert "starts at x * 5 with 0. It should be 1" in start


def test_rules_speak_the_students_names() -> None:
    loss, given = cases.scalar()
    rules = [s.named for step in record(loss, **given).steps for s in step]
    assert rules == ["g · 0.5", "g · b", "g · a"]
    loss, given = cases.matmul()
    recording = record(loss, **given)
    assert [s.named for step in recording.steps for s in step] == ["g @ Wᵀ", "xᵀ @ g"]
    loss, given = cases.index()
    assert {"place(g, (4,), [1:3])", "put(g, index, (4,), 0)", "g · 2", "g · y"} <= {
        s.named for step in record(loss, **given).steps for s in step
    }
    x, w = torch.rand(2, 3), torch.rand(4, 3, requires_grad=True)
    (product,) = [s for step in record(torch.nn.functional.linear(x, w, torch.rand(4)).sum()).steps for s in step if s.terms]
    assert product.named == "gᵀ @ x"
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(-3.0, requires_grad=True)
    assert next(s.named for step in record(torch.sin(a * b)).steps for s in step) == "g · cos(a * b)"
    loss, given = cases.not_finite()
    contributions = [s for step in record(loss, **given).steps for s in step]
    assert "g · torch.tensor(…)" in [s.named for s in contributions], "never y, which is another tensor here"


@pytest.mark.parametrize("name, shown", [("b", "b"), ("W (20)", "W\u2082\u2080"), ("c + d", "(c + d)"), ("ws[0]", "ws[0]"),
    ("net.2.weight", "net.2.weight"), ("x.sum()", "x.sum()"), ("torch.tensor([2.0, 3.0,\u2026", "torch.tensor(\u2026)"),
    ("a * b + c * d - first * second", "(a * b + c * d -\u2026)")])  # fmt: skip
def test_a_name_as_part_of_a_formula(name: str, shown: str) -> None:
    assert term(name) == shown


@pytest.mark.parametrize("rule, slope", [("g", "1"), ("g * y", "y"), ("-g * sin(x)", "-sin(x)"), ("g / y", "1 / y"),
                                         ("-g * (x / y)", "-(x / y)"), ("-g", "-1"), ("(g + x) * y", "")])  # fmt: skip
def test_what_g_is_multiplied_by(rule: str, slope: str) -> None:
    assert without_g(rule) == slope


def test_the_turns_of_a_loop_are_counted_from_one() -> None:
    loss, given = cases.layers()
    names = [p.name for p in record(loss, **given).places]
    assert [n for n in names if n.startswith("W")] == [*(f"W ({i})" for i in range(1, 20)), "W"]
    assert [n for n in names if n.partition(" (")[0] == "h"] == [*(f"h ({i})" for i in range(20)), "h"]


def test_every_line_of_the_table_has_a_formula() -> None:
    for name, made in TABLE.items():
        for rule, text in zip(made.rules, formulas_of(made), strict=True):
            assert bool(text) == (rule is not None), name
            assert text.startswith(("lambda", "rule(")) is False, name
    assert formulas_of(TABLE["mul"]) == ("g * y", "g * x")
    assert (shown("-g * (x / y)"), shown("x.mT @ g")) == ("-g · (x / y)", "xᵀ @ g")


@pytest.mark.parametrize("value, text", [(0.5, "0.5"), (-0.0, "0"), (1 / 3, "0.3333"), (12345.0, "12345"), (1e-7, "1e-7"),
                                         (1234567.0, "1.235e6"), (float("nan"), "nan"), (float("-inf"), "-inf")])  # fmt: skip
def test_numbers_as_text(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.slow
def test_a_long_chain_is_recorded_without_recursion() -> None:
    y = torch.tensor(0.5, requires_grad=True)
    for _ in range(2_000):
        y = torch.sin(y)
    assert len(record(y, names={}).steps) == 2_001


class Pair(Function):
    """Several outputs, one of them no tensor; flags and settings among its arguments."""

    @staticmethod
    def forward(ctx, a, twice, b, options):
        ctx.save_for_backward(a, b)
        return a * b, a + b, 7

    @staticmethod
    def backward(ctx, of_product, of_sum, _):
        a, b = ctx.saved_tensors
        return of_product * b + of_sum, None, of_product * a + of_sum, None


def test_settings_of_a_custom_function_are_no_tensors() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0])
    p, s, n = Pair.apply(a, True, b, {"k": 1})
    loss = (p * s).sum() * n
    recording = record(loss)
    assert [place.name for place in recording.places if not place.needs_grad] == ["b"]
    loss.backward()
    np.testing.assert_array_equal(recording.grads["a"], a.grad.numpy())


def test_what_is_changed_in_place_is_told_in_the_students_words() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y += 1
    y[0] = 5.0
    y.mul_(3)
    recording = record(y.sum())
    assert [p.name for p in recording.places] == ["x", "y (1)", "y (2)", "old y[0]", "new y[0]", "y (3)", "y", "y.sum()"]
    assert [p.expression for p in recording.places if p.name[0] == "y"][:3] == ["x * 2", "y + 1", "y[0] = 5.0"]


def test_a_rule_shows_what_a_student_may_write() -> None:
    x = torch.rand(2, 3, 4, requires_grad=True)
    w = torch.rand(2, 3, requires_grad=True)

    def rule(made) -> str:
        return next(s.named for step in record(made.sum(), names={"x": x, "w": w}).steps for s in step if step.node == 1)

    assert rule(w.T) == rule(w.transpose(0, 1)) == "gᵀ"
    assert rule(x.permute(2, 0, 1)) == "permute(g, (1, 2, 0))" and rule(x.transpose(0, 2)) == "swap(g, 0, 2)"
    assert rule(torch.roll(w, 1, 0)) == "roll(g, (-1,), 0)"
    assert next(iter(record(w.mean()).steps[0])).named == "expand(g / 6, (2, 3))"


@together("line", sorted(TABLE))
def test_no_rule_names_a_room_of_ours(line: str) -> None:
    rooms = ("kernels.", "layout.", "sums.", "gathering.", "windows.", "special_functions.")
    assert not any(room in text for text in formulas_of(TABLE[line]) for room in rooms)


@pytest.mark.parametrize("rule, verdict", [
    (lambda g, x, y: ("a", g), "Your rule returned 'a', which is no array of numbers."),
    (lambda g, x, y: ([[1], [2, 3]], g), "Your rule returned [[1], [2, 3]], which is no array of numbers."),
    ((lambda g, y: g * y,), "You gave 1 rules; this is input 2."),
    (lambda g, a, b: (g * b, g * a), "Your rule asks for a, b; it can have g, out, x, x_shape, y, y_shape."),
])  # fmt: skip
def test_a_rule_that_gives_nothing_usable_is_shown_and_not_raised(rule, verdict: str) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)
    verdicts = [s.verdict for step in judge(record(x * y, torch.ones(2)), {"mul": rule}).steps for s in step]
    assert verdict in verdicts


def test_a_students_rule_cannot_spoil_the_numbers_of_the_walk() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)

    def greedy(g, x, y):
        g *= y
        x *= 100
        y *= 100
        return g, g

    spoilt = judge(record(x * y, torch.ones(2)), {"mul": greedy})
    assert {k: v.tolist() for k, v in spoilt.grads.items()} == {"x": [3.0, -1.0], "y": [1.0, 2.0]}
    assert x.tolist() == [1.0, 2.0]


def in_place(g, x, y):
    g *= y
    return g, x * 1


def whole_numbers(g, x, y):
    return (g * y / 2).astype(int), g * x


class Callable:
    def __call__(self, g, y, x, scale=1):
        return g * y, g * x


@pytest.mark.parametrize(("rule", "verdict"), [
    (in_place, "Your rule writes into g, which others still need: make a new array instead."),
    (lambda g, x, y: (g * y, g * x, g), "Your rule returned 3 gradients; the operation has 2 inputs."),
    ((lambda g, y: g * y, None), "Your rule for this input is None; it has to be a function of g and what it needs."),
    (whole_numbers, "The numbers differ. The rule here is g · y."),
    (lambda g, x, y: exit(), "Your rule raised SystemExit: None"),
    (lambda g, x, y: (v for v in (g, g)), "Your rule returned a generator, which is no array of numbers."),
    (Callable(), "agrees"),
])  # fmt: skip
def test_a_rule_that_is_wrong_in_another_way_is_told_which(rule, verdict: str) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)
    verdicts = [s.verdict for step in judge(record(x * y, torch.ones(2)), {"mul": rule}).steps for s in step]
    assert verdict in verdicts


def test_a_rule_for_an_operation_that_does_not_exist_is_an_error() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(KeyError, match="no operation 'mull'"):
        judge(record(x * x), {"mull": lambda g, x, y: (g, g)})


@pytest.mark.parametrize("seed", first(6, of=30))
@pytest.mark.parametrize("part", [0.3, 0.6])
def test_both_ends_of_a_walk_tell_the_same_as_the_whole(seed: int, part: float) -> None:
    loss, leaves = graphs.graph(seed)
    whole = record(loss, names=leaves)
    ends = excerpt(whole, int(part * len(whole.lines())))
    check_excerpt(whole, ends)


@pytest.mark.parametrize("seed", first(6, of=30))
@pytest.mark.parametrize("where", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_the_middle_of_a_walk_tells_the_same_as_the_whole(seed: int, where: float) -> None:
    loss, leaves = graphs.graph(seed)
    whole = record(loss, names=leaves)
    at = round(where * (len(whole.steps) - 1))
    middle = excerpt(whole, len(whole.lines()) * 2 // 3, at)
    check_excerpt(whole, middle)
    assert whole.places[whole.steps[at].node].name in {middle.places[step.node].name for step in middle.steps}


def check_excerpt(whole: Recording, ends: Recording) -> None:
    assert len(ends.steps) <= len(whole.steps) and ends.steps[0].node == ends.root
    name = {i: p.name for i, p in enumerate(ends.places)}
    for leaf, grad in ends.grads.items():
        np.testing.assert_allclose(grad, whole.grads[leaf], rtol=1e-12, err_msg=leaf)
    assert all(a < b for a, b, _ in ends.edges if ends.places[a].needs_grad), "inputs stand before what is made of them"
    done = {step.node for step in ends.steps}
    for step in ends.steps:
        rows = [sent for _, sent in graphs.ledger(ends, step.node)]
        assert [sent.arrived for sent in rows] == [*range(1, len(rows) + 1)], name[step.node]
        assert {sent.expected for sent in rows} <= {len(rows)}
        if rows and rows[-1].how != "slot":
            np.testing.assert_allclose(rows[-1].after, step.upstream, rtol=1e-12)
        assert all(sent.skipped or sent.parent in done for sent in step)


def test_the_jacobian_of_a_stretched_input_has_a_column_for_each_of_its_numbers() -> None:
    loss, given = cases.broadcast()
    step = next(s for s in record(loss, **given).steps if len(s.contributions) == 2 and s.contributions[1].summed == (0,))
    jacobian = step.contributions[1].jacobian
    assert jacobian.shape == (6, 3) and jacobian.tolist() == [*np.eye(3).tolist(), *np.eye(3).tolist()]


def test_a_function_of_several_outputs_speaks_the_words_of_its_backward() -> None:
    loss, given = cases.two_outputs()
    sent = next(s for step in record(loss, **given).steps for s in step if s.how == "function")
    assert [(k.name, k.label) for k in sent.saved[:2]] == [("gs", "gradient of output 1"), ("gp", "gradient of output 2")]


def test_why_a_tensor_gets_no_gradient() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = (x * x).detach()
    with torch.no_grad():
        n = x * 3
    k = torch.tensor([1.0, 1.0])
    loss = (x * d * n * k).sum()
    reasons = {s.reason for step in record(loss).steps for s in step if s.skipped}
    assert reasons == {"detach() cut it off from its history", "n was computed under no_grad", "k does not require a gradient"}


def test_an_operand_that_no_rule_kept_is_shown_if_the_variable_still_holds_it() -> None:
    p = torch.tensor([[1.0, 2.0]], requires_grad=True)
    t = torch.tensor([[0.5], [1.5]])
    loss = ((p - t) ** 2).sum()
    shapes = {place.name: place.shape for place in record(loss).places}
    assert shapes["t"] == (2, 1)
    t = torch.tensor([[7.0, 7.0]])
    assert {place.name: place.shape for place in record(loss).places}["t"] == (), "bound anew: nothing is guessed"
    t = torch.zeros(5)
    assert {place.name: place.shape for place in record(loss).places}["t"] == ()


def test_a_ledger_that_lost_something_says_so_in_its_data() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with torch.broken("M19"):
        y = x * x + x * 5
        steps = record(y, names={"x": x}).to_dict()["steps"]
    assert [step["lost"] for step in steps if "lost" in step] == [True, True]
    assert not any("lost" in step for step in record(x * x + x, names={"x": x}).to_dict()["steps"])


def test_hooks_that_change_a_gradient_are_told_and_the_numbers_are_backwards() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    h.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g.clamp(max=5.0))
    loss = (h * h).sum()
    recording = record(loss)
    said = graphs.sentences(recording)
    assert "h is current: its gradient is complete. The upstream gradient is g = [60, 120]. A hook changed it to this." in said
    assert said[-1] == "A hook makes it [5, 5]. x is a leaf: x.grad was None and is now [5, 5]."
    assert not any("too early" in text for text in said)
    assert "h has [6, 12] (2 of 2); a hook makes it [60, 120]" in str(recording)
    loss.backward()
    np.testing.assert_array_equal(recording.grads["x"], x.grad.numpy())


def test_hooks_on_a_node_are_told_and_called_once() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    calls = []
    y.grad_fn.register_prehook(lambda gs: calls.append("before") or (gs[0] + 1,))
    y.grad_fn.register_hook(lambda into, _: calls.append("after") or (into[0] * 2, None))
    recording = record(y.sum())
    assert calls == ["before", "after"]
    assert "g · 3 = [6, 6], a hook makes it [12, 12]; x has [12, 12] (1 of 1)" in str(recording)
    np.testing.assert_array_equal(recording.grads["x"], [12, 12])


def test_what_a_hook_takes_away_is_told() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    y = x * w
    y.grad_fn.register_hook(lambda into, _: (None, into[1]))
    recording = record(y * 1)
    assert recording.steps[1].contributions[0].reason == "a hook took it away"
    assert list(recording.grads) == ["w"]


def test_a_number_on_the_left_is_no_tensor_and_names_stay_where_they_belong() -> None:
    x, v = (torch.tensor(n, requires_grad=True) for n in (2.0, 5.0))
    loss = 0
    loss += (x * v) ** 2
    assert [p.name for p in record(loss).places] == ["x", "v", "x * v", "(x * v) ** 2", "loss"]
    total = 0
    total = total + x * 3
    assert [p.name for p in record(total).places] == ["x", "x * 3", "total"]
    error = x - 1
    total = 0 + error
    assert [p.name for p in record(total).places] == ["x", "error", "total"]
    offset = torch.tensor(1.0)
    total = x * 3 + offset
    assert [p.name for p in record(total).places] == ["x", "x * 3", "offset", "total"]


def test_boxes_of_a_higher_order_are_named_by_what_they_compute() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    recording = record(slope * x)
    assert [p.name for p in recording.places] == ["x", "x ** 2", "slope", "slope * x"]
    assert [s.named for step in recording.steps for s in step] == ["g · x", "g · slope", "g · 3", "g · 2 · x"]


@pytest.mark.parametrize(("make", "rules"), [
    (lambda x: (x**2).sum(), ["expand(g, (2, 3))", "g · 2 · x"]),
    (lambda x: torch.nn.functional.mse_loss(x, x.detach() + 1), ["g / 6 · 2 · (x - constant)"]),
    (lambda x: torch.relu(x).mean(), ["expand(g / 6, (2, 3))", "g · (torch.relu(x) > 0)"]),
    (lambda x: x.softmax(1).sum(), ["expand(g, (2, 3))", "(g - sum(g · x.softmax(1), 1)) · x.softmax(1)"]),
    (lambda x: (2**x).sum(), ["expand(g, (2, 3))", "g · (2 ** x) · log(2)"]),
    (lambda x: x.var(), ["2 · g · (x - mean(x, (0, 1))) / 5"]),
])  # fmt: skip
def test_a_rule_is_written_as_a_person_writes_it(make, rules: list[str]) -> None:
    x = torch.rand(2, 3, requires_grad=True)
    found = [s.named for step in record(make(x), names={"x": x}).steps for s in step if not s.skipped]
    assert found == rules


@pytest.mark.parametrize(("make", "rule", "edge"), [
    (lambda x: torch.nn.functional.layer_norm(x, (3,)), "g, by the derivative of layer_norm", ""),
    (lambda x: torch.nn.functional.gelu(x), "g, by the derivative of gelu", "\u00d7 gelu\u2032"),
    (lambda x: torch.maximum(x, 2 * x), "where(x < (2 * x), 0, where(x == (2 * x), g / 2, g))", "\u00d7 slope"),
    (lambda x: x[0], "g, back where it was read", "put back"),
])  # fmt: skip
def test_the_stepper_shows_no_name_of_a_helper_and_no_half_a_label(make, rule: str, edge: str) -> None:
    x = torch.rand(2, 3, requires_grad=True)
    move = data_of(make(x).sum(), None, {"x": x}, None)[0]["steps"][2]
    assert (move["rule"], move["edge"]) == (rule, edge)
    assert any(rule.rpartition(",")[0] in text for text in move["text"])


def test_a_hook_on_another_graph_changes_nothing() -> None:
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    loss = a * b + b
    before = str(record(loss))
    other = torch.tensor(1.0, requires_grad=True)
    other.register_hook(lambda g: g)
    other.grad = torch.ones(())
    (other * other.grad).backward()  # saves a `.grad`
    after = str(record(loss))
    assert after == before
