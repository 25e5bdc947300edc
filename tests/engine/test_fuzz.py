"""Random programs, run on PyTorch and on minigrad: everything that can be seen of their variables must agree.

MINIGRAD_FUZZ=20000 runs more of them, MINIGRAD_FUZZ_SEED=7 others. A program that disagrees is shrunk and printed as a
snippet that can be pasted and run (with `import torch as T` or `import minigrad as T`, and `log = []`, before it).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import minigrad
from tests.engine.programs import Crash, PyTorch, disagreement, ran, shrunk
from tests.engine.statements import FUNCTIONS

PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "2000"))
FIRST = int(os.environ.get("MINIGRAD_FUZZ_SEED", "0")) * 1_000_000
PARTS = 20
X = "a = T.tensor([[0.41, -0.73], [1.17, 0.61]], dtype=T.float64, requires_grad=True)"
# Programs that once disagreed, shrunk.
FOUND = [
    # a view of what a Function overwrites follows it
    [
        X,
        FUNCTIONS["Dirty"],
        "b = a.norm()",
        "c = b.view(b.shape)",
        "d = Dirty.apply(b)",
        "e, = T.autograd.grad(b - 3 * c, d)",
    ],
    # a write to what a transform's rule looks at is seen
    [X, "b = a * 1", "c = T.func.jacrev(lambda x: x.sin())(b)", "b.pow_(2)", "c.sum().backward()"],
    [X, "b = T.ones((), dtype=T.float64)", "c = T.func.vjp(lambda x: x * a, b)[0]", "b += 1", "c.sum().backward()"],
    # a transform's result requires grad although nobody holds the leaf behind it any more
    [X, "b = a * 1", "del a", "c = T.func.grad(lambda x: (x * b).sum())(b.detach())", "c.sum().backward()"],
    # only forward mode lets a function write into its inputs
    *(
        ["b = T.ones(3, dtype=T.float64)", f"c = T.func.{transform}(lambda x: x.mul_(2) * x)(b)"]
        for transform in ("jacrev", "jacfwd")
    ),
    ["with T.inference_mode():\n    b = T.ones(3)", "c = T.func.grad(lambda x: (x * x).sum())(b)"],
    # what PyTorch keeps must not be overwritten, though a rule could do without
    *(
        [
            X,
            "b = a * 1",
            "c = a * 2",
            f"d = {operation}",
            f"with T.no_grad():\n    {name}.mul_(2)",
            "d.sum().backward()",
        ]
        for name, operation in (
            ("b", "b.gather(0, T.tensor([[0, 1]]))"),
            ("b", "b.masked_select(b > 0)"),
            ("b", "b.take(T.tensor([1, 2]))"),
            ("b", "c.index_add(0, T.tensor([0, 0]), b)"),
            ("b", "c.index_copy(0, T.tensor([0, 1]), b)"),
            ("d", "c.detach().copysign(b)"),
            ("d", "T.linalg.solve(c.detach(), b)"),
        )
    ),
    # a hook hears nothing of a pass that its tensor has no part in
    [X, "b = a.exp()", "b.register_hook(lambda g: g * 2)", "c, = T.autograd.grad(a.sum(), b, allow_unused=True)"],
    # a view made without recording is a leaf of its own, once asked
    [X, "with T.no_grad():\n    b = a.view(-1)", "b.requires_grad_()", "(b * 2 + a.sum()).sum().backward()"],
    # a gradient of another type is cast, and not cut off
    [X, "b = a.float().sum()", "c = T.func.jvp(T.sin, (a[0, 0],), (b,))[1]", "c.backward()"],
    [X, "b = T.nn.functional.huber_loss(a.float(), a.detach() * 3)"],
    [X, "(a * a).sum().backward(inputs=[a, a])"],
    # a checkpoint runs again on what it ran on
    *(
        [
            X,
            "b = a * 2",
            f"c = T.utils.checkpoint.checkpoint(T.sin, b, use_reentrant={way})",
            "b += 1",
            "c.sum().backward()",
        ]
        for way in (False, True)
    ),
    ["b = T.tensor([1, 2])", "c = T.func.jacfwd(T.sin)(b)"],
    [X, "b = T.nn.functional.layer_norm(a, ())"],
    # nothing is scattered into itself
    *(
        ["b = T.ones(2, 2)", f"b{place}.{call}"]
        for place in ("", "[:, :1]")
        for call in (
            "scatter_(0, T.tensor([[0], [0]]), b)",
            "scatter_add_(0, T.tensor([[0], [0]]), b)",
            "scatter_reduce_(0, T.tensor([[0], [0]]), b, 'amax')",
            "index_add_(0, T.tensor([1, 1]), b)",
            "index_copy_(0, T.tensor([1, 0]), b)",
        )
    ),
    [X, "b = a.detach().clone()", "b.t().index_add_(0, T.tensor([0]), b.t()[:1])"],
    # the result is nobody's view
    [X, "b = a.rot90()", "b[0].mul_(2)", "b.sum().backward()"],
    [X, "b = a.quantile(0.5)", "b.pow_(2)", "b.backward()"],
    [X, "b = a.repeat_interleave(2, 1)", "b.mul_(a.repeat_interleave(2, 1))", "b.sum().backward()"],
    ["b = T.tensor([1, 2, 3]).expand(2, 3).double()", "c = b.view(-1)"],
    [X, "b = T.kron(a, a)", "b.exp_()"],
    [X, "b = T.cdist(a, a[:, :1])"],
    [X, "b = T.cdist(a[0], a)"],
    ["b = T.ones(())", "c = b.index_select(0, T.tensor([0, 0]))"],
    ["b = T.zeros(2, 0)", "c = T.nn.functional.cross_entropy(b, b)"],
    [X, "b = T.nn.functional.binary_cross_entropy_with_logits(a, a.detach().float().sigmoid())", "b.backward()"],
    ["b = T.ones(())", "c = T.nn.functional.cross_entropy(b, b)"],
    ["b = T.ones(())", "c = b.flatten(0, 1)"],
    ["b = T.ones(1)", "c = T.nn.functional.linear(b, b[None, None])"],
    ["b = T.tensor([[1]])", "c = T.cdist(b, b)"],
    ["b = T.ones(())", "c = T.tensordot(b, b, 1)"],
    ["b = T.zeros(4, 0)", "c = T.lerp(b, b[:2], b)"],
    ["b = T.tensor([1, 2])", "c = T.nn.functional.huber_loss(b, b)"],
    ["b = T.tensor([1, 2])", "c = T.nn.functional.smooth_l1_loss(b, b)"],
    # an output marked as not differentiable is a constant also where backward finds it again
    [X, FUNCTIONS["Sorted"], "b = Sorted.apply(a)[0]", "c, = T.autograd.grad(b.sum(), a, create_graph=True)"],
    # a Function may not write into a view of a leaf
    [X, FUNCTIONS["Dirty"], "b = Dirty.apply(a[0])"],
    # what reads behind what it writes
    ["b = T.tensor([[1.0, 2.0], [3.0, 4.0]])", "b.add_(b[:, 0], alpha=2)"],
    ["b = T.tensor([1, 2])", "c = T.nn.functional.huber_loss(b, b.double())"],
    [X, "b = a[:0]", "b.fill_diagonal_(0.5)"],
    ["b = T.zeros((2, 0), requires_grad=True)", "b.fill_diagonal_(0.5)"],
    ["b = T.zeros((2, 0), requires_grad=True)", "c = b.diff()"],
    ["b = T.ones((2, 1), requires_grad=True)", "c = b.diff()"],
    ["b = T.zeros((2, 0), requires_grad=True)", "c = T.nn.functional.cross_entropy(b, b.softmax(-1))"],
    ["b = T.tensor(2.0)", "c = b.unflatten(0, (1, -1))"],
    ["b = T.ones(2)", "c = T.func.jvp(T.sin, (b,), (b[None],))"],
    ["b = T.ones(2)", "c = T.func.jvp(T.sin, (b,), (b.long(),))"],
    # which of equal elements
    *(
        ["b = (T.arange(40).double() % 3).requires_grad_()", f"c = b.{call}", "(c * c.detach().cumsum(-1)).sum().backward()"]
        for call in ("topk(7).values", "topk(3, largest=False).values", "sort().values", "quantile(0.3)", "mode().values")
    ),
    ["b = T.arange(200).double() % 3", "c = b.topk(3).indices.double()", "d = b.argsort(descending=True).double()"],
    # a result that is no tensor of floats may be written to, though a Function gave it as it came
    [X, FUNCTIONS["Swapped"], "b = T.tensor([1, 2])", "c = Swapped.apply(a, b)[0]", "c.zero_()"],
    # what PyTorch keeps before it converts it, or beside what the rule needs
    [X, "b = a.float()", "c = a.detach().clamp(b)", "b.mul_(2)", "c.sum().backward()"],
    [X, "b = a.sgn()", "b.mul_(2)", "b.sum().backward()"],
    *(
        [X, "b = a * 1", f"T.nn.functional.{name}_(b)", "c = b * 2", *more, "c.sum().backward()"]
        for name in ("leaky_relu", "elu", "celu", "selu", "rrelu")
        for more in ([], ["b.mul_(2)"])
    ),
    ["b = T.tensor([1])", "c = T.autograd.functional.hvp(T.sum, b, b[None])"],
    ["b = T.ones(2, 3, requires_grad=True)", "b.clamp_(min=b[:1])"],
    ["b = T.ones(3)", "c = T.nn.functional.cross_entropy(b, T.ones(2))"],
    # a quotient that is rounded has slope 0, and is no constant
    *(
        [X, f"b = ({call}).sum()", "c, = T.autograd.grad(b, a, create_graph=True)", "c.sum().backward()"]
        for call in ("T.ones(2).double().fmod(a)", "3 * T.ones(2).double() % a")
    ),
    # shapes are refused before types
    ["b = T.ones(2) & T.ones(3)"],
    ["b = T.lerp(T.tensor([1, 2]), T.tensor([1, 2, 3]), 0.5)"],
    # views of what has no gradient stay what they are when it is turned
    ["b = T.ones(2, 3)", "c = b.unbind(-1)[-1]", "b.unsqueeze_(0)"],
    ["b = T.ones(2)", "b[None].clamp_(min=b)"],
    [X, "b = T.autograd.functional.jacobian(T.sin, a.detach())", "b.detach_()"],
    *(
        [X, f"b = {call}", "c = b.view(-1)"]
        for call in (
            "T.nn.functional.logsigmoid(a.t())",
            "a.t().gather(-1, T.tensor([[0, 1], [0, 1]]))",
            "a.t().logcumsumexp(-1)",
            "a.t().roll(1, 0)",
        )
    ),
]


@pytest.fixture(scope="module")
def pytorch() -> Iterator[PyTorch]:
    pytest.importorskip("torch", reason="compares with PyTorch: pip install torch==2.13.0")
    with PyTorch() as running:
        yield running


@pytest.mark.slow
def test_programs_that_once_disagreed(pytorch: PyTorch) -> None:
    different = [(program, disagreement(program, pytorch.run(program), ran(program, minigrad))) for program in FOUND]
    assert [pair for pair in different if pair[1]] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_pytorch(part: int, pytorch: PyTorch) -> None:
    different = []
    for seed, program, theirs in pytorch.programs(list(range(FIRST + part, FIRST + PROGRAMS, PARTS))):
        if isinstance(theirs, Crash):
            different.append(f"seed {seed}: PyTorch crashes: {theirs}\n\n" + "\n".join(program))
        elif disagreement(program, theirs, ran(program, minigrad)):
            with PyTorch() as another:
                shortest, what = shrunk(program, minigrad, another)
            different.append(f"seed {seed}: {what}\n\n" + "\n".join(shortest))
    if different:
        pytest.fail("\n\n".join(different), pytrace=False)
