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
    Outside,
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
    """The oracle: how fast v . (x**2) changes with each x[i]; central differences are exact for a square."""
    nudges = 0.5 * np.eye(x.size)
    return np.array([v @ ((x + e) ** 2 - (x - e) ** 2) for e in nudges]).reshape(x.shape)


def probes_5_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -2.0]))
    x = numbers(rng, 4)
    yield call(x, numbers(rng, 4))
    yield call(x, numbers(rng, 4) * np.array([1.0, 0.0, 1.0, 1.0]))
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


def table_turned(x: Array, v: Array) -> Array:
    return np.outer(v, 2 * x)


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


EVERY_PAIR = "You multiplied every derivative by every weight. Does x[0] change the square of x[1]?"

EXERCISE_5_1 = function(
    "5.1", "vjp_square",
    why="Output i depends only on x[i], with the derivative 2 · x[i], and v[i] multiplies it.",
    title="the vector-Jacobian product of x squared",
    minutes=6,
    oracle=vjp_by_nudging,
    probes=probes_5_1,
    wrong=[
        Wrong(ignores_v, "M26", "Your answer does not depend on v: it is the derivative of each square, 2x. v holds one "
              "weight for each output. Where does the weight enter?"),
        Wrong(forgets_the_two, "M26", "You multiplied v by x. How fast does x*x change with x: as fast as x says, or "
              "faster?"),
        Wrong(v_as_the_point, "M26", "You used v as the point at which to differentiate. The point is x, and v holds one "
              "weight for each output. Which of the two decides the derivative of the square?"),
        Wrong(adds_it_all_up, "M27", "You added everything up to one number. x has several entries: how many partial "
              "derivatives does that make?"),
        Wrong(squares_instead, "", "You multiplied the weights by the outputs x*x themselves. The weights belong to the "
              "derivatives of the outputs: what is the derivative of a square?"),
        Wrong(measured, "M44", "This is close, but not for large x: you measured the derivative with a small step. The "
              "derivative of a square is known: what is it?"),
        Wrong(without_signs, "", "The sizes are right, but the signs are missing. May a derivative or a weight be "
              "negative?"),
        Wrong(added, "M22", "You added v to the derivatives. What does the chain rule do with the upstream gradient and the "
              "derivative?"),
        Wrong(shared_out, "M30", "You divided by the number of entries. Does the weight of one output depend on how many "
              "other outputs there are?"),
        Wrong(table_of_products, "M22", EVERY_PAIR, alike="every pair"),
        Wrong(table_turned, "M22", EVERY_PAIR, alike="every pair"),
        Wrong(a_list, "", "The numbers are right, but the answer has to be an array. How does numpy multiply two arrays "
              "entry by entry?"),
        Wrong(in_float32, "", "The numbers are right to seven digits, so something was computed in float32. Which dtype do "
              "x and v have?"),
        Wrong(in_place, "M15", "The numbers are right, but you changed x, and the caller still needs it. Which operator "
              "writes into an array, and which makes a new one?"),
        Wrong(whole_jacobian, "M27", "This is a whole matrix, with a row for each output and a column for each input. "
              "A product with v on the left adds its rows: which shape is left?"),
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
        "Take y = x**3 at x = [2] with v = [5]. The derivative of y is 12, and the weight of y is 5, so the answer "
        "is [60].",
        "Write down the derivative of x[i]**2 first. Then think about what v[i] does to it.",
    ],
    worked="Each output depends on its own input only, with the derivative 2 * x[i]. Its weight is v[i], so the answer "
           "is v * 2 * x.",
)  # fmt: skip


# --- 5.2 a whole Jacobian from several backward passes ------------------------------------------------------

