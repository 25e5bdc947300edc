"""Lesson 02: the chain rule on a graph, worked by hand. Four numbers to write down and one order to find.

Every wrong answer below is a number that a particular slip produces at the point (2, 3) or at 3; the numbers are
chosen so that no two slips give the same one.
"""

from __future__ import annotations

from typing import Any

from ..exercise import Before, Exercise, Lesson, Wrong, ordering, prediction, value

# --- 2.1 forward ----------------------------------------------------------------------------------------------

EXERCISE_2_1 = value(
    "2.1", "forward_values", [6, 11, 121],
    why="Each node computes its value from the values of its inputs.",
    title="the values on the way",
    minutes=3,
    wrong=[
        Wrong([6, 11, 61], "M22", "61 is 36 + 25: you squared 6 and 5 one by one. The square node sees one number "
              "only. Which one?"),
        Wrong([6, 30, 900], "M22", "The second node got 6 and 5 and gave 30. Which operation stands in it?"),
        Wrong([5, 10, 100], "M22", "The first node got 2 and 3 and gave 5. Which operation stands in it?"),
        Wrong([6, 11, 22], "M43", "22 is how fast the square grows at 11. Here its value is asked for: what is 11 "
              "squared?"),
        Wrong([121, 11, 6], "", "The right numbers from the end to the beginning. In which order are they computed?"),
        Wrong([6, 11], "", "Two of three: the square has not been computed yet."),
        Wrong([6, 13, 169], "M22", "13 is 6 + 7. What does the second node add?"),
        Wrong([121], "", "121 is what comes out at the end. Which two numbers are made on the way?"),
        Wrong(121, "", "121 is what comes out at the end. Which two numbers are made on the way? Write all three in "
              "a list."),
    ],
    hints=[
        "Each node computes one number from the numbers that arrive, and keeps it.",
        "For (x*y + 1)**3 at (1, 4) the values are 4, 5 and 125.",
        "Start at the product: it is the only node that sees x and y.",
    ],
    worked="u = 2 * 3 = 6, w = 6 + 5 = 11, z = 11 * 11 = 121.",
)  # fmt: skip

# --- 2.2 local slopes -----------------------------------------------------------------------------------------


def starts_with(*numbers: float) -> Any:
    """Whether a written list begins with these numbers."""
    return lambda answer: [float(a) for a in answer][: len(numbers)] == [float(n) for n in numbers]


EXERCISE_2_2 = value(
    "2.2", "local_slopes", [22, 1, 3, 2],
    why="A local derivative belongs to one edge: it says how fast the output of the node changes with that input.",
    title="one slope for each edge",
    minutes=5,
    wrong=[
        Wrong([22, 1, 2, 3], "M29", "The last two are the wrong way round. Nudge x by a thousandth and hold y at 3: "
              "by how many thousandths does x*y move?"),
        Wrong([242, 1, 3, 2], "M43", "242 is twice 121, the *output* of the square. Its slope is asked for at its "
              "input. Which number goes in?", when=starts_with(242)),
        Wrong([11, 1, 3, 2], "M30", "11 is the number that goes into the square. When it grows by a hair, both "
              "factors of w*w grow. What does that make?", when=starts_with(11)),
        Wrong([121, 1, 3, 2], "M43", "121 is the value of the square, not how fast it moves. What is the slope of "
              "w**2 at 11?", when=starts_with(121)),
        Wrong([22, 5, 3, 2], "M43", "5 is what the second node adds. If u grows by a hair, by how many hairs does "
              "u + 5 grow?", when=starts_with(22, 5)),
        Wrong([22, 6, 3, 2], "M43", "6 is the value of u. If u grows by a hair, by how many hairs does u + 5 grow?",
              when=starts_with(22, 6)),
        Wrong([22, 22, 66, 44], "M04", "22, 66 and 44 are slopes of z. This exercise asks for each node alone: how far "
              "does *w* move when u moves?", when=starts_with(22, 22)),
        Wrong([22, 0, 3, 2], "M43", "The 5 stays the same, and its slope is 0. But u moves: by how many hairs does u + 5 "
              "grow when u grows by one?", when=starts_with(22, 0)),
        Wrong([2, 1, 3, 2], "M43", "2 is the exponent. The slope of w**2 depends on where w is: what else enters?",
              when=starts_with(2)),
        Wrong([22, 1, 1, 1], "M22", "1 and 1 are the slopes of a sum. u is a product: how far does it move for a hair of "
              "x?", when=starts_with(22, 1, 1)),
        Wrong([22, 1, 66, 44], "M04", "66 and 44 are slopes of the whole way from z back. This exercise asks for "
              "each node alone: how far does the *product* move when x moves?", when=starts_with(22, 1, 66)),
    ],
    hints=[
        "A local slope belongs to one node and one of its inputs: how far does this node move when that input moves?",
        "In s * t at s = 7, t = 4, nudging s by a hair moves the product four hairs: the slope for s is 4.",
        "Take the square last: its slope depends on the number that goes in, which you wrote down in 2.1.",
    ],
    worked="z = w*w moves 2w = 22 hairs for one of w; w = u + 5 moves 1 for one of u; u = x*y moves y = 3 for one "
           "of x and x = 2 for one of y.",
)  # fmt: skip

