"""Random programs over tensors: written statement by statement while PyTorch runs them, then run again on minigrad.

A program is a list of statements in which T stands for the library. After it has run, everything that can be seen of
its variables must agree: values, dtype, shape, requires_grad, is_leaf, the name of grad_fn, .grad; and where it
raises, the same statement raises the same error. `shrunk` removes statements while the disagreement stays.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

from minigrad.inplace import PARTIAL_OVERLAP

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (3, 3), (2, 1, 3), (2, 3, 4), (4,), (0, 3)]
UNARY = [
    "sin()",
    "cos()",
    "tanh()",
    "sigmoid()",
    "exp()",
    "abs()",
    "relu()",
    "neg()",
    "square()",
    "sign()",
    "clone()",
    "detach()",
    "contiguous()",
    "logsumexp(-1)",
    "cumsum(-1)",
    "sum()",
    "mean()",
    "prod()",
    "max()",
    "min()",
    "sum(0)",
    "sum(-1,True)",
    "mean(0)",
    "mean(-1,keepdim=True)",
    "amax(0)",
    "amin(-1)",
    "max(-1).values",
    "min(0).values",
    "var(0)",
    "std(-1)",
    "norm()",
    "norm(dim=-1)",
    "t()",
    "flatten()",
    "reshape(-1)",
    "view(-1)",
    "unsqueeze(0)",
    "unsqueeze(-1)",
    "squeeze()",
    "flip(0)",
    "transpose(0,-1)",
    "tril()",
    "triu()",
    "expm1()",
    "atan()",
    "sinh()",
    "clamp(-0.5,0.5)",
    "clamp(min=0)",
    "pow(2)",
    "pow(3)",
    "erf()",
    "rsqrt()",
    "reciprocal()",
    "log()",
    "sqrt()",
    "floor()",
    "round()",
    "sort(-1).values",
    "mT",
    "T",
    "float()",
    "double()",
    "expand(2,-1,-1)",
    "expand(2,-1)",
    "narrow(0,0,1)",
    "select(0,0)",
    "repeat(2,1)",
    "trace()",
    "count_nonzero()",
    "celu()",
    "silu()",
    "leaky_relu()",
    "hardtanh()",
    "softplus()",
    "elu()",
    "logsigmoid()",
    "gelu()",
    "cumprod(0)",
    "cumprod(-1)",
    "logcumsumexp(-1)",
    "median()",
    "median(-1).values",
    "nansum()",
    "nansum(0)",
    "argmax()",
    "argmax(-1)",
    "argmin(0)",
    "argsort(dim=-1, stable=True)",
    "roll(1)",
    "roll(1, 0)",
    "diagonal()",
    "unfold(-1, 2, 2)",
    "unfold(0, 1, 1)",
    "unbind()[0]",
    "unbind(-1)[-1]",
    "split(2)[0]",
    "split(1, -1)[-1]",
    "split([1, 2])[1]",
    "chunk(2)[0]",
    "chunk(2, -1)[-1]",
    "tensor_split(2)[0]",
    "data",
    "softmax(-1)",
    "log_softmax(0)",
    "cummax(0).values",
    "kthvalue(1).values",
    "prod(0)",
    "prod(-1, True)",
    "squeeze(0)",
    "squeeze(-1)",
    "movedim(0, -1)",
    "ravel()",
    "diag()",
    "std()",
    "var(-1, unbiased=False)",
    "norm(1)",
    "norm(p=float('inf'))",
    "any()",
    "all(-1)",
    "logical_not()",
    "isnan()",
    "clone().detach_()",
    "long()",
]
FUNCTIONAL = {"celu()", "silu()", "leaky_relu()", "hardtanh()", "softplus()", "elu()", "logsigmoid()", "gelu()"}
INDEX = [
    "0",
    "-1",
    "..., 0",
    ":1",
    "1:",
    "::2",
    ":, 0",
    "[0, 0]",
    "[0, -1]",
    "None",
    "0, 0",
    ":, None",
    "..., :2",
    "[[0, 0], [0, 0]]",
]
BINARY = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / {b}",
    "T.maximum({a}, {b})",
    "T.minimum({a}, {b})",
    "{a} @ {b}",
    "T.cat([{a}, {b}])",
    "T.stack([{a}, {b}])",
    "T.where({a} > {b}, {a}, {b})",
    "T.cat([{a}, {b}], -1)",
    "{a} ** {b}",
    "T.atan2({a}, {b})",
    "T.outer({a}, {b})",
    "{a}.expand_as({b})",
    "{a}[{b} > 0]",
    "{a} * {b}.detach()",
    "T.dot({a}, {b})",
    "{a}.masked_fill({b} > 0, 0.5)",
    "T.addcmul({a}, {b}, {b})",
    "T.lerp({a}, {b}, 0.3)",
    "{a} > {b}",
    "T.hypot({a}, {b})",
    "T.logaddexp({a}, {b})",
    "{a} // {b}",
    "{a} % {b}",
    "{a} == {b}",
    "T.einsum('i,i->', {a}, {b})",
    "T.bmm({a}, {b})",
    "{a}.type_as({b})",
]
NUMBER = [
    "{a} + {n}",
    "{n} - {a}",
    "{a} * {n}",
    "{n} * {a}",
    "{a} / {n}",
    "{n} / {a}",
    "{n} ** {a}",
    "{a} - {n}",
    "{a} ** {n}",
    "{a} // {n}",
    "{a} % {n}",
]
INPLACE = [
    "{a}.add_({b})",
    "{a}.mul_({b})",
    "{a}.sub_({b})",
    "{a} += {b}",
    "{a} *= {b}",
    "{a}.add_(1)",
    "{a}.mul_(2)",
    "{a}.exp_()",
    "{a}.tanh_()",
    "{a}.sigmoid_()",
    "{a}.relu_()",
    "{a}.copy_({b})",
    "{a}[{i}] = {b}",
    "{a}[{i}] = 0.5",
    "{a}[{i}] += 1",
    "{a}[{i}].mul_(2)",
    "{a}.clamp_(min=0)",
    "{a}.neg_()",
    "{a}.div_({b})",
    "{a}.detach().add_(1)",
    "{a}.abs_()",
    "{a}.neg_()",
    "{a}.t_()",
    "{a}.squeeze_()",
    "{a}.unsqueeze_(0)",
    "{a}.transpose_(0, -1)",
    "{a}.zero_()",
    "{a}.fill_(0.5)",
    "{a}.fill_({b}.detach().sum())",
    "{a}.data.mul_(0.5)",
    "{a}.pow_(2)",
    "{a}.masked_fill_({b} > 0, 0.5)",
    "{a}.add_({b}, alpha=2)",
    "{a}.sqrt_()",
    "{a}.clamp_(-1, 1)",
    "{a}[{b} > 0] = 1.0",
    "{a}.addcmul_({b}, {b})",
    "{a}.tril_()",
    "{a}.floor_()",
]
NAMES = "abcdefgh"
OTHER_NAMES = (  # one node there; another, or several, here
    "AsStridedBackward0",
    "UnsafeViewBackward0",
    "SqueezeBackward4",
    "FillBackward3",
    "CopyBackwards",
    "ReshapeAliasBackward0",
)
MATMUL = "UnsafeViewBackward0"  # products of more than two dimensions are folded another way
KINKS = re.compile(r"std|relu|abs|clamp|max|min|sort|sign|floor|round|where|elu|> 0")
STEPS = re.compile(r"floor|round|sign|arg|sort|[<>%]|//|==|std|where|long")  # of numbers that differ by a rounding
TOLERANCE = {"torch.float64": 1e-12, "torch.float32": 2e-5, "torch.int64": 0.0, "torch.bool": 0.0}


class Program:
    """Statements, and the variables they lead to in one library."""

    def __init__(self, library: Any) -> None:
        self.names: dict[str, Any] = {"T": library}
        self.statements: list[str] = []

    def run(self, statement: str) -> BaseException | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, self.names)
        except Exception as error:
            return error
        for value in self.names.values():
            if hasattr(value, "_version") and not hasattr(value, "born_with"):
                value.born_with = value._version  # how it was computed is nobody's contract
        return None

    @staticmethod
    def writes(value: Any) -> int:
        """How often this tensor was written to since it has a name."""
        return int(value._version) - int(value.born_with)


def tensors(names: dict[str, Any]) -> list[Any]:
    """The tensors among a program's variables."""
    return [v for v in names.values() if hasattr(v, "requires_grad")]


