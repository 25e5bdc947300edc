"""Solutions with a slip in them: for mistakes that no catalogue holds, and that one change does not mend.

`slips(right, given)` changes a solution in one place (a factor left out, a sum for a mean, a loop that ends too early),
or in all places of the same kind, and gives for each change what the code then defines and a sentence about it. Whoever
behaves like one of these on every question has most likely made this slip. Nobody has to foresee it. `slips.py` goes the
other way: it changes what the student wrote.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from . import notebooks

__all__ = ["Right", "Slip", "right_code", "slips"]

STEPS = 20_000  # rounds of loops and calls of functions: changed code may never end
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Mult), ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub), ast.Pow: (ast.Mult,), ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
}  # fmt: skip
ORDERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
OTHER_NAMES = {
    "sum": ("mean", "max"), "mean": ("sum",), "max": ("min", "sum", "mean"), "min": ("max",), "argmax": ("argmin", "max"),
    "maximum": ("minimum", "add"), "minimum": ("maximum",), "exp": ("log",), "log": ("exp", "log1p", "log2", "log10"),
    "sin": ("cos",), "cos": ("sin",), "cosh": ("sinh",), "tanh": ("sin",), "sqrt": ("square",), "size": ("ndim",),
    "zeros": ("ones",), "zeros_like": ("ones_like",), "ones": ("zeros",), "ones_like": ("zeros_like",),
    "log_softmax": ("softmax",),
}  # fmt: skip

Change = list[tuple[Any, str, int | None, Any]]  # where something else is put: node, field, place in a list, what


@dataclass(frozen=True)
class Slip:
    """What code with a slip in it defines, and what to say about it."""

    space: Mapping[str, Any]
    says: Callable[[], str]


class Endless(Exception):
    """Changed code that goes on for too long."""


@dataclass(frozen=True)
class Right:
    """The solution of an exercise."""

    before: str  # what stands before it in its notebook
    cells: tuple[str, ...]  # in which it was written
    helpers: tuple[str, ...] = ()  # in which functions were written for an earlier exercise that it calls


@functools.lru_cache(maxsize=4)
def right_code(lesson: int, id: str) -> Right:
    """The solution of an exercise, from the notebook of solutions; nothing where there is none."""
    name = next((each for each in notebooks.lessons() if each.startswith(f"{lesson:02d}_")), "none")
    file = notebooks.path("solutions", name)
    before: list[str] = []
    earlier: list[str] = []
    written: list[str] = []
    for cell in notebooks.code_cells(notebooks.read(file)) if file.exists() else ():
        if re.search(r"^check\(", cell, re.MULTILINE):
            if f'check("{id}")' in cell:
                words = set(re.findall(r"\w+", "".join(written)))
                helpers = [each for each in earlier if set(re.findall(r"^def (\w+)", each, re.MULTILINE)) & words]
                return Right("\n".join([*before, *earlier]), tuple(written), tuple(helpers) if len(helpers) < 3 else ())
            earlier += [each for each in written if re.match(r"(class|def) ", each)]
            written = []
        elif "BEGIN SOLUTION" in cell:
            written.append(cell)
        else:
            before += [ast.unparse(each) for each in parsed(cell)]
    return Right("", ())


def parsed(cell: str) -> list[ast.stmt]:
    """What a cell defines, and what it imports that is no front end."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:
        return []  # only a notebook understands it
    kept = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    return [each for each in body if isinstance(each, kept) and "minigrad.course" not in ast.unparse(each)]


def open_lines(cell: str) -> set[int]:
    """The lines of a cell that were left for the student."""
    found, inside = set(), False
    for number, line in enumerate(cell.split("\n"), 1):
        inside = (inside or "BEGIN SOLUTION" in line) and "END SOLUTION" not in line
        if inside:
            found.add(number)
    return found


