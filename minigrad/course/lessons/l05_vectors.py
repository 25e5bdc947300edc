"""Lesson 05: the gradient argument. Four exercises around the vector-Jacobian product.

Read exercise 5.1 as the pattern of a function exercise: an oracle that does not share the solution's formula,
probes whose numbers cannot hide a mistake, wrong answers as functions, right answers written differently,
hints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import (
    Exercise,
    Lesson,
    Probe,
    Raises,
    Wrong,
    call,
    choice,
    function,
    numbers,
    prediction,
    program,
    run,
)  # fmt: skip

Array = np.ndarray[Any, Any]

# --- 5.1 the vector-Jacobian product of x squared -----------------------------------------------------------


def vjp_by_nudging(x: Array, v: Array) -> Array:
    """The oracle: how much v . (x**2) moves when each x[i] moves; central differences are exact for a
    square."""
    nudges = 0.5 * np.eye(x.size)
    return np.array([v @ ((x + e) ** 2 - (x - e) ** 2) for e in nudges]).reshape(x.shape)


def probes_5_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -2.0]))
    x = numbers(rng, 4)
    yield call(x, numbers(rng, 4))
    yield call(x, numbers(rng, 4))
    yield call(numbers(rng, 1), numbers(rng, 1))
    yield call(np.array([0.0, 1.5, -1.5, 0.0, 2.5]), numbers(rng, 5))
    yield call(np.array([1234567.75, -345678.25, 0.5]), np.array([-2.0, 0.5, 3.0]))


def ignores_v(x: Array, v: Array) -> Any:
    return 2 * x


def forgets_the_two(x: Array, v: Array) -> Array:
    return x * v


def v_as_the_point(x: Array, v: Array) -> Array:
    return 2 * v


def adds_it_all_up(x: Array, v: Array) -> Any:
    return np.sum(2 * x * v)


def squares_instead(x: Array, v: Array) -> Any:
    return v * x**2


def whole_jacobian(x: Array, v: Array) -> Array:
    return np.diag(2 * x * v)


def measured(x: Array, v: Array) -> Any:
    h = 1e-4
    return v * ((x + h) ** 2 - (x - h) ** 2) / (2 * h)


def without_signs(x: Array, v: Array) -> Any:
    return np.abs(2 * x * v)


def added(x: Array, v: Array) -> Array:
    return 2 * x + v


def shared_out(x: Array, v: Array) -> Array:
    return 2 * x * v / x.size


def table_of_products(x: Array, v: Array) -> Array:
    return np.outer(2 * x, v)


def a_list(x: Array, v: Array) -> list[float]:
    return [2 * a * b for a, b in zip(x, v, strict=True)]


def in_float32(x: Array, v: Array) -> Array:
    return np.float32(2) * x.astype(np.float32) * v.astype(np.float32)


def in_place(x: Array, v: Array) -> Array:
    x *= 2 * v
    return x


def in_a_loop(x: Array, v: Array) -> Array:
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = v[i] * (x[i] + x[i])
    return out


EXERCISE_5_1 = function(
    "5.1", "vjp_square",
    why="Output i depends only on x[i], with the derivative 2 · x[i], and v[i] multiplies it.",
    title="the vector-Jacobian product of x squared",
    minutes=6,
    oracle=vjp_by_nudging,
    probes=probes_5_1,
    wrong=[
        Wrong(ignores_v, "M26", "Your answer does not depend on v: it is the slope of each square, 2x. v "
              "says how much the rest of the world cares about each output. Where does it enter?"),
        Wrong(forgets_the_two, "M26", "You handed v on, multiplied by x. How fast does x*x grow when x is "
              "nudged: by x, or by more?"),
        Wrong(v_as_the_point, "M26", "You took v for the point at which to differentiate. The point is x; v "
              "holds one weight for each output. Which of the two decides the slope of the square?"),
        Wrong(adds_it_all_up, "M27", "You added everything up to one number. x has several numbers to nudge: "
              "how many answers does that make?"),
        Wrong(squares_instead, "", "You weighted the outputs x*x themselves. v weights how fast they change: "
              "what is the slope of a square?"),
        Wrong(measured, "M44", "Near, and for large x no longer near: you measured the slope with a small step. The "
              "slope of a square is known: what is it?"),
        Wrong(without_signs, "", "The sizes are right, the signs are gone. May a slope or a weight be negative?"),
        Wrong(added, "M22", "You added v to the slopes. Along a path, what happens to factors?"),
        Wrong(shared_out, "M30", "You divided by how many numbers there are. Does each output share its weight with the "
              "others?"),
        Wrong(table_of_products, "M22", "That is every slope times every weight. Does x[0] move the square of x[1]?"),
        Wrong(a_list, "", "The numbers are right; an array is asked for. What does numpy do in one go, without a loop?"),
        Wrong(in_float32, "", "Right to seven digits: somewhere it was reckoned in float32. Which type do x and v have?"),
        Wrong(in_place, "M15", "The numbers are right, and x was changed: whoever called you holds other numbers now. "
              "Which sign writes into an array, and which makes a new one?"),
        Wrong(whole_jacobian, "M27", "That is the whole table: a row for each output, a column for each "
              "input. v adds its rows up: what shape is left?"),
    ],
    alternatives=[
        lambda x, v: np.diag(2 * x) @ v,
        lambda x, v: v * x + x * v,
        lambda x, v: np.einsum("i,i->i", 2 * v, x),
        in_a_loop,
        lambda x, v: np.array([2 * a * b for a, b in zip(x, v, strict=True)]),
    ],
    hints=[
        "v has one number for each output y[i] = x[i]**2. The answer has one number for each input x[i].",
        "Take y = x**3 at x = [2] with v = [5]: nudging x by a hair moves y twelve hairs, and y counts five "
        "times: 60.",
        "Write down the slope of x[i]**2 first. Then ask what v[i] does to it.",
    ],
    worked="Each output depends on its own input only, with slope 2 * x[i]; weighted with v[i] that makes "
           "v * 2 * x.",
)  # fmt: skip


# --- 5.2 a whole Jacobian from several backward passes ------------------------------------------------------

# Given in the exercise notebook as well: a recorded computation that answers backward(v) as a tensor does.
# Its inside has another name here: a solution may use what a tensor shows, and no more.
GRAPH = """
import numpy as np

