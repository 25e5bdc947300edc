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
    "This is the answer of the engine. The exercise asks for a rule that works when the engine is switched off. Which "
    "product of G and W has the shape of X?"
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
    minutes=6,
    oracle=by_letters,
    probes=probes_7_1,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(w_first, "M29", "You put W.T on the left of G. dX has the shape of X, so it has a row for each row of X. "
              "Which of the two matrices, G or W, has these rows?"),
        Wrong(no_transpose, "M29", "There is no transpose in your answer. For X (4, 3) and W (3, 2), G is (4, 2). Which "
              "shape has to be on the right of (4, 2), so that the product is (4, 3)?"),
        Wrong(entrywise, "M29", "You multiplied element by element. X[0, 0] is used for every entry in row 0 of the "
              "product. How many contributions does it receive?"),
        Wrong(swapped, "", "Both gradients are right, but their order is not. Which one comes first, the gradient of X "
              "or that of W?"),
        Wrong(ones_for_g, "M23", "Your answer does not depend on G, so it is right only for a product that is summed and "
              "nothing else. Where does the upstream gradient come in?"),
        Wrong(inverse, "M29", "You used an inverse. An inverse undoes a product, but a gradient says how fast the product "
              "changes. When X[0, 0] grows, which entries of W decide how much the product grows?"),
        Wrong(the_other_matrix, "M23", "Your answer is the other matrix, transposed. It holds the local derivatives "
              "alone. By what does a node multiply them?"),
        Wrong(dw_turned, "M29", "dX is right. In dW, rows and columns are swapped. Which shape does W have?"),
        Wrong(only_dx, "M32", "You returned one gradient, but the product has two inputs. Return the gradient of X and "
              "the gradient of W, in this order."),
        Wrong(by_engine, "", BY_ENGINE),
        Wrong(square_as_it_stands, "M29", "Your answer is right where the shapes decide, and wrong for square matrices, "
              "where every order fits. Which single entry could you compute by hand to decide?"),
        Wrong(reshaped, "M42", "reshape gives the right shape, but it leaves the numbers in their old order. Where does "
              "a transpose put the number from row 0, column 1?"),
        Wrong(mean_over_rows, "M28", "Your dW is a mean over the rows of X. Each row uses W, so each row sends it a "
              "contribution. What happens to contributions that meet?"),
    ],
    alternatives=[with_dot, with_loops, from_the_other_side, with_letters, with_rows],
    hints=[
        "Each gradient has the shape of its own matrix. It is a product of G and the *other* matrix.",
        "For X (5, 2) and W (2, 7), G is (5, 7), and dX has to be (5, 2). So dX is G times something of shape (7, 2).",
        "Only one order and one transpose fit. If several seem to fit because two sizes are equal, try the sizes 2, 3 "
        "and 4.",
    ],
    worked="dX = G @ W.T and dW = X.T @ G. Return both, X first.",
)  # fmt: skip

# --- 7.2 when shapes do not help -----------------------------------------------------------------------

G_SQUARE = np.array([[1.0, -2.0], [4.0, 0.5]])
W_SQUARE = np.array([[2.0, -1.0], [0.5, 3.0]])


def listed(matrix: Array) -> list[list[float]]:
    rows: list[list[float]] = matrix.tolist()
    return rows


