"""Random programs over tensors: written statement by statement while PyTorch runs them, then run again on minigrad.

A program is a list of statements (statements.py draws them) in which T stands for the library. After it has run,
everything that can be seen of its variables must agree: values, dtype, shape, requires_grad, is_leaf, the name of
grad_fn, .grad, how often they were written to, what hooks were given; and where it raises, the same statement raises
the same error. `shrunk` removes statements while the disagreement stays.

PyTorch runs in a process of its own (`serve`), for some programs crash it; what was seen of
its variables comes back as data.
"""

from __future__ import annotations

import os
import pickle
import random
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.engine.statements import FUNCTIONS, NAMES, ending, first, step

ROOT = Path(__file__).parents[2]
OTHER_NAMES = (  # one node there; another, or several, here
    "AsStridedBackward0", "UnsafeViewBackward0", "SqueezeBackward4", "FillBackward3", "CopyBackwards",
    "ReshapeAliasBackward0", "DivBackward1", "LeakyReluBackward1",
    "RemainderBackward1", "FmodBackward1", "ClampBackward0", "ClampMinBackward1", "ClampMaxBackward1", "LerpBackward0",
    "LerpBackward1", "MaskedFillBackward1", "TraceBackward0", "DiagonalBackward0_copy", "MedianBackward0", "CumprodBackward0",
    "LinalgVectorNormBackward0", "AliasBackward0",
)  # fmt: skip
# products of more dimensions are folded another way
FOLDED = "UnsafeViewBackward0", "ReshapeAliasBackward0", "IndexSelectBackward0"
OVERLAP = "some elements of the input tensor and the written-to tensor refer to a single memory"
NOT_FOLLOWED = re.compile(  # numbers without dimensions, what is empty, the order in memory
    "0-dimensional|of dimension 0|on a scalar|tuple index out of range|zero-size array|empty sequence|view size is not compat"
    "|to negative integer powers|einsum\\(\\)|non-empty TensorList|must not be zero|modulo by zero|same number of dimensions"
)
STALE = "its base or another view of its base has been modified"
KINKS = re.compile(r"std|relu|abs|clamp|max|min|sort|sign|floor|round|where|> 0|loss|trunc|topk|norm|mod")
STEPS = re.compile(r"floor|round|sign|arg|sort|[<>%]|//|==|std|where|long|int\(|bool|trunc|mod")  # where a rounding shows
WALKS = r"backward|grad"  # statements that may run a backward pass
NO_GRAPH = re.compile("(does not|doesn't) require grad|has requires_grad=False")
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 5e-3}


@dataclass
class Run:
    """What was seen of a program that ran in one library: data only, so that it can come from another process."""

    errors: list[tuple[str, str] | None] = field(default_factory=list)  # of each statement: type and message
    whole: list[bool] = field(default_factory=list)  # before it: whether integers require grad, as PyTorch lets them
    rounded: list[str] = field(default_factory=list)  # after it: the type of numbers that it may have rounded to
    stretched: list[bool] = field(default_factory=list)  # before it: whether elements of a tensor share their memory
    empty: list[bool] = field(default_factory=list)  # after it: whether there are tensors with nothing in them
    variables: dict[str, dict[str, Any] | None] = field(default_factory=dict)  # None: PyTorch refuses to look
    log: list[float] = field(default_factory=list)


def as_data(run: Run) -> dict[str, Any]:
    """A run as JSON; `from_data` makes it a run again."""

    def plain(value: Any) -> Any:
        return [str(value.dtype), list(value.shape), value.reshape(-1).tolist()] if isinstance(value, np.ndarray) else value

    errors = [error and (error[0], error[1].split("\n")[0]) for error in run.errors]
    variables = {name: seen and {key: plain(value) for key, value in seen.items()} for name, seen in run.variables.items()}
    return {**vars(run), "errors": errors, "variables": variables}


def from_data(data: dict[str, Any]) -> Run:
    def array(value: Any) -> Any:
        return None if value is None else np.array(value[2], value[0]).reshape(value[1])

    for seen in filter(None, data["variables"].values()):
        seen.update(value=array(seen["value"]), grad=array(seen["grad"]), shape=tuple(seen["shape"]))
    return Run(**data)


