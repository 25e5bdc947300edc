"""Lesson 02: the chain rule on a graph, worked by hand: numbers to write down, an order to find, edges to draw.

Every wrong answer below is a number that a particular mistake produces at the point (2, 3) or at 3; the numbers are
chosen so that no two mistakes give the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..exercise import Before, Exercise, Lesson, Wrong, ordering, prediction, value

# --- 2.1 forward ----------------------------------------------------------------------------------------------

EXERCISE_2_1 = value(
    "2.1", "forward_values", [6, 11, 121],
    working="x = 2\ny = 3\nu = x * y\nw = u + 5\nz = w ** 2\n[u, w, z]",
    knows={"x": 2, "y": 3, "u": 6, "w": 11},
    asks=(
        "u = x * y, with x = 2 and y = 3.",
        "w = u + 5. Take the u that you found.",
        "z = w**2. Take the w that you found: how much is w times w?",
    ),
    title="the values on the way",
    minutes=3,
    wrong=[
        Wrong([6, 11, 61], "M22", "61 is 36 + 25, so you squared 6 and 5 separately. The square has only one input. "
              "Which number is it?"),
        Wrong([6, 30, 900], "M22", "The second node got 6 and 5 and gave 30. Which operation does it compute?"),
        Wrong([5, 10, 100], "M22", "The first node got 2 and 3 and gave 5. Which operation does it compute?"),
        Wrong([6, 11, 22], "M43", "22 is the derivative of the square at 11. The exercise asks for its value: what is 11 "
              "squared?"),
        Wrong([121, 11, 6], "", "The numbers are right, but they run from the end to the beginning. In which order are "
              "they computed?"),
        Wrong([6, 11], "", "You wrote two of the three values. The square is missing."),
        Wrong([6, 13, 169], "M22", "13 is 6 + 7. Which number does the second node add?"),
        Wrong([121], "", "121 is the last value. Which two values are computed before it?"),
        Wrong(121, "", "121 is the last value. Which two values are computed before it? Write all three in a list."),
    ],
    hints=[
        "Each node computes one number from the values of its inputs.",
        "For (x*y + 1)**3 at (1, 4) the values are 4, 5 and 125.",
        "Start at the product, because it is the only node that uses x and y directly.",
    ],
    worked="u = 2 * 3 = 6, w = 6 + 5 = 11, z = 11 * 11 = 121.",
    why="Each node computes its value from the values of its inputs.",
)  # fmt: skip

# --- 2.2 local derivatives ------------------------------------------------------------------------------------


def starts_with(*numbers: float) -> Any:
    """Whether a written list begins with these numbers."""
    return lambda answer: [float(a) for a in answer][: len(numbers)] == [float(n) for n in numbers]


EXERCISE_2_2 = value(
    "2.2", "local_slopes", [22, 1, 3, 2],
    working="""