# --- 2.3 backward by hand -------------------------------------------------------------------------------------

EXERCISE_2_3 = value(
    "2.3", "by_hand", [66, 44],
    why="Along a path the derivatives multiply: 22 · 1 · 3 = 66 for x, and 22 · 1 · 2 = 44 for y.",
    title="backward by hand",
    minutes=6,
    wrong=[
        Wrong([3, 2], "M23", "3 and 2 are the slopes of the product alone. Something arrived at the product from "
              "behind. What, and what happens to it there?"),
        Wrong([44, 66], "M29", "Both numbers are on the list, at the wrong places. Which of the two inputs makes "
              "x*y grow three times as fast?"),
        Wrong([33, 22], "M30", "Exactly half. On the way back you passed a square: what is its slope at 11?"),
        Wrong([26, 25], "M22", "You added the slopes along the path: 22 + 1 + 3. If each node makes a nudge larger "
              "by its factor, what do three factors in a row do to it?"),
        Wrong([22, 22], "M23", "22 is what arrives at the product. What does the product do with it before it "
              "hands it on to x and to y?"),
        Wrong([66, 66], "M29", "66 is right for x. Nudge y instead: by how many hairs does x*y move then?"),
        Wrong([110, 110], "M46", "110 is what comes out when x and y move together. How many of the two may move at a "
              "time?"),
        Wrong([726, 484], "M43", "You used 2 times 121 at the square. Its slope is taken at its input."),
        Wrong([363, 242], "M43", "You multiplied with 121, the value of the square. What is its *slope* at 11?"),
        Wrong([330, 220], "M43", "There is a factor 5 too many. What is the slope of u + 5?"),
    ],
    hints=[
        "by_hand[0] answers: if x moves by a hair, how many hairs does z move?",
        "For (x*y + 1)**3 at (1, 4) the slopes from behind are 75, then 1; x gets 75 * 1 * 4 = 300, y gets 75.",
        "Go backwards from z. After the square and the sum you carry one number; the product has two inputs.",
    ],
    worked="Start with 1 at z. The square hands back 1 * 22, the sum 22 * 1; the product hands 22 * 3 = 66 to x and "
           "22 * 2 = 44 to y.",
)  # fmt: skip

# --- 2.4 two paths --------------------------------------------------------------------------------------------

EXERCISE_2_4 = value(
    "2.4", "two_paths", 14,
    why="x reaches y on two paths, and the contributions of both paths add up: 8 + 6 = 14.",
    title="two paths from one input",
    minutes=5,
    wrong=[
        Wrong(8, "M22", "8 is what comes through 2x. x is used once more: what comes through x + 1?"),
        Wrong(6, "M22", "6 is what comes through x + 1. x is used once more: what comes through 2x?"),
        Wrong(48, "M22", "48 is 8 times 6. Along a path slopes multiply. These are two paths next to each other: "
              "if one moves y by 8 hairs and the other by 6, how far does y move?"),
        Wrong(2, "M22", "2 is the slope of 2x times the slope of x + 1. Neither knows yet how much the product "
              "makes of it: what is the slope of a*b for a?"),
        Wrong(3, "M22", "3 is 2 + 1, the slopes of the two branches. Each of them is made larger by the product on "
              "its way: by how much?"),
        Wrong(24, "M43", "24 is the value of y at 3. How fast does it grow?"),
        Wrong([8, 6], "M22", "The two shares are right. They arrive at the same x: what becomes of them there?"),
        Wrong(12, "M43", "12 is 4x, the slope of 2x * x. The second factor is x + 1: what does its 1 add?"),
        Wrong(10, "M22", "10 is 6 + 4: the product's two slopes. What does each branch make of its share?"),
    ],
    hints=[
        "x moves, so both factors move, and each moves y in its own way.",
        "For (3x)(x + 2) at 1: through 3x come 3 * 3 = 9, through x + 2 come 3 * 1 = 3; together 12.",
        "Draw x twice. Do each path alone; decide at the very end what to do with the two numbers.",
    ],
    worked="a = 6, b = 4. Through a: b * 2 = 8. Through b: a * 1 = 6. Both arrive at x: 8 + 6 = 14.",
)  # fmt: skip

# --- 2.5 the order of the moves -------------------------------------------------------------------------------

MOVES = (
    "a hands its sum, times 2, to x",
    "y hands b's value to a, and a's value to b",
    "what arrived at x is written into x.grad",
    "b hands what it got on to a",
    "a 1 is put on y",
    "a adds up the two shares it got",
)