class Program:
    """The variables that statements lead to in one library."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.names: dict[str, Any] = {"T": library, "log": []}
        self.born: dict[int, tuple[Any, int]] = {}

    def run(self, statement: str) -> Exception | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, self.names)
        except Exception as error:
            return error
        for value in self.tensors().values():
            if id(value) not in self.born:
                self.born[id(value)] = value, writes(value)  # how it was computed is nobody's contract
        return None

    def tensors(self) -> dict[str, Any]:
        return {name: v for name, v in self.names.items() if isinstance(v, self.library.Tensor)}

    def seen(self, value: Any) -> dict[str, Any] | None:
        """Everything that can be asked of a variable without changing it; None where PyTorch refuses any look.

        It does at one of several views of a tensor that was modified since, and at a gradient that is still many at once.
        """
        try:
            value.requires_grad, value.grad_fn  # noqa: B018 (asking is the point)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                grad = value.grad
            grad = None if grad is None else grad.detach()
        except RuntimeError:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {
                "dtype": str(value.dtype).partition(".")[2],
                "shape": tuple(value.shape),
                "requires_grad": value.requires_grad,
                "is_leaf": value.is_leaf,
                "grad_fn": None if value.grad_fn is None else type(value.grad_fn).__name__,
                "value": np.array(value.detach().numpy(force=True)),
                "grad": None if grad is None else np.array(grad.numpy(force=True)),
                "stretched": stretched(value),
                "writes": writes(value) - self.born.get(id(value), (None, 0))[1],
            }


def stretched(value: Any) -> bool:
    return any(s == 0 and n > 1 for s, n in zip(value.stride(), value.shape, strict=True))


def writes(value: Any) -> int:
    try:
        return 0 if value.is_inference() else int(value._version)
    except RuntimeError:  # PyTorch's view, made outside, of what was made in inference mode: it counts nothing, either
        return 0


def ran(statements: list[str], library: Any, told: Callable[[str], None] = lambda statement: None) -> Run:
    """Run a program; `told` hears of each statement before it runs."""
    program, run = Program(library), Run()
    for statement in statements:
        run.whole.append(any(asks(v) for v in program.tensors().values()))
        run.stretched.append(any(stretched(v) for v in program.tensors().values()))
        told(statement)
        error = program.run(statement)
        run.errors.append(None if error is None else (type(error).__name__, str(error)))
        there = program.tensors().values()
        kinds = {str(v.dtype).partition(".")[2] for v in there}  # of whole numbers `exp` makes float32
        run.rounded.append("float16" if "float16" in kinds else "float32" if kinds - {"float64"} else "float64")
        run.empty.append(any(v.numel() == 0 for v in there))
    run.variables = {name: program.seen(v) for name, v in program.tensors().items()}
    run.log = [float(n) for n in program.names["log"]]
    return run


def asks(value: Any) -> bool:
    try:
        return bool(value.requires_grad and not value.is_floating_point())
    except RuntimeError:
        return False


def written(rng: random.Random, torch: Any, told: Callable[[str], None] = lambda statement: None) -> list[str]:
    """A program, grown while PyTorch runs it: statements that raise are mostly dropped; one that stays ends it."""
    program, statements = Program(torch), []

    def goes_on(statement: str) -> bool:
        told(statement)
        return program.run(statement) is None

    for name in NAMES[: rng.randint(2, 4)]:
        statement = first(rng, name)
        if goes_on(statement):
            statements.append(statement)
    for _ in range(rng.randint(3, 14)):
        have = [n for n, v in program.tensors().items() if v.numel() < 200]
        statement = step(rng, have)
        maker = next((name for name in FUNCTIONS if f"{name}.apply" in statement), None)
        if maker is not None and maker not in program.names:
            program.run(FUNCTIONS[maker])
            statements.append(FUNCTIONS[maker])
        if goes_on(statement):
            statements.append(statement)
        elif rng.random() < 0.04:
            return [*statements, statement]
    have = [n for n, v in program.tensors().items() if v.is_floating_point()]
    return [*statements, *(ending(rng, have) if have else [])]


# ---------------------------------------------------------------------------------------------------- PyTorch's process


class Crash(Exception):
    """PyTorch's process died: of what, and while it ran which statements."""

    def __init__(self, reason: str, statements: list[str]) -> None:
        super().__init__(reason)
        self.reason, self.statements = reason, statements