# Given in the exercise notebook as well: a recorded computation with the methods of a tensor. Here its derivatives
# are not in the student's process at all: each backward pass is computed outside.
GRAPH = """
import numpy as np

class Graph:
    def __init__(self, derivatives):
        self.outputs, self.inputs = outside("size")
        self.grad = None

    def backward(self, v):
        v = np.asarray(v, dtype=float)
        if v.shape != (self.outputs,):
            raise RuntimeError(f"Mismatch in shape: {v.shape} for {self.outputs} outputs")
        if self.grad is None:
            self.grad = np.zeros(self.inputs)
        self.grad[:] += outside("row", v)

    def zero_grad(self):
        self.grad = None
"""


class Recorded(Outside):
    """The derivatives of a graph, which give only their product with a vector."""

    methods = ("size", "row")

    def __init__(self, derivatives: Any) -> None:
        self.derivatives = np.asarray(derivatives, dtype=float)

    def size(self) -> list[int]:
        return list(self.derivatives.shape)

    def row(self, v: Any) -> Any:
        if np.shape(v) != (len(self.derivatives),):
            raise ValueError(f"a vector with one number for each of {len(self.derivatives)} outputs is wanted")
        return v @ self.derivatives


def probes_5_2(rng: np.random.Generator) -> Iterator[Probe]:
    for outputs, inputs in ((3, 2), (3, 2), (2, 4), (3, 3), (1, 3), (4, 1)):
        yield run("graph = Graph(derivatives)\njacobian(graph)", derivatives=numbers(rng, outputs, inputs)).asking(Recorded)
    shape = run("graph = Graph(derivatives)\njacobian(graph).shape", derivatives=numbers(rng, 2, 3))
    yield shape.asking(Recorded).expect((2, 3))


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


def columns_for_inputs(graph: Any) -> Any:
    table = np.zeros((graph.outputs, graph.inputs))
    for j in range(graph.inputs):
        v = np.zeros(graph.outputs)
        v[j] = 1
        graph.zero_grad()
        graph.backward(v)
        table[:, j] = graph.grad
    return table


def what_backward_returns(graph: Any) -> Any:
    return np.array([graph.backward(v) for v in np.eye(graph.outputs)])


def never_clears_transposed(graph: Any) -> Any:
    return never_clears(graph).T


def last_pass_everywhere(graph: Any) -> Any:
    return np.tile(last_pass_only(graph), (graph.outputs, 1))


def first_output_only(graph: Any) -> Any:
    graph.backward(one_hot(graph.outputs, 0))
    return np.tile(graph.grad, (graph.outputs, 1))


def last_pass_only(graph: Any) -> Any:
    for i in range(graph.outputs):
        graph.zero_grad()
        graph.backward(one_hot(graph.outputs, i))
    return graph.grad


def reads_the_inside(graph: Any) -> Any:
    table = np.zeros((graph.outputs, graph.inputs))
    for i, j, derivative in graph._entries:
        table[i, j] = derivative
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


# No probe can tell these two apart: asking for all outputs in each pass, and keeping one array to which every pass
# adds.
SAME_ROWS = (
    "All rows are the same, and each is the sum of all rows. Does each pass ask for one output alone, and what has to "
    "happen between two passes?"
)
FOR_INPUTS = "You made one pass for each input. v has one number for each output: how many passes does that make?"