class Graph:
    def __init__(self, slopes):
        self.outputs, self.inputs = np.shape(slopes)
        self._inside = [(i, j, s) for (i, j), s in np.ndenumerate(slopes)]
        self.grad = None

    def backward(self, v):
        v = np.asarray(v, dtype=float)
        if v.shape != (self.outputs,):
            raise RuntimeError(f"Mismatch in shape: {v.shape} for {self.outputs} outputs")
        if self.grad is None:
            self.grad = np.zeros(self.inputs)
        for output, input, slope in self._inside:
            self.grad[input] += v[output] * slope

    def zero_grad(self):
        self.grad = None
"""


def probes_5_2(rng: np.random.Generator) -> Iterator[Probe]:
    for outputs, inputs in ((3, 2), (3, 2), (2, 4), (3, 3), (1, 3), (4, 1)):
        yield run("graph = Graph(slopes)\njacobian(graph)", slopes=numbers(rng, outputs, inputs))
    yield run("graph = Graph(slopes)\njacobian(graph).shape", slopes=numbers(rng, 2, 3)).expect((2, 3))


def one_hot(n: int, i: int) -> Any:
    return np.arange(n) == i


def one_pass_with_ones(graph: Any) -> Any:
    graph.backward(np.ones(graph.outputs))
    return graph.grad


def ones_for_every_row(graph: Any) -> Any:
    rows = []
    for _ in range(graph.outputs):
        graph.zero_grad()
        graph.backward(np.ones(graph.outputs))
        rows.append(graph.grad)
    return np.stack(rows)


def transposed(graph: Any) -> Any:
    return clears_each_time(graph).T


def never_clears(graph: Any) -> Any:
    rows = []
    for i in range(graph.outputs):
        graph.backward(one_hot(graph.outputs, i))
        rows.append(graph.grad.copy())
    return np.stack(rows)


def keeps_one_array(graph: Any) -> Any:
    rows = []
    for i in range(graph.outputs):
        graph.backward(one_hot(graph.outputs, i))
        rows.append(graph.grad)
    return np.stack(rows)


def passes_for_inputs(graph: Any) -> Any:
    rows = []
    for i in range(graph.inputs):
        graph.zero_grad()
        graph.backward(one_hot(graph.inputs, i))
        rows.append(graph.grad)
    return np.stack(rows)


def last_pass_only(graph: Any) -> Any:
    for i in range(graph.outputs):
        graph.zero_grad()
        graph.backward(one_hot(graph.outputs, i))
    return graph.grad


def reads_the_inside(graph: Any) -> Any:
    table = np.zeros((graph.outputs, graph.inputs))
    for i, j, slope in graph._wires:
        table[i, j] = slope
    return table


def list_of_rows(graph: Any) -> Any:
    return clears_each_time(graph).tolist()


def all_in_a_row(graph: Any) -> Any:
    return clears_each_time(graph).ravel()


def from_the_last(graph: Any) -> Any:
    return clears_each_time(graph)[::-1]


def clears_with_a_number(graph: Any) -> Any:
    rows = []
    for v in np.eye(graph.outputs):
        graph.grad = 0
        graph.backward(v)
        rows.append(graph.grad)
    return np.stack(rows)


def clears_the_array(graph: Any) -> Any:
    rows = []
    for v in np.eye(graph.outputs):
        graph.backward(v)
        rows.append(graph.grad)
        graph.grad[:] = 0
    return np.stack(rows)


def clears_each_time(graph: Any) -> Any:
    rows = []
    for v in np.eye(graph.outputs):
        graph.grad = None
        graph.backward(v)
        rows.append(graph.grad)
    return np.array(rows)


def clears_afterwards(graph: Any) -> Any:
    table = np.zeros((graph.outputs, graph.inputs))
    for i in range(graph.outputs):
        graph.backward([float(j == i) for j in range(graph.outputs)])
        table[i] = graph.grad
        graph.zero_grad()
    return table


def takes_differences(graph: Any) -> Any:
    sums = [np.zeros(graph.inputs)]
    for v in np.eye(graph.outputs):
        graph.backward(v)
        sums.append(np.array(graph.grad))
    return np.diff(sums, axis=0)


# No probe can tell these two apart: asking for everything in each pass, and keeping one array that every pass
# adds to.
SAME_ROWS = (
    "All rows are the same: each is the sum of all of them. Does each pass ask for one output alone, and "
    "what belongs between two passes?"
)

EXERCISE_5_2 = program(
    "5.2", "jacobian",
    why="A vector with a single 1 selects one output, and its backward pass gives one row of the Jacobian.",
    title="a whole Jacobian from backward passes",
    minutes=10,
    prelude=GRAPH,
    oracle=lambda slopes: slopes,
    probes=probes_5_2,
    wrong=[
        Wrong(one_pass_with_ones, "M25", "One pass with ones adds the rows of the Jacobian up: you have the "
              "sum of each column. How many passes does it take to see the rows one by one?"),
        Wrong(ones_for_every_row, "M01", SAME_ROWS, alike="same rows"),
        Wrong(transposed, "M42", "Row and column are swapped. A backward pass for output i gives one number "
              "for each input: is that a row or a column of dy/dx?"),
        Wrong(never_clears, "M01", "The first row is right, and each later one holds the rows before it as "
              "well. backward adds to grad. What belongs between two passes?"),
        Wrong(keeps_one_array, "M01", SAME_ROWS, alike="same rows"),
        Wrong(passes_for_inputs, "M26", "You made one pass for each input. v has one number for each output: "
              "what is there one pass for?"),
        Wrong(reads_the_inside, "", "_wires is the graph's own affair, and this graph has none. A tensor shows outputs, "
              "inputs, backward, grad and zero_grad: what can you ask with them?"),
        Wrong(list_of_rows, "", "The rows are right, as a list of lists. An array is asked for: which function stacks "
              "rows into one?"),
        Wrong(all_in_a_row, "M27", "The numbers are right, all in a row. How many axes has a table?"),
        Wrong(from_the_last, "M42", "The rows are right, from the last to the first. Which output does row 0 belong to?"),
        Wrong(clears_with_a_number, "M07", "Before a pass you put the number 0 into grad, and the pass writes into it as "
              "into an array. How does this graph clear its gradient?"),
        Wrong(clears_the_array, "M01", "All rows are 0: you kept the array itself and then wrote zeros into it. What would "
              "keep the numbers as they are?"),
        Wrong(last_pass_only, "", "Only the last pass is left. Where do the rows before it stay?"),
    ],
    alternatives=[clears_each_time, clears_afterwards, takes_differences],
    hints=[
        "Row i of the Jacobian says how output i reacts to each input.",
        "With two outputs, v = [0, 1] asks for the second output alone: that pass gives the second row.",
        "Look at what happens between two passes: grad still holds the row before.",
    ],
    worked="For each output i: clear grad, call backward with a v that is 1 at i and 0 elsewhere, keep grad "
           "as row i. Stack the rows.",
)  # fmt: skip

# --- 5.3 when is a sum the same? ----------------------------------------------------------------------------

EXERCISE_5_3 = choice(
    "5.3", "same_when",
    {
        "a": "always: backward on the sum is only a shorter way to write it",
        "b": "when v is all ones",
        "c": "when v adds up to one",
        "d": "never: sum() makes another graph, with other gradients",
    },
    right="b",
    why="The derivative of y.sum() with respect to every y[i] is 1, so the sum passes on a vector of ones.",
    title="when y.sum().backward() equals y.backward(v)",
    minutes=4,
    wrong=[
        Wrong("a", "M25", "Try it with y = x**2 at x = [1, 2] and v = [1, 0]: the second entry of x.grad is "
              "0. Does the sum leave the second output out?"),
        Wrong("c", "M26", "v = [0.5, 0.5] adds up to one and asks for half of each output. How much of each "
              "output is in y.sum()?"),
        Wrong("d", "M09", "sum() adds one more node to the graph. What does that node hand back to each "
            "entry of y?"),
    ],
    hints=[
        "A sum cares about each of its terms equally.",
        "y.mean() would be the same as a v of 1/n everywhere.",
        "Ask what gradient the sum hands to each entry of y; that is the v.",
    ],
    worked="The derivative of y.sum() with respect to each y[i] is 1: the sum is backward with v all ones "
        "(b).",
)  # fmt: skip

# --- 5.4 what a backward pass starts from -------------------------------------------------------------------


def start_by_cases(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    """The oracle is only asked where no error is due."""
    return np.full(shape, 1.0) if gradient is None else gradient


SAYS_SCALAR = """
said = ""
try:
    start(shape, gradient)