def slips(right: Right, given: Mapping[str, Any]) -> Iterator[Slip]:
    """Each small change of a solution: first in one place, then in all places of the same kind. `given` is what it may use."""
    cells = [*right.helpers, *right.cells]
    body = [(statement, open_lines(cell)) for cell in cells for statement in ast.parse(cell).body]
    own = sum(len(ast.parse(cell).body) for cell in right.helpers)
    for statement, _ in body:
        watched(statement)
    codes = [compile(right.before, "<before a right answer>", "exec"), *(compiled(statement) for statement, _ in body)]
    tree = [statement for statement, _ in body]
    together: dict[str, list[tuple[int, Change, Any]]] = {}
    for number, (statement, lines) in [*enumerate(body)][own:] + [*enumerate(body)][:own]:  # its own mistakes first
        for kind, change, place in changes(statement):
            if getattr(change[0][0], "lineno", min(lines)) not in lines and not blocks(change, lines):
                continue
            pattern = kind if kind.startswith("!") else re.sub(r"(?<= )[A-Za-z_]\w*|(?<=\W)[A-Za-z_]\w*", "x", kind)
            for word in {kind, pattern}:
                together.setdefault(word, []).append((number, change, place))
            yield from tried(tree, codes, [(number, change, place)], kind, given)
    seen: set[tuple[int, ...]] = set()
    for kind, every in together.items():
        ids = tuple(id(change) for _, change, _ in every)
        new = ids not in seen
        seen.add(ids)
        if new and len(every) > 1 and not kind.startswith("!"):
            yield from tried(tree, codes, every, kind, given)


def blocks(change: Change, lines: set[int]) -> bool:
    """True if statements of the student's lines change: of a function whose first line is given."""
    return isinstance(change[0][3], list) and any(getattr(each, "lineno", 0) in lines for each in change[0][3])


def tried(body: list[ast.stmt], codes: list[CodeType], made: list[tuple[int, Change, Any]], kind: str,
          given: Mapping[str, Any]) -> Iterator[Slip]:  # fmt: skip
    """The code with these changes; afterwards it is as it was."""
    undo: Change = []
    for _, change, _ in made:
        for node, field, index, new in change:
            place = getattr(node, field)
            undo.append((node, field, index, place if index is None else place[index]))
            put(node, field, index, new)
    try:
        now = list(codes)
        for number in {number for number, _, _ in made}:
            now[1 + number] = compiled(body[number])
        space = {**given, "_step": counter(), "_later": later, "_earlier": earlier}
        for code in now:
            exec(code, space)
        places = [place for _, _, place in made]
        yield Slip(space, lambda: sentence(kind, places))
    except Exception:  # changed code may be no code any more
        pass
    finally:
        for node, field, index, old in reversed(undo):
            put(node, field, index, old)


def put(node: Any, field: str, index: int | None, new: Any) -> None:
    """Something else at one place of the tree."""
    if index is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[index] = new


def compiled(statement: ast.stmt) -> CodeType:
    """A statement that can be run."""
    module = ast.Module([statement], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a number that is called, for example
        return compile(ast.fix_missing_locations(module), "<a right answer, changed>", "exec")


def counter() -> Callable[[], None]:
    """What is called in each round of a loop: it ends what does not end by itself."""
    left = STEPS

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Endless

    return step


def later(things: Iterable[Any]) -> Iterator[Any]:
    """All but the first."""
    rest = iter(things)
    next(rest, None)
    yield from rest


def earlier(things: Iterable[Any]) -> Iterator[Any]:
    """All but the last."""
    rest = iter(things)
    held = list(itertools.islice(rest, 1))
    for thing in rest:
        yield held.pop()
        held.append(thing)


def watched(statement: ast.stmt) -> None:
    """The same statement, with a call of the counter in each function and each loop."""
    for node in list(ast.walk(statement)):
        if isinstance(node, ast.FunctionDef | ast.For | ast.While):
            node.body.insert(0, ast.Expr(ast.Call(ast.Name("_step", ast.Load()), [], [])))


# --- the changes --------------------------------------------------------------------------------------------


def changes(top: ast.stmt) -> Iterator[tuple[str, Change, Any]]:
    """Each change of a statement: its kind, what is put where, and the line it is in."""

    def inside(node: Any, line: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Change, Any]]:
        change: Change
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            arguments = node.args
            names = tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args) if a.arg not in ("self", "ctx"))
        if isinstance(node, ast.stmt | ast.Lambda):
            line = node
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.FunctionDef | ast.Lambda) and field in ("args", "decorator_list"):
                continue
            if isinstance(value, ast.expr):
                for kind, new in others(value, names):
                    change = [(node, field, None, new)]
                    yield kind, change, line
                yield from inside(value, line, names)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from of_block(node, field, value)
                for each in value:
                    if not counts(each):
                        yield from inside(each, each, names)
            elif isinstance(value, list):
                for i, each in enumerate(value):
                    for kind, new in others(each, names) if isinstance(each, ast.expr) else ():
                        change = [(node, field, i, new)]
                        yield kind, change, line
                    if isinstance(each, ast.AST):
                        yield from inside(each, line, names)
        yield from of_lists(node, line)

    yield from inside(top, top, ())