class PyTorch:
    """PyTorch in a process of its own: writes programs and runs them."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tests.engine.random_programs import serve; serve()"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _ask(self, *request: Any) -> Any:
        assert self.process.stdin is not None
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return pickle.load(self.process.stdout)

    def programs(self, seeds: list[int]) -> Iterator[tuple[int, list[str], Run | Crash]]:
        """For each seed the program that it leads to, and what PyTorch makes of it."""
        while seeds:
            self._ask("write", seeds)
            for seed in seeds:
                try:
                    statements, run = self._answer()
                except EOFError:
                    crash = self._crash("write slowly", seed)
                    yield seed, crash.statements, crash
                    seeds = seeds[seeds.index(seed) + 1 :]
                    break
                yield seed, statements, run
            else:
                return

    def run(self, statements: list[str]) -> Run:
        """What PyTorch makes of this program; raises Crash."""
        self._ask("run", statements)
        try:
            return self._answer()  # type: ignore[no-any-return]
        except EOFError:
            raise self._crash("run slowly", statements) from None

    def _crash(self, *request: Any) -> Crash:
        """Why the process died, with the statements that kill another one as well; none, where it lives."""
        code = self.process.wait()
        died = f"{signal.strsignal(-code)}" if code < 0 else f"exit status {code}"
        self._start()
        self._ask(*request)
        told: list[str] = []
        try:
            while isinstance(answer := self._answer(), str):
                told.append(answer)
        except EOFError:
            self.process.wait()
            self._start()
            return Crash(died, told)
        return Crash(f"{died}, but not again", [])

    def __enter__(self) -> PyTorch:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def serve() -> None:
    """PyTorch's side: answer requests until there are no more."""
    import torch

    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what PyTorch prints is no answer

    def told(what: Any) -> None:
        pickle.dump(what, answers)
        answers.flush()

    while True:
        try:
            request, subject = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if request == "write":
            for seed in subject:
                statements = written(random.Random(seed), torch)
                told((statements, ran(statements, torch)))
        elif request == "write slowly":
            statements = written(random.Random(subject), torch, told)
            told(...)
        else:
            told(ran(subject, torch, told if request == "run slowly" else lambda statement: None))


# ---------------------------------------------------------------------------------------------------- what must agree


def agree(ours: Any, theirs: Any, tolerance: float) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    if ours.shape != theirs.shape:
        return False
    finite = theirs[np.isfinite(theirs)] if theirs.dtype.kind == "f" else theirs
    largest = np.abs(finite).max(initial=0.0)
    return bool(np.allclose(ours, theirs, rtol=0.0, atol=tolerance * (1 + float(largest)), equal_nan=True))