EXERCISE_5_2 = program(
    "5.2", "jacobian",
    why="A vector with a single 1 selects one output, and its backward pass gives one row of the Jacobian.",
    title="a whole Jacobian from backward passes",
    minutes=10,
    prelude=GRAPH,
    oracle=lambda derivatives: derivatives,
    probes=probes_5_2,
    wrong=[
        Wrong(one_pass_with_ones, "M25", "One pass with ones adds the rows of the Jacobian, so you have the sum of each "
              "column. How many passes do you need to see every row alone?"),
        Wrong(ones_for_every_row, "M01", SAME_ROWS, alike="same rows"),
        Wrong(transposed, "M42", "Rows and columns are swapped. A backward pass for output i gives one number for each "
              "input: is that a row or a column of dy/dx?"),
        Wrong(never_clears, "M01", "The first row is right, but each later row also contains the rows before it. Is grad "
              "cleared before each pass, and is the 1 of this output the only one in v?"),
        Wrong(keeps_one_array, "M01", SAME_ROWS, alike="same rows"),
        Wrong(passes_for_inputs, "M26", FOR_INPUTS, alike="for inputs"),
        Wrong(columns_for_inputs, "M26", FOR_INPUTS, alike="for inputs"),
        Wrong(what_backward_returns, "", "Your rows hold None. backward returns nothing: it adds its result to an attribute "
              "of the graph, which is None before the pass. Which one, and when do you read it?"),
        Wrong(reads_the_inside, "", "_entries is private, and the graph of the check does not have it. A tensor offers "
              "outputs, inputs, backward, grad and zero_grad: what can you find out with these?"),
        Wrong(list_of_rows, "", "The rows are right, but they are a list of lists. Which function stacks rows into one "
              "array?"),
        Wrong(all_in_a_row, "M27", "The numbers are right, but they are all in one row. How many axes does a matrix "
              "have?"),
        Wrong(from_the_last, "M42", "The rows are right, but they begin with the last one. Which output does row 0 belong "
              "to?"),
        Wrong(clears_with_a_number, "M07", "Before a pass you set grad to the number 0, and the pass then writes into it as "
              "into an array. How does this graph clear its gradient?"),
        Wrong(clears_the_array, "M01", "All rows are 0. Does v hold its 1 when backward runs, and do you write zeros into an "
              "array that you have stored?"),
        Wrong(never_clears_transposed, "M42", "Two things are wrong: rows and columns are swapped, and each pass also contains "
              "the passes before it. What does a pass for one output give, and what does backward do with grad?"),
        Wrong(last_pass_everywhere, "", "Every row is that of the last output. Into which row does the line of a pass write?"),
        Wrong(first_output_only, "", "Every row is that of the first output. At which place of v should the 1 be?"),
        Wrong(last_pass_only, "", "Only the row of the last pass is there. Where do you store the earlier rows?"),
    ],
    alternatives=[clears_each_time, clears_afterwards, takes_differences],
    hints=[
        "Row i of the Jacobian says how fast output i changes with each input.",
        "With two outputs, v = [0, 1] asks for the second output alone, and that pass gives the second row.",
        "Look at what happens between two passes: grad still contains the row before.",
    ],
    worked="For each output i: clear grad, call backward with a v that is 1 at i and 0 elsewhere, and store grad as row "
           "i. Then stack the rows.",
)  # fmt: skip

# --- 5.3 when is a sum the same? ----------------------------------------------------------------------------

EXERCISE_5_3 = choice(
    "5.3", "same_when",
    {
        "a": "always: it is only a shorter way to write it",
        "b": "when all entries of v are 1",
        "c": "when the entries of v add up to 1",
        "d": "never: the sum makes another graph, with other gradients",
    },
    right="b",
    why="The derivative of y.sum() with respect to every y[i] is 1, so the sum passes on a vector of ones.",
    title="when y.sum().backward() equals y.backward(v)",
    minutes=4,
    wrong=[
        Wrong("a", "M25", "Try it with y = x**2 at x = [1, 2] and v = [1, 0]. The second entry of x.grad is 0. Does the "
              "sum leave out the second output?"),
        Wrong("c", "M26", "v = [0.5, 0.5] adds up to 1 and takes half of each output. How much of each output is in "
              "y.sum()?"),
        Wrong("d", "M09", "The sum adds one node to the graph. Which gradient does this node pass on to each entry of y?"),
    ],
    hints=[
        "In a sum all terms have the same weight.",
        "y.mean() is the same as a v in which every entry is 1/n.",
        "Find the gradient that the sum passes on to each entry of y. These gradients form v.",
    ],
    worked="The derivative of y.sum() with respect to each y[i] is 1, so the sum is backward with a v of ones: answer b.",
)  # fmt: skip

# --- 5.4 what a backward pass starts from -------------------------------------------------------------------