def others(node: ast.expr, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """What may stand by mistake in the place of an expression."""
    text = ast.unparse(node)
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return
    if isinstance(node, ast.BinOp):
        yield f"left {text}", node.left
        yield f"right {text}", node.right
        if isinstance(node.op, ast.Sub):
            yield f"minus right {text}", ast.UnaryOp(ast.USub(), node.right)
        for operator in OPERATORS.get(type(node.op), ()):
            yield f"{operator.__name__} {text}", ast.BinOp(node.left, operator(), node.right)
        if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult):
            yield f"turned {text}", ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.UnaryOp):
        yield f"operand {text}", node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        n: Any = node.value
        for new in dict.fromkeys((0, 1, 2, -1, 0.5, n + 1, n - 1, -n, *((n / 2, n * 2, n * 10) if type(n) is float else ()))):
            if new != n:
                yield f"!{new} {text}", ast.Constant(new)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"not {text}", ast.Constant(not node.value)
    elif isinstance(node, ast.Compare):
        for order in ORDERS.get(type(node.ops[0]), ()):
            yield f"{order.__name__} {text}", ast.Compare(node.left, [order()], node.comparators)
        yield f"always {text}", ast.Constant(True)
        yield f"never {text}", ast.Constant(False)
    elif isinstance(node, ast.BoolOp):
        yield from ((f"only {text}", value) for value in node.values)
    elif isinstance(node, ast.IfExp):
        yield f"first {text}", node.body
        yield f"second {text}", node.orelse
    elif isinstance(node, ast.Name) and node.id in names:
        yield from ((f"{name} {text}", ast.Name(name, ast.Load())) for name in names if name != node.id)
        yield from ((f"{n} {text}", ast.Constant(n)) for n in (1, 0.1, 0.01))
    elif isinstance(node, ast.Attribute):
        if node.attr == "T":
            yield f"{node.attr} {text}", node.value
        if node.attr == "size":
            yield f"len {text}", ast.Call(ast.Name("len", ast.Load()), [node.value], [])
        for name in OTHER_NAMES.get(node.attr, ()):
            yield f"{name} {node.attr}", ast.Attribute(node.value, name, node.ctx)
    elif isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Constant):
        yield f"whole {text}", node.value
    elif isinstance(node, ast.Call):
        yield from of_call(node, text)
    if isinstance(node, ast.BinOp | ast.Call | ast.Name) and not isinstance(node, ast.UnaryOp):
        yield f"minus {text}", ast.UnaryOp(ast.USub(), node)


