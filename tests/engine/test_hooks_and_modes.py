"""Hooks, grad modes, retained gradients, and the ways to ask for a gradient."""

from __future__ import annotations

import copy
import pickle
import threading
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import grad
from minigrad.autograd.graph import saved_tensors_hooks


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


def test_hooks_of_the_inputs_of_backward_run_too() -> None:
    x, w, seen = leaf(1, 2), leaf(3, 4), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    w.register_post_accumulate_grad_hook(lambda p: seen.append("w"))
    (x * w).sum().backward(inputs=[x, x])
    assert seen == [[3, 4]] and w.grad is None


def test_hooks_run_as_soon_as_a_gradient_is_complete() -> None:
    heard: list[str] = []

    def listen(**tensors: mg.Tensor) -> None:
        for name, t in tensors.items():
            t.register_hook(lambda g, name=name: heard.append(name))

    w, b, v = (mg.ones(shape, requires_grad=True) for shape in ((2, 3), (3,), (3, 1)))
    listen(w=w, b=b, v=v)
    v.register_post_accumulate_grad_hook(lambda p: heard.append("v done"))
    h = mg.ones(4, 2) @ w + b
    out = mg.tanh(h) @ v
    listen(h=h, out=out)
    out.sum().backward()
    assert heard == ["out", "v", "v done", "h", "b", "w"]
    h = mg.ones(4, 2) @ w + b
    listen(h=h)
    heard.clear()
    mg.autograd.grad((mg.tanh(h) @ v).sum(), (w, h))
    assert heard == ["h", "w"]
    x, y, z = (mg.ones(2, requires_grad=True) for _ in range(3))
    listen(x=x, y=y, z=z)
    heard.clear()
    product = x * y
    listen(product=product)
    ((product + z) * x).sum().backward()
    assert heard == ["z", "product", "x", "y"]


def test_backward_to_given_inputs_makes_them_retain() -> None:
    x = leaf(1.0)
    y = x * 2
    (y * 3).backward(inputs=[y])
    assert y.retains_grad and y.grad.tolist() == [3.0] and x.grad is None


def test_backward_to_given_inputs_frees_what_made_them() -> None:
    x = leaf(1.0)
    y = x.exp()
    (y * 3).backward(inputs=[y], retain_graph=True)
    (y * 3).backward(inputs=[y])
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_a_hook_may_take_a_gradient_away() -> None:
    x = mg.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda gradients: (None,))
    y.sum().backward()
    assert x.grad is None


def test_a_leaf_that_was_frozen_for_a_while_is_the_same_leaf() -> None:
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    y = x * x
    x.requires_grad_(False)
    assert not x.requires_grad and x.is_leaf
    x.requires_grad_(True)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] == seen[0]


def test_detached_in_place_where_no_node_saved_it() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()  # keeps its result, which is its own
    z, constant = y + 1, mg.tensor([3.0, 4.0], dtype=mg.float64)
    scaled = z * constant
    y.detach_()
    constant.detach_()
    scaled.sum().backward()
    assert np.allclose(x.grad.numpy(), [3 * np.e, 4 * np.e**2])
    y.add_(1)
    assert y._version == 1 and not y.requires_grad
    y.requires_grad_()
    (y * y).sum().backward()  # a leaf by now, and kept anew
    assert y.grad.tolist() == (2 * y).tolist()


def test_a_tensor_that_several_rules_need_is_saved_once() -> None:
    x, y = leaf(2.0, 3.0), leaf(4.0, 5.0)
    for f, n in ((lambda: x / y, 2), (lambda: mg.maximum(x, y), 2), (lambda: x**y, 3), (lambda: x * x, 2)):
        log: list[str] = []

        def note(t: Any, word: str, log: list[str] = log) -> Any:
            log.append(word)
            return t

        with saved_tensors_hooks(partial(note, word="packed"), partial(note, word="fetched")):
            out = f()
        out.sum().backward()
        assert log == ["packed"] * n + ["fetched"] * n


def test_what_a_hook_packed_comes_back_with_its_node_and_keeps_no_graph_alive() -> None:
    x, seen = leaf(1.0, 2.0), []
    with saved_tensors_hooks(lambda t: t, lambda t: seen.append(t.grad_fn) or t):
        double = x * 2
        z = (double * x).exp()
    power = weakref.ref(z.grad_fn)
    z.sum().backward(retain_graph=True)
    assert seen == [power(), None, double.grad_fn]
    seen.clear()
    del z
    assert power() is None

    def made_under_hooks_that_remember() -> Any:
        remembered: list[Any] = []
        with saved_tensors_hooks(lambda t: remembered.append(t) or t, lambda t: t):
            return x.exp()

    z = made_under_hooks_that_remember()
    power = weakref.ref(z.grad_fn)
    del z
    assert power() is None