def start_by_cases(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    """The oracle is only asked where no error is due."""
    return np.full(shape, 1.0) if gradient is None else gradient


def probes_5_4(rng: np.random.Generator) -> Iterator[Probe]:
    refused = Raises("RuntimeError")
    yield call(())
    yield call((3,), numbers(rng, 3))
    yield call((3,)).expect(refused).show()
    yield call((2, 3), numbers(rng, 2, 3))
    yield call((1, 1))
    yield call((3,), numbers(rng, 1)).expect(refused).show()
    yield call((2, 3), numbers(rng, 3, 2)).expect(refused)
    yield call((), np.array(2.5))
    yield call((1,), numbers(rng, 1))
    yield call((2, 2)).expect(refused)
    yield call((1, 1), numbers(rng, 1)).expect(refused)
    yield call((1,), np.array([0.0]))
    yield call((2,), np.array([0.0, 0.0]))
    yield call((0, 2)).expect(refused)
    yield call((2, 3), np.array(2.5)).expect(refused)


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


def says_and_goes_on(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and np.prod(shape) != 1:
        print("RuntimeError: only for scalar outputs")
        return None
    if gradient is not None and np.shape(gradient) != tuple(shape):
        print("RuntimeError: Mismatch in shape")
        return None
    return np.ones(shape) if gradient is None else gradient


def broadcasts_plainly(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return np.broadcast_to(start_plainly(shape) if gradient is None else gradient, shape)


def reshapes(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return start_plainly(shape) if gradient is None else gradient.reshape(shape)


def default_first(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return np.ones(shape) if np.prod(shape) == 1 else start_plainly(shape, gradient)


def ones_for_any_gradient(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return start_plainly(shape) if gradient is None else np.ones(shape)


def asks_for_truth(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    return check_shape(shape, gradient) if gradient else start_plainly(shape)


def one_axis_at_most(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and len(shape) > 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else check_shape(shape, gradient)


def one_axis_exactly(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and len(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else check_shape(shape, gradient)


def adds_the_sizes(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    if gradient is None and sum(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(shape) if gradient is None else check_shape(shape, gradient)


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


STRETCHED = (
    "You stretched a gradient of another shape until it fitted. A single number for three outputs may be a mistake of the "
    "caller: how would the caller notice it?"
)
SIX_NUMBERS = (
    "You accepted a (3, 2) gradient for a (2, 3) output, because both hold six numbers. Which number belongs to which "
    "output then?"
)
COUNTS_AXES = (
    "You count the axes of the shape. (3,) has one axis and three numbers, and () has no axis and one number. How do you "
    "count the numbers?"
)

EXERCISE_5_4 = function(
    "5.4", "start",
    why="Only a result with one element has an obvious gradient to start from, and that gradient is 1.",
    title="what a backward pass starts from",
    minutes=6,
    oracle=start_by_cases,
    probes=probes_5_4,
    wrong=[
        Wrong(silently_ones, "M25", "Without a gradient you start from ones for every shape. That adds up all outputs, and "
              "the caller did not ask for their sum. For which shapes is only one start possible?"),
        Wrong(always_ones, "M26", "You check the given gradient, but then you start from ones. Who decides how much each "
              "output counts?"),
        Wrong(broadcasts, "M41", STRETCHED, alike="stretched"),
        Wrong(broadcasts_plainly, "M41", STRETCHED, alike="stretched"),
        Wrong(default_first, "M26", "For an output of one number you start from 1, although a gradient was given. Which "
              "question comes first?"),
        Wrong(ones_for_any_gradient, "M26", "A gradient was given, and you start from ones all the same. What does the caller "
              "want with this argument?"),
        Wrong(asks_for_truth, "M05", "Your if asks whether the numbers of the gradient are true, and not whether a gradient "
              "was given. How can you compare it with None?"),
        Wrong(one_axis_at_most, "M41", COUNTS_AXES, alike="counts axes"),
        Wrong(one_axis_exactly, "M41", COUNTS_AXES, alike="counts axes"),
        Wrong(adds_the_sizes, "M41", "You add the sizes of the shape. A (2, 3) output holds six numbers, and one of shape () "
              "holds one: what has to be done with the sizes?"),
        Wrong(hands_on_anything, "M41", "You return a gradient of a wrong shape. What has to be compared before the pass "
              "starts?"),
        Wrong(empty_shape_only, "M41", "Shape () has a default, but you refused the shape (1, 1). How many numbers does an "
              "output of shape (1, 1) hold?"),
        Wrong(starts_from_zero, "M21", "The pass starts from 0. The first gradient is that of the output with respect to "
              "itself. What number is it?"),
        Wrong(drops_the_shape, "M27", "For the shape (1, 1) you start from a plain number. Which shape does the gradient of "
              "an output have?"),
        Wrong(another_exception, "", "You refuse the right cases, but with another type of exception. Which one does the "
              "exercise ask for?"),
        Wrong(says_and_goes_on, "", "You print the problem and return None, so the program continues. What stops a caller "
              "who does not read the output?"),
        Wrong(stretches_a_number, "M41", "The gradient is one number for six outputs, and you made six numbers of it. How "
              "would a caller notice that the shape was a mistake?"),
        Wrong(counts_axes, "M41", "You only compare the number of axes: (3, 2) has two, and so has (2, 3). What else must "
              "be equal?"),
        Wrong(zeros_for_none, "M05", "You treated a gradient of zeros like a missing gradient. Is 'nothing was given' the "
              "same as '0 was given'? How can you test for None itself?"),
        Wrong(up_to_one, "M25", "An output of shape (0, 2) holds no number at all, and you start a pass from it. How many "
              "numbers must it hold for a default?"),
        Wrong(counts_numbers_only, "M41", SIX_NUMBERS, alike="six numbers"),
        Wrong(reshapes, "M41", SIX_NUMBERS, alike="six numbers"),
    ],
    alternatives=[start_plainly, start_from_sizes],
    hints=[
        "There are three cases: a gradient of the right shape, a gradient of a wrong shape, and no gradient.",
        "PyTorch has a default start for the shapes (), (1,) and (1, 1). It has none for an output of two or more numbers.",
        "Look at the test that decides whether there is a default: count the numbers in the shape.",
    ],
    worked="If there is no gradient and np.prod(shape) is 1, take np.ones(shape) as the gradient. If there is still no "
           "gradient, or if its shape is not `shape`, raise RuntimeError. Otherwise return it.",
)  # fmt: skip

# --- predictions of the reading notebook --------------------------------------------------------------------

PREDICTION_5_0 = prediction(
    "5.0", [4, 6], points=0,
    title="the gradient of a sum of squares",
    wrong=[
        Wrong([4, 9], "M06", "These are the squares themselves. How fast does each square change?"),
        Wrong([2, 3], "M06", "These are the entries of x. How fast does the square of each entry change?"),
        Wrong([10, 10], "M27", "You added the derivatives. Does x[0] change the square of x[1]?"),
        Wrong([1, 1], "M23", "This is what the sum passes on to each square. By which derivative does the square multiply it?"),
        Wrong([13], "M03", "13 is z. The question is how fast z changes with each entry of x."),
        Wrong([10], "M27", "This is one number for two inputs. To which input does it belong?"),
    ],
)  # fmt: skip

PREDICTION_5_0A = prediction(
    "5.0a", [40, 60], points=0,
    title="a pass that starts from 10",
    wrong=[
        Wrong([4, 6], "M26", "These are the gradients of a pass that starts from 1. Does another start change nothing?"),
        Wrong([14, 16], "M22", "You added the start. Along a path gradients are multiplied: where on the path is the 10?"),
        Wrong([10, 10], "M23", "This is the start itself. By which derivatives is it multiplied on the way to x?"),
    ],
)  # fmt: skip

PREDICTION_5_0B = prediction(
    "5.0b", [2 / 3, 4 / 3, 2], points=0, atol=0.01,
    title="the gradient of a mean of squares",
    wrong=[
        Wrong([2, 4, 6], "M30", "This is the gradient of the sum of the squares. What does the mean do in addition?"),
        Wrong([1, 4, 9], "M06", "These are the squares themselves. How fast does each square change?"),
        Wrong([1 / 3, 2 / 3, 1], "M43", "This is a third of x. What is the derivative of x * x?"),
        Wrong([1 / 3, 1 / 3, 1 / 3], "M23", "This is what the mean passes on to each square. By which derivative does the "
              "square multiply it?"),
        Wrong([4], "M27", "This is one number for three inputs. How many partial derivatives does z have?"),
    ],
)  # fmt: skip

PREDICTION_5_1A = prediction(
    "5.1a", [2.5403, 3.5839], points=0,
    title="x.grad after a second backward pass",
    wrong=[
        Wrong([0, 3.5839], "M01", "This is the result of the second pass alone. What does x.grad contain already?"),
        Wrong([2.5403, 0], "M01", "This was there before. Does the second pass change nothing?"),
        Wrong([1, 1], "M26", "These are the weights of the passes. Which row of the table belongs to each weight?"),
    ],
)  # fmt: skip

PREDICTION_5_1B = prediction(
    "5.1b", [6, 16, 9], points=0,
    title="weights times a Jacobian",
    wrong=[
        Wrong([3, 6, 3], "M26", "You added the rows without their weights. Row 0 has the weight 2, and row 1 the weight 3."),
        Wrong([6, 4, 0], "M25", "This is row 0 with its weight. The second output has a weight too."),
        Wrong([0, 12, 9], "M25", "This is row 1 with its weight. The first output has a weight too."),
        Wrong([9, 14, 6], "M26", "The weights are swapped. Which weight belongs to y[0]?"),
        Wrong([6, 48, 9], "M22", "You multiplied the two contributions to x[1]. What does the chain rule do with "
              "contributions that meet?"),
    ],
)  # fmt: skip

PREDICTION_5_2A = prediction(
    "5.2a", "c", points=0,
    title="the sign of x.grad[1]",
    options={"a": "zero", "b": "positive", "c": "negative"},
    wrong=[
        Wrong("a", "M22", "The first fraction is x[0] divided by the total. Does the total stay the same when x[1] grows?"),
        Wrong("b", "M22", "When x[1] grows, the total grows, and x[0] is divided by more. Does the fraction grow?"),
    ],
)  # fmt: skip

PREDICTION_5_3A = prediction(
    "5.3a", [0, 0], points=0, atol=1e-3,
    title="the gradient of the sum of all fractions",
    wrong=[
        Wrong([1, 1], "M23", "This is what the sum passes on to each fraction. By which derivatives is it multiplied on the "
              "way to x?"),
        Wrong([0.25, 0.75], "M43", "These are the fractions themselves. How fast does their sum change with x?"),
        Wrong([0.1875, -0.0625], "M25", "This is the gradient of the first fraction alone. The sum contains both."),
        Wrong([0.1875, 0.0625], "M25", "You took the derivative of each fraction for its own amount only. Each amount "
              "changes the other fraction too: what is the sum of each column of the Jacobian?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_5_0, PREDICTION_5_0A, PREDICTION_5_0B, PREDICTION_5_1A, PREDICTION_5_1B,
    PREDICTION_5_2A, PREDICTION_5_3A,
    EXERCISE_5_1, EXERCISE_5_2, EXERCISE_5_3, EXERCISE_5_4,
)  # fmt: skip

LESSON = Lesson(
    number=5,
    slug="05_vectors",
    title="Vectors: the gradient argument",
    after=(2, 4),
    idea="A backward pass starts from one weight for each output and computes the weights times the Jacobian.",
    introduces=(
        "mean", "pow", "shape", "ones", "functional", "jacobian", "vjp_square", "array", "Graph", "outputs", "inputs",
        "_entries", "ndenumerate", "zeros", "stack", "start", "prod",
    ),
    misconceptions=("M25", "M26"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