x = 2
y = 3
u = x * y
w = u + 5
square = 2 * w  # the derivative of z
plus = 1  # the derivative of w
for_x = y  # the derivative of u for x
for_y = x  # the derivative of u for y
[square, plus, for_x, for_y]
""",
    knows={"x": 2, "y": 3, "u": 6, "w": 11, "z": 121},
    asks=(
        "z = w**2 squares its input. What is the derivative of a square, and which number is w?",
        "w = u + 5. When u grows by 0.001, by how much does w grow?",
        "u = x * y. When only x grows by 0.001, by how much does u grow?",
        "u = x * y. When only y grows by 0.001, by how much does u grow?",
    ),
    title="one derivative for each edge",
    minutes=5,
    wrong=[
        Wrong([22, 1, 2, 3], "M29", "You swapped the last two numbers. When x grows by 0.001 and y stays 3, by how much "
              "does x*y grow?"),
        Wrong([242, 1, 3, 2], "M43", "242 is twice 121, which is the *output* of the square. Its derivative is taken at "
              "its input. Which number is the input?", when=starts_with(242)),
        Wrong([11, 1, 3, 2], "M30", "11 is the input of the square. When it grows, both factors of w*w grow. Which "
              "factor does that bring?", when=starts_with(11)),
        Wrong([121, 1, 3, 2], "M43", "121 is the value of the square. What is the derivative of w**2 at 11?",
              when=starts_with(121)),
        Wrong([22, 5, 3, 2], "M43", "5 is the number that the second node adds. When u grows by 0.001, by how much does "
              "u + 5 grow?", when=starts_with(22, 5)),
        Wrong([22, 6, 3, 2], "M43", "6 is the value of u. When u grows by 0.001, by how much does u + 5 grow?",
              when=starts_with(22, 6)),
        Wrong([22, 22, 66, 44], "M04", "22, 66 and 44 are derivatives of z. This exercise asks about each node alone: "
              "how fast does *w* grow when u grows?", when=starts_with(22, 22)),
        Wrong([22, 0, 3, 2], "M43", "The derivative of the constant 5 is 0. But u changes: when u grows by 0.001, by how "
              "much does u + 5 grow?", when=starts_with(22, 0)),
        Wrong([2, 1, 3, 2], "M43", "2 is the exponent. The derivative of w**2 also depends on the value of w. How?",
              when=starts_with(2)),
        Wrong([22, 1, 1, 1], "M22", "1 and 1 are the derivatives of a sum. But u is a product. When x grows by 0.001, by "
              "how much does x*y grow?", when=starts_with(22, 1, 1)),
        Wrong([22, 1, 66, 44], "M04", "66 and 44 are derivatives of z. This exercise asks about each node alone: how "
              "fast does the *product* grow when x grows?", when=starts_with(22, 1, 66)),
    ],
    hints=[
        "A local derivative belongs to one node and one input: how fast does this node's value change with that input?",
        "In s * t at s = 7 and t = 4, the product grows four times as much as s, so the derivative for s is 4.",
        "Do the square last. Its derivative depends on its input, which you wrote down in 2.1.",
    ],
    worked="The derivative of z = w*w is 2w = 22; that of w = u + 5 is 1; those of u = x*y are y = 3 for x and "
           "x = 2 for y.",
    why="A local derivative belongs to one edge: it says how fast the output of the node changes with that input.",
)  # fmt: skip

# --- 2.3 backward by hand -------------------------------------------------------------------------------------

EXERCISE_2_3 = value(
    "2.3", "by_hand", [66, 44],
    working="""
x = 2
y = 3
u = x * y
w = u + 5
z = w ** 2
square = 2 * w  # the derivative of the square
plus = 1  # the derivative of the sum
upstream = square * plus  # the upstream gradient of the product
x_grad = upstream * y  # x.grad
y_grad = upstream * x  # y.grad
[x_grad, y_grad]
""",
    knows={"x": 2, "y": 3, "u": 6, "w": 11, "z": 121},
    asks=(
        "the path from z to x leads through the square, the sum and the product. Which derivative has each of the three"
        " in 2.2, and what do derivatives in a row do?",
        "the path from z to y leads through the square, the sum and the product. Which derivative has each of the three"
        " in 2.2, and what do derivatives in a row do?",
    ),
    title="backward by hand",
    minutes=6,
    wrong=[
        Wrong([3, 2], "M23", "3 and 2 are the local derivatives of the product alone. What is its upstream gradient, and "
              "what do you do with it?"),
        Wrong([44, 66], "M29", "You found both numbers, but you swapped them. Which of the two inputs makes x*y grow "
              "three times as fast?"),
        Wrong([33, 22], "M30", "Both numbers are exactly half of what they should be. What is the derivative of the "
              "square at 11?"),
        Wrong([26, 25], "M22", "You added the derivatives along the path: 22 + 1 + 3. Each node makes a change larger by "
              "its factor. What do three factors in a row do?"),
        Wrong([22, 22], "M23", "22 is the upstream gradient of the product. What does the product do with it before it "
              "passes it on to x and to y?"),
        Wrong([66, 66], "M29", "66 is right for x. When only y grows, how many times as much does x*y grow?"),
        Wrong([110, 110], "M46", "110 is the result when x and y change together. How many inputs may change at a time?"),
        Wrong([726, 484], "M43", "You used 2 times 121 at the square. Its derivative is taken at its input."),
        Wrong([363, 242], "M43", "You multiplied by 121, the value of the square. What is its *derivative* at 11?"),
        Wrong([330, 220], "M43", "There is a factor of 5 too many. What is the derivative of u + 5?"),
    ],
    hints=[
        "by_hand[0] answers: when x grows a little, how many times as much does z grow?",
        "For (x*y + 1)**3 at (1, 4), the cube passes on 75 and the sum 75 * 1; x gets 75 * 4 = 300 and y gets 75 * 1.",
        "Go backwards from z. After the square and the sum you have one number; then the product has two inputs.",
    ],
    worked="Start with 1 at z. The square passes on 1 * 22, the sum 22 * 1. The product passes on 22 * 3 = 66 to x and "
           "22 * 2 = 44 to y.",
    why="Along a path the derivatives multiply: 22 · 1 · 3 = 66 for x, and 22 · 1 · 2 = 44 for y.",
)  # fmt: skip

# --- 2.4 two paths --------------------------------------------------------------------------------------------

EXERCISE_2_4 = value(
    "2.4", "two_paths", 14,
    working="""