def test_hooks_on_saved_tensors_opened_in_a_backward_pass_end_with_it() -> None:
    x, packed = leaf(1.0, 2.0), []

    def open_hooks(g: Any) -> None:
        saved_tensors_hooks(lambda t: packed.append(t), lambda t: t).__enter__()

    x.register_hook(open_hooks)
    (x * x).sum().backward()
    assert (x * x).sum().requires_grad and not packed


def test_a_decorated_generator_switches_the_mode_only_while_it_runs() -> None:
    @mg.no_grad()
    def modes() -> Any:
        yield mg.is_grad_enabled()
        yield mg.is_grad_enabled()

    steps = modes()
    assert next(steps) is False and mg.is_grad_enabled()
    assert next(steps) is False and mg.is_grad_enabled()


def test_a_decorated_generator_is_sent_values_and_errors_and_is_closed() -> None:
    seen: list[Any] = []

    @mg.no_grad()
    def steps() -> Any:
        try:
            seen.append((yield mg.is_grad_enabled()))
            try:
                yield 2
            except ValueError as error:
                seen.append(str(error))
            yield 3
            return 4
        finally:
            seen.append(mg.is_grad_enabled())

    running = steps()
    assert (next(running), running.send("sent"), running.throw(ValueError("thrown"))) == (False, 2, 3)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == 4 and seen == ["sent", "thrown", False]
    closed = steps()
    next(closed)
    closed.close()
    assert seen[3:] == [False] and mg.is_grad_enabled()


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (lambda p: p.grad * 2, RuntimeError, "Tensor post accumulate grad hooks should return None"),
        (lambda p: 1, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda p: mg.ones(3), RuntimeError, "has changed the size of value"),
    ],
)
def test_a_hook_after_accumulation_returns_nothing(answer: Any, kind: type[Exception], words: str) -> None:
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(answer)
    with pytest.raises(kind, match=words):
        (x * x).sum().backward()


def test_numpy_of_what_requires_grad_is_fine_where_nothing_is_recorded() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()
    with mg.no_grad():
        assert x.numpy().tolist() == x.numpy(force=True).tolist() == [1.0]


def test_in_inference_mode_nothing_is_recorded() -> None:
    x = mg.ones(2, requires_grad=True)
    with mg.inference_mode(), mg.enable_grad():
        y = x * 2
        assert mg.is_grad_enabled() and not y.requires_grad and y.is_inference()
        with mg.no_grad():
            assert not mg.is_grad_enabled()
        with mg.inference_mode(False):
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad and mg.is_grad_enabled()


def test_versions_are_not_counted_in_inference_mode() -> None:
    with mg.inference_mode():
        x = mg.ones(2) * 2
    with pytest.raises(RuntimeError, match=r"^Inference tensors do not track version counter\.$"):
        _ = x._version
    assert np.asarray(x).tolist() == [2.0, 2.0]


def test_copies_of_what_was_computed_are_leaves() -> None:
    y = mg.ones(2, requires_grad=True) * 3
    shared, kept = copy.copy(y), pickle.loads(pickle.dumps(y))
    for twin in (shared, kept):
        assert twin.is_leaf and twin.requires_grad and twin.tolist() == [3.0, 3.0]
    with mg.no_grad():
        y.add_(1)
    assert shared.tolist() == [4.0, 4.0] and kept.tolist() == [3.0, 3.0]


def test_threads_have_their_own_mode_and_walk() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    seen: list[bool] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            seen.append(mg.is_grad_enabled())
            for _ in range(50):
                (g,) = mg.autograd.grad((x * x).sum(), x)
                assert g.tolist() == [2.0, 4.0]
        except BaseException as error:
            errors.append(error)

    with mg.no_grad():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert seen == [True] * 4
    assert not errors
    assert mg.is_grad_enabled()


def test_zeros_or_an_error_for_what_is_not_reached_but_not_both() -> None:
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        grad(x * 2, [x, y], materialize_grads=True, allow_unused=False)


def test_grad_materializes_what_is_not_reached() -> None:
    x, a = leaf(0.5), leaf(1.0)
    (first,) = grad(x * a, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True, materialize_grads=True)
    assert grad(second, x, materialize_grads=True)[0].tolist() == [0.0]
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        grad(x * a, [])
    with pytest.raises(TypeError, match="minigrad leaves out the argument 'only_inputs'"):
        grad(x * a, x, only_inputs=False)