EXERCISE_7_2 = value(
    "7.2", "dX_square", [[4.0, -5.5], [7.5, 3.5]],
    knows={"G": [[1, -2], [4, 0.5]], "W": [[2, -1], [0.5, 3]]},
    why="dL/dX = G Wᵀ also for square matrices, where the shapes do not tell the order.",
    asks=(
        "X[0, 0] is multiplied by the numbers in row 0 of W, and goes into row 0 of Y. Which numbers of G and of W "
        "belong to it, and which of them are negative?",
        "X[0, 1] is multiplied by the numbers in row 1 of W, and goes into row 0 of Y. Which numbers of G and of W "
        "belong to it, and which of them are negative?",
        "X[1, 0] is multiplied by the numbers in row 0 of W, and goes into row 1 of Y. Which numbers of G and of W "
        "belong to it, and which of them are negative?",
        "X[1, 1] is multiplied by the numbers in row 1 of W, and goes into row 1 of Y. Which numbers of G and of W "
        "belong to it, and which of them are negative?",
    ),
    title="square matrices, where the shapes do not help",
    minutes=6,
    wrong=[
        Wrong(listed(G_SQUARE @ W_SQUARE), "M29", "This is G times W, without the transpose. X[0, 1] is multiplied by the "
              "numbers in one *row* of W. Did you use a row of W, or a column?", name="G @ W"),
        Wrong(listed(W_SQUARE.T @ G_SQUARE), "M29", "The transpose is right, but it is on the wrong side. X[0, 1] changes "
              "only row 0 of the product. So which row of G do you need for its gradient?", name="W.T @ G"),
        Wrong(listed(W_SQUARE @ G_SQUARE), "M29", "This is W times G: the wrong side, and no transpose. Begin with one "
              "entry of X. Which entries of the product change with it?", name="W @ G"),
        Wrong(listed(np.ones((2, 2)) @ W_SQUARE.T), "M23", "Both rows are the same, because you did not use G. What is "
              "the upstream gradient of each entry of the product?", name="ones"),
        Wrong(listed(G_SQUARE * W_SQUARE), "M29", "You multiplied element by element. Each entry of X changes a whole row "
              "of the product. How many contributions does it receive?", name="G * W"),
        Wrong(listed((G_SQUARE @ W_SQUARE.T).T), "M42", "The numbers are right, but rows and columns are swapped.",
              name="turned"),
        Wrong(listed(W_SQUARE.T), "M23", "This is W, transposed: the local derivatives alone. What do you have to do with "
              "G?", name="W.T"),
    ],
    hints=[
        "X[i, k] is multiplied by each number in row k of W, and these products go into row i of the result.",
        "For G = [[1, 10]] and W = [[2, 3], [4, 5]], dX is [[1*2 + 10*3, 1*4 + 10*5]] = [[32, 54]].",
        "For the entry in row 0, column 1, multiply row 0 of G by row 1 of W, number by number, and add.",
    ],
    worked="Each entry is a row of G against a row of W: "
           "[[1*2 + (-2)*(-1), 1*0.5 + (-2)*3], [4*2 + 0.5*(-1), 4*0.5 + 0.5*3]].",
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


def product_of_sums(G: Array, W: Array, i: int, k: int) -> Any:
    return np.sum(G[i]) * np.sum(W[k])


def product_of_sums_in_dw(G: Array, X: Array, k: int, j: int) -> Any:
    return np.sum(X[:, k]) * np.sum(G[:, j])


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
    minutes=10,
    oracle=measured,
    probes=probes_7_3,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(entries(no_g, no_g_in_dw), "M23", "You added up the local derivatives, and G is missing. What is the upstream "
              "gradient of each entry of the product?", name="without G"),
        Wrong(entries(wrong_letter, wrong_letter_in_dw), "M42", "You sum over the wrong index. The two indices of the entry "
              "itself are fixed. Which of the three indices i, j and k is left?", name="wrong letter"),
        Wrong(entries(turned, turned_in_dw), "M29", "You swapped the two indices of the other matrix. In Y[i, j] = sum of "
              "X[i, k] * W[k, j], which index comes first?", name="turned"),
        Wrong(entries(first_term, first_term_in_dw), "M22", "This is the first term alone. The entry changes several "
              "entries of the product. Over which index do you have to sum?", name="first term"),
        Wrong(entries(last_term, last_term_in_dw), "M19", "Each term replaces the term before it, so only the last one is "
              "left. What does the chain rule do where paths meet?", name="last term"),
        Wrong(entries(all_rows, all_columns), "M22", "You sum over two indices. X[i, k] changes one row of the product, and "
              "W[k, j] changes one column. Which index has to stay fixed?", name="two letters"),
        Wrong(entries(product_of_sums, product_of_sums_in_dw), "M22", "You add up first, and multiply the two sums. Each path "
              "has a product of its own: its upstream gradient times its factor. What do you add then?",
              name="product of sums"),
        Wrong(entries(mean_of_terms, mean_of_terms_in_dw), "M28", "Your answer is the mean of the terms. Each term is the "
              "contribution of one path. What does the chain rule do where paths meet?", name="mean"),
        Wrong(entries(engine_dx, engine_dw), "", "This is the answer of the engine. The exercise asks for two sums that "
              "work when the engine is switched off. Over which index does each of them run?", name="engine"),
    ],
    alternatives=[
        entries(dx_sum, dw_sum),
        entries(lambda G, W, i, k: G[i] @ W[k], lambda G, X, k, j: X[:, k] @ G[:, j]),
        entries(lambda G, W, i, k: (G @ W.T)[i, k], lambda G, X, k, j: float(np.dot(X.T[k], G.T[j]))),
        entries(lambda G, W, i, k: np.array(np.einsum("j,j", G[i], W[k])),
                lambda G, X, k, j: np.array((X[:, k] * G[:, j]).sum())),
    ],
    hints=[
        "Start from Y[i, j] = sum over k of X[i, k] * W[k, j]. In which entries of Y does X[i, k] occur, and in which "
        "does W[k, j]?",
        "If y[j] = a * b[j] for all j, and g[j] is the upstream gradient of y[j], then the gradient of a is the sum over "
        "j of g[j] * b[j].",
        "X[i, k] occurs in Y[i, j] for every j, with the factor W[k, j]. W[k, j] occurs in Y[i, j] for every i.",
    ],
    worked="dX[i, k] is the sum over j of G[i, j] * W[k, j]. dW[k, j] is the sum over i of X[i, k] * G[i, j].",
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