x = 3
a = 2 * x
b = x + 1
through_a = b * 2  # the contribution through a
through_b = a  # the contribution through b
sum = through_a + through_b  # the derivative of y
sum
""",
    knows={"x": 3, "a": 6, "b": 4, "y": 24},
    asks=(
        "Compute the two paths one by one. On each, multiply: the derivative of a * b for this factor, then that of the"
        " factor for x. What happens to the two results at x?",
    ),
    title="two paths from one input",
    minutes=5,
    wrong=[
        Wrong(8, "M22", "8 is the contribution of the path through 2x. x is used once more: what does the path through "
              "x + 1 contribute?"),
        Wrong(6, "M22", "6 is the contribution of the path through x + 1. x is used once more: what does the path "
              "through 2x contribute?"),
        Wrong(48, "M22", "48 is 8 times 6. Derivatives are multiplied along one path, but these are two paths. When one "
              "path makes y grow 8 times as much as x, and the other 6 times, how much does y grow in total?"),
        Wrong(2, "M22", "2 is the derivative of 2x times the derivative of x + 1, but the product is missing. What is the "
              "derivative of a*b with respect to a?"),
        Wrong(3, "M22", "3 is 2 + 1, the derivatives of the two branches. Each has to be multiplied by the upstream "
              "gradient that the product sends. Which gradients are these?"),
        Wrong(24, "M43", "24 is the value of y at 3. How fast does it grow?"),
        Wrong([8, 6], "M22", "Both contributions are right. They arrive at the same x: what happens to them there?"),
        Wrong(12, "M43", "12 is 4x, the derivative of 2x * x. The second factor is x + 1. What does the 1 change?"),
        Wrong(10, "M22", "10 is 6 + 4, the two contributions of the product. By what does each branch multiply its "
              "contribution?"),
    ],
    hints=[
        "When x changes, both factors change, and each of them changes y.",
        "For (3x)(x + 2) at 1, the path through 3x contributes 3 * 3 = 9 and the path through x + 2 contributes 3 * 1 = 3, "
        "together 12.",
        "Compute each path alone, and decide at the end what to do with the two numbers.",
    ],
    worked="a = 6 and b = 4. The path through a contributes b * 2 = 8, the path through b contributes a * 1 = 6, and "
           "8 + 6 = 14.",
    why="x reaches y on two paths, and the contributions of both paths add up: 8 + 6 = 14.",
)  # fmt: skip

# --- 2.5 the order of the steps -------------------------------------------------------------------------------

STEPS = (
    "a multiplies its gradient by 2 and passes it on to x",
    "y sends one contribution to a and one to b",
    "the gradient of x is stored in x.grad",
    "b passes its gradient on to a",
    "the gradient of y is set to 1",
    "a adds up its two contributions",
)

EXERCISE_2_5 = ordering(
    "2.5", "moves", STEPS,
    before=[
        Before(5, 2, "M21", "In your order, y sends contributions before it has a gradient. What is the very first "
               "gradient, and of which node?"),
        Before(2, 4, "M20", "In your order, b passes on a gradient before y has sent it a contribution. Which node uses "
               "b?"),
        Before(4, 6, "M20", "In your order, a adds up its contributions before the one from b has arrived. Which nodes "
               "use a, and how many contributions does it need?"),
        Before(6, 1, "M20", "In your order, a passes its gradient on before it has added up its contributions, so x gets "
               "only a part of it. When is the gradient of a complete?"),
        Before(1, 3, "M21", "In your order, x.grad is stored before a contribution has arrived at x. Which node sends it?"),
    ],
    right=[5, 2, 4, 6, 1, 3],
    title="the six steps of a backward pass",
    minutes=5,
    hints=[
        "A backward pass starts at the result. A node passes its gradient on when all its contributions have arrived.",
        "In c = s*s, d = c + 3, e = c*d, the node c waits for the contributions of d and of e.",
        "Find the nodes that use a: there are two. Both come before the steps of a.",
    ],
    worked="The gradient of y is 1; y sends its contributions; b passes on its gradient; now a has both contributions and "
           "adds them; a passes the sum on; x.grad is stored.",
    why="A node can pass its gradient on only when every contribution to it has arrived.",
)  # fmt: skip

# --- 2.6 and 2.7 a larger graph -------------------------------------------------------------------------------

NODES = ("w", "x", "h", "p", "q", "r", "s")
EDGES = [("w", "h"), ("x", "h"), ("h", "p"), ("h", "q"), ("p", "r"), ("q", "r"), ("r", "s"), ("h", "s")]


def drawn(answer: Any) -> list[tuple[str, str]]:
    """The edges of an answer as pairs."""
    return [(str(start).strip(), str(end).strip()) for start, end in answer]


def with_edges(test: Callable[[list[tuple[str, str]]], bool]) -> Callable[[Any], bool]:
    """A test of an answer's edges; an answer of another form fails it."""

    def applies(answer: Any) -> bool:
        try:
            return test(drawn(answer))
        except (AttributeError, TypeError, ValueError):
            return False

    return applies


