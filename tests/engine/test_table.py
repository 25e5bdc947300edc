"""Every row of the derivative table, at first and second order, against finite differences.

The programs are PyTorch's own samples (tests/data/ops.json: broadcast operands, empty ones, ties, repeated indices), moved a
little away from kinks where a sample sits on one; the upstream gradient is random. `test_no_row_is_missed` looks at which
rows the graphs of those samples held, so that a new line of the table cannot stay untried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import kernels
from minigrad.record.formula import SPELLED
from minigrad.tape import TABLE, Node
from tests.engine.test_ops_golden import CASES, LEFT_OUT, callable_for, rebuilt, tensors

SMALL = 60  # elements; finite differences cost one forward pass for each
SKIP = {
    **dict.fromkeys(("nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"), "random"),
    **dict.fromkeys(("nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout_with_train"), "random"),
    **dict.fromkeys(("normal", "rand_like", "randn_like", "bernoulli", "uniform"), "random"),
    **dict.fromkeys(("float", "half", "nextafter"), "finite differences of a rounded number"),
    "linalg.eigvalsh": "reads one triangle: only symmetric changes of its input mean anything",
    "nn.functional.max_unpool1d": "two inputs written to one place: the last wins",
    "nn.functional.multi_margin_loss": "the sample without dimensions is refused",
    **dict.fromkeys(("floor_divide",), "no derivative, and it says so"),
}


F = mg.nn.functional

# Rows that PyTorch's small samples do not reach: a program each, of a (2, 3) input between 0.2 and 0.8.
PROGRAMS: dict[str, Any] = {
    **{
        name: getattr(mg, name)
        for name in (
            [
                "asin",
                "asinh",
                "atan",
                "atanh",
                "erf",
                "erfinv",
                "expm1",
                "log1p",
                "tan",
                "ceil",
                "floor",
                "frac",
                "trunc",
            ]
        )
    },
    "movedim of a number": lambda x: x.sum().movedim(0, 0) * x,
    **{
        f"special {name}": getattr(mg.special, name)
        for name in ("i0e", "i1", "i1e", "ndtri", "log_ndtr", "erfcx", "entr")
    },
    "special of two": lambda x: mg.special.xlog1py(x, x * 2) + mg.special.zeta(2.5, x),
    "igamma": lambda x: mg.igamma(mg.tensor(1.3), x) * mg.igammac(mg.tensor(2.5), x),
    "pinv": lambda x: mg.linalg.pinv(x) * mg.linalg.pinv(x.mT, hermitian=False).mT,
    "fill": lambda x: (x * 1).fill_(0.5) + x,
    "fill with a tensor": lambda x: (x * 1).fill_(x.sum()) + x,
    "zero": lambda x: (x * 1).zero_() + x,
    "as_strided": lambda x: (x * 1).as_strided((2, 2), (1, 2)),
    "scatter_prod": lambda x: x.scatter_reduce(1, mg.tensor([[0, 0, 1], [2, 1, 1]]), x * 2, "prod"),
    "scatter_extreme": lambda x: x.scatter_reduce(1, mg.tensor([[0, 0, 1], [2, 1, 1]]), x * 2, "amax"),
    "index_copy": lambda x: (x * 1).index_copy(1, mg.tensor([2, 0]), x[:, 1:] * 2),
    "slice_scatter": lambda x: mg.slice_scatter(x * 1, x[1:] * 2, 0, 0, 1),
    "split": lambda x: x.split([1, 2], 1)[1] * x.split(2, 1)[0],
    "trace and diagonals": lambda x: x.trace() * x.diag() + x[0, :2].diag().sum(),
    "gelu": F.gelu,
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x - 0.5),
    "remainder": lambda x: mg.remainder(x * 7, 1.3) + mg.fmod(x * 7, 1.3),
    "remainder 2": lambda x: mg.remainder(x * 7, x + 1.3),
    "fmod": lambda x: mg.fmod(x * 7, x + 1.3),
    "copysign": lambda x: mg.copysign(x, x.detach() - 0.5),
    "flip": lambda x: x.flip(1) * x,
    "roll": lambda x: x.roll(1, 0) * x,
    "mv": lambda x: x @ x[0],
    "bmm": lambda x: mg.bmm(x[None], x.mT[None]),
    "matmul": lambda x: x.expand(4, 2, 3) @ x.mT,
    "embedding": lambda x: F.embedding(mg.tensor([0, 1, 0]), x) ** 2,
    "avg_pool": lambda x: F.avg_pool1d(x[None], 2) ** 2,
    "adaptive": lambda x: F.adaptive_avg_pool1d(x[None], 2) ** 2,
    "max_pool2d": lambda x: F.max_pool2d((x[None, None] * 1.7) ** 2, 2, 1),
    "max_pool3d": lambda x: F.max_pool3d((x[None, None, None] * 1.7) ** 2, (1, 2, 2), 1),
    "im2col": lambda x: F.unfold(x[None, None] ** 2, (2, 2)),
    "col2im": lambda x: F.fold(x.reshape(1, 6, 1) ** 2, (2, 3), (2, 3)),
    "add_slide": lambda x: (x**2).unfold(1, 2, 1),
    "erase": lambda x: overwritten(x * 1.0),
}


def overwritten(y: mg.Tensor) -> mg.Tensor:
    y[:, 1] *= y[:, 0].clone()
    return y * y


@pytest.mark.parametrize("name", PROGRAMS)
def test_own_programs(name: str) -> None:
    x = mg.tensor(np.random.default_rng(5).uniform(0.2, 0.8, (2, 3)), requires_grad=True)
    assert mg.autograd.gradcheck(PROGRAMS[name], x)
    assert mg.autograd.gradgradcheck(PROGRAMS[name], x, atol=1e-4)


def differentiable(name: str) -> list[dict[str, Any]]:
    """The samples of this operation that have gradients and are small enough."""
    chosen = []
    for case in CASES[name]:
        leaves = [t for t in tensors([rebuilt(case["args"]), rebuilt(case["kwargs"])]) if t.requires_grad]
        if "grads" in case and leaves and 0 < sum(t.numel() for t in leaves) <= SMALL:
            chosen.append(case)
    return chosen


NAMES = [n for n in sorted(CASES.keys() - LEFT_OUT - SKIP.keys()) if differentiable(n)]


def program(name: str, case: dict[str, Any]) -> tuple[Any, list[mg.Tensor]]:
    """The sample as a function of its leaves, and the leaves, moved a little."""
    args, keywords = rebuilt(case["args"]), rebuilt(case["kwargs"])
    leaves = [t for t in tensors([args, keywords]) if t.requires_grad]
    rng = np.random.default_rng(3)
    moved = [mg.tensor(t.detach().numpy() + 1e-3 * rng.random(t.shape), requires_grad=True) for t in leaves]

    def run(*xs: mg.Tensor) -> Any:
        fresh = dict(zip(map(id, leaves), xs, strict=True))

        def swapped(value: Any) -> Any:
            if isinstance(value, mg.Tensor):
                return fresh.get(id(value), value)
            if isinstance(value, (list, tuple)):
                return type(value)(map(swapped, value))
            return {k: swapped(v) for k, v in value.items()} if isinstance(value, dict) else value

        found = callable_for(name)(*swapped(args), **swapped(keywords))
        return tuple(t for t in tensors(found) if t.dtype.is_floating_point)

    return run, moved


def rows(outputs: Any) -> set[str]:
    """The rows of the table in these tensors' graphs."""
    found: set[str] = set()
    stack: list[Node] = [t._node for t in outputs if t._node is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        made = getattr(type(node), "operation", None)
        if made is not None:
            found.add(made.name)
        for parent in node.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_first_and_second_order(name: str) -> None:
    for case in differentiable(name)[:2]:
        run, leaves = program(name, case)
        with np.errstate(all="ignore"):
            if not all(np.isfinite(t.detach().numpy()).all() for t in run(*leaves)):
                continue
            assert mg.autograd.gradcheck(run, leaves, atol=1e-4)
            if name not in FIRST_ORDER:
                assert mg.autograd.gradgradcheck(run, leaves, atol=1e-3, rtol=1e-2)


FIRST_ORDER: dict[str, str] = {}


def test_no_row_is_missed() -> None:
    met: set[str] = set()
    samples = [program(name, case) for name in NAMES for case in differentiable(name)]
    x = mg.tensor(np.random.default_rng(5).uniform(0.2, 0.8, (2, 3)), requires_grad=True)
    samples += [(lambda y, run=run: (run(y),), [x]) for run in PROGRAMS.values()]
    for run, leaves in samples:
        outputs = run(*leaves)
        met |= rows(outputs)
        roots = [t for t in outputs if t.requires_grad]
        if roots:
            weights = [mg.ones_like(t).requires_grad_() for t in roots]
            found = mg.autograd.grad(roots, leaves, weights, create_graph=True, allow_unused=True)
            met |= rows([g for g in found if g is not None and g.requires_grad])
    assert TABLE.keys() - met <= ELSEWHERE.keys()


ELSEWHERE = {
    **dict.fromkeys(
        ("drawn_bernoulli", "drawn_poisson", "drawn_normal", "drawn_normal_mean", "drawn_normal_std"),
        "random: the slope is 0 in test_further",
    ),
    "cast": "finite differences of a rounded number; recorded cases dt-*",
    "narrowed_alias": "recorded cases of narrow",
    "spread": "values in test_ops_golden",
    "cleared": "values in test_ops_golden",
    "nll_spread": "losses in tests/library",
    "ctc": "the gradient of the logits before it: losses in tests/library",
    "ctc_slope": "not differentiable: losses in tests/library",
    "gather_cut": "recorded samples of gather",
    "scatter_erase": "recorded samples of scatter",
    "embedding_padded": "gives no gradient on purpose: recorded samples of embedding",
    "erase": "in-place cases",
    "batch_mm": "recorded samples of matmul",
}


@pytest.mark.parametrize("helper", SPELLED)
@pytest.mark.parametrize("exponent", [2, 3, 0.5, -1])
def test_a_spelled_out_helper_is_what_it_is_said_to_be(helper: str, exponent: float) -> None:
    names = {"x": np.array([0.5, 1.5, 3.0]), "exponent": exponent, "g": np.array([-1.0, 2.0]), "out": np.array([0.0, 3.0])}
    assert np.allclose(eval(helper, vars(kernels), names), eval(SPELLED[helper], {}, names))
