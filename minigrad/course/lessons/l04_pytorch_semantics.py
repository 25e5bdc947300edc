"""Lesson 04: what PyTorch does with the same code. Five functions on tensors, and four methods for the student's engine.

Exercise 4.6 is judged on a given `Value` that lacks `zero_grad`, `detach`, `retain_grad` and the switch `no_grad`.
Its numbers live in arrays, so that "shares its numbers" and "copies them" are different things.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import Exercise, Lesson, Outside, Probe, Wrong, numbers, prediction, program, run

ENGINE = "import minigrad as torch"

# --- 4.1 the state of a gradient ------------------------------------------------------------------------------

STATES = {
    "x = torch.tensor(p, requires_grad=True)\n(x * q).backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor(p, requires_grad=True)\n(x * 0).backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor([p, q], requires_grad=True)\n(x * x).sum().backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor(p, requires_grad=True)\nk = torch.tensor(q, requires_grad=True)\n(x * 3).backward()\n"
    "gradient_state(k)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(x)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\n(x * q).backward()\nx.grad = None\ngradient_state(x)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\nb = torch.tensor(q)\n(x * b).backward()\ngradient_state(b)": "not required",
    "x = torch.tensor(p, requires_grad=True)\nwith torch.no_grad():\n    y = x * q\ngradient_state(y)": "not required",
    "x = torch.tensor(p, requires_grad=True)\ny = (x * q).detach()\ngradient_state(y)": "not required",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ny.backward()\ngradient_state(y)": "not a leaf",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(y)": "not a leaf",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ny.retain_grad()\n(y * y).backward()\n"
    "gradient_state(y)": "arrived",
}  # fmt: skip

WAYS = {  # of which a program is drawn that nobody has seen
    "{} = torch.tensor(p)": "not required", "{} = (torch.tensor(p, requires_grad=True) * q).detach()": "not required",
    "{0} = torch.tensor(p, requires_grad=True)\n{0}.grad = None": "nothing arrived",
    "{} = torch.tensor(p, requires_grad=True)": "nothing arrived", "{} = torch.tensor(p, requires_grad=True) * q": "not a leaf",
    "{0} = torch.tensor(p, requires_grad=True)\n({0} * q).backward()": "arrived",
}
ONLY_ASKS = (
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(y)\n(y * y).backward()\ngradient_state(y)"
)


def probes_4_1(rng: np.random.Generator) -> Iterator[Probe]:
    for code, state in STATES.items():
        p, q = (float(n) for n in numbers(rng, 2))
        yield run(code, p=p, q=q).expect(state).show()
    yield run(ONLY_ASKS, p=2.5, q=-1.5).expect("not a leaf").on(
        "Your function changes the tensor: after the call, y stores its gradient. Which line of yours does more than ask?"
    )
    names, ways = [str(name) for name in rng.permutation(list("abcdefgh"))], list(WAYS)
    made = {name: ways[way] for name, way in zip(names, [*rng.permutation(6).tolist(), *rng.integers(6, size=2).tolist()])}
    asked = sorted(made)
    code = "\n".join([*(way.format(name) for name, way in made.items()), f"[gradient_state(t) for t in ({', '.join(asked)})]"])
    yield run(code, p=2.5, q=-1.5).expect([WAYS[made[name]] for name in asked])


def held(t: Any) -> bool:
    return t.grad is not None


def state(t: Any) -> str:
    if not t.requires_grad:
        return "not required"
    if held(t):
        return "arrived"
    return "nothing arrived" if t.is_leaf else "not a leaf"


def state_by_grad_fn(t: Any) -> str:
    """Right: a node made the tensor, or none did."""
    if t.requires_grad and not held(t):
        return "nothing arrived" if t.grad_fn is None else "not a leaf"
    return "arrived" if t.requires_grad else "not required"


def state_gradient_first(t: Any) -> str:
    """Right: what has a gradient needs no further question."""
    if held(t):
        return "arrived"
    return "not a leaf" if t.grad_fn is not None else ("nothing arrived" if t.requires_grad else "not required")


def state_zero_is_none(t: Any) -> str:
    found = state(t)
    return "nothing arrived" if found == "arrived" and float(abs(t.grad).sum()) == 0 else found


def state_by_truth(t: Any) -> str:
    return "arrived" if t.grad else "nothing arrived" if state(t) == "arrived" else state(t)


def state_kind_first(t: Any) -> str:
    return state(t) if t.is_leaf or not t.requires_grad else "not a leaf"


def state_leaf_has_one(t: Any) -> str:
    found = state(t)
    return "arrived" if found == "nothing arrived" else found


def state_none_for_all(t: Any) -> str:
    return "arrived" if held(t) else "nothing arrived"


def state_leaf_required(t: Any) -> str:
    if t.grad_fn is None:
        return "arrived" if held(t) else "not required"
    return "arrived" if held(t) else "not a leaf"


def state_data_is_leaf(t: Any) -> str:
    return "nothing arrived" if t.is_leaf and not held(t) else state(t)


def state_needs_a_node(t: Any) -> str:
    return "not a leaf" if not t.requires_grad else state(t)


EXERCISE_4_1 = program(
    "4.1", "gradient_state",
    why="requires_grad, is_leaf and `grad is None` answer three different questions, and 0 is a gradient, too.",
    title="why is there no gradient?",
    minutes=6,
    prelude=ENGINE,
    probes=probes_4_1,
    wrong=[
        Wrong(state_zero_is_none, "M05", "A gradient of 0 counts as no gradient in your function. Which comparison tells 0 "
              "and None apart?"),
        Wrong(state_by_truth, "M05", "A gradient of 0 counts as false, and one of several numbers is neither true nor false. "
              "How can you ask whether t.grad is None?"),
        Wrong(state_kind_first, "M02", "A tensor that is not a leaf can have a gradient, after retain_grad(). Which question "
              "should come before the one about the leaf?"),
        Wrong(state_leaf_has_one, "M07", "Your function says \"arrived\" for every leaf that requires a gradient. What is in "
              ".grad before the first backward pass?"),
        Wrong(state_none_for_all, "M02", "There are three reasons for None, and you name one. Which attributes tell them "
              "apart?"),
        Wrong(state_leaf_required, "M09", "You took a tensor without a grad_fn for one that requires no gradient. A leaf has "
              "no grad_fn either. Which attribute says that a gradient is required?"),
        Wrong(state_data_is_leaf, "M02", "Plain data is a leaf, too, but no gradient will ever arrive there. Which attribute "
              "says so?"),
        Wrong(state_needs_a_node, "M12", "A result that was computed under no_grad, or detached, requires no gradient. Which "
              "question should come first?"),
    ],
    alternatives=[state, state_by_grad_fn, state_gradient_first],
    hints=[
        "Ask three questions about the tensor: Does it require a gradient? Is its gradient None? Is it a leaf?",
        "For b = torch.tensor(4.0) the answer is \"not required\", although b is a leaf.",
        "The order of the questions matters: begin with requires_grad, and ask about .grad before is_leaf.",
    ],
    worked="If not t.requires_grad: 'not required'. Else if t.grad is not None: 'arrived'. Else if t.is_leaf: 'nothing "
           "arrived'. Else: 'not a leaf'.",
)  # fmt: skip

# --- 4.2 one gradient for each loss ---------------------------------------------------------------------------

LOSSES = "[lambda x: (x * 2).sum(), lambda x: (x * x).sum(), lambda x: (x * x * x).sum()]"
SEPARATE = f"x = torch.tensor(data, requires_grad=True)\n[g.tolist() for g in separate(x, {LOSSES})]"
AFTER = (
    f"x = torch.tensor(data, requires_grad=True)\n(x * 7).sum().backward()\n[g.tolist() for g in separate(x, {LOSSES})]"
)
TWICE = (
    "x = torch.tensor(data, requires_grad=True)\nseparate(x, [lambda x: (x * 5).sum()])\n"
    "[g.tolist() for g in separate(x, [lambda x: (x * x).sum()])]"
)
NO_LOSS = "x = torch.tensor(data, requires_grad=True)\nlen(separate(x, []))"


def probes_4_2(rng: np.random.Generator) -> Iterator[Probe]:
    for data in (np.array([1.5, -2.0]), numbers(rng, 3)):
        right = [[2.0] * data.size, (2 * data).tolist(), (3 * data**2).tolist()]
        yield run(SEPARATE, data=data.tolist()).expect(right).show()
        yield run(AFTER, data=data.tolist()).expect(right)
        yield run(TWICE, data=data.tolist()).expect([right[1]])
    yield run(NO_LOSS, data=[2.5]).expect(0)


def separating(name: str, before: Callable[[Any], Any], after: Callable[[Any], Any]) -> Callable[[Any, Any], list[Any]]:
    """A `separate` that calls `before` ahead of each pass, and collects what `after` returns."""

    def separate(x: Any, losses: Any) -> list[Any]:
        found = []
        for loss in losses:
            before(x)
            loss(x).backward()
            found.append(after(x))
        return found

    separate.__name__ = name
    return separate


def leave(x: Any) -> None:
    """Nothing is cleared."""


def set_to_none(x: Any) -> None:
    x.grad = None


def zero(x: Any) -> None:
    x.grad.zero_()


def zero_what_is_there(x: Any) -> None:
    if x.grad is not None:
        x.grad.zero_()


def gradient(x: Any) -> Any:
    return x.grad


def copied(x: Any) -> Any:
    return x.grad.clone()


def zeroed(x: Any) -> Any:
    return x.grad.zero_().clone()


def taken(x: Any) -> Any:
    found, x.grad = x.grad, None
    return found


separate = separating("separate", set_to_none, gradient)
separate_with_copies = separating("separate_with_copies", zero_what_is_there, copied)  # clearing in place does no harm
never_cleared = separating("never_cleared", leave, copied)
one_tensor_for_all = separating("one_tensor_for_all", leave, gradient)
zeroed_in_place = separating("zeroed_in_place", zero_what_is_there, gradient)
zeroed_before_there_is_one = separating("zeroed_before_there_is_one", zero, copied)
cleared_before_it_is_read = separating("cleared_before_it_is_read", leave, zeroed)
cleared_afterwards = separating("cleared_afterwards", leave, taken)


def separate_by_grad(x: Any, losses: Any) -> list[Any]:
    """Right: autograd.grad stores nothing."""
    return [torch.autograd.grad(loss(x), x)[0] for loss in losses]


def separate_with_own_leaves(x: Any, losses: Any) -> list[Any]:
    """Right: each loss gets a leaf of its own."""
    found = []
    for loss in losses:
        leaf = x.detach().clone().requires_grad_()
        loss(leaf).backward()
        found.append(leaf.grad)
    return found


def cleared_once(x: Any, losses: Any) -> list[Any]:
    x.grad = None
    return never_cleared(x, losses)


def values_of_losses(x: Any, losses: Any) -> list[Any]:
    return [loss(x).detach() for loss in losses]


def summed_losses(x: Any, losses: Any) -> list[Any]:
    x.grad = None
    total: Any = sum(loss(x) for loss in losses)
    total.backward()
    return [x.grad for _ in losses]


def differences_of_itself(x: Any, losses: Any) -> list[Any]:
    found = []
    for loss in losses:
        before = x.grad
        loss(x).backward()
        found.append(x.grad if before is None else x.grad - before)
    return found


def backward_on_x(x: Any, losses: Any) -> list[Any]:
    for loss in losses:
        loss(x)
        x.backward()
    return []


EXERCISE_4_2 = program(
    "4.2", "separate",
    why="Clearing before each pass stops the adding, and with None the next pass makes a new tensor.",
    title="one gradient for each loss",
    minutes=6,
    prelude=ENGINE,
    probes=probes_4_2,
    rtol=1e-4,
    atol=1e-5,
    wrong=[
        Wrong(never_cleared, "M01", "The second gradient contains the first one, and the third contains both. What does a "
              "backward pass do with a gradient that is there already?"),
        Wrong(one_tensor_for_all, "M01", "All entries of your list are the same tensor, and it holds the sum of all "
              "gradients. What has to happen before each backward pass?"),
        Wrong(zeroed_in_place, "M15", "All entries of your list are the same tensor, and it holds the last gradient. zero_() "
              "overwrites it in place. How can the next pass get a new tensor?"),
        Wrong(zeroed_before_there_is_one, "M07", "Before the first pass x.grad is None, so there is no tensor to fill with "
              "zeros. How can you clear the gradient at any time?"),
        Wrong(cleared_before_it_is_read, "M01", "All your gradients are 0. Does each backward pass run, and do you write zeros "
              "into a tensor that is in your list already?"),
        Wrong(cleared_afterwards, "M01", "x may hold a gradient already when separate is called, and your first gradient "
              "contains it. When does the clearing have to happen?"),
        Wrong(cleared_once, "M01", "You clear the gradient once, before the loop. The later gradients still contain the "
              "earlier ones. How often does the clearing have to happen?"),
        Wrong(summed_losses, "M01", "Each entry of your list is the gradient of the sum of all losses. How many backward "
              "passes do you need, if each loss is to have its own gradient?"),
        Wrong(differences_of_itself, "M15", "What you stored before the pass and x.grad are the same tensor, because the pass "
              "adds to it in place. So their difference is 0. How do you store the numbers?"),
        Wrong(backward_on_x, "M04", "You called backward() on x. A pass starts from a result: which result belongs to each "
              "function in the list?"),
        Wrong(values_of_losses, "M43", "You returned the values of the losses. Which attribute holds the gradient after a "
              "backward pass?"),
    ],
    alternatives=[separate, separate_with_copies, separate_by_grad, separate_with_own_leaves],
    hints=[
        "A backward pass adds to x.grad. So x.grad has to be cleared before each pass, the first one included.",
        "x.grad = None works at any time, and the next pass puts a new tensor there.",
        "The loop has three lines: clear, run backward on the loss of x, and append x.grad to the list.",
    ],
    worked="found = []. For each loss: x.grad = None; loss(x).backward(); found.append(x.grad). Return found.",
)  # fmt: skip

# --- 4.3 a training loop that stops ---------------------------------------------------------------------------

TRAINED = (
    "w = torch.tensor(w, requires_grad=True)\ntrain(w, steps)\nw.grad = None\n(c * w).backward()\n[w.item(), w.grad.item()]"
)
TRAINED_SAME = (
    "w = torch.tensor(w, requires_grad=True)\nv = train(w, 2)\nv = w if v is None else v\nw.grad = None\n(c * v).backward()\n"
    "[w.item(), v.item(), w.grad.item()]"
)
TRAINED_ON = "w = torch.tensor(w, requires_grad=True)\ntrain(w, 2)\ntrain(w, 1)\nw.item()"
TRAINED_OTHER = (
    "w, v = torch.tensor(w, requires_grad=True), torch.tensor(v, requires_grad=True)\ntrain(w, 2)\ntrain(v, 2)\n"
    "v.grad = None\n(c * v).backward()\n[w.item(), v.item(), v.grad.item()]"
)


def trained(w: float, steps: int) -> float:
    """The loss is (3w - 12)**2, its derivative 18 (w - 4): each step of 0.01 leaves 0.82 of the distance to 4."""
    return 4 + (w - 4) * 0.82**steps


def probes_4_3(rng: np.random.Generator) -> Iterator[Probe]:
    w, v, c = (float(n) for n in numbers(rng, 3))
    for start, steps in ((2.0, 1), (2.0, 2), (w, 1), (w, 5), (w, 0)):
        yield run(TRAINED, w=start, steps=steps, c=c).expect([trained(start, steps), c]).show()
    yield run(TRAINED_SAME, w=w, c=c).expect([trained(w, 2), trained(w, 2), c])
    yield run(TRAINED_ON, w=w).expect(trained(w, 3))
    yield run(TRAINED_OTHER, w=w, v=v, c=c).expect([trained(w, 2), trained(v, 2), c])


def training(update: Callable[[Any], Any], name: str) -> Callable[[Any, int], Any]:
    """`train` with this update; what the update returns is bound to the name w."""

    def train(w: Any, steps: int) -> Any:
        for _ in range(steps):
            loss = (3 * w - 12) ** 2
            loss.backward()
            new = update(w)
            w = w if new is None else new
        return w

    train.__name__ = name
    return train


def in_place(w: Any) -> None:
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None


def through_data(w: Any) -> None:
    """Right: .data is the same memory without a history."""
    w.data -= 0.01 * w.grad
    w.grad.zero_()


def by_method(w: Any) -> None:
    with torch.no_grad():
        w.sub_(0.01 * w.grad)
        w.grad = None


def train_clearing_first(w: Any, steps: int) -> None:
    """Right: each step begins with a cleared gradient."""
    for _ in range(steps):
        w.grad = None
        ((3 * w - 12) ** 2).backward()
        with torch.no_grad():
            w.copy_(w - 0.01 * w.grad)


def rebinding(w: Any) -> Any:
    return w - 0.01 * w.grad


def rebinding_unrecorded(w: Any) -> Any:
    with torch.no_grad():
        return w - 0.01 * w.grad


def new_leaf(w: Any) -> Any:
    return (w - 0.01 * w.grad).detach().requires_grad_()


def adding_up(w: Any) -> None:
    with torch.no_grad():
        w -= 0.01 * w.grad


def recorded(w: Any) -> None:
    w -= 0.01 * w.grad
    w.grad = None


def uphill(w: Any) -> None:
    with torch.no_grad():
        w += 0.01 * w.grad
    w.grad = None


def cleared_too_soon(w: Any) -> None:
    w.grad.zero_()
    with torch.no_grad():
        w -= 0.01 * w.grad


def by_the_loss(w: Any) -> None:
    with torch.no_grad():
        w -= 0.01 * (3 * w - 12) ** 2
    w.grad = None


def uphill_and_adding_up(w: Any) -> None:
    with torch.no_grad():
        w += 0.01 * w.grad


def zeroing_w(w: Any) -> None:
    in_place(w)
    with torch.no_grad():
        w.zero_()


def replacing(w: Any) -> None:
    with torch.no_grad():
        w.copy_(-0.01 * w.grad)
    w.grad = None


def kept_by_retain_grad(w: Any) -> Any:
    w = w - 0.01 * w.grad
    w.retain_grad()
    return w


def train_all_unrecorded(w: Any, steps: int) -> None:
    with torch.no_grad():
        for _ in range(steps):
            ((3 * w - 12) ** 2).backward()
            in_place(w)


NAME_MOVED = (
    "w = ... gave the name w to a new tensor, and the caller's tensor has not changed. torch.explain(w) names the line. "
    "How can you change the tensor itself?"
)

EXERCISE_4_3 = program(
    "4.3", "train",
    why="The update changes the same leaf in place, is not recorded, and clears the gradient for the next step.",
    title="a training loop that stops",
    minutes=8,
    prelude=ENGINE,
    probes=probes_4_3,
    rtol=1e-4,
    atol=1e-4,
    wrong=[
        Wrong(training(rebinding, "rebinding"), "M17", NAME_MOVED, alike="name moved"),
        Wrong(training(kept_by_retain_grad, "kept_by_retain_grad"), "M17", "retain_grad() gives the new tensor a gradient, "
              "but the caller's tensor has not changed. How can you change that one?"),
        Wrong(training(rebinding_unrecorded, "rebinding_unrecorded"), "M17", NAME_MOVED, alike="name moved"),
        Wrong(training(new_leaf, "new_leaf"), "M17", "You trained another leaf that was made from w, and the caller's "
              "tensor has not changed. How can you change the tensor itself?"),
        Wrong(training(adding_up, "adding_up"), "M01", "The first step is right, but the later ones are too large. What is in "
              "w.grad when the second pass begins?"),
        Wrong(training(recorded, "recorded"), "M16", "The update is in place now, but PyTorch does not let you change a leaf "
              "while operations are recorded. Which block switches recording off?"),
        Wrong(training(uphill, "uphill"), "", "w moves away from 4, so the loss grows. In which direction does the "
              "loss fall?"),
        Wrong(training(cleared_too_soon, "cleared_too_soon"), "M01", "The caller's w does not change. Did you "
              "clear the gradient before you used it, or did you change another tensor?"),
        Wrong(training(by_the_loss, "by_the_loss"), "M43", "You subtracted the loss itself. How fast does the loss change "
              "with w, and where is this number after the pass?"),
        Wrong(training(uphill_and_adding_up, "uphill_and_adding_up"), "M01", "w moves away from 4, so the direction is wrong. "
              "And the second step is too large: what is in w.grad when its pass begins?"),
        Wrong(training(zeroing_w, "zeroing_w"), "M08", "zero_() was called on w, so w is 0 after every step. Which tensor has "
              "to be cleared?"),
        Wrong(training(replacing, "replacing"), "M19", "You replaced the value of w by the change alone. A step "
              "should start from the old value. Which operator does that?"),
        Wrong(train_all_unrecorded, "M12", "The loss has no graph: it is detached, or computed under no_grad, or from "
              "a w that requires no gradient. Which line does that?"),
    ],
    alternatives=[training(in_place, "in_place"), training(through_data, "through_data"), training(by_method, "by_method"),
                  train_clearing_first],
    hints=[
        "Print torch.explain(w) before the last line of the loop. In the second step of the loop, its text names the "
        "line that you have to change.",
        "An assignment such as a = a + 1 makes a new tensor. a += 1 changes the tensor that is there.",
        "Three things are needed: change w in place, do it under no_grad, and clear its gradient afterwards.",
    ],
    worked="Replace the last line of the loop: with torch.no_grad(): w -= 0.01 * w.grad, and then w.grad = None.",
)  # fmt: skip

# --- 4.4 a sum that counts as a constant ----------------------------------------------------------------------

SCALED = "x = torch.tensor(x, requires_grad=True)\nscaled(x).tolist()"
SCALED_GRAD = (
    "x = torch.tensor(x, requires_grad=True)\n(scaled(x) * torch.tensor(weights)).sum().backward()\nx.grad.tolist()"
)
SCALED_AFTER = (
    "x = torch.tensor(x, requires_grad=True)\nscaled(x)\n(torch.tensor(weights) * x).sum().backward()\n[x.grad, x.tolist()]"
)


def probes_4_4(rng: np.random.Generator) -> Iterator[Probe]:
    for x in (np.array([1.5, 2.0, 4.0]), abs(numbers(rng, 4))):
        weights = numbers(rng, x.size)
        yield run(SCALED, x=x.tolist()).expect((x / x.sum()).tolist()).show()
        yield run(SCALED_GRAD, x=x.tolist(), weights=weights.tolist()).expect((weights / x.sum()).tolist())
        yield run(SCALED_AFTER, x=x.tolist(), weights=weights.tolist()).expect([weights, x.tolist()])
    yield run("scaled(torch.tensor(x)).tolist()", x=[2.0, 0.5, 1.5]).expect([0.5, 0.125, 0.375])


def scaled(x: Any) -> Any:
    return x / x.sum().detach()


def scaled_by_a_number(x: Any) -> Any:
    """Right: .item() gives a plain number."""
    return x / x.sum().item()


def scaled_unrecorded(x: Any) -> Any:
    """Right: only the sum is computed under no_grad."""
    with torch.no_grad():
        total = x.sum()
    return x / total


def scaled_detached_first(x: Any) -> Any:
    return x * (1 / x.detach().sum())


def scaled_recorded(x: Any) -> Any:
    return x / x.sum()


def scaled_numerator_cut(x: Any) -> Any:
    return x.detach() / x.sum()


def scaled_result_cut(x: Any) -> Any:
    return (x / x.sum()).detach()


def scaled_all_unrecorded(x: Any) -> Any:
    with torch.no_grad():
        return x / x.sum()


def scaled_by_the_mean(x: Any) -> Any:
    return x / x.mean().detach()


def scaled_leaf_cut(x: Any) -> Any:
    x.detach_()
    return x / x.sum()


def scaled_only_the_sum(x: Any) -> Any:
    return x.sum().detach() + 0 * x


def scaled_in_place(x: Any) -> Any:
    total = x.sum().detach()
    with torch.no_grad():
        x /= total
    return x


def scaled_new_leaf(x: Any) -> Any:
    return torch.tensor((x / x.sum()).tolist(), requires_grad=True)


def scaled_as_array(x: Any) -> Any:
    return (x / x.sum()).detach().numpy()


NOTHING_LEFT = (
    "The result requires no gradient, so no path leads back to x. Only the sum should count as a constant: what has to "
    "stay recorded?"
)

EXERCISE_4_4 = program(
    "4.4", "scaled",
    why="The path through the sum is cut, and the path through the numerator stays.",
    title="a sum that counts as a constant",
    minutes=5,
    prelude=ENGINE,
    probes=probes_4_4,
    rtol=1e-4,
    atol=1e-5,
    wrong=[
        Wrong(scaled_recorded, "M12", "The values are right, but the gradient also goes through the sum. How can you cut "
              "that path and keep the other one?"),
        Wrong(scaled_numerator_cut, "M12", "You cut the wrong path: now the gradient goes only through the sum. Which of the "
              "two uses of x should count as a constant?"),
        Wrong(scaled_result_cut, "M12", NOTHING_LEFT, alike="nothing left"),
        Wrong(scaled_all_unrecorded, "M12", NOTHING_LEFT, alike="nothing left"),
        Wrong(scaled_by_the_mean, "", "You divided by the mean. By which number does the task divide?"),
        Wrong(scaled_leaf_cut, "M12", "detach_() changed x itself, so the caller's tensor requires no gradient any more. "
              "Which method returns another tensor and leaves x alone?"),
        Wrong(scaled_in_place, "M15", "You divided the numbers of x itself, under no_grad. So the caller's x is changed, and "
              "the division is not recorded. Which form of the division makes a new tensor?"),
        Wrong(scaled_new_leaf, "M12", "The numbers are right, but no recorded operation leads from x to your result, so x gets "
              "no gradient. Which of your operations cuts the path from x?"),
        Wrong(scaled_as_array, "M14", "Your result is a numpy array, which has no history. Which operations on the tensor x "
              "give the same numbers?"),
        Wrong(scaled_only_the_sum, "", "You returned the sum. What is divided by it?"),
    ],
    alternatives=[scaled, scaled_by_a_number, scaled_unrecorded, scaled_detached_first],
    hints=[
        "x is used twice, in the numerator and in the sum. Only the path through the sum should be cut.",
        "In x * (x + 5).detach() the second factor counts as a constant.",
        "Compute the sum, detach it, and divide x by the result.",
    ],
    worked="return x / x.sum().detach()",
)  # fmt: skip

# --- 4.5 which rule needs its input ---------------------------------------------------------------------------

NEEDS = {
    "lambda y: y + 3": False, "lambda y: y * y": True, "torch.exp": False, "torch.sin": True, "torch.tanh": False,
    "lambda y: y * 5": False, "lambda y: y**2 + y": True, "lambda y: (y + 2).exp()": False, "torch.cos": True,
    "lambda y: 4 - y": False,
}  # fmt: skip
# Functions without a text: what they do next, they hear from outside when they are called.
UNREAD = ENGINE + """
class Unread:
    def __init__(self, place):
        self.place = place

    def __call__(self, y):
        z = y
        for name, number in outside("steps", self.place):
            z = {"add": lambda: z + number, "mul": lambda: z * number, "square": lambda: z * z, "from": lambda: number - z,
                 "exp": lambda: torch.exp(z), "tanh": lambda: torch.tanh(z), "sin": lambda: torch.sin(z),
                 "cos": lambda: torch.cos(z), "again": lambda: z * y}[name]()
        return z