def no_pairs(answer: Any) -> bool:
    """Whether a list holds something that is no pair."""
    return not isinstance(answer, str) and any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in answer)


EXERCISE_2_6 = value(
    "2.6", "edges", EDGES,
    title="draw the edges",
    minutes=6,
    accept=lambda v: sorted(drawn(v)) == sorted(EDGES),
    wrong=[
        Wrong([(end, start) for start, end in EDGES], "", "One of your arrows points from a value to its own input. The "
              "graph is drawn in the direction of the forward pass. Which of the two values is computed first?",
              when=with_edges(lambda v: any((end, start) in EDGES for start, end in v)), name="backwards"),
        Wrong(["w->h", "x->h"], "", 'One of your entries is no pair. Each arrow is a pair of two names, such as ("w", "h"): '
              "the value that is used, and the value that is computed from it.", name="no pairs", when=no_pairs),
        Wrong([*EDGES, ("5", "p"), ("2", "q")], "", "One of your pairs holds something that is no node. The nodes "
              "are seven names in quotation marks and in small letters, as in the picture; a constant such as 5 has none.",
              when=with_edges(lambda v: any(name not in NODES for pair in v for name in pair)), name="constants"),
        Wrong([*EDGES, ("w", "x")], "", "One of your arrows leads to w or x. These two are inputs: they are not computed from "
              "another value.", when=with_edges(lambda v: any(end in "wx" for _, end in v)), name="into an input"),
        Wrong([*EDGES, ("w", "r")], "", "One of your arrows leads to a value whose formula does not use the first name. Go "
              "through your pairs: which names are on the right side of the second one's formula?",
              when=with_edges(lambda v: not set(v) <= set(EDGES)), name="an arrow too many"),
        Wrong([*EDGES, ("h", "p")], "", "One of your pairs is there twice. Each input is used once by each node here.",
              when=with_edges(lambda v: len(set(v)) < len(v)), name="twice"),
        Wrong(EDGES[:-1], "M19", "All your arrows are right, and one is missing. h is used in three formulas. Which is the "
              "third?", when=with_edges(lambda v: set(EDGES) - set(v) == {("h", "s")}), name="the third use of h"),
        Wrong(EDGES[:4], "", "All your arrows are right, and some are missing. Go through the formulas one by one: each "
              "name on the right side of a formula needs an arrow.",
              when=with_edges(lambda v: set(v) < set(EDGES)), name="some are missing"),
    ],
    hints=[
        "An arrow leads from an input to the value that is computed from it.",
        "For c = a * b and d = c + a the edges are (a, c), (b, c), (c, d) and (a, d).",
        "Count the names on the right sides of the five formulas. There is one edge for each.",
    ],
    worked="h uses w and x; p uses h; q uses h; r uses p and q; s uses r and h. These are eight edges.",
    why="Each name on the right side of a formula is one edge, so h has three edges to the nodes that use it.",
)  # fmt: skip