def disagreement(statements: list[str], theirs: Run, ours: Run) -> str | None:
    """What differs first, in words, or None."""
    text = "\n".join(statements)
    differentiated = re.search(r"autograd\.(grad\(|functional)|create_graph", text) is not None
    overwritten = ".data" in text  # unnoticed: what a rule then computes depends on what it saved
    failed = False
    for n, statement in enumerate(statements):
        expected, got = theirs.errors[n], ours.errors[n]
        if expected is None and got is None:
            continue
        shared = theirs.stretched[n] and not ours.stretched[n]
        if pardoned(statements[: n + 1], expected, got, theirs.whole[n], theirs.empty[n], shared):
            return None
        if expected is None or got is None or expected[0] != got[0]:
            return f"statement {n + 1}: PyTorch {described(expected)}, minigrad {described(got)}"
        if AUTOGRAD.search(expected[1]) and "multiple views" not in expected[1] and sentence(expected) != sentence(got):
            return f"statement {n + 1}, another message: PyTorch {described(expected)}, minigrad {described(got)}"
        failed = failed or re.search(WALKS, statement) is not None
    coarsest = max(theirs.rounded, key=lambda kind: TOLERANCE[kind])
    rounded, empty, whole = coarsest != "float64", any(theirs.empty), any(theirs.whole)
    readable = {name: v for name, v in theirs.variables.items() if v is not None}
    finite = all(np.isfinite(v[k]).all() for v in readable.values() for k in ("value", "grad") if v[k] is not None)
    cancelled = coarsest == "float16" and differentiated  # a difference of numbers that are almost equal
    vague = failed or cancelled or not finite or overwritten or (rounded and KINKS.search(text))
    for name, expect in readable.items():
        have = ours.variables.get(name)
        if have is None:
            return f"{name}: PyTorch has {expect}, minigrad nothing to look at"
        for key in expect:
            if key == "stretched" or (key == "writes" and not expect["value"].size):
                continue
            composed = differentiated or "einsum" in text
            if key == "grad_fn" and (composed or expect[key] in OTHER_NAMES or have[key] in FOLDED):
                continue  # in which operations a gradient is computed, or what PyTorch writes inside an operation
            nothing = "float" not in expect["dtype"] or (differentiated and empty)
            if (nothing or whole) and key in ("requires_grad", "is_leaf", "grad_fn", "grad"):
                continue  # written into from something that requires grad, PyTorch's integers require grad
            if key == "value" and ((differentiated and (overwritten or not finite)) or (rounded and STEPS.search(text))):
                continue
            if key == "grad" and vague:
                continue  # the side of a kink a rounded number falls on, how far a walk came, whether 0 * nan is reached
            tolerance = TOLERANCE.get(expect["dtype"], 0.0) if not rounded else TOLERANCE[coarsest]
            same = agree(have[key], expect[key], tolerance) if key in ("value", "grad") else have[key] == expect[key]
            if not same and key in ("value", "writes") and expect["stretched"] and not have["stretched"]:
                return None  # PyTorch hands out a gradient that is one number
            if not same:
                return f"{name}: {key} is {expect[key]!r} in PyTorch, {have[key]!r} in minigrad"
    if not vague and not empty:
        theirs_log, ours_log = (np.array(sorted(run.log)) for run in (theirs, ours))
        if not agree(ours_log, theirs_log, TOLERANCE[coarsest]):
            return f"what hooks were given: {theirs_log.tolist()} in PyTorch, {ours_log.tolist()} in minigrad"
    return None


Error = tuple[str, str] | None