"""
MIXED = {  # in another order, with other numbers, for each student
    "mul add": False, "mul exp": False, "add tanh mul": False, "from": False, "sin mul": True, "square mul add": True,
    "cos again": True, "add again": True, "add sin": False,
}


class Steps(Outside):
    """What each of the functions does, one step after the other."""

    methods = ("steps",)

    def __init__(self, functions: list[list[Any]]) -> None:
        self.functions = functions
        self.inside = {"functions": len(functions)}

    def steps(self, place: int) -> list[Any]:
        return self.functions[place]
LEAVES_NO_TRACE = "answers = [needs_input((torch.exp, torch.sin)[k]) for k in which]\nanswers"
USES_F = "seen = []\nneeds_input(lambda y: [y + 3, seen.append(y.requires_grad)][0])\n[len(seen) > 0, any(seen)]"


def probes_4_5(rng: np.random.Generator) -> Iterator[Probe]:
    for f, needed in NEEDS.items():
        yield run(f"needs_input({f})").expect(needed).show()
    yield run(USES_F).expect([True, True])
    a, b = np.abs(numbers(rng, 2)).tolist()
    mixed = [(f.split(), needed) for f, needed in MIXED.items()]
    mixed = [mixed[i] for i in rng.permutation(len(mixed))]
    steps = [[[name, (a, b)[i % 2]] for i, name in enumerate(f)] for f, _ in mixed]
    asked = run("[needs_input(Unread(place)) for place in range(functions)]", functions=steps).asking(Steps)
    asked = asked.on("These functions are made of the operations above, and their text cannot be read.")
    yield asked.expect([needed for _, needed in mixed])
    which = [1, 0, 1, *rng.integers(2, size=6).tolist()]  # differs from student to student: no table holds the answer
    yield run(LEAVES_NO_TRACE, which=which).expect([k == 1 for k in which])


def trial(change: Callable[[Any], Any], name: str, start: float = 2.0) -> Callable[[Any], bool]:
    """A `needs_input` that does this to the input of f between f and backward."""

    def needs_input(f: Any) -> bool:
        y = torch.tensor([0.5, 1.5], requires_grad=True) * start
        z = f(y)
        change(y)
        try:
            z.sum().backward()
        except RuntimeError:
            return True
        return False

    needs_input.__name__ = name
    return needs_input


def first_entry(y: Any) -> None:
    y[0] = 9.0


def unrecorded(y: Any) -> None:
    with torch.no_grad():
        y += 1


def changes_the_leaf(f: Any) -> bool:
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    try:
        z = f(x)
        x.add_(1)
        z.sum().backward()
    except RuntimeError:
        return True
    return False


def changes_the_output(f: Any) -> bool:
    y = torch.tensor([0.5, 1.5], requires_grad=True) * 2
    z = f(y)
    try:
        total = z.sum()
        z.add_(1)
        total.backward()
    except RuntimeError:
        return True
    return False


def changes_first(f: Any) -> bool:
    y = torch.tensor([0.5, 1.5], requires_grad=True) * 2
    y.add_(1)
    try:
        f(y).sum().backward()
    except RuntimeError:
        return True
    return False


def never_runs_backward(f: Any) -> bool:
    y = torch.tensor([0.5, 1.5], requires_grad=True) * 2
    try:
        f(y)
        y.add_(1)
    except RuntimeError:
        return True
    return False


def runs_twice(f: Any) -> bool:
    z = f(torch.tensor([0.5, 1.5], requires_grad=True))
    z.sum().backward()
    try:
        z.sum().backward()
    except RuntimeError:
        return True
    return False


def turned_round(f: Any) -> bool:
    return not trial(lambda y: y.add_(1), "right")(f)


def does_not_catch(f: Any) -> bool:
    y = torch.tensor([0.5, 1.5], requires_grad=True) * 2
    z = f(y)
    y.add_(1)
    z.sum().backward()
    return False


def prints_instead(f: Any) -> None:
    print(trial(lambda y: y.add_(1), "right")(f))


def leaf_outside_try(f: Any) -> bool:
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    f(x)
    x.add_(1)
    return False


def requires_nothing(f: Any) -> bool:
    y = torch.tensor([0.5, 1.5])
    z = f(y)
    y.add_(1)
    try:
        z.sum().backward()
    except RuntimeError:
        return True
    return False


def always_true(f: Any) -> bool:
    return True


def always_false(f: Any) -> bool:
    return False


def compares_gradients(f: Any) -> bool:
    found: list[Any] = []
    for start in ([0.5, 1.5], [0.25, 2.0]):
        x = torch.tensor(start, requires_grad=True)
        f(x).sum().backward()
        found.append(x.grad)
    return not torch.allclose(*found)


def knows_names(f: Any) -> bool:
    return f in (torch.sin, torch.cos, torch.log)


ALWAYS_FALSE = (
    "Your function says False for every f. Do you change the input itself, in place and after f has used it? Does "
    "backward() run after the change, and does your except return True?"
)
NEVER_USES_F = "Your function never computes f(y). How can it find out what f needs?"

EXERCISE_4_5 = program(
    "4.5", "needs_input",
    why="A rule that needs the input has saved it, and backward() refuses to use a saved tensor that has changed.",
    title="which rule needs its input?",
    minutes=8,
    prelude=UNREAD,
    probes=probes_4_5,
    wrong=[
        Wrong(changes_the_leaf, "M16", "Your function says True for every f, so its answer does not come from the rule. If it "
              "catches an error, print it: is it about a leaf that is changed, or a pass from several numbers?"),
        Wrong(leaf_outside_try, "M16", "You change a leaf in place, and PyTorch forbids that, whatever f is. Which operation "
              "gives you an input that is not a leaf?"),
        Wrong(requires_nothing, "", "Your function says True for every f, because y requires no gradient: then no backward "
              "pass can run. Which tensor has to require one?"),
        Wrong(always_true, "", NEVER_USES_F, alike="no experiment"),
        Wrong(always_false, "", NEVER_USES_F, alike="no experiment"),
        Wrong(compares_gradients, "M15", "You ask whether the derivative changes with the input. That of exp does, but its "
              "rule takes it from the output. Which experiment shows what a rule has saved?"),
        Wrong(knows_names, "", "Your function compares f with functions that it knows, so it cannot judge a new one. Where do "
              "you compute f(y)?"),
        Wrong(changes_the_output, "M15", "You changed the result of f, so your function finds the rules that need their "
              "*output*, such as that of exp. Which tensor has to change?"),
        Wrong(changes_first, "M15", ALWAYS_FALSE, alike="always False"),
        Wrong(never_runs_backward, "M15", ALWAYS_FALSE, alike="always False"),
        Wrong(trial(lambda y: y + 1, "makes_a_new_tensor"), "M17", ALWAYS_FALSE, alike="always False"),
        Wrong(runs_twice, "M10", "Two backward passes fail for every rule that has saved something: an input, an output or "
              "a constant. How can you find out about the input alone?"),
        Wrong(turned_round, "", "All your answers are the wrong way round. What does an error in backward() mean?"),
        Wrong(does_not_catch, "", "For y * y the error stops your function. Which statement lets a program go on after an "
              "error?"),
        Wrong(prints_instead, "", "Your function prints the answer and returns None. Which statement returns it?"),
    ],
    alternatives=[trial(lambda y: y.add_(1), "in_place"), trial(first_entry, "first_entry"),
                  trial(unrecorded, "unrecorded"), trial(lambda y: y.detach().mul_(3), "through_detach")],
    hints=[
        "The function makes an experiment: use f, change its input in place, call backward(), and see whether it "
        "raises an error.",
        "For y + 3 there is no error, because the derivative of a sum does not depend on y. The derivative of y * y "
        "does, so there is an error.",
        "The input of f may not be a leaf, so multiply a leaf by 2 first. Put backward() into try, and return True in "
        "except RuntimeError.",
    ],
    worked="y = torch.tensor([0.5, 1.5], requires_grad=True) * 2; z = f(y); y.add_(1). Then try: z.sum().backward(); "
           "except RuntimeError: return True. After that return False.",
)  # fmt: skip

# --- 4.6 four methods for an engine ---------------------------------------------------------------------------


def given() -> dict[str, Any]:
    """The engine that the exercise notebook hands out, freshly made."""

    class Value:
        recording = True
        count = 0

        def __init__(self, data: Any, parents: tuple[Any, ...] = (), derivatives: tuple[Any, ...] = ()) -> None:
            self.data = np.asarray(data, dtype=float)
            self.grad: Any = None
            self.keeps_grad = False
            self.parents = parents if Value.recording else ()
            self.derivatives = derivatives if Value.recording else ()
            Value.count += 1
            self.serial = Value.count

        def __add__(self, other: Any) -> Any:
            return Value(self.data + other.data, (self, other), (1.0, 1.0))

        def __mul__(self, other: Any) -> Any:
            return Value(self.data * other.data, (self, other), (other.data, self.data))

        def backward(self) -> None:
            arrived = {self: 1.0}
            while arrived:
                v = max(arrived, key=lambda value: value.serial)
                g = arrived.pop(v)
                if v.keeps_grad or not v.parents:
                    v.grad = g if v.grad is None else v.grad + g
                for parent, derivative in zip(v.parents, v.derivatives, strict=True):
                    arrived[parent] = arrived.get(parent, 0.0) + derivative * g

    return {"Value": Value}


def clear(self: Any) -> None:
    self.grad = None


def cut(self: Any) -> Any:
    return type(self)(self.data)


def keep(self: Any) -> None:
    self.keeps_grad = True


def switch(Value: Any) -> Any:
    """A no_grad that gives back what it found."""

    class no_grad:
        def __enter__(self) -> None:
            self.before = Value.recording
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before

    return no_grad


def engine(
    zero_grad: Callable[[Any], Any] = clear, detach: Callable[[Any], Any] = cut,
    retain_grad: Callable[[Any], Any] = keep, no_grad: Callable[[Any], Any] = switch,
) -> dict[str, Any]:  # fmt: skip
    """Everything that the exercise asks for, on a fresh Value; `no_grad` is made for that class."""
    Value = given()["Value"]
    Value.zero_grad, Value.detach, Value.retain_grad = zero_grad, detach, retain_grad
    return {"Value": Value, "no_grad": no_grad(Value)}


ZERO = "x = Value(x)\n(x * x).backward()\nx.zero_grad()\nx.grad"
ZERO_NEXT = "x = Value(x)\nx.zero_grad()\n(x * x).backward()\nx.zero_grad()\n(x * x).backward()\nx.grad"
ZERO_OWN = "x = Value(x)\ny = x * x\ny.retain_grad()\ny.backward()\ny.zero_grad()\n[x.grad, y.grad, x.data]"
ZERO_KEEPS = "x = Value(x)\ny = x * x\ny.retain_grad()\ny.zero_grad()\n(y * y).backward()\ny.grad"
ZERO_FIRST = "x = Value(x)\nx.zero_grad()\nx.grad"
ZERO_ASKS_NOT = "x = Value(x)\ny = x * x\ny.zero_grad()\n(y * y).backward()\n[x.grad, y.grad]"
DETACH_FRESH = "x = Value(x)\nx.retain_grad()\n(x * x).backward()\nd = x.detach()\n(d * d).backward()\n[d.grad, x.grad]"
DETACH = "x = Value(x)\nz = (x * x).detach() * x\nz.backward()\n[z.data, x.grad]"
DETACH_SHARES = "x = Value(x)\nd = x.detach()\nd.data[...] = 99.0\nx.data"
DETACH_OTHER = (
    "x, k = Value(x), Value(k)\ny = x * k\nd = y.detach()\ny.grad, d.grad = g, 2 * g\n[len(d.parents), len(y.parents), y.grad]"
)
RETAIN = "x = Value(x)\ny = x * x\nz = y * y\ny.retain_grad()\nz.backward()\n[x.grad, y.grad, z.grad]"
RETAIN_ONE = (
    "x = Value(x)\ny = x * x\nz = y * y\nz.retain_grad()\nbefore = z.grad\n(z * z).backward()\n[y.grad, z.grad, before]"
)
RETAIN_TWICE = (
    "x = Value(x)\ny = x + x\ny.retain_grad()\ny.retain_grad()\n(y * y).backward()\n(y * y).backward()\ny.grad"
)
RETAIN_LATER = "x = Value(x)\ny = x + x\ny.retain_grad()\n(y * y).backward()\ny.retain_grad()\ny.grad"
OFF = "x = Value(x)\nwith no_grad():\n    y = x * x\nz = x * x\n[y.data, len(y.parents), len(z.parents)]"
WAITING = "x = Value(x)\nblock = no_grad()\ny = x * x\nwith block:\n    z = x * x\n[len(y.parents), len(z.parents)]"
WAITING_OUTSIDE = (
    "x = Value(x)\nblock = no_grad()\nwith no_grad():\n    with block:\n        pass\n    y = x * x\nlen(y.parents)"
)
NESTED = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        w = x * x\n    y = x * x\nz = x * x\n"
    "[len(w.parents), len(y.parents), len(z.parents)]"
)
THREE = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        with no_grad():\n            pass\n    y = x * x\n"
    "z = x * x\n[len(y.parents), len(z.parents)]"
)
INNER_ERROR = (
    "x = Value(x)\nwith no_grad():\n    try:\n        with no_grad():\n            raise ValueError('stop')\n"
    "    except ValueError:\n        pass\n    y = x * x\n[len(y.parents), len((x * x).parents)]"
)
ERROR = (
    "x = Value(x)\nseen = 'none'\ntry:\n    with no_grad():\n        raise ValueError('stop')\nexcept ValueError as error:\n"
    "    seen = str(error)\n[seen, len((x * x).parents)]"
)


def probes_4_6(rng: np.random.Generator) -> Iterator[Probe]:
    x, k = (float(n) for n in numbers(rng, 2))
    yield run(ZERO, x=x).expect(None).show()
    yield run(ZERO_NEXT, x=x).expect(2 * x)
    yield run(ZERO_OWN, x=x).expect([2 * x, None, x])
    yield run(ZERO_KEEPS, x=x).expect(2 * x * x)
    yield run(ZERO_FIRST, x=x).expect(None)
    yield run(ZERO_ASKS_NOT, x=x).expect([4 * x**3, None])
    yield run(DETACH_FRESH, x=x).expect([2 * x, 2 * x])
    yield run(DETACH, x=2.0).expect([8.0, 4.0])
    yield run(DETACH, x=x).expect([x**3, x * x])
    yield run(DETACH_SHARES, x=x).expect(np.array(99.0)).show()
    yield run(DETACH_OTHER, x=x, k=k, g=x - k).expect([0, 2, x - k])
    yield run(RETAIN, x=x).expect([4 * x**3, 2 * x * x, None])
    yield run(RETAIN_ONE, x=x).expect([None, 2 * x**4, None])
    yield run(RETAIN_TWICE, x=x).expect(8 * x)
    yield run(RETAIN_LATER, x=x).expect(4 * x)
    yield run(OFF, x=x).expect([x * x, 0, 2])
    yield run(NESTED, x=x).expect([0, 0, 2])
    yield run(THREE, x=x).expect([0, 2])
    yield run(INNER_ERROR, x=x).expect([0, 2])
    yield run(WAITING, x=x).expect([2, 0])
    yield run(WAITING_OUTSIDE, x=x).expect(0)
    yield run(ERROR, x=x).expect(["stop", 2])


def zero_with_a_number(self: Any) -> None:
    self.grad = 0.0


def zero_in_place(self: Any) -> None:
    self.grad *= 0.0


def detach_copies(self: Any) -> Any:
    return type(self)(self.data.copy())


def detach_itself(self: Any) -> Any:
    self.parents = self.derivatives = ()
    return self


def detach_not_at_all(self: Any) -> Any:
    return type(self)(self.data, self.parents, self.derivatives)


def retain_by_number(self: Any) -> None:
    self.grad = 0.0


def zero_of_nothing(self: Any) -> None:
    self.grad = 0.0 if self.grad is None else None


def zero_and_keep(self: Any) -> None:
    self.grad, self.keeps_grad = None, True


def retain_from_now(self: Any) -> None:
    self.keeps_grad = True
    self.grad = None if self.grad is None else 0.0


def zero_everywhere(self: Any) -> None:
    self.grad = None
    for p in self.parents:
        p.zero_grad()


def zero_and_keep_no_more(self: Any) -> None:
    self.grad = None
    self.keeps_grad = False


def zero_on_the_class(self: Any) -> None:
    type(self).grad = None


def zero_the_data(self: Any) -> None:
    self.data = 0.0 * self.data


def zero_deleted(self: Any) -> None:
    del self.grad


def detach_all_but_history(self: Any) -> Any:
    out = type(self)(self.data)
    out.grad, out.keeps_grad = self.grad, self.keeps_grad
    return out


def detach_the_array(self: Any) -> Any:
    return self.data


def detach_both(self: Any) -> Any:
    self.parents = self.derivatives = ()
    return type(self)(self.data)


def retain_parents_too(self: Any) -> None:
    self.keeps_grad = True
    for p in self.parents:
        p.keeps_grad = True


def retain_for_all(self: Any) -> None:
    type(self).keeps_grad = True


def retain_or_not(self: Any) -> None:
    self.keeps_grad = not self.keeps_grad


def retain_from_zero(self: Any) -> None:
    self.keeps_grad = True
    self.grad = 0.0


def switch_with_one_store(Value: Any) -> Any:
    """no_grad that stores the state on the class: right for two nested blocks, not for three."""

    class no_grad:
        before = True

        def __enter__(self) -> None:
            no_grad.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> None:
            Value.recording, no_grad.before = no_grad.before, True

    return no_grad


def switch_on_the_class(Value: Any) -> Any:
    class no_grad:
        before = True

        def __enter__(self) -> None:
            no_grad.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> None:
            Value.recording = no_grad.before

    return no_grad


def switch_swapped(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            Value.recording = True

        def __exit__(self, *error: object) -> None:
            Value.recording = False

    return no_grad


def switch_turned_over(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            Value.recording = not Value.recording

        def __exit__(self, *error: object) -> None:
            Value.recording = not Value.recording

    return no_grad


def switch_too_soon(Value: Any) -> Any:
    """no_grad that switches off when it is made, not when it is entered."""

    class no_grad:
        def __init__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before

    return no_grad


def switch_stored_too_soon(Value: Any) -> Any:
    """no_grad that stores the state when it is made, not when it is entered."""

    class no_grad:
        def __init__(self) -> None:
            self.before = Value.recording

        def __enter__(self) -> None:
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before

    return no_grad


def switch_of_its_own(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            self.recording = False

        def __exit__(self, *error: object) -> None:
            self.recording = True

    return no_grad


def switch_on_after_errors(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before if error[0] is None else True

    return no_grad


def switch_counting(Value: Any) -> Any:
    """Right: recording goes on when the last open block is left."""

    class no_grad:
        depth = 0

        def __enter__(self) -> None:
            no_grad.depth += 1
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            no_grad.depth -= 1
            Value.recording = no_grad.depth == 0

    return no_grad


def switch_on_again(Value: Any) -> Any:
    """no_grad that turns recording on at its end, whatever it found."""

    class no_grad:
        def __enter__(self) -> None:
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            Value.recording = True

    return no_grad


def switch_unguarded(Value: Any) -> Any:
    """no_grad as a generator without try: an exception jumps over the last line."""

    @contextlib.contextmanager
    def no_grad() -> Iterator[None]:
        before, Value.recording = Value.recording, False
        yield
        Value.recording = before

    return no_grad


def switch_for_ever(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            pass

    return no_grad


def switch_swallows(Value: Any) -> Any:
    """no_grad whose __exit__ returns True: every error inside disappears."""

    class no_grad:
        def __enter__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> bool:
            Value.recording = self.before
            return True

    return no_grad


def switch_with_try(Value: Any) -> Any:
    """Right: a generator whose last line runs whatever happens."""

    @contextlib.contextmanager
    def no_grad() -> Iterator[None]:
        before, Value.recording = Value.recording, False
        try:
            yield
        finally:
            Value.recording = before

    return no_grad


def cut_slowly(self: Any) -> Any:
    out = type(self)(0.0)
    out.data = self.data
    return out


EXERCISE_4_6 = program(
    "4.6", ("Value.zero_grad", "Value.detach", "Value.retain_grad", "no_grad"),
    why="None of the four computes anything: each only changes what is stored or what is recorded.",
    title="four methods for your engine",
    minutes=14,
    points=2.0,
    scaffold=given,
    without=frozenset({"engine"}), prelude="Value.recording = True",
    probes=probes_4_6,
    wrong=[
        Wrong(engine(zero_grad=zero_with_a_number), "M07", "After zero_grad the gradient is 0, but in PyTorch it is None. "
              "'No gradient has arrived' and 'the gradients add up to 0' are different: which one is true here?",
              name="zero is 0"),
        Wrong(engine(zero_grad=zero_in_place), "M07", "zero_grad multiplies the gradient by 0. What is in .grad before the "
              "first pass?", name="zero in place"),
        Wrong(engine(zero_grad=zero_of_nothing), "M05", "No gradient had arrived, and zero_grad put a 0 there. Is 'no "
              "gradient' the same as a gradient of 0?", name="0 of nothing"),
        Wrong(engine(zero_grad=zero_and_keep), "M02", "After zero_grad a value in between keeps its gradient, although "
              "retain_grad was not called. What else does your zero_grad change?", name="zero and keep"),
        Wrong(engine(retain_grad=retain_from_now), "M07", "retain_grad removed a gradient that was there. The call "
              "only concerns gradients that arrive later. What should happen to the "
              "old gradient?", name="retain from now"),
        Wrong(engine(zero_grad=zero_everywhere), "M24", "y.zero_grad() cleared the gradient of x as well. Whose gradient "
              "should it clear?", name="zero everywhere"),
        Wrong(engine(zero_grad=zero_and_keep_no_more), "M02", "After zero_grad a value no longer keeps its gradient, although "
              "retain_grad was called on it. Which attribute should zero_grad leave alone?",
              name="zero forgets the wish"),
        Wrong(engine(zero_grad=zero_on_the_class), "M07", "The gradient is still there. Each value has a grad of its own: on "
              "which object, and in which attribute, does zero_grad write None?", name="zero on the class"),
        Wrong(engine(zero_grad=zero_the_data), "M43", "You set the numbers to 0, and the gradient is still there. Which "
              "attribute holds the gradient?", name="zero the data"),
        Wrong(engine(zero_grad=zero_deleted), "M07", "You deleted the attribute, so reading x.grad raises an error. What does "
              "PyTorch show when no gradient has arrived?", name="zero deletes"),
        Wrong(engine(detach=detach_all_but_history), "M12", "The detached value has the gradient of the old one. It is a new "
              "value: which gradient has arrived at it so far?", name="detach keeps the gradient"),
        Wrong(engine(detach=detach_the_array), "M14", "detach returned the plain array. It should return a value, with which "
              "the engine can go on computing: how do you make one from numbers?", name="detach the array"),
        Wrong(engine(detach=detach_both), "M12", "The new value is right, but the old one has lost its parents, too. Which of "
              "the two should have no history?", name="detach both"),
        Wrong(engine(retain_grad=retain_parents_too), "M02", "The parents of the value keep their gradients now as well. On "
              "which value was retain_grad called?", name="retain parents too"),
        Wrong(engine(retain_grad=retain_for_all), "M02", "The value did not keep its gradient. backward asks the value "
              "itself for keeps_grad: on which object do you set it, and to what?", name="retain for all"),
        Wrong(engine(retain_grad=retain_or_not), "M02", "After two calls of retain_grad the value keeps nothing, because the "
              "second call undid the first. Which value should the attribute have after any call?", name="retain or not"),
        Wrong(engine(retain_grad=retain_from_zero), "M07", "Right after retain_grad the gradient is 0, although no gradient "
              "has arrived. Which attribute is enough?", name="retain from 0"),
        Wrong(engine(no_grad=switch_with_one_store), "M49", "Two nested blocks work, but three do not: all blocks store the "
              "state in one place, and the innermost overwrites it. Where can each block store its own?",
              name="no_grad, one store"),
        Wrong(engine(no_grad=switch_on_the_class), "M49", "After a block inside a block nothing is recorded any more: both "
              "store the state in one place, and the inner one overwrites it. Where can each block store its own?",
              name="no_grad, on the class"),
        Wrong(engine(no_grad=switch_swapped), "M49", "Inside the block operations are recorded, and after it they are not. "
              "Which of the two methods runs first?", name="no_grad swapped"),
        Wrong(engine(no_grad=switch_turned_over), "M49", "An inner block switched recording *on*, because yours reverses the "
              "state. Which state should there be inside every block?", name="no_grad turned over"),
        Wrong(engine(no_grad=switch_too_soon), "M49", "Recording stops as soon as no_grad() is called, before a block begins. "
              "Which method does Python call at the beginning of a with block?", name="no_grad too soon"),
        Wrong(engine(no_grad=switch_stored_too_soon), "M49", "You store the state when no_grad() is called. But the block may "
              "begin later, in another state: which method runs then?", name="no_grad, stored too soon"),
        Wrong(engine(no_grad=switch_of_its_own), "M49", "Operations inside the block are still recorded. Which attribute "
              "decides that in Value, and what is its value inside your block?", name="no_grad of its own"),
        Wrong(engine(no_grad=switch_on_after_errors), "M49", "After an error in an inner block recording is on, although the "
              "outer block still runs. Which state should a block restore?", name="no_grad on after errors"),
        Wrong(engine(detach=detach_copies), "M12", "The detached value has numbers of its own. But writing into it should "
              "change x as well: what do the two values share in PyTorch?", name="detach copies"),
        Wrong(engine(detach=detach_itself), "M12", "You removed the history of the value itself. detach leaves the value as "
              "it is and returns another one. What do the two share?", name="detach itself"),
        Wrong(engine(detach=detach_not_at_all), "M12", "The new value still has parents, so gradients still flow through it. "
              "Which parents should a value without a history have?", name="detach keeps parents"),
        Wrong(engine(retain_grad=retain_by_number), "M02", "You set grad to 0. But the value should *keep* a gradient that "
              "arrives later. Which attribute does backward read?", name="retain writes 0"),
        Wrong(engine(no_grad=switch_on_again), "M49", "At the end of the inner block recording was switched on, although the "
              "outer block was still running. Which state should a block restore?", name="no_grad on too early"),
        Wrong(engine(no_grad=switch_unguarded), "M49", "After an error inside the block nothing is recorded any more. Which of "
              "your lines did the error skip, and how can you make it run?", name="no_grad and errors"),
        Wrong(engine(no_grad=switch_for_ever), "M49", "After the block nothing is recorded any more. Does __exit__ "
              "restore the state, and is it the state from before the block?", name="no_grad for ever"),
        Wrong(engine(no_grad=switch_swallows), "M49", "An error inside the block disappeared. What does Python do with the "
              "error when __exit__ returns True?", name="no_grad swallows"),
    ],
    alternatives=[engine(), engine(no_grad=switch_with_try), engine(detach=cut_slowly),
                  engine(no_grad=switch_counting)],
    hints=[
        "Three of the four need one line each. Read the class: which attribute does each of them change?",
        "Suppose that a block sets a number to 0 and restores it at its end. If it was 5 before, it must be 5 afterwards, "
        "also after an error.",
        "no_grad: at the beginning of the block, store the state and switch recording off; at its end, restore the stored "
        "state.",
    ],
    worked="zero_grad sets grad to None. detach returns Value(self.data). retain_grad sets keeps_grad to True. "
           "no_grad stores Value.recording in __enter__, sets it to False, and restores the stored state in __exit__.",
)  # fmt: skip

# --- the predictions of the reading notebook ------------------------------------------------------------------

def numbered(answer: Any) -> list[bool]:
    """For None or a number, or a list of them, in each place: whether it is a number."""
    return [] if any(isinstance(part, str | bool) for part in answer) else [part is not None for part in answer]


PREDICTION_4_1A = prediction(
    "4.1a", [None, None], points=0,
    title="the gradients of y and of other",
    wrong=[
        Wrong([0, 0], "M05", "y keeps no gradient, and none arrives at other. Is that the same as 0?"),
        Wrong([1, 0], "M02", "A gradient passed through y, but is y a leaf? And which path leads from z to other?",
              when=lambda answer: numbered(answer) == [True, True]),
        Wrong([1, None], "M02", "A gradient passed through y. Is y a leaf?",
              when=lambda answer: numbered(answer) == [True, False]),
        Wrong([None, 0], "M05", "No path leads from z to other. Does a gradient arrive there, even one of 0?",
              when=lambda answer: numbered(answer) == [False, True]),
    ],
)  # fmt: skip

PREDICTION_4_2A = prediction(
    "4.2a", [5, 5], points=0,
    title="two losses, one x",
    wrong=[
        Wrong([3, 3], "M01", "That is what the second pass computes. What was in x.grad before?"),
        Wrong([2, 2], "M01", "That is what the first pass computes. What does the second pass do?"),
        Wrong([2, 3], "M01", "Each pass computes a derivative for both entries. What are the two numbers of the first pass?"),
        Wrong([5, 10], "M06", "The derivatives of 2 * x and 3 * x do not depend on x. Which number arrives at each entry?"),
        Wrong([6, 6], "M22", "That is 2 times 3. Are the gradients of two passes multiplied?"),
    ],
)  # fmt: skip

PREDICTION_4_3A = prediction(
    "4.3a", "b", points=0,
    title="a second backward pass",
    options={"a": "x.grad stays the same", "b": "an error", "c": "x.grad doubles"},
    wrong=[
        Wrong("a", "M01", "A pass adds to the gradient that is there. Would x.grad stay the same?"),
        Wrong("c", "M10", "That would be 2 + 2. But the product saved the number 2 for its rule: is it still there?"),
    ],
)  # fmt: skip

PREDICTION_4_3B = prediction(
    "4.3b", [4, 4], points=0,
    title="x + x, two passes",
    wrong=[
        Wrong([2, 2], "M01", "That is one pass. The second one works here, and adds."),
        Wrong([1, 1], "M19", "x is used twice in x + x, and both uses send a contribution. And how many passes run?"),
        Wrong("error", "M10", "The derivative of a sum is 1, whatever x is. Does its rule need a saved number?",
              when=lambda answer: isinstance(answer, str) and "error" in answer.lower()),
    ],
)  # fmt: skip

PREDICTION_4_4A = prediction(
    "4.4a", 9, points=0,
    title="a detached factor",
    wrong=[
        Wrong(27, "M12", "27 is the derivative of x**3, along both paths. Which of the two was cut?"),
        Wrong(18, "M12", "18 is the part that comes through y. Is this path still open?"),
        Wrong(0, "M12", "One path was cut, but x is also the second factor."),
        Wrong(6, "M04", "6 is the derivative of y. On which tensor is backward called?"),
        Wrong(3, "M43", "3 is x. The derivative of a product with respect to one factor is the other factor: what is its "
              "value?"),
    ],
)  # fmt: skip

PREDICTION_4_4B = prediction(
    "4.4b", [100, 3], points=0,
    title="writing into a detached tensor",
    wrong=[
        Wrong([2, 3], "M12", "detach() cuts the history. Does it copy the numbers?"),
        Wrong([100, 100], "", "Only d[0] gets a new value. Which entry of x is at the same place?"),
    ],
)  # fmt: skip

PREDICTION_4_5A = prediction(
    "4.5a", None, points=0,
    title="the gradient of w after an update and a second pass",
    wrong=[
        Wrong(3, "M17", "3 is the derivative. But the second pass was computed with a new tensor: is that one a leaf?"),
        Wrong(6, "M17", "6 is the sum of two passes. The first tensor holds its 3: does the name w still mean this tensor?"),
        Wrong(0, "M17", "Nothing sets the gradient to 0 here. Which tensor does the name w mean after the third line?"),
    ],
)  # fmt: skip

PREDICTION_4_5B = prediction(
    "4.5b", "d", points=0,
    title="an update that leaves a trainable w",
    options={"a": "w = w - 0.3", "b": "w = w - 0.3 under no_grad", "c": "w -= 0.3", "d": "w -= 0.3 under no_grad"},
    wrong=[
        Wrong("a", "M17", "The number 1.7 is right. But the tensor is the result of a subtraction: is it a leaf?"),
        Wrong("b", "M17", "The number 1.7 is right. But a result that is computed under no_grad requires no gradient."),
        Wrong("c", "M16", "In place is right, because w stays the same tensor. But the update would be recorded as a part "
              "of the model. Does PyTorch allow that for a leaf?"),
    ],
)  # fmt: skip

PREDICTION_4_6A = prediction(
    "4.6a", "b", points=0,
    title="changing the input of a sum and of a product",
    options={"a": "both raise an error", "b": "only the product raises an error", "c": "neither raises an error"},
    wrong=[
        Wrong("a", "M15", "The derivative of b + 1 is 1. Which number would the sum have to save?"),
        Wrong("c", "M15", "The derivative of b * b needs b as it was in the forward pass. Is this number still there?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_4_1A, PREDICTION_4_2A, PREDICTION_4_3A, PREDICTION_4_3B, PREDICTION_4_4A, PREDICTION_4_4B,
    PREDICTION_4_5A, PREDICTION_4_5B, PREDICTION_4_6A,
    EXERCISE_4_1, EXERCISE_4_2, EXERCISE_4_3, EXERCISE_4_4, EXERCISE_4_5, EXERCISE_4_6,
)  # fmt: skip

LESSON = Lesson(
    number=4,
    slug="04_pytorch_semantics",
    title="What PyTorch does with the same code",
    after=(3,),
    idea="Leaves keep gradients and add them up, a graph is freed by its first pass, and a name is not a tensor.",
    introduces=(
        "attempt", "is_leaf", "before", "zero_", "no_grad", "detach", "is_grad_enabled", "explain", "sub_", "clone",
        "add_", "warnings", "filterwarnings", "message", "numpy", "recording", "asarray", "dtype", "keeps_grad",
        "serial", "zero_grad", "__enter__", "__exit__",
        "gradient_state", "separate", "classmates_train", "train", "scaled", "needs_input", "retain_grad", "derivatives",
    ),
    misconceptions=("M01", "M02", "M03", "M05", "M07", "M09", "M10", "M12", "M15", "M16", "M17", "M47", "M48", "M49"),
    with_engine=True,
    locked=True,
    exercises=EXERCISES,
)  # fmt: skip