def follows(h: float) -> Callable[[Any], bool]:
    """Whether a written list begins with this gradient of h, and the other two are not those of the right one."""
    return lambda answer: float(answer[0]) == h and [float(a) for a in answer[1:]] != [70, 105]


EXERCISE_2_7 = value(
    "2.7", "three_ways", [35, 70, 105],
    working="""
w = 3
x = 2
h = w * x
p = h + 5
q = 2 * h
via_p = q  # the contribution through p
via_q = p * 2  # the contribution through q
direct = 1  # the contribution of s
h_grad = via_p + via_q + direct  # the gradient of h
w_grad = h_grad * x  # the gradient of w
x_grad = h_grad * w  # the gradient of x
[h_grad, w_grad, x_grad]
""",
    knows={"w": 3, "x": 2, "h": 6, "p": 11, "q": 12, "r": 132, "s": 138},
    asks=(
        "h is used by p, by q and by s. Write three contributions, each the upstream gradient times the local "
        "derivative of that node. What happens to them at h?",
        "h = w * x. Multiply the gradient of h by the derivative of this product with respect to w. Which number is "
        "that?",
        "h = w * x. Multiply the gradient of h by the derivative of this product with respect to x. Which number is "
        "that?",
    ),
    title="three contributions",
    minutes=7,
    wrong=[
        Wrong([34, 68, 102], "M19", "34 is 12 + 22. One contribution to h is missing: h is also used in s = r + h.",
              when=follows(34)),
        Wrong([24, 48, 72], "M23", "24 is 12 + 11 + 1. The path through q has to be multiplied by the derivative of "
              "q = 2 * h.", when=follows(24)),
        Wrong([36, 72, 108], "M29", "36 is 11 + 24 + 1. You swapped the local derivatives of the product p * q: which one "
              "belongs to p?", when=follows(36)),
        Wrong([264, 528, 792], "M22", "264 is 12 times 22 times 1. What happens to contributions where paths meet?",
              when=follows(264)),
        Wrong([13, 26, 39], "M22", "13 is 12 + 1. What does the path through q contribute?", when=follows(13)),
        Wrong([23, 46, 69], "M22", "23 is 22 + 1. What does the path through p contribute?", when=follows(23)),
        Wrong([1, 12, 22], "M22", "These are the three contributions to h. What happens to them where they meet? The list asks "
              "for the gradients of h, of w and of x.", when=lambda v: sorted(map(float, v)) == [1, 12, 22]),
        Wrong([1, 2, 3], "M20", "1 is the contribution that s sends to h directly. h has to wait for two more. Which nodes "
              "send them?", when=follows(1)),
        Wrong([35, 105, 70], "M29", "The gradient of h is right, and the other two are swapped. When w grows, by which "
              "factor does w * x grow?"),
        Wrong([35, 2, 3], "M23", "The gradient of h is right. 2 and 3 are local derivatives of h = w * x. What is its "
              "upstream gradient?"),
        Wrong([138, 276, 414], "M43", "138 is the value of s. How fast does s grow when h grows?", when=follows(138)),
    ],
    hints=[
        "Write the values first: h = 6, p = 11, q = 12, r = 132, s = 138.",
        "In y = h * h + h at h = 4, the product sends h two contributions of 4, and the sum sends one of 1. Together "
        "they are 9.",
        "The gradient of r is 1. Which contributions does r send to p and q, and what do p and q send to h?",
    ],
    worked="r has gradient 1, so p gets q = 12 and q gets p = 11. h gets 12 * 1 from p, 11 * 2 from q and 1 from s, "
           "together 35. Then w gets 35 * 2 = 70 and x gets 35 * 3 = 105.",
    why="All three contributions are added first: 12 + 22 + 1 = 35. After that, h passes its gradient on.",
)  # fmt: skip

# --- predictions of the reading notebook ----------------------------------------------------------------------

PREDICTION_2_0 = prediction(
    "2.0", 8, points=0,
    title="the derivative of 2 * x**2 + 1 at 2",
    wrong=[
        Wrong(9, "M43", "9 is the value of z. How fast does it change?"),
        Wrong(4, "M04", "4 is the derivative of y alone. What does the doubling make of it?"),
        Wrong(2, "M04", "2 is the derivative of the last function alone. How fast does y change?"),
        Wrong(6, "M22", "6 is 2 + 4. When y changes four times as much as x, and z twice as much as y, how much does z "
              "change?"),
        Wrong(5, "M22", "5 is 4 + 1. Does the 1 that is added change anything?"),
    ],
)  # fmt: skip