except RuntimeError as error:
    said = str(error).lower()
"scalar" in said
"""


def probes_5_4(rng: np.random.Generator) -> Iterator[Probe]:
    no_default = Raises("RuntimeError", "scalar")
    mismatch = Raises("RuntimeError", "shape")
    yield call(())
    yield call((3,), numbers(rng, 3))
    yield call((3,)).expect(no_default).show()
    yield call((2, 3), numbers(rng, 2, 3))
    yield call((1, 1))
    yield call((3,), numbers(rng, 1)).expect(mismatch).show()
    yield call((2, 3), numbers(rng, 3, 2)).expect(mismatch)
    yield call((), np.array(2.5))
    yield call((1,), numbers(rng, 1))
    yield run(SAYS_SCALAR, shape=(2, 3), gradient=numbers(rng, 3, 2)).expect(False)
    yield call((2, 2)).expect(no_default)
    yield call((1, 1), numbers(rng, 1)).expect(mismatch)
    yield call((1,), np.array([0.0]))
    yield call((2,), np.array([0.0, 0.0]))
    yield call((0, 2)).expect(no_default)
    yield call((2, 3), np.array(2.5)).expect(mismatch)


def check_shape(shape: tuple[int, ...], gradient: Array) -> Array:
    if np.shape(gradient) != tuple(shape):
        raise RuntimeError(f"Mismatch in shape: grad has {np.shape(gradient)}, output has {shape}")
    return gradient


def silently_ones(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return np.ones(shape) if gradient is None else check_shape(shape, gradient)


def always_ones(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is not None:
        check_shape(shape, gradient)
    elif np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape)


def broadcasts(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    try:
        return np.broadcast_to(1.0 if gradient is None else gradient, shape).copy()
    except ValueError as error:
        raise RuntimeError("Mismatch in shape") from error


def hands_on_anything(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else gradient


def empty_shape_only(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and shape != ():
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(()) if gradient is None else check_shape(shape, gradient)


def starts_from_zero(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.zeros(shape) if gradient is None else check_shape(shape, gradient)


def drops_the_shape(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return 1.0 if gradient is None else check_shape(shape, gradient)


def counts_numbers_only(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if gradient is not None and np.size(gradient) != np.prod(shape):
        raise RuntimeError("Mismatch in shape")
    return np.ones(shape) if gradient is None else np.reshape(gradient, shape)


def another_exception(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise ValueError("grad can be implicitly created only for scalar outputs")
    if gradient is not None and np.shape(gradient) != tuple(shape):
        raise ValueError("Mismatch in shape")
    return np.ones(shape) if gradient is None else gradient


def words_turned(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("the shape does not fit")
    if gradient is not None and np.shape(gradient) != tuple(shape):
        raise RuntimeError("only for a scalar")
    return np.ones(shape) if gradient is None else gradient


def both_words(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    try:
        return start_plainly(shape, gradient)
    except RuntimeError:
        raise RuntimeError(f"only for a scalar, or a gradient of shape {shape}") from None


def says_and_goes_on(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        print("RuntimeError: only for scalar outputs")
        return None
    if gradient is not None and np.shape(gradient) != tuple(shape):
        print("RuntimeError: Mismatch in shape")
        return None
    return np.ones(shape) if gradient is None else gradient


def counts_axes(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is not None and np.ndim(gradient) != len(shape):
        raise RuntimeError("Mismatch in shape")
    if gradient is None and np.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else gradient


def stretches_a_number(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return start_plainly(shape, np.full(shape, gradient) if gradient is not None and np.shape(gradient) == () else gradient)


def zeros_for_none(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return start_plainly(shape, gradient if gradient is not None and np.any(gradient) else None)


def up_to_one(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) > 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else check_shape(shape, gradient)


def start_plainly(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None:
        if np.prod(shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return np.ones(shape)
    return check_shape(shape, gradient)


def start_from_sizes(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and all(n == 1 for n in shape):
        gradient = np.ones(shape)
    if gradient is None:
        raise RuntimeError("a gradient can only be made up for scalar outputs")
    if list(gradient.shape) != list(shape):
        raise RuntimeError("the gradient has the wrong shape")
    return gradient.copy()


EXERCISE_5_4 = function(
    "5.4", "start",
    why="Only a result with one element has an obvious gradient to start from, and that gradient is 1.",
    title="what a backward pass starts from",
    minutes=8,
    oracle=start_by_cases,
    probes=probes_5_4,
    wrong=[
        Wrong(silently_ones, "M25", "Without a gradient you start from ones, whatever the shape. That adds "
              "all outputs up, though nobody asked for their sum. For which shapes is there only one "
              "possible start?"),
        Wrong(always_ones, "M26", "You check the gradient that is handed in and then start from ones all the "
              "same. Who decides how much each output counts?"),
        Wrong(broadcasts, "M41", "A gradient of another shape was stretched until it fitted. A single number "
              "for three outputs may be a mistake of the caller: who should find out?"),
        Wrong(hands_on_anything, "M41", "A gradient of the wrong shape goes through unseen. What must be "
              "compared before the pass starts?"),
        Wrong(empty_shape_only, "M41", "Shape () has a default, and (1, 1) was refused. How many numbers "
              "does an output of shape (1, 1) hold?"),
        Wrong(starts_from_zero, "M21", "The pass starts from 0. The first gradient is that of the output "
              "with respect to itself. What number is it?"),
        Wrong(drops_the_shape, "M27", "For shape (1, 1) you start from a bare number. Which shape does the "
              "gradient of an output have?"),
        Wrong(another_exception, "", "The right cases are refused, with another kind of exception. Which one does the task "
              "ask for?"),
        Wrong(words_turned, "", "Both cases are refused, each with the other one's words. What is missing when there is "
              "no gradient, and what is wrong when there is one?"),
        Wrong(both_words, "", "A gradient of the wrong shape is refused with words about a scalar too: one message for two "
              "troubles. What does a caller have to do in each of them?"),
        Wrong(says_and_goes_on, "", "The trouble is printed, and None goes on as the start of a pass. What stops a caller "
              "who does not read?"),
        Wrong(stretches_a_number, "M41", "A bare number was given for six outputs, and you made six of it. Did the caller "
              "mean that? Who should find out?"),
        Wrong(counts_axes, "M41", "Only the number of axes is compared: (3, 2) has two, like (2, 3). What else must agree?"),
        Wrong(zeros_for_none, "M05", "A gradient of zeros was taken for none at all. Is 'nothing was given' the same as "
              "'0 was given'? How can you ask for None itself?"),
        Wrong(up_to_one, "M25", "An output of shape (0, 2) holds no number at all, and you start a pass from it. How many "
              "numbers must it hold for a default?"),
        Wrong(counts_numbers_only, "M41", "A (3, 2) gradient was taken for a (2, 3) output because both hold "
              "six numbers. Which number belongs to which output then?"),
    ],
    alternatives=[start_plainly, start_from_sizes],
    hints=[
        "There are three cases: a gradient of the right shape, one of a wrong shape, and none.",
        "PyTorch makes up a gradient for shapes (), (1,) and (1, 1), and for no other.",
        "Look at the test that decides whether a default exists: count the numbers in the shape.",
    ],
    worked="With a gradient: raise RuntimeError if its shape is not `shape`, else return it. Without one: if "
           "the shape holds exactly one number return np.ones(shape), else raise RuntimeError.",
)  # fmt: skip

# --- predictions of the reading notebook --------------------------------------------------------------------

PREDICTION_5_0 = prediction(
    "5.0", [4, 6], points=0,
    title="the gradient of a sum of squares",
    wrong=[
        Wrong([4, 9], "M06", "Those are the squares themselves. How fast does each of them grow?"),
        Wrong([2, 3], "M06", "Those are the entries of x. How fast does the square of each grow?"),
        Wrong([10, 10], "M27", "You added the slopes up. Does nudging x[0] move the square of x[1]?"),
        Wrong([13], "M03", "13 is z. The question is how z moves when each x moves."),
        Wrong([10], "M27", "One number for two inputs: which of them do you nudge?"),
    ],
)  # fmt: skip

PREDICTION_5_0A = prediction(
    "5.0a", [40, 60], points=0,
    title="a pass that starts from 10",
    wrong=[
        Wrong([4, 6], "M26", "Those are the gradients of a pass that starts from 1. Does the start leave no "
            "trace?"),
        Wrong([14, 16], "M22", "You added the start. Along a path slopes multiply: where on the path does "
            "the 10 stand?"),
        Wrong([10, 10], "M23", "That is the start itself. What do the square's slopes do to it on the way to "
            "x?"),
    ],
)  # fmt: skip

PREDICTION_5_0B = prediction(
    "5.0b", 1, points=0,
    title="how many outputs has a mean?",
    wrong=[
        Wrong(3, "M25", "Three numbers go in, and y holds three on the way. How many does z hold?"),
        Wrong(2, "M25", "y and z are both made on the way; an output is what backward is called on. How many "
              "numbers is that?"),
    ],
)  # fmt: skip

PREDICTION_5_1A = prediction(
    "5.1a", [2.5403, 3.5839], points=0,
    title="x.grad after a second backward pass",
    wrong=[
        Wrong([0, 3.5839], "M01", "That is what the second pass alone finds. What does x.grad hold already?"),
        Wrong([2.5403, 0], "M01", "That is what was there before. Does the second pass leave no trace?"),
    ],
)  # fmt: skip

PREDICTION_5_2A = prediction(
    "5.2a", "c", points=0,
    title="the slope of one share when another amount grows",
    options={"a": "zero", "b": "positive", "c": "negative"},
    wrong=[
        Wrong("a", "M22", "The first share is x[0] divided by the total. Does the total stay when x[1] "
            "grows?"),
        Wrong("b", "M22", "When x[1] grows the total grows, and x[0] is divided by more. Up or down?"),
    ],
)  # fmt: skip

PREDICTION_5_3A = prediction(
    "5.3a", [0, 0], points=0, atol=1e-3,
    title="the gradient of the sum of all shares",
    wrong=[
        Wrong([1, 1], "M23", "That is what the sum hands to each share. What do the slopes of the shares "
            "make of it?"),
        Wrong([0.1875, -0.0625], "M25", "That is the first share alone. The sum asks about both together."),
        Wrong([0.1875, 0.0625], "M25", "You took each share's slope to its own amount. Each amount moves the "
              "other share as well: what do the two columns of the table add up to?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_5_0, PREDICTION_5_0A, PREDICTION_5_0B, PREDICTION_5_1A, PREDICTION_5_2A, PREDICTION_5_3A,
    EXERCISE_5_1, EXERCISE_5_2, EXERCISE_5_3, EXERCISE_5_4,
)  # fmt: skip

LESSON = Lesson(
    number=5,
    slug="05_vectors",
    title="Vectors: the gradient argument",
    after=(2, 4),
    idea="A backward pass starts from one weight for each output and computes weights times slopes.",
    introduces=(
        "mean", "pow", "shape", "ones", "functional", "jacobian", "vjp_square", "array", "Graph", "outputs", "inputs",
        "_wires", "ndenumerate", "zeros", "stack", "start", "prod",
    ),
    misconceptions=("M25", "M26"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