def empty(names: dict[str, Any]) -> bool:
    return any(v.numel() == 0 for v in tensors(names))


def literal(rng: random.Random, shape: tuple[int, ...], kind: str) -> str:
    """Source of a tensor: short odd numbers, sometimes with a zero or a tie."""
    pool = [-1.3, -0.7, 0.4, 1.1, 0.9, -0.2, 2.3, 0.6] + ([0.0, 0.4, 1.0] if rng.random() < 0.3 else [])
    values = np.array([rng.choice(pool) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(shape)
    if kind == "int64":
        return f"T.tensor({(values * 3).astype(int).tolist()}, dtype=T.int64)"
    grad = ", requires_grad=True" if rng.random() < 0.75 else ""
    body = values.tolist() if values.size else []
    reshape = "" if values.size else f".reshape({shape})"
    if reshape:
        return f"T.zeros({shape}, dtype=T.{kind}{grad})"
    return f"T.tensor({body}, dtype=T.{kind}{grad})"


def step(rng: random.Random, have: list[str]) -> str:
    """A random statement over the variables there are."""
    a, b = rng.choice(have), rng.choice(have)
    out = rng.choice(NAMES[:6])
    kind = rng.random()
    if kind < 0.38:
        op = rng.choice(UNARY)
        if op in FUNCTIONAL:
            return f"{out} = T.nn.functional.{op.replace('()', f'({a})')}"
        return f"{out} = {a}.{op}"
    if kind < 0.5:
        return f"{out} = {a}[{rng.choice(INDEX)}]"
    if kind < 0.72:
        return f"{out} = " + rng.choice(BINARY).format(a=a, b=b)
    if kind < 0.8:
        return f"{out} = " + rng.choice(NUMBER).format(a=a, n=rng.choice(["2", "0.5", "3.0", "-1", "1.5"]))
    if kind < 0.93:
        return rng.choice(INPLACE).format(a=a, b=b, i=rng.choice(INDEX[:7]))
    if kind < 0.95:
        return f"with T.no_grad():\n    {out} = {a} * 2"
    if kind < 0.96:
        return f"with T.no_grad():\n    {a}.mul_(0.5)"
    if kind < 0.97:
        return f"{a}.retain_grad()"
    if kind < 0.985:
        return f"{a}.sum().backward(retain_graph=True)"
    return f"{out} = T.autograd.grad(({a} * {a}).sum(), {b}, create_graph=True, allow_unused=True)[0]"


def ending(rng: random.Random, have: list[str]) -> list[str]:
    """Backward from the sum of some variables, perhaps twice, perhaps of second order."""
    roots = rng.sample(have, min(len(have), 3))
    total = " + ".join(f"({v} * {w}).sum()" for v, w in zip(roots, (0.7, 1.9, -1.3), strict=False))
    kind = rng.random()
    if kind < 0.55:
        return [f"z = {total}", "z.backward()"]
    if kind < 0.75:
        return [f"z = {total}", "z.backward(retain_graph=True)", "z.backward()"]
    x = rng.choice(have)
    return [
        f"z = {total}",
        f"y, = T.autograd.grad((z * z).sum(), {x}, create_graph=True, allow_unused=True)",
        "(y * y * 0.3).sum().backward()",
    ]


def written(rng: random.Random, torch: Any) -> list[str]:
    """A program, grown while PyTorch runs it: statements that raise are mostly dropped; one that stays ends it."""
    program = Program(torch)
    for name in NAMES[: rng.randint(2, 4)]:
        kind = rng.choices(["float64", "float32", "int64"], [8, 1, 1])[0]
        statement = f"{name} = {literal(rng, rng.choice(SHAPES), kind)}"
        if program.run(statement) is None:
            program.statements.append(statement)
    for _ in range(rng.randint(3, 14)):
        have = [n for n, v in program.names.items() if isinstance(v, torch.Tensor) and v.numel() < 200]
        statement = step(rng, have)
        error = program.run(statement)
        if error is None:
            program.statements.append(statement)
        elif rng.random() < 0.04:
            return [*program.statements, statement]
    have = [n for n, v in program.names.items() if isinstance(v, torch.Tensor) and v.is_floating_point()]
    return [*program.statements, *(ending(rng, have) if have else [])]


def seen(value: Any) -> dict[str, Any]:
    """Everything that can be asked of a variable without changing it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = value.grad
        return {
            "dtype": str(value.dtype),
            "shape": tuple(value.shape),
            "requires_grad": value.requires_grad,
            "is_leaf": value.is_leaf,
            "grad_fn": None if value.grad_fn is None else type(value.grad_fn).__name__,
            "value": np.array(value.detach().numpy()),
            "grad": None if grad is None else np.array(grad.detach().numpy()),
        }


def unreadable(value: Any) -> bool:
    """PyTorch refuses any look at one of several views of a tensor that was modified since."""
    try:
        value.requires_grad  # noqa: B018 (asking is the point)
        return value.grad_fn is None and False
    except RuntimeError:
        return True


def agree(ours: Any, theirs: Any, tolerance: float) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    if ours.shape != theirs.shape:
        return False
    finite = theirs[np.isfinite(theirs)] if theirs.dtype.kind == "f" else theirs
    largest = np.abs(finite).max(initial=0.0)
    return bool(np.allclose(ours, theirs, rtol=0.0, atol=tolerance * (1 + float(largest)), equal_nan=True))


def disagreement(statements: list[str], torch: Any, ours: Any) -> str | None:
    """Run the program on both; what differs first, in words, or None."""
    a, b = Program(torch), Program(ours)
    differentiated = any("autograd.grad" in s for s in statements)
    overwritten = any(".data." in s for s in statements)  # silently: by what a node keeps, and so by how it is computed
    failed = rounded = False
    for n, statement in enumerate(statements):
        whole = [v for v in tensors(a.names) if not unreadable(v) and v.requires_grad and not v.is_floating_point()]
        expected, got = a.run(statement), b.run(statement)
        rounded = rounded or any(v.dtype in (torch.float32, torch.int64) for v in tensors(a.names))
        if "multiple views" in str(expected) and "index" not in str(expected):
            return None  # a view that PyTorch no longer lets us look at
        if expected is None and PARTIAL_OVERLAP in str(got):
            return None  # PyTorch overwrites what it has still to read: in which order is nobody's contract
        if expected is None and re.search("dtype|scalar type|not implemented", str(got)) and empty(a.names):
            return None  # PyTorch looks less closely at what has nothing in it
        if "does not require grad" in str(expected) and got is None and empty(a.names):
            return None  # PyTorch's `cat` overlooks what is empty
        if "more than one element" in str(expected) and got is None and "backward" in statement:
            return None  # PyTorch cannot walk back over a write into an expanded tensor
        if "does not require grad" in str(got) and expected is None and whole:
            return None  # written into from something that requires grad, PyTorch's integers require grad
        if "Autograd not support dtype" in str(expected) and whole:
            return None
        if "Negation" in str(expected) and got is None and "backward" in statement:
            return None  # PyTorch's rule of atan2 negates a boolean and fails; ours has made a number of it
        if type(expected) is not type(got):
            return f"statement {n + 1}: PyTorch {describe(expected)}, minigrad {describe(got)}"
        if expected is not None:
            if (
                AUTOGRAD.search(str(expected))
                and "multiple views" not in str(expected)
                and sentence(expected) != sentence(got)
            ):
                return f"statement {n + 1}, another message: PyTorch {describe(expected)}, minigrad {describe(got)}"
            failed = True
            break
    found = [v for v in a.names.values() if isinstance(v, torch.Tensor)]
    readable = [v for v in found if not unreadable(v)]
    finite = all(
        np.isfinite(v).all() for t in readable for k, v in seen(t).items() if k in ("value", "grad") and v is not None
    )
    for name, value in a.names.items():
        if not isinstance(value, torch.Tensor) or unreadable(value):
            continue
        theirs, mine = seen(value), seen(b.names[name])
        theirs["writes"], mine["writes"] = a.writes(value), b.writes(b.names[name])
        for key in theirs:
            if key == "grad_fn" and (differentiated or theirs[key] in OTHER_NAMES or mine[key] == MATMUL):
                continue  # how gradients are computed is nobody's contract, nor what PyTorch writes inside an operation
            nothing = not value.is_floating_point() or (differentiated and not value.numel())
            if nothing and key in ("requires_grad", "is_leaf", "grad_fn"):
                continue  # written into from something that requires grad, PyTorch's integers require grad
            if key == "value" and ((differentiated and not finite) or (rounded and STEPS.search(" ".join(statements)))):
                continue
            if key == "grad" and (failed or not finite or overwritten or (rounded and KINKS.search(" ".join(statements)))):
                continue  # nor the side of a kink a rounded number falls on, how far a walk came, whether 0 * nan is reached
            tolerance = TOLERANCE[theirs["dtype"]] if not rounded else TOLERANCE["torch.float32"]
            same = agree(mine[key], theirs[key], tolerance) if key in ("value", "grad") else mine[key] == theirs[key]
            if not same:
                return f"{name}: {key} is {theirs[key]!r} in PyTorch, {mine[key]!r} in minigrad"
    return None


def sentence(error: BaseException) -> str:
    """The message, without what depends on how an operation is composed: the saved tensor's type and maker."""
    first = str(error).split("\n")[0].replace("minigrad", "torch")
    first = first.replace("a view of a leaf Variable", "a leaf Variable")  # x[:] is x itself in PyTorch
    return "modified in place" if "modified by an inplace operation" in first else first


# The sentences of autograd and of broadcasting must be the same; elsewhere the type of the error counts.
AUTOGRAD = re.compile(r"\bgrad|backward|in-?place|The size of tensor|element 0 of")


def describe(error: BaseException | None) -> str:
    return "goes on" if error is None else f"raises {type(error).__name__}: {error}"


def shrunk(statements: list[str], torch: Any, ours: Any) -> list[str]:
    """The shortest program left when every statement that can go has gone."""
    changed = True
    while changed:
        changed = False
        for i in range(len(statements) - 1, -1, -1):
            shorter = statements[:i] + statements[i + 1 :]
            probe = Program(torch)
            if any(isinstance(probe.run(s), NameError) for s in shorter):
                continue
            if disagreement(shorter, torch, ours):
                statements, changed = shorter, True
    return statements