PREDICTION_2_2A = prediction(
    "2.2a", [40, 60], points=0,
    title="ten times the field",
    wrong=[
        Wrong([4, 6], "M23", "4 and 6 are the derivatives of the field itself. The result is ten times as large."),
        Wrong([60, 40], "M29", "When x grows, the field gains a strip that is as long as y. How long is y?"),
        Wrong([10, 10], "M23", "10 is the derivative of the last node alone. How fast does the field grow?"),
        Wrong([240, 240], "M43", "240 is the value of the result."),
        Wrong([14, 16], "M22", "You added the derivatives along the path. What do derivatives in a row do?"),
    ],
)  # fmt: skip

PREDICTION_2_4A = prediction(
    "2.4a", 8, points=0,
    title="one number used twice by one node",
    wrong=[
        Wrong(4, "M19", "4 is the contribution through one of the two factors. The product uses y twice."),
        Wrong(16, "M22", "16 is 4 times 4. Are the contributions of two paths multiplied?"),
        Wrong(2, "M23", "2 is the derivative of y alone. How fast does z change when y changes?"),
    ],
)  # fmt: skip

PREDICTION_2_5A = prediction(
    "2.5a", 26, points=0,
    title="the derivative of (2x)(2x + 1) at 3",
    wrong=[
        Wrong(14, "M20", "14 is 7 times 2. In this answer, a has passed its gradient on before the contribution from "
              "b arrived."),
        Wrong(12, "M20", "12 is 6 times 2, the contribution of the path through b alone."),
        Wrong(42, "M43", "42 is the value of y."),
        Wrong(13, "M23", "13 is the gradient of a. What does a = 2 * x do with it on the way to x?"),
        Wrong(7, "M20", "7 is the first contribution to a, and not yet the gradient of x."),
        Wrong(84, "M22", "84 is 7 times 6 times 2. Are the contributions of two paths multiplied?"),
    ],
)  # fmt: skip

PREDICTION_2_6A = prediction(
    "2.6a", "a", points=0,
    title="the gradient of the terms of a sum",
    options={"a": "0.6021 for each", "b": "0.2007 for each", "c": "0.6021 for the largest, 0 for the others"},
    wrong=[
        Wrong("b", "", "A gradient is a rate, and a sum does not divide it. When one number grows by 0.001, by how much does "
              "the sum grow?"),
        Wrong("c", "", "The sum uses all three numbers in the same way. When the smallest grows by 0.001, by how much does "
              "the sum grow?"),
    ],
)  # fmt: skip

PREDICTION_2_7A = prediction(
    "2.7a", "c", points=0,
    title="a long path and a short one",
    options={"a": "7", "b": "10", "c": "11", "d": "30"},
    wrong=[
        Wrong("a", "M23", "7 is 2 + 5. In this answer, a passes its upstream gradient on unchanged. What is the "
              "derivative of a = 3x?"),
        Wrong("b", "M22", "10 is 2 + 3 + 5. Two of these derivatives are in a row. What do derivatives in a row do?"),
        Wrong("d", "M22", "30 is 2 * 3 * 5. Two paths lead to x. What happens where paths meet?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_2_0, PREDICTION_2_2A, PREDICTION_2_4A, PREDICTION_2_5A, PREDICTION_2_6A, PREDICTION_2_7A,
    EXERCISE_2_1, EXERCISE_2_2, EXERCISE_2_3, EXERCISE_2_4, EXERCISE_2_5, EXERCISE_2_6, EXERCISE_2_7,
)  # fmt: skip

LESSON = Lesson(
    number=2,
    slug="02_chain_rule",
    title="The chain rule on a graph",
    after=(1,),
    idea="Along a path derivatives are multiplied, where paths meet they are added, and a node waits for all that use it.",
    introduces=("draw", "manual_seed", "randn", "sum", "record"),
    misconceptions=("M04", "M20", "M21", "M22", "M23"),
    with_engine=False,
    exercises=EXERCISES,
)
