"""torch.utils.checkpoint: the same gradients, with the function run twice."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad import nn
from minigrad.autograd import Function, grad
from minigrad.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks
from minigrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop


def leaf() -> Any:
    return mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradients_are_those_without_it_also_with_dropout(reentrant: bool) -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    x = mg.randn(3, 4, requires_grad=True)
    found = []
    ways: list[Any] = [
        lambda: net(x),
        lambda: checkpoint(net, x, use_reentrant=reentrant),
        lambda: checkpoint_sequential(net, 2, x, use_reentrant=reentrant),
    ]
    for way in ways:
        mg.manual_seed(2)
        net.zero_grad()
        x.grad = None
        way().pow(2).sum().backward()
        assert x.grad is not None
        found.append([x.grad.tolist(), *(p.grad.tolist() for p in net.parameters()), mg.rand(2).tolist()])
    assert found[0] == found[1] == found[2]


def test_the_second_run_stops_when_everything_is_there() -> None:
    log: list[str] = []

    def noisy(x: Any) -> Any:
        log.append("begin")
        y = x.sin().exp()
        log.append("end")
        return y

    x = leaf()
    y = checkpoint(noisy, x, use_reentrant=False)
    assert log == ["begin", "end"]
    y.sum().backward()
    assert log == ["begin", "end", "begin"]
    assert mg.allclose(x.grad, x.cos() * x.sin().exp())


def test_nested_twice_and_to_second_order() -> None:
    def inner(x: Any) -> Any:
        return checkpoint(lambda t: t.sin().exp(), x * 2, use_reentrant=False) * x

    x = leaf()
    (expected,) = grad(((x * 2).sin().exp() * x).sum(), x, create_graph=True)
    (found,) = grad(checkpoint(inner, x, use_reentrant=False).sum(), x, create_graph=True)
    assert mg.allclose(found, expected)
    assert mg.allclose(grad(found.sum(), x)[0], grad(expected.sum(), x)[0])
    y = checkpoint(inner, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert mg.allclose(x.grad, 2 * expected)


def test_a_function_that_saves_something_else_the_second_time() -> None:
    runs: list[None] = []

    def fickle(x: Any) -> Any:
        runs.append(None)
        return (x * x).exp() if len(runs) == 1 else x + 1

    with pytest.raises(CheckpointError, match="A different number of tensors was saved during the original forward"):
        checkpoint(fickle, leaf(), use_reentrant=False).sum().backward()

    def shrinking(x: Any) -> Any:
        runs.append(None)
        return x.exp().sum() if len(runs) == 3 else x[:1].exp().sum()

    with pytest.raises(CheckpointError, match="have different metadata than during the forward pass"):
        checkpoint(shrinking, leaf(), use_reentrant=False).backward()


def test_what_the_reentrant_way_cannot_do() -> None:
    x = leaf()
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        y = checkpoint(lambda t: t * t, x)
    with pytest.raises(
        RuntimeError, match=r"^When use_reentrant=True, torch\.utils\.checkpoint is incompatible with \.grad"
    ):
        grad(y.sum(), x)
    with pytest.raises(ValueError, match=r"^Unexpected keyword arguments: k$"):
        checkpoint(lambda t, k: t * k, x, k=3, use_reentrant=True)
    with pytest.warns(UserWarning, match="^None of the inputs have requires_grad=True"):
        checkpoint(lambda t: t * t, mg.ones(2), use_reentrant=True)


def test_what_a_hook_keeps_may_be_overwritten_outside() -> None:
    for keeping in (allow_mutation_on_saved_tensors(), saved_tensors_hooks(lambda t: t.clone(), lambda t: t)):
        x = leaf()
        with keeping:
            w = x * 1
            y = w * w
            w.mul_(3)
            y.sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("early", [True, False])
def test_derivatives_within_what_is_checkpointed(early: bool) -> None:
    def slope(f: Any) -> Any:
        def derivative(x: Any) -> Any:
            with mg.enable_grad():
                return grad(f(x), x, create_graph=True)[0]

        return derivative

    def kept(f: Any) -> Any:
        return lambda x: checkpoint(f, x, use_reentrant=False)

    def f(x: Any) -> Any:
        return x.sin().exp()

    x = mg.tensor(0.3, dtype=mg.float64, requires_grad=True)
    with set_checkpoint_early_stop(early):
        for plain, saving in (
            (slope(slope(f)), slope(kept(slope(kept(f))))),
            (slope(slope(slope(f))), slope(kept(slope(kept(slope(kept(f))))))),
            (slope(slope(f)), kept(slope(slope(kept(f))))),
        ):
            assert mg.allclose(plain(x), saving(x))


def test_each_pass_computes_again_and_fetches_a_tensor_once() -> None:
    class Twice(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            with pytest.raises(
                CheckpointError, match="Unpack is being triggered for a tensor that was already unpacked once"
            ):
                _ = ctx.saved_tensors
            return 2 * x * g

    runs: list[str] = []

    class Note:
        def __init__(self, word: str) -> None:
            self.word = word

        def __enter__(self) -> None:
            runs.append(self.word)

        def __exit__(self, *_: object) -> None:
            runs.append("over")

    x = leaf()
    y = checkpoint(Twice.apply, x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("second"))).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0] and runs == ["first", "over", "second", "over", "second", "over"]
    with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported when use_reentrant=False"):
        checkpoint(Twice.apply, x, use_reentrant=True, debug=True)


def test_a_second_run_that_saves_more() -> None:
    runs: list[None] = []

    def growing(x: Any) -> Any:
        runs.append(None)
        return x.exp() if len(runs) == 1 else x.exp().exp()

    with set_checkpoint_early_stop(False), pytest.raises(CheckpointError, match="trying to save more tensors during"):
        checkpoint(growing, leaf(), use_reentrant=False).sum().backward()
