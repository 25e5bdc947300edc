"""Cards that were wrong: a right answer refused, a wrong one passed, a sentence that was false or led nowhere."""

import re

import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.student.child import can_fork
from tests.cards import golden

HELD = """def average(losses):
    held, total, n = [], 0.0, 0
    for loss in losses:
        held.append(loss)
        n += 1
        if len(held) == 4:
            total += sum(each.item() for each in held)
            held = []
    return (total + sum(each.item() for each in held)) / n
"""
RECOVERED = """def sigmoid_vjp(g, s):
    z = np.log(s / (1 - s))
    return g * np.exp(-z) / (1 + np.exp(-z)) ** 2

def tanh_vjp(g, t):
    return g / np.cosh(np.arctanh(t)) ** 2
"""
FIRST_MET = """def topological_order(root):
    order, seen, stack = [], set(), [root]
    while stack:
        value = stack.pop()
        if value not in seen:
            seen.add(value)
            order.append(value)
            stack.extend(value.parents)
    return order[::-1]
"""
MAX = "z.max(axis=1, keepdims=True)"
CARDS = [  # exercise; an answer, or what is replaced in the solution; words of its card; words that are not in it
    ("13.5", ('"d"', '"e"'), "passed", ""),
    ("13.5", ('"d"', '"c"'), "not yet", "passed"),  # the task speaks of two neighbouring lines
    ("3.3", ('"tanh"', '"Tanh"'), "the text 'Tanh' is not right here", ""),
    ("11.1", (MAX, "z.mean()"), "A number has become too large", ""),
    ("11.1", (MAX, "z.std()"), "A number has become too large", ""),
    ("11.1", (MAX, "z.max()"), "Each row needs its own maximum", "What belongs in the place"),
    ("10.2", RECOVERED, "it has nan in it", "nearly what is needed"),
    ("8.4", HELD, "makes this right. What belongs in the place of 4 in len(held) == 4?", "The operator in"),
    ("13.6", ("randn(n_in, n_hidden)", "randn(n_hidden, n_in)"), "These are the shapes of w1, b1, w2 and b2", "too large"),
    ("7.3", ("X[i, k] * G[i, j]", "X[i, j] * G[i, k]"), "How long is the axis", "have changed places"),
    ("7.3", ("(G, X, k, j)", "(G, X, j, k)"), "The inputs come in the order (G, X, k, j)", "have changed places"),
    ("4.2", ("found.append(", "found = found.append("), "Which part of this line can you delete?", ""),
    ("9.5", ("claimed = rule(v, x)", "claimed = np.nan_to_num(rule(v, x))"), "Which of these lets it pass?", "replace no nan"),
    ("2.4", "two_paths = 4", "Compute the two paths one by one", "2 - x"),
    ("12.2", ("+ p.grad\n", "+ p.grad / 2\n"), "Delete one part of `p.grad / 2`. Which?", "p.detach() is"),
    ("12.1", ("Tensor(np.zeros(n_out))", 'type("Parameter", (Tensor,), {})(np.zeros(n_out))'), "passed", ""),
    ("12.1", ("layer.parameters()]", "layer.parameters() if isinstance(layer, Linear)]"), "Only some kinds of layers", ""),
    ("12.4", ("scores - top", "scores"), "exp of them overflows", "because the small probability"),
    ("3.4", FIRST_MET, "when it was first met", "level by level"),
    ("14.7", ("my_wrongs = ...\nmy_wrongs = [", "my_wrongs = [my_rule, "), "One of your wrong rules is right", "x is"),
]


def solution(id: str) -> str:
    """The cells of an exercise, as they are handed out with the answer in them."""
    name = next(each for each in notebooks.lessons() if int(each[:2]) == lessons.find(id).lesson)
    cells = notebooks.read(notebooks.path("solutions", name))["cells"]
    first = next(n for n, cell in enumerate(cells) if re.match(rf"## {re.escape(id)}\b", cell["source"]))
    codes = [cell["source"] for cell in cells[first:] if cell["cell_type"] == "code"]
    until = next(n for n, code in enumerate(codes) if code.startswith("check("))
    return re.sub(r" *### .*\n?", "", "\n".join(codes[:until])) + "\n"


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize(("id", "answer", "says", "never"), CARDS, ids=[f"{n} {each[0]}" for n, each in enumerate(CARDS)])
def test_a_card_that_was_wrong_is_mended(id, answer, says, never):
    if isinstance(answer, tuple):
        text = solution(id)
        assert answer[0] in text
        answer = text.replace(*answer)
    made = golden.unhurried(lambda: golden.answered(lessons.find(id), answer))  # a busy machine finds the same change
    card = re.sub(r"\s+", " ", made())
    assert says in card and (not never or never not in card), card
