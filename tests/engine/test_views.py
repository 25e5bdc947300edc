"""Views and writing in place: what follows what, which writes are refused, and what a write does to the graph."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import minigrad as mg
from minigrad.autograd import grad


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


def test_how_a_view_was_made_decides_what_may_be_written_into_it() -> None:
    x = mg.zeros(2, 2, dtype=mg.float64)
    with mg.no_grad():
        hidden = x[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        hidden.add_(leaf(1.0))
    with pytest.raises(RuntimeError, match="returns multiple views"):
        x.unbind()[0].copy_(leaf(1.0, 1.0))
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    x[1].copy_(leaf(1.0, 1.0))
    assert x.requires_grad and x._base is None and x[1]._base is x


def test_a_view_made_without_recording_requires_grad_and_gets_none() -> None:
    x = leaf(1.0, 2.0)
    for base in (x, x * 2):
        with mg.no_grad():
            view = base[1:]
        assert view.requires_grad and view.is_leaf
        y = (view * 3).sum()
        y.backward()
        assert y.requires_grad and view.grad is None and x.grad is None
        assert grad((view * 3).sum(), view, allow_unused=True) == (None,)
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            view.mul_(2)


def test_a_view_made_in_inference_mode_is_what_its_base_is() -> None:
    w = leaf(1.0, 2.0)
    x = w * 3
    z = x * x
    with mg.inference_mode():
        view, made = x.view(2), mg.ones(2).view(2)
        assert not view.is_inference() and made.is_inference() and w[:1].requires_grad
        view.mul_(2)
    assert view._version == 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.sum().backward()


def test_a_retained_gradient_follows_a_tensor_whose_view_is_written() -> None:
    a = leaf(1.0, 2.0, 3.0) * 2
    a.retain_grad()
    a[1:].mul_(2)
    a.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0, 1.0]


def test_an_in_place_operation_that_saves_its_result_makes_no_cycle() -> None:
    def made() -> Any:
        y = leaf(1.0, 2.0).clone()
        y.view(2).exp_()
        y.tanh_()
        return weakref.ref(y.grad_fn)

    gc.disable()
    try:
        assert made()() is None
    finally:
        gc.enable()


def test_writes_do_not_reach_the_graph_of_views_of_a_detached_tensor() -> None:
    a = leaf(1.0, 2.0) * 2
    part = a.detach()[1:]
    a.mul_(2)
    assert part.tolist() == [8.0] and not part.requires_grad


VIEWS = {
    "w[0]": "",
    "w.chunk(2)[1]": "Output 1 of Split is a view and its base or another view of its base has been modified inplace. This",
    "w.unbind()[1]": "Output 1 of Unbind is a view and its base or another view of its base has been modified inplace. This",
    "hidden(w)": "A view was created in no_grad mode and its base or another view of its base has been modified inplace with",
}


@pytest.mark.parametrize("written", ["w", "w.detach()"])
@pytest.mark.parametrize(("view", "words"), VIEWS.items())
def test_a_view_is_made_again_when_it_is_used_after_a_write(view: str, words: str, written: str) -> None:
    """Its node follows from the memory as it is then, and where there can be none it is refused, as in PyTorch."""
    w = leaf(1.0, 2.0)
    v = eval(view, {"w": w, "hidden": mg.no_grad()(lambda w: w[1])})
    with mg.no_grad():
        eval(written).mul_(2)
        assert not (v * 2).requires_grad
    if not words:
        (v * 3).backward()
        assert v.grad_fn.name() == "AsStridedBackward0" and w.grad.tolist() == [3.0, 0.0]
        return
    for attempt in (lambda: v * 3, lambda: v.is_leaf):
        with pytest.raises(RuntimeError, match="^" + words):
            attempt()
    assert repr(v).endswith("grad_fn=<Invalid>)") and v.requires_grad and not v.detach().requires_grad
    assert mg.explain(v).startswith("A float64 tensor")


def test_no_backward_pass_starts_at_a_view_that_was_not_recorded() -> None:
    w = leaf(1.0, 2.0)
    with mg.no_grad():
        part, one = w[:1], w[0]
    for start in (lambda: part.backward(mg.ones_like(part)), one.backward, lambda: mg.autograd.grad(one, w)):
        with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
            start()


def test_hooks_on_a_view_end_with_the_node_that_they_were_on() -> None:
    seen, w = [], leaf(1.0, 2.0)
    v = w[0]
    v.register_hook(seen.append)
    with mg.no_grad():
        w.mul_(2)
    v.backward()
    assert seen == [] and w.grad.tolist() == [1.0, 0.0]


def test_a_write_into_a_view_is_freed_with_its_graph() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    y[:1] += 1
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.sum().backward()


def test_what_is_overwritten_gets_no_gradient_through_a_transposed_tensor() -> None:
    b, x = leaf(1.0, 2.0), mg.ones(3, 2, dtype=mg.float64, requires_grad=True)
    a = (x * 1).T
    a[:, 0] = b * 2
    a[:, 0] = 0.5
    weights = mg.arange(6.0, dtype=mg.float64).reshape(3, 2)
    (a.T * weights).sum().backward()
    assert b.grad.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [[0.0, 0.0], [2.0, 3.0], [4.0, 5.0]]


def test_a_write_into_part_of_a_transposed_tensor() -> None:
    """The gradient of a turned tensor lies in memory in another order than it is read."""
    a = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = a.T * 1.5
    y[0] = y[-1] * 2
    (y * y).sum().backward()
    assert a.grad.tolist() == [[0.0, 9.0, 67.5], [0.0, 22.5, 135.0]]


def test_one_number_may_be_written_into_an_expanded_tensor() -> None:
    for write, value in ((lambda t: t.zero_(), 0.0), (lambda t: t.fill_(3), 3.0), (lambda t: t.fill_(mg.tensor(4)), 4.0)):
        x = mg.ones(1).expand(3)
        write(x)
        assert x.tolist() == [value] * 3
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        mg.ones(1).expand(3).add_(1)


@pytest.mark.parametrize(
    ("write", "after"),
    [
        ("a[0] = a[0, 1]", [[2, 2, 2], [4, 5, 6], [7, 8, 9]]),
        ("a[a > 3] = a[0, 0]", [[1, 2, 3], [1, 1, 1], [1, 1, 1]]),
        ("a.fill_(a[2, 2])", [[9, 9, 9]] * 3),
        ("a[0].mul_(a[:, 0])", [[1, 8, 21], [4, 5, 6], [7, 8, 9]]),
        ("a[:, :2] = a[:, 1:]", [[2, 3, 3], [5, 6, 6], [8, 9, 9]]),
        ("a[:, [0, 1]] = a[:, 1:]", [[2, 3, 3], [5, 6, 6], [8, 9, 9]]),
        ("a[::2].mul_(a[1])", [[4, 10, 18], [4, 5, 6], [28, 40, 54]]),
    ],
)
def test_a_tensor_may_be_written_from_its_own_numbers(write: str, after: list[list[float]]) -> None:
    a = mg.arange(1.0, 10.0).reshape(3, 3)
    exec(write, {"a": a})
    assert a.tolist() == after


@pytest.mark.parametrize(
    "write",
    ["a[1:] = a[:-1]", "a.mul_(a[0, 0])", "a[1:].copy_(a[:2])",
     "a[[0, 2]] = a[:2]", "a[[0, 2]] = a[0]", "a[[2, 1, 0]] = a"],
)  # fmt: skip
def test_but_not_where_the_order_of_writing_would_matter(write: str) -> None:
    a = mg.arange(1.0, 10.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input tensor and the written-to"):
        exec(write, {"a": a})
    assert a.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_a_slice_is_not_written_from_one_that_overlaps_it() -> None:
    x = mg.arange(6.0)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input tensor and the written-to"):
        x[0:5] = x[1:6]
    x[0:3] = x[3:6]
    assert x.tolist() == [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("program", "seen"),
    [  # as PyTorch 2.13 has it; programs.py found them
        ("b = T.tensor([1.0, 2.0]); v = b[:1]; b.requires_grad_(); b.requires_grad_(False)", "not (v * 2).requires_grad"),
        ("a = T.ones(2).requires_grad_() * 1\nwith T.inference_mode(): d = a[0]",
         "(d * 2).requires_grad and not d.is_inference()"),
        ("d = T.ones(2, 3, 4).requires_grad_() @ T.ones(4); d.neg_()", "d.grad_fn.name() == 'NegBackward0'"),
        ("a = T.tensor(float('nan')).requires_grad_(); a.prod().backward(); a.prod(0).backward()", "a.grad.item() == 2"),
        ("b = T.ones(2, 0).requires_grad_().diff()", "b.is_leaf"),
        ("a = T.ones(2).requires_grad_(); b = a.repeat_interleave(2); b.sum().backward(); b.sum().backward()",
         "b.grad_fn.name(), a.grad.tolist() == ('ViewBackward0', [4.0, 4.0])"),
        ("b = T.ones(2); v = b[:1]; b.requires_grad_(); (v * 2).backward()", "v.requires_grad, b.grad == (True, None)"),
        ("b = T.ones(2); v = b[:1]; b.mul_(2); v.is_leaf; b.requires_grad_()", "v.grad_fn.name() == 'AsStridedBackward0'"),
        ("x = T.ones(3); v = x[0]; x.requires_grad_()\nwith T.no_grad(): x.mul_(2)",
         "v.grad_fn.name() == 'AsStridedBackward0'"),
        ("b = T.ones(2).requires_grad_(); a = b[0]; b.requires_grad_(False)\nwith T.no_grad(): a.mul_(2)", "a.requires_grad"),
        ("b = T.ones(2, 3, 4).permute(2, 0, 1); c = b.contiguous(), b[:, :, ::2].clone().contiguous()",
         "c[0].stride(), c[1].stride() == ((6, 3, 1), (4, 2, 1))"),
        ("b = T.ones(2).requires_grad_()\nwith T.no_grad(): d = b[0]\nsees = lambda: (d.requires_grad, (d * 2).requires_grad)\n"
         "first = sees(); b.requires_grad_(False); then = sees(); b.requires_grad_()",
         "first, then, sees() == ((True, True), (False, False), (True, True))"),
        ("c = T.ones(2).requires_grad_() * 2\nwith T.no_grad(): d = c.view(-1)\nc.detach_()", "not d.requires_grad"),
        ("b = T.tensor([True, False]); c = T.einsum('i,j->ij', b, b)", "c.tolist() == [[True, False], [False, False]]"),
        ("b = T.tensor([[True]]); c = T.einsum('bi,bi->b', b, b)", "c.tolist() == [True]"),
        ("b = T.ones(2).requires_grad_()\nwith T.no_grad(): d = b.view(-1)\nheard = []; d.register_hook(heard.append)\n"
         "d.view_as(d).sum().backward()", "not heard"),
        ("a = T.ones(3).requires_grad_() * 2; f = a[0].expand(3); f.masked_fill_(a > 0, 0.5)", "f.tolist() == [0.5] * 3"),
        ("a = T.ones(2).requires_grad_(); f = a.clamp(min=T.zeros(2)), a.clamp_min(T.zeros(2)), a.clamp_max(T.ones(2))",
         "[c.grad_fn.name() for c in f] == ['ClampBackward0', 'ClampMinBackward1', 'ClampMaxBackward1']"),
        ("c = T.tensor([float('nan'), 3e9, 300.0, -1.0])", "c.int().tolist(), c.short().tolist(), c.to(T.uint8).tolist() == "
         "([-(2**31), -(2**31), 300, -1], [0, 0, 300, -1], [0, 0, 44, 255])"),
        ("c = T.tensor([-1.0, 1.0, -1.2]) % 0.5", "(1 / c).tolist()[:2] == [-float('inf'), float('inf')]"),
    ],
)  # fmt: skip
def test_what_random_programs_found(program: str, seen: str) -> None:
    names: dict[str, Any] = {"T": mg}
    exec(program, names)
    left, _, right = seen.partition(" == ")
    assert eval(f"({left})", names) == (eval(right, names) if right else True)


def test_data_exchanged_while_a_graph_lives() -> None:
    """The graph saved the leaf itself: its rules compute with the new numbers, as in PyTorch."""
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    x.data = mg.tensor([5.0, 6.0], dtype=mg.float64)
    y.backward()
    assert x.grad.tolist() == [10.0, 12.0]


def test_data_takes_another_shape_but_not_another_kind() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="must be floating point"):
        x.data = mg.tensor([1])
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got NoneType"):
        x.data = None
    x.data = mg.ones(3, dtype=mg.float32)
    (x * 2).sum().backward()
    assert x.grad.dtype is mg.float32 and x.grad.tolist() == [2.0, 2.0, 2.0]


SEVERAL = "This view is the output of a function that returns multiple views"
REFUSED = {
    "y.chunk(2)[0][0]": f"Output 0 of Select is a view and is being modified inplace. {SEVERAL}",
    "y.chunk(2)[1].view(-1)": f"Output 0 of View is a view and is being modified inplace. {SEVERAL}",
    "y.unbind(0)[1][1:]": f"Output 0 of Slice is a view and is being modified inplace. {SEVERAL}",
    "flat(y)[:2]": "Output 0 of Slice is a view and is being modified inplace. This view was created inside a custom Function",
    "unrecorded(y)[:1]": "Output 0 of Slice is a view of a view which was created in no_grad mode and is being modified",
}


@pytest.mark.parametrize("view", REFUSED)
def test_a_view_of_a_view_that_must_not_be_written_to_must_not_either(view: str) -> None:
    class Flat(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view(-1)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.view(2, 3)

    y = mg.ones(2, 3, requires_grad=True) * 1
    target = eval(view, {"y": y, "flat": Flat.apply, "unrecorded": mg.no_grad()(lambda y: y[0])})
    with pytest.raises(RuntimeError, match=REFUSED[view]):
        target.mul_(2)


def test_what_is_wrong_first_is_said_first() -> None:
    leaf = mg.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.copy_(mg.ones(7))
    x = mg.ones(1, 3)
    with pytest.raises(RuntimeError, match="boolean array indexing"):
        x[x > 0] = mg.ones(3, 3)


def test_reversed_flips_the_first_dimension() -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert reversed(x).tolist() == [[3.0, 4.0], [1.0, 2.0]] and reversed(x).grad_fn is not None
    assert reversed(mg.tensor(1.0)).item() == 1.0