EXERCISE_2_5 = ordering(
    "2.5", "moves", MOVES,
    before=[
        Before(5, 2, "M21", "y hands shares on before anything was put on y: that hands on nothing. What is the very "
               "first gradient, and whose is it?"),
        Before(2, 4, "M20", "b passes on what it got before y gave it anything. Who uses b?"),
        Before(4, 6, "M20", "a adds up its shares while b's share is still on its way. Who uses a? How many shares "
               "have to arrive?"),
        Before(6, 1, "M20", "a speaks to x before it has added up what it got: x would hear a part of it. When may a "
               "node speak?"),
        Before(1, 3, "M21", "x.grad is written before anything arrived at x. Who hands x its share?"),
    ],
    right=[5, 2, 4, 6, 1, 3],
    why="A node can pass its gradient on only when every contribution to it has arrived.",
    title="the six moves of a backward pass",
    minutes=5,
    hints=[
        "A backward pass starts where the forward pass ended, and a node speaks only when all who use it have spoken.",
        "In c = s*s, d = c + 3, e = c*d, the node c waits for both d and e.",
        "Find out who uses a: two nodes do. Both come before a's own moves.",
    ],
    worked="1 on y; y speaks; b speaks; only now a has both shares and adds them; a speaks; x.grad is written.",
)  # fmt: skip

# --- predictions of the reading notebook ----------------------------------------------------------------------

PREDICTION_2_0 = prediction(
    "2.0", 8, points=0,
    title="the slope of 2 * x**2 + 1 at 2",
    wrong=[
        Wrong(9, "M43", "9 is the value of z. How fast does it move?"),
        Wrong(4, "M04", "4 is the slope of y alone. What does the doubling make of it?"),
        Wrong(2, "M04", "2 is the slope of the last node alone. How fast does y move?"),
        Wrong(6, "M22", "6 is 2 + 4. If y moves four hairs, and z two for each of them, how many is that?"),
        Wrong(5, "M22", "Did the 1 that is added move anything?"),
    ],
)  # fmt: skip

PREDICTION_2_2A = prediction(
    "2.2a", [4, 6], points=0,
    title="the gradients of a product",
    wrong=[
        Wrong([6, 4], "M29", "Nudge x: x*y grows by y hairs. How large is y?"),
        Wrong([24, 24], "M43", "24 is the product itself."),
        Wrong([1, 1], "M22", "Those are the slopes of a sum."),
    ],
)  # fmt: skip

PREDICTION_2_4A = prediction(
    "2.4a", 8, points=0,
    title="one number used twice by one node",
    wrong=[
        Wrong(4, "M19", "4 is what comes in through one of the two factors. y stands there twice."),
        Wrong(16, "M22", "16 is 4 times 4: two paths multiplied. What do paths next to each other do?"),
        Wrong(2, "M23", "2 is the slope of y alone. And z?"),
    ],
)  # fmt: skip

PREDICTION_2_5A = prediction(
    "2.5a", 26, points=0,
    title="the slope of (2x)(2x + 1) at 3",
    wrong=[
        Wrong(14, "M20", "14 is 7 times 2: a has spoken before b's share arrived."),
        Wrong(12, "M20", "12 is 6 times 2: the share that comes through b alone."),
        Wrong(42, "M43", "42 is y itself."),
        Wrong(84, "M22", "7 times 6 times 2: shares that arrive side by side do not multiply."),
    ],
)  # fmt: skip

PREDICTION_2_6A = prediction(
    "2.6a", "b", points=0,
    title="gradients on the way",
    options={"a": "numbers, added up on the way", "b": "None for both", "c": "zeros"},
    wrong=[
        Wrong("a", "M02", "Gradients did pass through y and z. Is passing through the same as staying?"),
        Wrong("c", "M02", "0 would be a number that somebody worked out. What stands for nothing was kept?"),
    ],
)  # fmt: skip

PREDICTION_2_7A = prediction(
    "2.7a", "c", points=0,
    title="a long path and a short one",
    options={"a": "7", "b": "10", "c": "11", "d": "30"},
    wrong=[
        Wrong("a", "M23", "7 is 2 + 5: a hands back what it got as it is. What is the slope of a = 3x?"),
        Wrong("b", "M22", "10 is 2 + 3 + 5, everything added. Two of these edges stand one behind the other: what do "
              "slopes in a row do?"),
        Wrong("d", "M22", "30 is 2 * 3 * 5, everything multiplied. Two ways lead to x: what happens where they meet?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_2_0, PREDICTION_2_2A, PREDICTION_2_4A, PREDICTION_2_5A, PREDICTION_2_6A, PREDICTION_2_7A,
    EXERCISE_2_1, EXERCISE_2_2, EXERCISE_2_3, EXERCISE_2_4, EXERCISE_2_5,
)  # fmt: skip

LESSON = Lesson(
    number=2,
    slug="02_chain_rule",
    title="The chain rule on a graph",
    after=(1,),
    idea="Along a path slopes multiply, where paths meet they add, and a node waits for all who use it.",
    introduces=(
        "draw", "manual_seed", "randn", "sum", "warnings", "catch_warnings", "simplefilter", "retain_grad",
    ),
    misconceptions=("M04", "M20", "M22", "M23"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
