"""The student's side of a check: a server that runs what the student wrote and hands plain values back.

It knows no exercise, no right answer and no verdict; it can be asked six things: `exec` cells, `look` at
names, read a `value`, `call` a function, `run` a short program in the student's namespace, `vary` a function. Every reply is a
plain value or a `Failure`. The same loop runs in a forked child of the kernel (the check in a notebook) and
inside the sandbox of class grading; limits on time and memory are set by whoever starts it.

It imports the standard library, numpy, `wire` and `slips` only.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import ctypes
import difflib
import dis
import functools
import importlib.abc
import importlib.machinery
import inspect
import io
import linecache
import os
import random
import re
import struct
import sys
import textwrap
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import wire
from .slips import Slip, slips
from .wire import Failure

__all__ = ["ENGINE", "Lent", "Server", "keep", "no_engine", "predict", "serve"]

ENGINE = "my_engine"  # the student's own engine: a module

MAX_PRINTED = 400
BRIEF = 0.05  # seconds that a changed function may take for a question: a change may make a loop endless
ASYNC = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
PYTHONS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
predictions: dict[str, Any] = {}
parts: dict[str, tuple[list[str], str]] = {}  # of this lesson, by exercise: what it asks for, and the lines given with it


def predict(id: str = "", answer: Any = ..., *rest: Any, **options: Any) -> None:
    """What `minigrad.course.predict` is inside the sandbox: it remembers the answer and says nothing."""
    if not unanswered(answer):
        predictions[str(id)] = answer


def keep(exercise: str, replace: bool = False) -> None:
    """What `minigrad.course.keep` is inside the sandbox: what the notebook defines becomes part of `my_engine`, in silence."""
    defined, order = vars(sys.modules["__main__"]), [*parts]
    for id in order[: order.index(exercise) + 1] if exercise in order else ():
        names, given = parts[id]
        if id == exercise or not names:
            engine = vars(importlib.import_module(ENGINE))
            engine.update({name: defined[name] for name in names if name in defined})
            exec(given, engine)  # an error is one of the cell
        if not names:
            del parts[id]  # what is only given is there now


def unanswered(answer: Any, depth: int = 0) -> bool:
    """True for `...`, also inside a list, and for an empty list."""
    if type(answer) in (list, tuple) and depth <= wire.MAX_DEPTH:
        return (answer == [] and not depth) or any(unanswered(a, depth + 1) for a in answer)
    return answer is ...


class Server:
    """The six requests, on one namespace. Each method returns a plain value or a Failure and never
    raises."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        self.namespace = fresh_namespace() if namespace is None else namespace
        self.outside: Callable[[list[Any]], Any] | None = None
        self.turn = 0
        self.cells = 0
        self.slips: Iterator[tuple[types.FunctionType, Slip]] | None = None
        self.varied: tuple[types.FunctionType, types.CodeType] | None = None

    # --- requests ---

    def exec(self, cells: list[str]) -> list[Failure | None]:
        """Run cells in order; one that raises does not stop the later ones. One entry a cell: its Failure or
        None."""
        results: list[Failure | None] = []
        for cell in cells:
            self.cells += 1  # each has a name of its own, because that is how its source is found again
            run = functools.partial(self.run_cell, cell, f"<cell {self.cells}>")
            outcome = self.guarded(run, contextlib.nullcontext)  # what one cell seeds, the next one draws from
            failed = isinstance(outcome, Failure) and outcome.kind not in ("printed", "not plain")
            results.append(outcome if failed else None)
        return results

    def look(self, names: list[str]) -> dict[str, dict[str, Any]]:
        """For each name: `state` (missing, blank, hole, there), `type`, and for a missing one the `near`
        names.

        blank: a body of nothing but `...`, or the value `...`; hole: a `...` is left somewhere in the code.
        """
        return {name: self.look_at(name) for name in names}

    def value(self, name: str) -> Any:
        """The plain value of a variable (or of `predict <id>`)."""
        return self.guarded(lambda: self.resolve(name))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the student: its value, what it calls its parameters, and what has become of the inputs (None
        for one that cannot go back). Whether they were changed is found out where they came from."""
        try:
            function = self.resolve(name)
        except LookupError:
            return Failure("missing", message=name)
        outcome = self.guarded(lambda: function(*args, **kwargs))
        if isinstance(outcome, Failure):
            return outcome
        labels = [*parameter_names(function, len(args)), *kwargs]
        return [outcome, labels, [given if packed(given) else None for given in (*args, *kwargs.values())]]

    def run(self, code: str, data: dict[str, Any], prelude: str = "") -> Any:
        """Run a short program that sees the student's names and `data`; the value of its last line.

        A student may call a variable `list`, or import all of numpy: here the names of Python mean what they mean.
        """
        space = {name: thing for name, thing in self.namespace.items() if name not in PYTHONS}
        space.update(data, outside=self.outside_of_this_run())
        try:
            return self.guarded(lambda: run_program(code, space, prelude))
        finally:
            self.turn += 1  # what is freed later has nothing to say any more

    def vary(self, names: list[str]) -> list[Any] | None:
        """Change these functions and classes in the next small way: [sort of change, lines, piece of code], None after the
        last. Without names they are as they were again."""
        if self.varied is not None:
            self.varied[0].__code__, self.varied = self.varied[1], None
        if not names:
            self.slips = None
            return None
        if self.slips is None:
            self.slips = ((function, slip) for function in self.functions_of(names) for slip in slips(function))
        found = next(self.slips, None)
        if found is None:
            return None
        function, slip = found
        self.varied = function, function.__code__
        function.__code__ = slip.code
        return [slip.kind, list(slip.lines), slip.piece]

    def functions_of(self, names: list[str]) -> list[types.FunctionType]:
        """What the student wrote under these names: functions, and the methods of classes."""
        found = []
        for name in names:
            with contextlib.suppress(LookupError):
                thing = self.resolve(name)
                things = list(vars(thing).values()) if isinstance(thing, type) else [thing]
                found += [function for function in map(plain_function, things) if function is not None]
        return found

    def outside_of_this_run(self) -> Callable[..., Any]:
        """What asks the judge's side, for as long as this program runs."""
        self.turn += 1
        turn = self.turn

        def outside(*asked: Any) -> Any:
            if turn != self.turn:
                return None  # a thing of that program is freed after its end
            return self.ask_outside(*asked)

        return outside

    def ask_outside(self, *asked: Any) -> Any:
        """What the judge's side says to a program; RuntimeError with its reason if it says nothing."""
        answer = self.outside(list(asked)) if self.outside is not None else {"error": "nobody is there"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    # --- how ---

    def guarded(self, action: Any, randomness: Any = None) -> Any:
        """The plain value of an action, or the Failure that says why there is none. Prints are kept, not
        shown."""
        with (randomness or own_state)(), muffled() as printed:
            try:
                value = self.briefly(action) if self.varied is not None else action()
                wire.pack(value)
            except wire.NotPlain as error:
                return Failure("not plain", message=str(error), printed=printed.start())
            except LookupMissing as error:
                return Failure("missing", message=str(error))
            except MemoryError:
                return Failure("memory", type="MemoryError", printed=printed.start())
            except BaseException as error:
                return self.describe(error, printed.start())
        if value is None and printed.start():
            return Failure("printed", printed=printed.start())
        return value

    def briefly(self, action: Any) -> Any:
        """An action in a changed function, which may never end by itself."""

        until = time.process_time() + BRIEF

        def trace(frame: types.FrameType, event: str, what: Any) -> Any:
            if frame.f_globals is not self.namespace and frame.f_code.co_filename != "<program>":
                return None  # not in the middle of a question to the outside
            if time.process_time() > until:
                raise TimeoutError
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return action()
        finally:
            sys.settrace(before)

    def run_cell(self, source: str, filename: str) -> None:
        """Run one cell as IPython would: magics left out, top-level await allowed."""
        try:
            code = compile(source, filename, "exec", flags=ASYNC)
        except SyntaxError:
            source = without_magics(source)
            code = compile(source, filename, "exec", flags=ASYNC)
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(types.FunctionType(code, self.namespace)())
        else:
            exec(code, self.namespace)

    def resolve(self, name: str) -> Any:
        """The object of a name, dotted for methods, `predict 4.1` for a prediction. LookupMissing if there is
        none."""
        if name.startswith("predict ") and name not in self.namespace:
            if name.removeprefix("predict ") not in predictions:
                raise LookupMissing(name)
            return predictions[name.removeprefix("predict ")]
        first, *attributes = [name] if name.startswith("predict ") else name.split(".")
        if first not in self.namespace:
            raise LookupMissing(name)
        found = self.namespace[first]
        for attribute in attributes:
            if isinstance(found, type):
                homes = [vars(c) for c in found.__mro__ if c is not object and attribute in vars(c)]
                if not homes:
                    raise LookupMissing(name)
                found = homes[0][attribute]
            elif hasattr(found, attribute):
                found = getattr(found, attribute)
            else:
                raise LookupMissing(name)
        if of_the_engine(found) and "<locals>" not in found.__qualname__:
            raise LookupMissing(name)  # a part of the engine is no answer; what the student makes with one may be
        return found

    def look_at(self, name: str) -> dict[str, Any]:
        try:
            thing = self.resolve(name)
        except LookupMissing:
            own = [n for n in self.namespace if type(n) is str and not n.startswith("_")]
            wanted = name.split(".")[0]
            owner = name.rpartition(".")[0]
            bare = name.rpartition(".")[2].strip("_")
            if isinstance(self.namespace.get(owner), type):  # the class is there, and the method is not
                own, wanted = [f"{owner}.{n}" for n in vars(self.namespace[owner]) if not n.startswith("__")], name
                if isinstance(self.namespace.get(bare), types.FunctionType):
                    own, wanted = [bare], bare
            alike = [n for n in own if n.lower() == wanted.lower()]
            near = alike[:2] or difflib.get_close_matches(wanted, own, n=2, cutoff=0.75)
            return {"state": "missing", "type": "", "near": [n for n in near if n != name.split(".")[0]]}
        state = blankness(thing)
        near = [n for n in self.namespace if state == "blank" and type(n) is str and n != name and n.lower() == name.lower()]
        return {"state": state, "type": type(thing).__name__, "near": near[:2]}

    def describe(self, error: BaseException, printed: str) -> Failure:
        """An exception as plain data: its type, message and the student's line."""
        line, text = student_line(error, self.namespace)
        try:
            message = re.sub(r"0x[0-9a-f]{6,}", "0x...", str(error))  # where an object lies is different every time
        except BaseException:
            message = ""
        bases = tuple(c.__name__ for c in type(error).__mro__ if c not in (object, BaseException))
        return Failure("raised", type(error).__name__, message[:500], line, text[:200], bases[:8], None, printed)


class LookupMissing(LookupError):
    """The student has not defined this name."""


def fresh_namespace() -> dict[str, Any]:
    """An empty `__main__` with what a notebook finds there."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update(get_ipython=Shell, display=lambda *things, **options: None)
    return module.__dict__


class Lent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `my_engine`: not the student's file, but the code that `give` gives when it is first imported."""

    def __init__(self, give: Callable[[], types.CodeType]) -> None:
        self.give = give

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name == ENGINE else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Python makes it."""

    def exec_module(self, module: types.ModuleType) -> None:
        exec(self.give(), vars(module))


def no_engine() -> types.CodeType:
    """What is given where an engine is written from an empty file."""
    raise ModuleNotFoundError(f"There is no {ENGINE} here: this exercise is written without it")


def of_the_engine(thing: Any) -> bool:
    """True for a function or a class of `my_engine`."""
    return isinstance(thing, types.FunctionType | type) and thing.__module__ == ENGINE


class Shell:
    """What `get_ipython()` gives: whatever is asked of it is done in silence."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def run_program(code: str, space: dict[str, Any], prelude: str) -> Any:
    """Execute; the value of the last line if it is an expression."""
    if prelude:
        exec(compiled(prelude, "<prelude>")[0], space)
    linecache.cache["<program>"] = (len(code), None, code.splitlines(keepends=True), "<program>")
    body, last = compiled(code, "<program>")
    exec(body, space)
    return None if last is None else eval(last, space)


@functools.lru_cache(maxsize=512)
def compiled(code: str, filename: str) -> tuple[types.CodeType, types.CodeType | None]:
    """A program without its last line, and that line if it is an expression."""
    tree = ast.parse(code, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = compile(ast.Expression(last.value), filename, "eval") if isinstance(last, ast.Expr) else None
    return compile(tree, filename, "exec"), value


def without_magics(source: str) -> str:
    """The cell with lines that only IPython understands replaced, line numbers kept."""
    lines = without_prompts(source).split("\n")
    if lines[0].startswith("%%") and not re.match(r"%%(time|timeit|capture|prun)\b", lines[0]):
        return "\n".join("# " + line for line in lines)
    goes_on = False  # a command that is continued on the next line
    for i, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        assigned = re.match(r"\s*([A-Za-z_]\w*)\s*=\s*[%!]", line)
        timed = re.match(r"\s*(?:([A-Za-z_]\w*)\s*=\s*)?%time\s+(?!-)(.+)", line)
        magic = goes_on or assigned or re.match(r"\s*(%{1,2}[A-Za-z_]|!(?!=)|\?)", line)
        if goes_on:
            lines[i] = ""
        elif timed:
            lines[i] = f"{indent}{timed[1]} = {timed[2]}" if timed[1] else indent + timed[2]
        elif assigned:
            lines[i] = f"{indent}{assigned[1]} = None"
        elif magic or re.fullmatch(r"\s*[\w.*%]+\?{1,2}\s*", line):
            lines[i] = indent + "pass"
        goes_on = bool(magic) and line.rstrip().endswith("\\")
    return "\n".join(lines)


def without_prompts(source: str) -> str:
    """The cell without the prompts of an interpreter, if it begins with one: they were copied from a page."""
    for begins, prompt in ((r">>> ", r"^(>>>|\.\.\.)( |$)"), (r"In \[\d+\]: ", r"^(In \[\d+\]: |\s*\.{3,}: ?)")):
        if re.match(begins, source):
            return re.sub(prompt, "", source, flags=re.MULTILINE)
    return source


def packed(value: Any) -> bytes:
    """The bytes of a value, for comparison; of nothing if it can no longer be packed."""
    try:
        return wire.pack(value)
    except wire.WireError:
        return b""


def parameter_names(function: Any, count: int) -> list[str]:
    """The names of the first positional parameters, as the student wrote them."""
    try:
        names = [p.name for p in inspect.signature(function).parameters.values()
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]  # fmt: skip
    except (TypeError, ValueError):
        names = []
    ordinal = [f"input {i + 1}" for i in range(count)]
    return [*names[:count], *ordinal[len(names) :]]


# --- blanks -------------------------------------------------------------------------------------------------

QUIET = {"RESUME", "NOP", "POP_TOP", "CACHE", "RETURN_VALUE", "COPY_FREE_VARS", "MAKE_CELL", "NOT_TAKEN"}
RAISING = {"LOAD_GLOBAL", "LOAD_COMMON_CONSTANT", "PUSH_NULL", "PRECALL", "CALL", "RAISE_VARARGS"}


def blankness(thing: Any) -> str:
    """blank, hole or there."""
    if unanswered(thing):
        return "blank"
    function = plain_function(thing)
    if function is not None:
        return "blank" if does_nothing(function.__code__) else "hole" if has_hole(function) else "there"
    if isinstance(thing, type):
        own = [plain_function(f) for f in vars(thing).values()]
        written = [f for f in own if f is not None]
        if written and all(does_nothing(f.__code__) for f in written):
            return "blank"
        # Method by method: the source of a class that was made in a cell is not to be found.
        return "hole" if any(map(has_hole, written)) else "there"
    return "there"


def plain_function(thing: Any) -> types.FunctionType | None:
    """The function behind a static method, property or wrapper; None for anything else."""
    for _ in range(8):
        if isinstance(thing, types.FunctionType) and not hasattr(thing, "__wrapped__"):
            return thing
        inner = [vars(type(thing)).get(n) and getattr(thing, n, None) for n in ("__func__", "fget")]
        thing = getattr(thing, "__wrapped__", None) or next((i for i in inner if i is not None), None)
    return None


def does_nothing(code: types.CodeType) -> bool:
    """True if the body only returns None or `...`, or raises NotImplementedError."""
    steps = list(dis.get_instructions(code))
    raises = any(s.opname == "RAISE_VARARGS" for s in steps)
    if raises and not any(s.argval == "NotImplementedError" or s.argrepr == "NotImplementedError" for s in steps):
        return False
    for step in steps:
        if step.opname in ("LOAD_CONST", "RETURN_CONST"):
            if not (step.argval is None or step.argval is ... or (raises and type(step.argval) is str)):
                return False
        elif step.opname == "LOAD_GLOBAL":
            if step.argval not in ("NotImplementedError", "NotImplemented"):
                return False
        elif step.opname not in QUIET and not (raises and step.opname in RAISING):
            return False
    return True


def has_hole(thing: Any) -> bool:
    """True if the source still holds a `...` where code or a value should stand."""
    code = getattr(thing, "__code__", None)
    if code is not None and not any("..." in line for line in linecache.getlines(code.co_filename)):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False  # no source to look at: let the values speak
    return any(
        isinstance(node, ast.Expr | ast.Assign | ast.Return)
        and isinstance(node.value, ast.Constant)
        and node.value.value is ...
        for node in ast.walk(tree)
    )


# --- what went wrong, and where -----------------------------------------------------------------------------


def student_line(error: BaseException, namespace: dict[str, Any]) -> tuple[int | None, str]:
    """Line number and text of the last line of the student's own code that the exception passed."""
    if isinstance(error, SyntaxError) and (error.filename or "").startswith("<cell"):
        return error.lineno, (error.text or "").strip()
    own: tuple[int | None, str] = (None, "")
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        filename = frame.f_code.co_filename
        theirs = frame.f_globals is namespace or frame.f_globals.get("__name__") == "__main__"
        if theirs and filename not in ("<program>", "<prelude>"):
            own = (step.tb_lineno, linecache.getline(filename, step.tb_lineno, frame.f_globals).strip())
        step = step.tb_next
    return own


class Printed(io.TextIOBase):
    """Takes all output and keeps the start of it."""

    def __init__(self) -> None:
        self.kept = ""

    def write(self, text: str) -> int:
        if len(self.kept) < MAX_PRINTED:
            self.kept += str(text)[: MAX_PRINTED - len(self.kept)]
        return len(text)

    def start(self) -> str:
        """The start of what was printed."""
        return self.kept.strip()


@contextlib.contextmanager
def own_randomness() -> Iterator[None]:
    """The global generators start anew, so that an answer repeats; afterwards they go on where they were."""
    plain = random.getstate()
    ours = None if seeded() else np.random.get_state()
    random.seed(0)
    if ours is not None:
        np.random.seed(0)
    try:
        yield
    finally:
        random.setstate(plain)
        if ours is not None:
            np.random.set_state(ours)
        elif not seeded():
            np.random.seed(0)


@contextlib.contextmanager
def own_state() -> Iterator[None]:
    """What a cell may have set for all (random numbers, types of tensors, numpy's errors) is as it is at the beginning."""
    library: Any = sys.modules.get("minigrad")
    dtype = library.get_default_dtype() if "get_default_dtype" in vars(library or object) else None
    if dtype is not None:
        library.set_default_dtype(library.float32)
    try:
        with own_randomness(), np.errstate(all="warn"):
            yield
    finally:
        if dtype is not None:
            library.set_default_dtype(dtype)


def seeded() -> bool:
    """True if numpy's global generator stands where np.random.seed(0) puts it; looking costs a tenth of seeding."""
    source = np.random.get_bit_generator()  # type: ignore[attr-defined]  # numpy's own list of names forgets it
    start = first_state()
    return type(source) is np.random.MT19937 and ctypes.string_at(source.ctypes.state_address, len(start)) == start


@functools.cache
def first_state() -> bytes:
    """The state of numpy's old generator after seed(0), as it lies in memory: 624 words and the place among them."""
    state: Any = np.random.RandomState(0).get_state()
    return bytes(state[1].tobytes() + struct.pack("@i", state[2]))


@contextlib.contextmanager
def muffled() -> Iterator[Printed]:
    """Prints and warnings of the student's code go nowhere; the start of what was printed is kept."""
    printed = Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(Quiet()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield printed


class Quiet(io.TextIOBase):
    """Takes all output and forgets it."""

    def write(self, text: str) -> int:
        return len(text)


# --- the loop -----------------------------------------------------------------------------------------------


def serve(reading: int, writing: int, namespace: dict[str, Any] | None = None, server: Server | None = None) -> None:
    """Answer requests from one descriptor on another until the other side closes.

    A request is `{"id", "do", "args", "kwargs"}`; its reply `{"id", "value"}` or `{"id", "failure"}`.
    """
    server = server or Server(namespace)

    def outside(asked: list[Any]) -> Any:
        wire.send(writing, {"asks": asked})
        return wire.receive(reading)

    server.outside = outside
    while True:
        try:
            request = wire.receive(reading)
        except wire.Closed:
            return
        reply: dict[str, Any] = {"id": request["id"]}
        outcome = getattr(server, DO[request["do"]])(*request["args"], **request["kwargs"])
        try:
            wire.send(writing, reply | plain(outcome))
        except wire.NotPlain as error:
            wire.send(writing, reply | plain(Failure("not plain", message=str(error))))
        except wire.Closed:
            return


DO = {name: name for name in ("exec", "look", "value", "call", "run", "vary")}  # nothing else can be asked for


def plain(outcome: Any) -> dict[str, Any]:
    """A reply's content: values as they are, Failures as dicts."""
    if isinstance(outcome, Failure):
        return {"failure": failure_dict(outcome)}
    if type(outcome) is list and any(isinstance(o, Failure) for o in outcome):
        return {"value": [failure_dict(o) if isinstance(o, Failure) else o for o in outcome]}
    return {"value": outcome}


def failure_dict(failure: Failure) -> dict[str, Any]:
    """A Failure as a dict of plain values (a value inside it that is a Failure itself becomes None)."""
    record = {name: getattr(failure, name) for name in failure.__dataclass_fields__}
    record["bases"] = list(failure.bases)
    if isinstance(failure.value, Failure):
        record["value"] = None
    return record


def main() -> None:
    """`python -m minigrad.course.student.worker READ WRITE`: serve on two inherited descriptors."""
    serve(int(sys.argv[1]), int(sys.argv[2]))
    os._exit(0)


if __name__ == "__main__":
    main()