def matrix_for_each_example(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, np.swapaxes(X, 1, 2) @ G


def reversed_and_not_summed(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X.T @ G


def first_example(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X[0].T @ G[0]


def folded_by_reshape(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, X.reshape(X.shape[-1], -1) @ G.reshape(-1, G.shape[-1])


def dotted(G: Array, X: Array, W: Array) -> Pair:
    return G @ W.T, np.dot(np.swapaxes(X, 1, 2), G).sum(axis=0)


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


REVERSED = (
    "With three axes, X.T reverses *all* of them: (2, 4, 3) becomes (3, 4, 2). Which two axes should be swapped, and what "
    "happens to the contributions then?"
)
RESHAPED = (
    "reshape gives the right shape, but it leaves the numbers in their old order. Which function swaps two axes?"
)

EXERCISE_7_4 = function(
    "7.4", ("batch_backward", "vector_backward"),
    why="The whole batch uses one W, so dL/dW is summed over the batch; for a single vector it is an outer product.",
    title="a batch, and a single vector",
    minutes=12,
    oracle=by_more_letters,
    probes=probes_7_4,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(pair_of(reversed_axes, vector_outer), "M29", REVERSED, name="T on three axes", alike="T"),
        Wrong(pair_of(reversed_and_not_summed, vector_outer), "M29", REVERSED, name="T on three axes, no sum", alike="T"),
        Wrong(pair_of(dotted, vector_outer), "M29", "With three axes, np.dot multiplies each matrix of one array by *every* "
              "matrix of the other. Which operator goes through the batch, matrix by matrix?", name="np.dot"),
        Wrong(pair_of(first_example, vector_outer), "M22", "Your dW holds the contribution of the first example only. Which "
              "other examples used W?", name="first example"),
        Wrong(pair_of(matrix_for_each_example, vector_outer), "M28", "Your dW holds one matrix for each example of the "
              "batch, but all examples use the same W. What happens to their contributions?", name="dW not summed"),
        Wrong(pair_of(averaged, vector_outer), "M28", "Your dW is a mean over the batch. Each example sends W a "
              "contribution. What does the chain rule do with contributions that meet?", name="dW averaged"),
        Wrong(pair_of(last_example, vector_outer), "M19", "Your dW holds the contribution of the last example only. Which "
              "other examples used W?", name="last example"),
        Wrong(pair_of(batch_of_ones, vector_of_ones), "M23", "Your answer does not depend on G, so it is right only for a "
              "product that is summed and nothing else. Where does the upstream gradient come in?", name="ones"),
        Wrong(pair_of(batch_summed, outer_turned), "M42", "In the dW of the vector, rows and columns are swapped. W[k, j] "
              "connects x[k] with y[j]. Which of the two indices counts the rows?", name="outer turned"),
        Wrong(pair_of(batch_summed, transpose_of_a_vector), "M29", "x and g have one axis each, so their product is a dot "
              "product, also with .T. Which function makes a matrix from two vectors?", name="T of a vector"),
        Wrong(pair_of(batch_summed, vector_without_transpose), "M29", "In vector_backward, your gradient of x multiplies g by "
              "the columns of W. x[k] was multiplied by the numbers in row k of W. Which product uses the rows of W?",
              name="vector without transpose"),
        Wrong(pair_of(lambda G, X, W: (G @ W.T, (X.reshape(len(X), X.shape[2], -1) @ G).sum(axis=0)), vector_outer), "M42",
              RESHAPED, name="reshape", alike="reshape"),
        Wrong(pair_of(folded_by_reshape, vector_outer), "M42", RESHAPED, name="one reshape", alike="reshape"),
        Wrong(pair_of(by_engine, by_engine), "", "This is the answer of the engine. The exercise asks for two rules that "
              "work when the engine is switched off. Which index sum does each of them compute?", name="engine"),
    ],
    alternatives=[
        pair_of(batch_summed, vector_outer),
        pair_of(batch_folded, vector_as_a_row),
        pair_of(batch_in_a_loop, vector_stretched),
        pair_of(lambda G, X, W: [np.matmul(G, np.moveaxis(W, 0, 1)), np.tensordot(X, G, ([0, 1], [0, 1]))],
                lambda g, x, W: (np.einsum("j,kj->k", g, W), np.multiply.outer(x, g))),
    ],
    hints=[
        "Write the index sums as in 7.3. In a batch, Y[b, i, j] and X[b, i, k] have one more index b, and W[k, j] does "
        "not. With a single vector, there is no index i.",
        "An index of Y that an operand does not have is summed over in the gradient of that operand. If three examples "
        "contribute 1, 10 and 100 to an entry of W, its gradient is 111.",
        "np.swapaxes(X, 1, 2) swaps two axes, and the batch stays the first axis. np.outer makes a matrix from two vectors.",
    ],
    worked="Batch: dX = G @ W.T and dW = (np.swapaxes(X, 1, 2) @ G).sum(axis=0). Vector: dx = W @ g and "
           "dW = np.outer(x, g).",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_7_0A = prediction(
    "7.0a", 21, points=0,
    title="one entry of a matrix product",
    asks=("Customer 1 buys the pieces in row 1 of X, and shop 0 has the prices in column 0 of W. What does each kind of fruit "
          "cost, and all of them together?",),
    wrong=[
        Wrong(30, "", "30 is what customer 1 pays in shop 1. Which column of W holds the prices of shop 0?"),
        Wrong(24, "", "24 is what customer 0 pays. Which row of X belongs to customer 1?"),
        Wrong(8, "", "8 is the sum of the prices in shop 0. How many pieces of each fruit does the customer buy?"),
        Wrong(10, "", "10 is the number of pieces that the customer buys. What does each of them cost in shop 0?"),
        Wrong([6, 5, 10], "", "These are the costs of the three kinds of fruit. The customer pays all of them."),
    ],
)  # fmt: skip

PREDICTION_7_0 = prediction(
    "7.0", [[11, 15], [11, 15]], points=0,
    title="the gradient of a summed matrix product",
    asks=("A[0, 0] is multiplied by one number for each column of the product. Which numbers of B are these, and what is their "
          "sum? Go on like that for each entry of A.",),
    wrong=[
        Wrong([[20, 28], [20, 28]], "M29", "This is what the claim says. When A[0, 0] grows by 0.001, which two entries of "
              "the product change, and by how much?", name="the claim"),
        Wrong([[12, 14], [12, 14]], "M42", "These are the column sums of B. A[0, 0] is multiplied by B[0, 0] and by "
              "B[0, 1]. Are these in one row of B, or in one column?", name="column sums"),
        Wrong([[1, 1], [1, 1]], "M23", "This is the gradient of the product C. By which numbers of B does it go on to A?",
              name="ones"),
        Wrong([[4, 6], [4, 6]], "M29", "These are the column sums of A. The gradient of A is computed from the other factor.",
              name="A"),
        Wrong([[5, 6], [7, 8]], "M23", "This is B itself. A[0, 0] is used for two entries of the product.", name="B"),
        Wrong([[5, 7], [6, 8]], "M29", "This is B, transposed. A[0, 0] is used for two entries of the product.",
              name="B.T"),
        Wrong([[19, 22], [43, 50]], "M43", "This is the product itself. How fast does its sum grow?", name="C"),
        Wrong([[11, 11], [15, 15]], "M42", "The numbers are right, but rows and columns are swapped. Take A[0, 1]: by "
              "the numbers of which row of B is it multiplied, row 0 or row 1?", name="turned"),
    ],
)  # fmt: skip

PREDICTION_7_3A = prediction(
    "7.3a", 41, points=0,
    title="the gradient of one entry of X",
    asks=("X[0, 1] goes into Y[0, 0] with the factor W[1, 0], and into Y[0, 1] with the factor W[1, 1]. What does each path "
          "contribute?",),
    wrong=[
        Wrong(5, "M23", "5 is 1 + 4, the local derivatives alone. By what do you multiply each of them?"),
        Wrong(11, "M23", "11 is 1 + 10, the upstream gradients alone. By what do you multiply each of them?"),
        Wrong(14, "M42", "14 is 1 * 4 + 10 * 1. The price W[1, 0] goes into Y[0, 0]. Which entry of G is the upstream "
              "gradient of Y[0, 0]?"),
        Wrong(82, "M43", "82 has the value of X[0, 1] as a factor. The derivative of 2 * 3 with respect to 2 is 3. Which "
              "factor is too many?"),
        Wrong(50, "M22", "50 is 10 * (1 + 4). The 10 belongs to Y[0, 1] alone. Which entry of G belongs to Y[0, 0]?"),
        Wrong(55, "M22", "55 is (1 + 10) * (1 + 4). Each path has a product of its own. Which two products are added?"),
        Wrong(40, "M22", "40 is the contribution through Y[0, 1]. Which other entry of Y uses X[0, 1]?"),
        Wrong(1, "M22", "1 is the contribution through Y[0, 0]. Which other entry of Y uses X[0, 1]?"),
    ],
)  # fmt: skip

PREDICTION_7_1A = prediction(
    "7.1a", "c", points=0,
    title="which product has the shape of X?",
    options={"a": "W.T @ G", "b": "G @ W", "c": "G @ W.T", "d": "G * W"},
    wrong=[
        Wrong("a", "M29", "W.T is (2, 3) and G is (4, 2). Are the two inner sizes equal?"),
        Wrong("b", "M29", "G is (4, 2) and W is (3, 2). Are the two inner sizes equal?"),
        Wrong("d", "M29", "G is (4, 2) and W is (3, 2). Can they be multiplied element by element?"),
    ],
)  # fmt: skip

PREDICTION_7_1B = prediction(
    "7.1b", 48, points=0,
    title="multiplications in the backward pass",
    asks=("The gradient of X is (4, 3), and each entry is a sum of 2 products. How many entries has the gradient of W, and how "
          "many products are in each?",),
    wrong=[
        Wrong(24, "", "24 is right for one of the two gradients. How many does the other one need?"),
        Wrong(72, "", "72 is right for the forward pass and the backward pass together. How many belong to the backward "
              "pass alone?"),
        Wrong(12, "", "12 is the number of entries of dX. Each of them is a sum of how many products?"),
        Wrong(18, "", "18 is the number of entries of both gradients. Each of them is a sum of several products."),
    ],
)  # fmt: skip

PREDICTION_7_2A = prediction(
    "7.2a", "b", points=0,
    title="what does A.grad depend on?",
    options={"a": "on A and on B", "b": "only on B", "c": "only on A"},
    wrong=[
        Wrong("a", "M06", "When an entry of A grows, the sum grows in proportion to a row of B. Does it matter how large "
              "the entry of A was before?"),
        Wrong("c", "M06", "When A[0, 0] grows by 0.001, by which numbers is this change multiplied?"),
    ],
)  # fmt: skip

PREDICTION_7_4A = prediction(
    "7.4a", [3, 4, 2], points=0,
    title="the shape of X.T when X has three axes",
    asks=("The shape of Xs is (2, 4, 3). In which order does .T put the axes, if it reverses all of them?",),
    wrong=[
        Wrong([2, 3, 4], "M29", "This would swap the last two axes. In numpy, .T reverses all axes."),
        Wrong([4, 2, 3], "M29", "This would swap the first two axes. In numpy, .T reverses all axes."),
        Wrong([2, 4, 3], "M29", "This is the shape of X itself. Only with a single axis does .T change nothing."),
    ],
)  # fmt: skip

QUIZ = choice(
    "7.5", "b_grad",
    {
        "a": "a (2, 2) matrix of zeros",
        "b": "None",
        "c": "the column sums of A, once for each column of B",
        "d": "an error, because B does not require a gradient",
    },
    right="b",
    why="B does not require a gradient, so none is computed, and B.grad stays None.",
    title="the gradient of a tensor that does not require one",
    minutes=2,
    wrong=[
        Wrong("a", "M05", "A gradient of 0 would say that a change of B does not change the result. Is that true here?"),
        Wrong("c", "M13", "B would get this gradient if it required one. How was B made?"),
        Wrong("d", "M02", "B takes part in the forward pass without an error. What does the backward pass do with an "
              "input that does not require a gradient?"),
    ],
    hints=[
        "The backward pass computes gradients only for tensors with requires_grad=True.",
        "In w * x, with a parameter w and data x, x.grad is the same after the pass as before it.",
        "What is .grad before any backward pass?",
    ],
    worked="B was made without requires_grad=True, so the backward pass computes nothing for it, and B.grad stays None (b).",
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_7_0A, PREDICTION_7_0, PREDICTION_7_3A, PREDICTION_7_1A, PREDICTION_7_1B, PREDICTION_7_2A, PREDICTION_7_4A,
    EXERCISE_7_1, EXERCISE_7_2, EXERCISE_7_3, EXERCISE_7_4, QUIZ,
)  # fmt: skip

LESSON = Lesson(
    number=7,
    slug="07_matmul",
    title="Matrix multiply",
    after=(6,),
    idea="The gradient of one factor is the upstream gradient times the other factor, transposed; shapes show the order.",
    introduces=(
        "mm", "@", "T", "tolist", "product", "equal", "arange", "swapaxes", "matmul_backward", "dX_entry",
        "dW_entry", "batch_backward", "vector_backward", "outer",
    ),
    misconceptions=("M29", "M42"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