def pardoned(program: list[str], expected: Error, got: Error, whole: bool, empty: bool, shared: bool) -> bool:
    """Whether one may raise here and the other not: what follows is not compared."""
    theirs, ours = "" if expected is None else expected[1], "" if got is None else got[1]
    walk = re.search(WALKS, program[-1]) is not None
    maker, text = re.search(r"Output \d+ of (\w+) is a view", theirs), "".join(program)
    by_function = "a custom Function" in theirs or (maker is not None and f"class {maker[1]}(" in text)
    if STALE in theirs and got is None and "v.requires_grad" in program[-1]:
        return True  # PyTorch does not even look at a stale view
    if STALE in theirs and (STALE in ours or (got is None and (by_function or ".requires_grad_()" in text))):
        return True  # which of several stale views is named; views by a Function, or made leaves, know of no base here
    if (expected is None and NOT_FOLLOWED.search(ours)) or (got is None and OVERLAP in theirs):
        return True
    if expected is None and OVERLAP in ours:
        return True  # PyTorch overwrites what it has still to read, or has written
    if empty and expected is None and re.search("dtype|scalar type|not implemented|out of bounds|can't be cast", ours):
        return True  # PyTorch looks less closely at what has nothing in it
    if empty and re.search("Number of indices|have non-zero|non-empty TensorList|select\\(\\): index 0 out of range", theirs):
        return True  # there it stumbles itself, or names another of two reasons
    if empty and (NO_GRAPH.search(theirs + ours) or (got is None and "modified by an inplace" in theirs)):
        return True  # PyTorch's `cat` overlooks what is empty, and a rule may give a constant for it
    if "broadcast shape" in theirs and "broadcast shape" in ours and walk:
        return True  # numpy's ValueError here
    if "more than one element" in theirs and got is None and (walk or shared):
        return True  # PyTorch cannot walk back over a write into an expanded tensor, and hands out expanded gradients
    if whole:
        return True  # written into from something that requires grad, PyTorch's integers require grad
    if got is None and walk and re.search("Negation|derivative for .* is not implemented|Found dtype", theirs):
        return True  # rules of PyTorch's that fail: atan2's negates a boolean, huber_loss's takes one type
    if (got is None and walk and "with a bool tensor is not supported" in theirs) or "Got 0-D tensor" in ours:
        return True  # a rule of PyTorch's subtracts from a boolean; and .mT of a number is on its way out there
    if got is None and STALE in theirs and "inference mode" in theirs:
        return True  # a view made in inference mode is no view of a normal tensor here
    if "which was created in inference mode" in theirs and got is not None:
        return True  # which of two reasons is named
    if walk and "'NoneType' object has no attribute" in theirs:
        return True  # PyTorch calls a hook with None where no gradient came
    composed = "modified by an inplace" in theirs and re.search("lerp|norm|cumprod", text)
    if got is None and (composed or "detached in-place" in theirs):
        return True  # what was saved, or what the parts of an operation saved, is right all the same
    if "cannot return more than one Tensor" in theirs:
        return True  # a Function of several outputs that writes into a view: what else is wrong there comes second
    if got is None and "graph a second time" in theirs and "inputs=" in text:
        return True  # PyTorch asks the node of an input too, and frees what it saved, though no input needs the answer
    if expected is None and re.search("expected scalar type|to have the same dtype", ours) and "einsum" in program[-1]:
        return True  # PyTorch multiplies, whatever the types, where the dimension that it sums over has size 1
    if re.search("Inference tensors cannot|update to inference tensor", ours):
        return True  # PyTorch's `detach` looks past inference mode, and it writes before it says that it does not
    if got is not None and "with two bool tensors" not in ours:
        return False  # lerp subtracts here, which says in its own words that it does not take booleans
    return re.search("not implemented for '(Half|Long|Int|Bool|Byte)'", theirs) is not None  # numpy can


def sentence(error: tuple[str, str]) -> str:
    """The message, without what depends on how an operation is composed: the saved tensor's type and maker."""
    line = error[1].split("\n")[0].replace("minigrad", "torch").partition("If you are using DistributedDataParallel")[0]
    line = line.replace("a view of a leaf Variable", "a leaf Variable")  # x[:] is x itself in PyTorch
    line = re.sub("inference(_| )mode|normal mode", "mode", line).replace("no_grad mode", "mode")
    return "modified in place" if "modified by an inplace operation" in line else line


# The sentences of autograd and of broadcasting must be the same; elsewhere the type of the error counts.
AUTOGRAD = re.compile(r"\bgrad|backward|in-?place|The size of tensor|element 0 of")


def described(error: Error) -> str:
    return "goes on" if error is None else f"raises {': '.join(error)}"


def shrunk(statements: list[str], ours: Any, pytorch: PyTorch) -> tuple[list[str], str]:
    """The shortest program left when every statement that can go has gone, and what differs."""

    whole = statements
    unnamed: set[str] = set()  # statements that miss a name in the whole program, too: after one that raised

    def difference(shorter: list[str]) -> str | None:
        try:
            theirs = pytorch.run(shorter)
        except Crash:
            return None
        missing = {s for s, e in zip(shorter, theirs.errors, strict=True) if e is not None and e[0] == "NameError"}
        if shorter == whole:
            unnamed.update(missing)
        return None if missing - unnamed else disagreement(shorter, theirs, ran(shorter, ours))

    what, changed = difference(statements), True
    while changed:
        changed = False
        for i in range(len(statements) - 1, -1, -1):
            shorter = statements[:i] + statements[i + 1 :]
            if less := difference(shorter):
                statements, what, changed = shorter, less, True
    return statements, what or "not when it runs by itself"