def of_call(node: ast.Call, text: str) -> Iterator[tuple[str, Any]]:
    """What may stand in the place of a call."""
    function = node.func
    if isinstance(function, ast.Attribute):
        named = isinstance(function.value, ast.Name)
        if not named or (not node.args and ast.unparse(function.value) not in ("np", "torch")):
            yield f"without {function.attr}", function.value
    if len(node.args) >= 1:
        yield f"without {ast.unparse(function)}", node.args[0]
        if isinstance(node.args[0], ast.Call) and node.args[0].args:
            yield f"without both {ast.unparse(function)}", node.args[0].args[0]
    if isinstance(function, ast.Name) and function.id == "range" and len(node.args) == 1:
        (end,) = node.args
        for sign in (ast.Add(), ast.Sub()):
            yield f"range {text}", ast.Call(function, [ast.BinOp(end, sign, ast.Constant(1))], [])
        for n in (1, 10, 100, 1000):
            yield f"!range {text}", ast.Call(function, [ast.Constant(n)], [])
    for k in range(len(node.keywords)):
        kept = [*node.keywords[:k], *node.keywords[k + 1 :]]
        yield f"without {node.keywords[k].arg}", ast.Call(function, node.args, kept)
    for k in range(len(node.args) - 1):
        turned = [*node.args[:k], node.args[k + 1], node.args[k], *node.args[k + 2 :]]
        yield f"turned {text}", ast.Call(function, turned, node.keywords)


def of_lists(node: Any, line: Any) -> Iterator[tuple[str, Change, Any]]:
    """Entries of a list that change places; a condition or a bound that is not there."""
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for k in range(len(node.elts) - 1):
            turned = [*node.elts[:k], node.elts[k + 1], node.elts[k], *node.elts[k + 2 :]]
            yield "!places", [(node, "elts", None, turned)], line
            yield "!twice", [(node, "elts", k, node.elts[k + 1])], line
            yield "!twice", [(node, "elts", k + 1, node.elts[k])], line
    if isinstance(node, ast.comprehension):
        for k in range(len(node.ifs)):
            yield "!if", [(node, "ifs", k, ast.Constant(True))], line
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper"):
            bound = getattr(node, field)
            if bound is not None:
                yield f"no {field} {ast.unparse(node)}", [(node, field, None, None)], line
                for sign in (ast.Add(), ast.Sub()):
                    moved = ast.BinOp(bound, sign, ast.Constant(1))
                    yield f"{field} {sign.__class__.__name__} {ast.unparse(node)}", [(node, field, None, moved)], line
    if isinstance(node, ast.AugAssign):
        for operator in OPERATORS.get(type(node.op), ()):
            yield "!operator", [(node, "op", None, operator())], line


def counts(statement: ast.stmt) -> bool:
    """True for the call of the counter."""
    return isinstance(statement, ast.Expr) and ast.unparse(statement) == "_step()"


def of_block(node: Any, field: str, block: list[ast.stmt]) -> Iterator[tuple[str, Change, Any]]:
    """Statements that are missing, or in another place."""

    def now(new: list[ast.stmt]) -> Change:
        return [(node, field, None, new or [ast.Pass()])]

    for k, statement in enumerate(block):
        if counts(statement) or isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        before, after = block[:k], block[k + 1 :]
        if not isinstance(statement, ast.Return):
            yield "!missing", now([*before, *after]), statement
        if isinstance(statement, ast.AugAssign):
            plain = ast.Assign([statement.target], statement.value)
            yield "!replaces", now([*before, plain, *after]), plain
        if isinstance(statement, ast.Assign):
            yield from of_assignment(statement, before, after, now)
        if after and not isinstance(after[0], ast.Return | ast.FunctionDef):
            yield "!order", now([*before, after[0], statement, *after[1:]]), (statement, after[0])
        if isinstance(statement, ast.For):
            yield from of_loop(statement, before, after, now)
        if isinstance(statement, ast.If) and not statement.orelse:
            yield "!unless", now([*before, *statement.body, *after]), statement


def of_assignment(statement: ast.Assign, before: list[ast.stmt], after: list[ast.stmt], now: Any
                  ) -> Iterator[tuple[str, Change, Any]]:  # fmt: skip
    """Several names are assigned one after the other; an old value is forgotten."""
    target, value = statement.targets[0], statement.value
    if len(statement.targets) > 1:
        for other in statement.targets:
            first = ast.Assign([each for each in statement.targets if each is not other], value)
            for n in (0.0, 1.0):
                second = ast.Assign([other], ast.Constant(n))
                yield "!value", now([*before, first, second, *after]), second
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        single = [ast.Assign([t], v) for t, v in zip(target.elts, value.elts, strict=True)]
        yield "!one after the other", now([*before, *single, *after]), single
        yield "!one after the other", now([*before, *reversed(single), *after]), single[::-1]
        for k in range(len(single)):
            yield "!missing", now([*before, *single[:k], *single[k + 1 :], *after]), single[k]


