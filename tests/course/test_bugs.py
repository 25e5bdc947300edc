"""Bugs in the real engine: each gives the numbers that its misconception is known for, and leaves no
trace."""

import pytest

import minigrad as torch
from minigrad import tape
from minigrad.operation import parameters
from minigrad.record import bugs
from minigrad.record.bugs import BUGS, RULES, broken, wrong_rules


def leaf(data):
    return torch.tensor(data, requires_grad=True)


def fan_in():
    """The graph that tells seven outcomes apart: a=2, b=3, c=a+b, d=ab, y=c+d+cd."""
    a, b = leaf(2.0), leaf(3.0)
    c, d = a + b, a * b
    (c + d + c * d).backward()
    return a.grad.item(), b.grad.item()


def of(x, f):
    f(x).backward()
    return x.grad.tolist()


W = [[1.0, 2.0], [5.0, 9.0]]
V = [[0.5, 1.2, 3.0], [2.0, -1.0, 4.0], [1.4, 6.0, 2.5], [3.5, 4.0, 3.5]]
CASES = {
    "M19": (fan_in, (1, 1)),
    "M20": (fan_in, (29, 22)),
    "M21": (fan_in, (4, 3)),
    "M21-visits": (fan_in, (46, 35)),
    "M21-zero": (fan_in, (0, 0)),
    "M21-value": (fan_in, (1025, 779)),
    "M23": (lambda: of(leaf([1.0, 2.0]), lambda x: (x**2 * 10).sum()), [2, 4]),
    "M28": (lambda: of(leaf([1.0, 2.0, 3.0]), lambda b: ((torch.ones(4, 3) + b) * torch.tensor(V)).sum()),
            [1.85, 2.55, 3.25]),
    "M29": (lambda: of(leaf([[1.0, 2.0], [3.0, 4.0]]), lambda x: (x @ torch.tensor(W)).sum()),
            [[6, 11], [6, 11]]),
    "M30": (lambda: of(leaf([1.0, 2.0]), lambda x: (x**2).mean()), [2, 4]),
    "M35": (lambda: of(leaf([0.0, -1.0, 2.0]), lambda x: torch.relu(x).sum()), [1, 0, 1]),
    "M36": (lambda: of(leaf([1.0, 2.0, 3.0]), lambda x: x[[0, 0, 1]].sum()), [1, 1, 0]),
}  # fmt: skip
RIGHT = {
    "M23": [20, 40], "M28": [7.4, 10.2, 13.0], "M29": [[3, 14], [3, 14]], "M30": [1, 2], "M35": [0, 0, 1],
    "M36": [2, 1, 0],
}  # fmt: skip


def close(found, numbers):
    return torch.allclose(
        torch.tensor(found, dtype=torch.float64), torch.tensor(numbers, dtype=torch.float64), 1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("id", CASES)
def test_each_bug_gives_its_numbers_and_goes_away(id):
    program, numbers = CASES[id]
    right = RIGHT.get(id, (25, 19))
    assert close(program(), right)
    with broken(id):
        assert close(program(), numbers)
    assert close(program(), right)


def test_a_sum_that_is_not_spread_raises():
    with broken("M27"), pytest.raises(RuntimeError, match="invalid gradient"):
        of(leaf([1.0, 2.0]), lambda x: x.sum())


@pytest.mark.slow
def test_the_engine_is_put_back_after_an_exception():
    before = tape.chosen, {name: made.rules for name, made in tape.TABLE.items()}
    for id in BUGS:
        with pytest.raises(ZeroDivisionError), broken(id):
            raise ZeroDivisionError
    assert before == (tape.chosen, {name: made.rules for name, made in tape.TABLE.items()})


def test_unknown_bugs_are_named():
    with pytest.raises(KeyError, match="M19"), broken("M01"):
        pass


@pytest.mark.parametrize("id", ["M19", "M20", "M21", "M21-visits"])
def test_walks_know_grad_second_order_and_freed_graphs(id):
    with broken(id):
        x = leaf(3.0)
        (g,) = torch.autograd.grad(x**3, x, create_graph=True)
        assert g.item() == 27
        y = leaf(2.0)
        z = y * 3
        z.backward(retain_graph=True)
        z.backward()
        assert y.grad.item() == 6
        with pytest.raises(RuntimeError, match="second time"):
            z.backward()


def test_every_bug_has_an_entry_and_its_rules_fit_the_table():
    from minigrad.course.misconceptions import catalogue

    assert {id.split("-")[0] for id in BUGS} <= set(catalogue())
    for rule in RULES:
        made = tape.TABLE[rule.operation]
        assert len(rule.rules) == len(made.rules)
        known = {*made.inputs, "out", *(f"{n}_shape" for n in made.inputs), *made.statics}
        for each in filter(None, rule.rules):
            assert set(parameters(each)[1:]) <= known


def test_wrong_rules_for_the_stepper():
    assert [r.id for r in wrong_rules("relu")] == ["M23", "M35"]
    assert [r.id for r in wrong_rules("mean_all")] == ["M23", "M27", "M30"]
    with pytest.raises(KeyError):
        wrong_rules("nothing")


def test_public_name():
    assert torch.broken is bugs.broken
