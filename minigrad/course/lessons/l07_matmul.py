"""Lesson 07: the two gradients of a matrix product.

All oracles are sums over letters, written out by einsum or measured by moving one entry: no transpose
occurs in them, so that a misplaced one cannot be shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import (
    ENGINE_OFF,
    Exercise,
    Lesson,
    Probe,
    Wrong,
    call,
    choice,
    function,
    numbers,
    prediction,
    unaided,
    value,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pair = tuple[Array, Array]

X_TEXT = np.array([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0], [-0.5, 2.0, 4.0], [1.5, -1.0, 2.0]])
W_TEXT = np.array([[2.0, -1.0], [0.5, 3.0], [-1.5, 1.0]])
G_TEXT = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.5], [2.5, 1.5]])

# --- 7.1 both gradients --------------------------------------------------------------------------------


def by_letters(G: Array, X: Array, W: Array) -> Pair:
    """The oracle: the index formulas, letter by letter."""
    return np.einsum("ij,kj->ik", G, W), np.einsum("ik,ij->kj", X, G)


def probes_7_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(G_TEXT, X_TEXT, W_TEXT)
    yield call(numbers(rng, 2, 4), numbers(rng, 2, 3), numbers(rng, 3, 4))
    yield call(numbers(rng, 1, 3), numbers(rng, 1, 2), numbers(rng, 2, 3))
    yield call(numbers(rng, 3, 1), numbers(rng, 3, 5), numbers(rng, 5, 1))
    yield call(numbers(rng, 2, 2), numbers(rng, 2, 2), numbers(rng, 2, 2))
    yield unaided("matmul_backward", by_letters(G_TEXT, X_TEXT, W_TEXT), G=G_TEXT, X=X_TEXT, W=W_TEXT)


BY_ENGINE = (
    "That is the engine's answer: with the engine switched off, nothing is left. This rule is yours to write. Which "
    "product has the right shape?"
)


def by_engine(G: Array, X: Array, W: Array) -> Pair:
    x, w = torch.tensor(X, requires_grad=True), torch.tensor(W, requires_grad=True)
    (x @ w).backward(torch.tensor(G))
    assert x.grad is not None and w.grad is not None
    return x.grad.numpy(), w.grad.numpy()


def square_as_it_stands(G: Array, X: Array, W: Array) -> Pair:
    return no_transpose(G, X, W) if G.shape == X.shape == W.shape else with_dot(G, X, W)


def reshaped(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.reshape(W.shape[::-1]), X.reshape(X.shape[::-1]) @ G


def mean_over_rows(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X.T @ G / len(X)


def w_first(G: Array, X: Array, W: Array) -> Pair:
    return W.T @ G, X.T @ G


def no_transpose(G: Array, X: Array, W: Array) -> Pair:
    return G @ W, X @ G


def entrywise(G: Array, X: Array, W: Array) -> Pair:
    return G * W, X * G


def swapped(G: Array, X: Array, W: Array) -> Pair:
    return X.T @ G, G @ W.T


def ones_for_g(G: Array, X: Array, W: Array) -> Pair:
    ones = np.ones_like(G)
    return ones @ W.T, X.T @ ones


def inverse(G: Array, X: Array, W: Array) -> Pair:
    return G @ np.linalg.pinv(W), np.linalg.pinv(X) @ G


def the_other_matrix(G: Array, X: Array, W: Array) -> Pair:
    return W.T, X.T


def dw_turned(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, G.T @ X


def only_dx(G: Array, X: Array, W: Array) -> Array:
    return G @ W.T


def with_dot(G: Array, X: Array, W: Array) -> Pair:
    return np.dot(G, np.transpose(W)), np.dot(np.transpose(X), G)


def with_loops(G: Array, X: Array, W: Array) -> Pair:
    dX, dW = np.zeros(X.shape), np.zeros(W.shape)
    for i, j in np.ndindex(*G.shape):
        dX[i] += G[i, j] * W[:, j]
        dW[:, j] += G[i, j] * X[i]
    return dX, dW


def from_the_other_side(G: Array, X: Array, W: Array) -> list[Array]:
    return [(W @ G.T).T, (G.T @ X).T]


def with_letters(G: Array, X: Array, W: Array) -> Pair:
    return np.tensordot(G, W, ([1], [1])), np.einsum("ik,ij->kj", X, G)


def with_rows(G: Array, X: Array, W: Array) -> Any:
    return [np.stack([(g * W).sum(axis=1) for g in G]), np.add.reduce([np.outer(x, g) for x, g in zip(X, G, strict=True)])]


EXERCISE_7_1 = function(
    "7.1", "matmul_backward",
    why="dL/dX = G Wᵀ and dL/dW = Xᵀ G; the shapes of X and W allow no other products of these matrices.",
    title="both gradients of a matrix product",
    minutes=10,
    oracle=by_letters,
    probes=probes_7_1,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(w_first, "M29", "W.T stands on the left of G. Write the shapes down: dX is shaped like X. "
              "Which of the two matrices brings the rows of X, which the columns?"),
        Wrong(no_transpose, "M29", "No transpose anywhere. For X (4, 3) and W (3, 2), G is (4, 2): what has "
              "to stand to the right of G so that (4, 3) comes out?"),
        Wrong(entrywise, "M29", "That multiplies entry by entry. X[0, 0] is used for every number in the "
              "first row of the product: how many terms does its gradient have?"),
        Wrong(swapped, "", "Both are there, in the other order. What comes first, the gradient of X or of "
              "W?"),
        Wrong(ones_for_g, "M23", "Your answer does not depend on G: it is right if the product is only "
              "summed up. What arrives from behind?"),
        Wrong(inverse, "M29", "An inverse undoes a product; a gradient does not. Nudge X[0, 0]: which "
              "entries of W decide how far the product moves?"),
        Wrong(the_other_matrix, "M23", "The other matrix, transposed, is only the slope. G has not been used "
              "at all: what does it do to the slope?"),
        Wrong(dw_turned, "M29", "dX is right, and dW lies on its side. Which shape has W?"),
        Wrong(only_dx, "M32", "One gradient for two inputs. The product was made from X and from W: give "
              "back two answers, in that order."),
        Wrong(by_engine, "", BY_ENGINE),
        Wrong(square_as_it_stands, "M29", "Right where the sizes force it, and wrong for square matrices, where every "
              "order fits. Which single entry could you follow to decide?"),
        Wrong(reshaped, "M42", "reshape gives the right shape and leaves the numbers in their old order. Where does the "
              "entry of row 0, column 1 have to go?"),
        Wrong(mean_over_rows, "M28", "dW is averaged over the rows. Every row used W: do their messages add up, or "
              "average out?"),
    ],
    alternatives=[with_dot, with_loops, from_the_other_side, with_letters, with_rows],
    hints=[
        "Each gradient has the shape of its matrix. Two matrices are at hand for each: G and the *other* "
        "one.",
        "For X (5, 2) and W (2, 7), G is (5, 7). dX is (5, 2): that is (5, 7) times something of shape (7, "
        "2).",
        "Only one order and one transpose fit. If several fit because a size is the same, try sizes 2, 3 and "
        "4.",
    ],
    worked="dX = G @ W.T and dW = X.T @ G. Return both, X first.",
)  # fmt: skip

# --- 7.2 when shapes do not help -----------------------------------------------------------------------

G_SQUARE = np.array([[1.0, -2.0], [4.0, 0.5]])
W_SQUARE = np.array([[2.0, -1.0], [0.5, 3.0]])


def listed(table: Array) -> list[list[float]]:
    rows: list[list[float]] = table.tolist()
    return rows


EXERCISE_7_2 = value(
    "7.2", "dX_square", [[4.0, -5.5], [7.5, 3.5]],
    why="dL/dX = G Wᵀ also for square matrices, where the shapes do not tell the order.",
    title="square matrices, where shapes do not help",
    minutes=6,
    wrong=[
        Wrong(listed(G_SQUARE @ W_SQUARE), "M29", "That is G times W: the transpose is missing. X[0, 1] "
              "multiplies a row of W. Did you multiply with a row, or with a column?", name="G @ W"),
        Wrong(listed(W_SQUARE.T @ G_SQUARE), "M29", "The transpose is there, on the wrong side. X[0, 1] "
              "moves the first row of the product only: which row of G does its gradient use?",
              name="W.T @ G"),
        Wrong(listed(W_SQUARE @ G_SQUARE), "M29", "That is W times G: other side, and no transpose. Start "
              "from one entry of X: which entries of the product does it move?", name="W @ G"),
        Wrong(listed(np.ones((2, 2)) @ W_SQUARE.T), "M23", "Both rows are the same: G has not been used. How "
              "much does the rest of the world care about each entry of the product?", name="ones"),
        Wrong(listed(G_SQUARE * W_SQUARE), "M29", "That is entry by entry. Each entry of X moves a whole row "
              "of the product: how many terms are there?", name="G * W"),
        Wrong(listed((G_SQUARE @ W_SQUARE.T).T), "M42", "The numbers are right, and lie on their side: rows "
              "and columns are swapped.", name="turned"),
        Wrong(listed(W_SQUARE.T), "M23", "That is W, transposed: the slopes alone. G has to come in.",
              name="W.T"),
    ],
    hints=[
        "X[i, k] is multiplied with every number in row k of W, and each product goes into row i of the "
        "result.",
        "For G = [[1, 10]] and W = [[2, 3], [4, 5]]: dX = [[1*2 + 10*3, 1*4 + 10*5]] = [[32, 54]].",
        "For the entry in row 0, column 1: row 0 of G against row 1 of W.",
    ],
    worked="Row of G against row of W: [[1*2 + (-2)*(-1), 1*0.5 + (-2)*3], [4*2 + 0.5*(-1), 4*0.5 + 0.5*3]].",
)  # fmt: skip

# --- 7.3 one entry, with indices -----------------------------------------------------------------------


def measured(name: str, G: Array, other: Array, row: int, column: int) -> Any:
    """The oracle: move one entry of X (or W) by 1 and see how far the weighted product moves."""
    if name == "dX_entry":
        moved = np.zeros((G.shape[0], other.shape[0]))
        moved[row, column] = 1.0
        return np.sum(G * np.tensordot(moved, other, 1))
    moved = np.zeros((other.shape[1], G.shape[1]))
    moved[row, column] = 1.0
    return np.sum(G * np.tensordot(other, moved, 1))


def probes_7_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(G_TEXT, W_TEXT, 0, 2).of("dX_entry")
    yield call(numbers(rng, 2, 4), numbers(rng, 3, 4), 1, 2).of("dX_entry")
    yield call(numbers(rng, 4, 3), numbers(rng, 2, 3), 3, 1).of("dX_entry")
    yield call(numbers(rng, 3, 3), numbers(rng, 3, 3), 2, 1).of("dX_entry")
    yield call(G_TEXT, X_TEXT, 2, 0).of("dW_entry")
    yield call(numbers(rng, 2, 4), numbers(rng, 2, 3), 2, 3).of("dW_entry")
    yield call(numbers(rng, 4, 3), numbers(rng, 4, 2), 1, 2).of("dW_entry")
    yield call(numbers(rng, 3, 3), numbers(rng, 3, 3), 2, 1).of("dW_entry")
    for name, other in (("dX_entry", W_TEXT), ("dW_entry", X_TEXT)):
        yield unaided(name, measured(name, G_TEXT, other, 2, 1), G=G_TEXT, other=other, row=2, column=1)


def engine_dx(G: Array, W: Array, i: int, k: int) -> Any:
    return by_engine(G, np.zeros((len(G), len(W))), W)[0][i, k]


def engine_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return by_engine(G, X, np.zeros((X.shape[1], G.shape[1])))[1][k, j]


def mean_of_terms(G: Array, W: Array, i: int, k: int) -> Any:
    return np.mean(G[i] * W[k])


def mean_of_terms_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return np.mean(X[:, k] * G[:, j])


def entries(dX_entry: Any, dW_entry: Any) -> dict[str, Any]:
    return {"dX_entry": dX_entry, "dW_entry": dW_entry}


def dx_sum(G: Array, W: Array, i: int, k: int) -> Any:
    return sum(G[i, j] * W[k, j] for j in range(G.shape[1]))


def dw_sum(G: Array, X: Array, k: int, j: int) -> Any:
    return sum(X[i, k] * G[i, j] for i in range(G.shape[0]))


def no_g(G: Array, other: Array, i: int, k: int) -> Any:
    return sum(other[k, j] for j in range(G.shape[1]))


def no_g_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return sum(X[i, k] for i in range(G.shape[0]))


def wrong_letter(G: Array, W: Array, i: int, k: int) -> Any:
    return sum(G[n, k] * W[n, k] for n in range(min(len(G), len(W))))


def wrong_letter_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return sum(X[k, n] * G[j, n] for n in range(min(X.shape[1], G.shape[1])))


def turned(G: Array, W: Array, i: int, k: int) -> Any:
    return sum(G[i, j] * W[j, k] for j in range(G.shape[1]))


def turned_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return sum(X[k, i] * G[i, j] for i in range(G.shape[0]))


def first_term(G: Array, W: Array, i: int, k: int) -> Any:
    return G[i, 0] * W[k, 0]


def first_term_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return X[0, k] * G[0, j]


def all_rows(G: Array, W: Array, i: int, k: int) -> Any:
    return sum(G[n, j] * W[k, j] for n in range(G.shape[0]) for j in range(G.shape[1]))


def all_columns(G: Array, X: Array, k: int, j: int) -> Any:
    return sum(X[i, k] * G[i, n] for i in range(G.shape[0]) for n in range(G.shape[1]))


def last_term(G: Array, W: Array, i: int, k: int) -> Any:
    total = 0.0
    for j in range(G.shape[1]):
        total = G[i, j] * W[k, j]
    return total


def last_term_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    total = 0.0
    for i in range(G.shape[0]):
        total = X[i, k] * G[i, j]
    return total


EXERCISE_7_3 = function(
    "7.3", ("dX_entry", "dW_entry"),
    why="X[i, k] enters every element of row i of the product, so its gradient sums over j; for W[k, j] it sums over i.",
    title="one entry, with indices",
    minutes=8,
    oracle=measured,
    probes=probes_7_3,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(entries(no_g, no_g_in_dw), "M23", "The slopes are added up, and G is nowhere. How much does "
              "each entry of the product count?", name="without G"),
        Wrong(entries(wrong_letter, wrong_letter_in_dw), "M42", "You sum over the wrong letter: the one that "
              "the entry itself has. The entry's two letters stay fixed; which of the three is left to run?",
              name="wrong letter"),
        Wrong(entries(turned, turned_in_dw), "M29", "The indices of the other matrix are swapped: it is read "
              "as if it were transposed. In C[i, j] = sum of X[i, k] * W[k, j], which index comes first?",
              name="turned"),
        Wrong(entries(first_term, first_term_in_dw), "M22", "That is the first term alone. Over which letter "
              "do the paths run?", name="first term"),
        Wrong(entries(last_term, last_term_in_dw), "M19", "Each term replaces the one before: the last one "
              "is left. What does the chain rule do with paths?", name="last term"),
        Wrong(entries(all_rows, all_columns), "M22", "You sum over two letters. X[i, k] reaches one row of "
              "the product, W[k, j] one column: which letter has to stay?", name="two letters"),
        Wrong(entries(mean_of_terms, mean_of_terms_in_dw), "M28", "The terms are averaged. Each is a path of its own: "
              "what does the chain rule do with paths?", name="mean"),
        Wrong(entries(engine_dx, engine_dw), "", "That is the engine's answer: with the engine switched off, nothing is "
              "left. These two sums are yours to write.", name="engine"),
    ],
    alternatives=[
        entries(dx_sum, dw_sum),
        entries(lambda G, W, i, k: G[i] @ W[k], lambda G, X, k, j: X[:, k] @ G[:, j]),
        entries(lambda G, W, i, k: (G @ W.T)[i, k], lambda G, X, k, j: float(np.dot(X.T[k], G.T[j]))),
        entries(lambda G, W, i, k: np.array(np.einsum("j,j", G[i], W[k])),
                lambda G, X, k, j: np.array((X[:, k] * G[:, j]).sum())),
    ],
    hints=[
        "Start from C[i, j] = sum over k of X[i, k] * W[k, j]. In which entries of C does X[i, k] occur?",
        "For a sum y[j] = a * b[j] over all j, with weights g[j]: the gradient of a is the sum over j of "
        "g[j] * b[j].",
        "X[i, k] occurs in C[i, j] for every j, with the factor W[k, j].",
    ],
    worked="dX[i, k] is the sum over j of G[i, j] * W[k, j]; dW[k, j] is the sum over i of X[i, k] * G[i, "
           "j].",
)  # fmt: skip

# --- 7.4 a batch, and a single vector ------------------------------------------------------------------


def by_more_letters(name: str, G: Array, X: Array, W: Array) -> Pair:
    """The oracle: the same letters, with one more for the batch, or one less for a vector."""
    if name == "vector_backward":
        return np.einsum("j,kj->k", G, W), np.einsum("k,j->kj", X, G)
    return np.einsum("bij,kj->bik", G, W), np.einsum("bik,bij->kj", X, G)


def probes_7_4(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(numbers(rng, 2, 4, 2), numbers(rng, 2, 4, 3), numbers(rng, 3, 2)).of("batch_backward")
    yield call(numbers(rng, 3, 2, 5), numbers(rng, 3, 2, 4), numbers(rng, 4, 5)).of("batch_backward")
    yield call(numbers(rng, 3, 3, 3), numbers(rng, 3, 3, 3), numbers(rng, 3, 3)).of("batch_backward")
    yield call(numbers(rng, 2), numbers(rng, 3), numbers(rng, 3, 2)).of("vector_backward")
    yield call(numbers(rng, 4), numbers(rng, 2), numbers(rng, 2, 4)).of("vector_backward")
    yield call(numbers(rng, 3), numbers(rng, 3), numbers(rng, 3, 3)).of("vector_backward")
    yield call(numbers(rng, 1, 2, 3), numbers(rng, 1, 2, 4), numbers(rng, 4, 3)).of("batch_backward")
    batch, vector = (G_TEXT.reshape(2, 2, 2), X_TEXT.reshape(2, 2, 3)), (G_TEXT[0], X_TEXT[0])
    for name, (G, X) in (("batch_backward", batch), ("vector_backward", vector)):
        yield unaided(name, by_more_letters(name, G, X, W_TEXT), G=G, X=X, W=W_TEXT)


def pair_of(batch_backward: Any, vector_backward: Any) -> dict[str, Any]:
    return {"batch_backward": batch_backward, "vector_backward": vector_backward}


def batch_summed(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, (np.swapaxes(X, 1, 2) @ G).sum(axis=0)


def vector_outer(g: Array, x: Array, W: Array) -> Pair:
    return W @ g, np.outer(x, g)


def reversed_axes(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, (X.T @ G).sum(axis=0)


def table_for_each_example(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, np.swapaxes(X, 1, 2) @ G


def averaged(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, (np.swapaxes(X, 1, 2) @ G).mean(axis=0)


def last_example(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X[-1].T @ G[-1]


def batch_of_ones(G: Array, X: Array, W: Array) -> Pair:
    return batch_summed(np.ones_like(G), X, W)


def vector_of_ones(g: Array, x: Array, W: Array) -> Pair:
    return vector_outer(np.ones_like(g), x, W)


def outer_turned(g: Array, x: Array, W: Array) -> Pair:
    return W @ g, np.outer(g, x)


def transpose_of_a_vector(g: Array, x: Array, W: Array) -> Pair:
    return g @ W.T, x.T @ g


def vector_without_transpose(g: Array, x: Array, W: Array) -> Pair:
    return g @ W, np.outer(x, g)


def batch_folded(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X.reshape(-1, X.shape[-1]).T @ G.reshape(-1, G.shape[-1])


def batch_in_a_loop(G: Array, X: Array, W: Array) -> Pair:
    dW = np.zeros(W.shape)
    for x, g in zip(X, G, strict=True):
        dW += x.T @ g
    return np.stack([g @ W.T for g in G]), dW


def vector_as_a_row(g: Array, x: Array, W: Array) -> Pair:
    return (g[None, :] @ W.T)[0], x[:, None] @ g[None, :]


def vector_stretched(g: Array, x: Array, W: Array) -> Pair:
    return (W * g).sum(axis=1), x[:, None] * g


EXERCISE_7_4 = function(
    "7.4", ("batch_backward", "vector_backward"),
    why="The whole batch uses one W, so dL/dW is summed over the batch; for a single vector it is an outer product.",
    title="a batch, and a single vector",
    minutes=12,
    oracle=by_more_letters,
    probes=probes_7_4,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(pair_of(reversed_axes, vector_outer), "M29", "X.T turns *all* axes of a three-axis array "
              "around: (2, 4, 3) becomes (3, 4, 2). Which two axes should change places?",
              name="T on three axes"),
        Wrong(pair_of(table_for_each_example, vector_outer), "M28", "dW has one table for each example of "
              "the batch. W is shared by all of them: what happens to its messages?", name="dW not summed"),
        Wrong(pair_of(averaged, vector_outer), "M28", "dW is averaged over the batch. A nudge of W moves "
              "every example: do their effects add up, or average out?", name="dW averaged"),
        Wrong(pair_of(last_example, vector_outer), "M19", "dW knows the last example only. Who else used W?",
              name="last example"),
        Wrong(pair_of(batch_of_ones, vector_of_ones), "M23", "Your answer does not depend on what arrives. "
              "Right for a sum, and for nothing else.", name="ones"),
        Wrong(pair_of(batch_summed, outer_turned), "M42", "The dW of the vector lies on its side. W[k, j] "
              "joins x[k] and y[j]: which of them counts the rows?", name="outer turned"),
        Wrong(pair_of(batch_summed, transpose_of_a_vector), "M29", "A vector has one axis, and .T does "
              "nothing to it. How do you make a whole table from x and g?", name="T of a vector"),
        Wrong(pair_of(batch_summed, vector_without_transpose), "M29", "In vector_backward, dx multiplies g "
              "with W as it stands. x[k] was multiplied with row k of W: which product runs along the rows?",
              name="vector without transpose"),
        Wrong(pair_of(lambda G, X, W: (G @ W.T, (X.reshape(len(X), X.shape[2], -1) @ G).sum(axis=0)), vector_outer), "M42",
              "reshape gives each example the right shape and leaves its numbers in their old order. Which function "
              "lets two axes change places?", name="reshape"),
        Wrong(pair_of(by_engine, by_engine), "", "That is the engine's answer: with the engine switched off, nothing is "
              "left. Both rules are yours to write.", name="engine"),
    ],
    alternatives=[
        pair_of(batch_summed, vector_outer),
        pair_of(batch_folded, vector_as_a_row),
        pair_of(batch_in_a_loop, vector_stretched),
        pair_of(lambda G, X, W: [np.matmul(G, np.moveaxis(W, 0, 1)), np.tensordot(X, G, ([0, 1], [0, 1]))],
                lambda g, x, W: (np.einsum("j,kj->k", g, W), np.multiply.outer(x, g))),
    ],
    hints=[
        "Write the index sums as in 7.3. A batch adds the letter b, which C[b, i, j] and X[b, i, k] have and "
        "W[k, j] has not; a vector has lost the letter i.",
        "A letter that stands in C but not in an operand is summed over in the gradient of that operand. "
        "With three examples whose own dW are 1, 10 and 100, the shared W gets 111.",
        "np.swapaxes(X, 1, 2) swaps two axes and leaves the batch in front. np.outer makes a table from two "
        "vectors.",
    ],
    worked="Batch: dX = G @ W.T and dW = (np.swapaxes(X, 1, 2) @ G).sum(axis=0). Vector: dx = W @ g and "
           "dW = np.outer(x, g).",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_7_0 = prediction(
    "7.0", [[11, 15], [11, 15]], points=0,
    title="the gradient of a summed matrix product",
    wrong=[
        Wrong([[20, 28], [20, 28]], "M29", "That is what the document's comment says. Nudge A[0, 0] in your "
              "head: which two entries of C move, and how far?", name="the comment"),
        Wrong([[12, 14], [12, 14]], "M42", "Those are the sums of B's columns. A[0, 0] is multiplied with "
              "B[0, 0] and with B[0, 1]: a row, or a column?", name="column sums"),
        Wrong([[5, 6], [7, 8]], "M23", "That is B itself. A[0, 0] is used for two entries of C.", name="B"),
        Wrong([[5, 7], [6, 8]], "M29", "That is B, transposed. A[0, 0] is used for two entries of C.",
              name="B.T"),
        Wrong([[19, 22], [43, 50]], "M43", "That is the product C. How fast does its sum move?", name="C"),
        Wrong([[11, 11], [15, 15]], "M42", "The right numbers, on their side: does the column of an entry of "
              "A choose the row of B, or its row?", name="turned"),
    ],
)  # fmt: skip

PREDICTION_7_1A = prediction(
    "7.1a", "c", points=0,
    title="which product has the shape of X?",
    options={"a": "W.T @ G", "b": "G @ W", "c": "G @ W.T", "d": "G * W"},
    wrong=[
        Wrong("a", "M29", "(2, 3) times (4, 2): do the inner sizes meet?"),
        Wrong("b", "M29", "(4, 2) times (3, 2): do the inner sizes meet?"),
        Wrong("d", "M29", "(4, 2) against (3, 2), entry by entry: do they line up?"),
    ],
)  # fmt: skip

PREDICTION_7_2A = prediction(
    "7.2a", "b", points=0,
    title="what does A.grad depend on?",
    options={"a": "on A and on B", "b": "only on B", "c": "only on A"},
    wrong=[
        Wrong("a", "M06", "The sum grows by B's row whenever an entry of A is nudged. Does it matter where "
              "that entry stood before?"),
        Wrong("c", "M06", "Nudge A[0, 0]: with which numbers is the nudge multiplied?"),
    ],
)  # fmt: skip

PREDICTION_7_4A = prediction(
    "7.4a", [3, 4, 2], points=0,
    title="the shape of X.T when X has three axes",
    wrong=[
        Wrong([2, 3, 4], "M29", "That would swap the last two. numpy's .T turns all axes around."),
        Wrong([4, 2, 3], "M29", "That would swap the first two. numpy's .T turns all axes around."),
        Wrong([2, 4, 3], "M29", "Unchanged? It does nothing to one axis; here there are three."),
    ],
)  # fmt: skip

QUIZ = choice(
    "7.5", "b_grad",
    {
        "a": "a (2, 2) table of zeros",
        "b": "None",
        "c": "the column sums of A, as a table",
        "d": "an error, because B does not require a gradient",
    },
    right="b",
    why="B does not require a gradient, so none is computed, and B.grad stays None.",
    title="what a tensor gets that nobody asked about",
    minutes=2,
    wrong=[
        Wrong("a", "M05", "Zero would say: somebody asked, and a nudge of B changes nothing. Did anybody "
              "ask?"),
        Wrong("c", "M13", "That is what B would get if it required a gradient. Look at how B was made."),
        Wrong("d", "M02", "B takes part in the forward pass without any trouble. What does the walk do where "
              "nobody waits for a gradient?"),
    ],
    hints=[
        "Only a tensor with requires_grad=True waits for a gradient.",
        "In w * x with w a parameter and x data, x.grad stays as it was before the pass.",
        "What is .grad before any pass?",
    ],
    worked="B was made without requires_grad=True, so nothing is computed for it: B.grad stays None (b).",
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_7_0, PREDICTION_7_1A, PREDICTION_7_2A, PREDICTION_7_4A,
    EXERCISE_7_1, EXERCISE_7_2, EXERCISE_7_3, EXERCISE_7_4, QUIZ,
)  # fmt: skip

LESSON = Lesson(
    number=7,
    slug="07_matmul",
    title="Matrix multiply",
    after=(6,),
    idea="The gradient of one factor is what arrives times the other factor; shapes say on which side.",
    introduces=(
        "mm", "@", "T", "tolist", "array_equal", "equal", "arange", "swapaxes", "matmul_backward", "dX_entry",
        "dW_entry", "batch_backward", "vector_backward", "outer",
    ),
    misconceptions=("M29", "M42"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