def of_loop(loop: ast.For, before: list[ast.stmt], after: list[ast.stmt], now: Any) -> Iterator[tuple[str, Change, Any]]:
    """A loop that ends too early, a statement on the wrong side of its end."""
    first = copy.copy(loop)
    first.body = [*loop.body, ast.Break()]
    yield "!first round", now([*before, first, *after]), loop
    for cut, kind in (("_later", "!from the second round"), ("_earlier", "!without the last round")):
        shorter = copy.copy(loop)
        shorter.iter = ast.Call(ast.Name(cut, ast.Load()), [loop.iter], [])
        yield kind, now([*before, shorter, *after]), loop
    if after and not isinstance(after[0], ast.FunctionDef):
        longer = copy.copy(loop)
        longer.body = [*loop.body, after[0]]
        yield "!in the loop", now([*before, longer, *after[1:]]), after[0]
    if len(loop.body) > 2:
        shorter = copy.copy(loop)
        shorter.body = loop.body[:-1]
        yield "!after the loop", now([*before, shorter, loop.body[-1], *after]), loop.body[-1]
    if before and isinstance(before[-1], ast.Assign):
        longer = copy.copy(loop)
        longer.body = [before[-1], *loop.body]
        yield "!in the loop", now([*before[:-1], longer, *after]), before[-1]


# --- words --------------------------------------------------------------------------------------------------


OF_A_LINE = {
    "!first round": "a loop that ends after its first round: {}. Does something leave it?",
    "!from the second round": "a loop that leaves out its first round: {}.",
    "!without the last round": "a loop that leaves out its last round: {}.",
    "!in the loop": "code that does this in each round of its loop: {}. Does it belong there?",
    "!after the loop": "code that does this only once, after its loop: {}.",
}


def sentence(kind: str, places: list[Any]) -> str:
    """What code with these changes does. The changes are in the tree while this is asked."""
    place = places[0]
    if kind == "!missing":
        return f"Your answers are those of code that {left_out(place)}."
    if kind == "!unless":
        return f"Your answers are those of code that always does what belongs under a condition: {head(place.body[-1])}."
    if kind == "!one after the other":
        lines = ", then ".join(head(each) for each in place)
        return f"Your answers are those of code with these lines in this order: {lines}. Which values does the second one use?"
    if kind == "!order":
        return f"Your answers are those of code in which {head(place[1])} comes before {head(place[0])}."
    if kind in OF_A_LINE:
        return f"Your answers are those of {OF_A_LINE[kind].format(head(place))}"
    every = list(dict.fromkeys(head(place) for place in places))
    if len(every) > 1:
        lines = ", ".join(every[:3])
        return f"Your answers are those of a solution with these wrong lines: {lines}. Which lines of yours do the same?"
    return f"Your answers are those of a solution with one wrong line: {every[0]}. Which line of yours does the same?"


def left_out(statement: ast.stmt) -> str:
    """What is missing, without its right side."""
    if isinstance(statement, ast.Assign | ast.AugAssign):
        changed = isinstance(statement, ast.AugAssign)
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        return f"never {'changes' if changed else 'sets'} `{ast.unparse(target)}`"
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return f"does not call `{ast.unparse(statement.value.func)}`"
    raised = [node for node in ast.walk(statement) if isinstance(node, ast.Raise)]
    if raised:
        return "raises no error here"
    return f"lacks `{ast.unparse(statement).splitlines()[0]}`"


def head(node: Any) -> str:
    """A statement as one line."""
    text = next((line.strip() for line in ast.unparse(node).splitlines() if line.strip() != "_step()"), "")
    text = re.sub(r"_(later|earlier)[(](.*)[)]", r"\2", text)
    return f"`{text}`"
