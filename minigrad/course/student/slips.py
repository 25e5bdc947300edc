"""Small changes to what a student wrote. The one that makes it right shows where the slip is, whatever the slip is.

`slips(function)` gives versions of a function that differ in one place (an operator, a name, a sign, brackets, a
factor, the place of a line), or in every place where the same thing is written. Nobody has to foresee the mistake.
It imports the standard library only: it runs on the student's side.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["NO_MORE", "REMARKS", "Slip", "slips"]

OPERATORS: tuple[type[ast.operator], ...] = (ast.Mult, ast.Add, ast.Sub, ast.Div, ast.MatMult, ast.Pow)
COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In,
                                            ast.NotIn)  # fmt: skip
IDENTITY = (ast.Is, ast.IsNot)
RELATIVES = (("sum", "mean", "max", "min", "prod"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("data", "grad"),
             ("exp", "log"), ("tanh", "sigmoid", "relu", "tan", "sin", "cos"), ("outer", "dot", "inner"), ("append", "extend"),
             ("row_stack", "column_stack", "stack", "vstack", "hstack"), ("maximum", "minimum"),
             ("max", "maximum"), ("min", "minimum"))  # fmt: skip
AROUND = ("{}.sum()", "{}.mean()", "{}.sum(axis=0)", "{}.sum(axis=1)", "sum({})", "{}.T", "reversed({})", "({},)", "abs({})",
          "{}[::-1]", "{}.copy()", "list({})", "{}[:, None]", "{}.data")  # fmt: skip
LONGEST = 60  # characters of a piece that is shown


@dataclass(frozen=True)
class Slip:
    """One small change: what sort it is, its line (of each place), the piece of code that it changes, and the changed code."""

    kind: str
    lines: tuple[int, ...]
    piece: str
    code: types.CodeType


@dataclass
class Edit:
    """Something else in one field of a node. Edits with the same key are one slip that was made in several places."""

    kind: str
    owner: ast.AST
    field: str
    index: int | None
    new: Any
    shown: ast.AST
    key: str = ""

    @property
    def within(self) -> bool:
        """True where a number says too little without what is around it."""
        return self.kind in ("piece", "number") and isinstance(self.shown, ast.Constant) and isinstance(self.owner, ast.expr)

    def put(self, thing: Any) -> Any:
        """Put a thing there; what was there before."""
        if self.index is None:
            before = getattr(self.owner, self.field)
            setattr(self.owner, self.field, thing)
            return before
        place = getattr(self.owner, self.field)
        before, place[self.index] = place[self.index], thing
        return before


def slips(function: types.FunctionType) -> Iterator[Slip]:
    """Its small changes, the likely ones first; nothing where its source is not to be found."""
    try:
        lines, start = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    kinds = ast.FunctionDef | ast.Lambda
    own = next((node for node in ast.walk(tree) if isinstance(node, kinds)
                and getattr(node, "name", "<lambda>") == function.__name__), None)  # fmt: skip
    if own is None:
        return
    if isinstance(own, ast.FunctionDef):
        own.decorator_list = []
    for kind, node, piece in remarks(own):
        yield Slip(kind, (start + getattr(node, "lineno", 1) - 1,), piece, function.__code__)
    if compiled(tree, [], function) is None:
        return  # it uses names of a function around it: no change of it alone can run
    yield Slip(NO_MORE, (start,), "", function.__code__)  # who asks for remarks alone does not wait for the changes
    edits = list(edits_of(own))
    groups = [*([edit] for edit in edits), *together(edits), *of_texts(own)]
    for group in sorted(groups, key=likely):
        code = compiled(tree, group, function)
        if code is not None:
            places = tuple(start + getattr(edit.shown, "lineno", 1) - 1 for edit in group)
            piece = written(group[0].shown) + (f" in {written(group[0].owner)}" if group[0].within else "")
            yield Slip(group[0].kind, places, piece, code)


NO_MORE = "no more remarks"
REMARKS = ("inputs", "unused", "chance", "first round", "no effect")  # seen in the code as it is: nothing is changed
NO_EFFECT = {"reshape", "item", "sum", "mean", "copy", "astype", "transpose", "swapaxes", "flatten", "ravel", "squeeze",
             "detach", "unsqueeze", "tolist", "clone", "exp", "log"}  # fmt: skip


def remarks(own: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[str, ast.AST, str]]:
    """(kind, where, piece of code) of what is odd: inputs, an unused one, chance, a loop that ends at once, a lost value."""
    given = [arg.arg for arg in own.args.args if arg.arg not in ("self", "cls")]
    if isinstance(own, ast.FunctionDef):
        yield "inputs", own, f"{own.name}({', '.join(given)})"
    nodes = list(ast.walk(own))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    yield from (("unused", own, name) for name in given if name not in used and not name.startswith("_"))
    for node in nodes:
        match node:
            case ast.Attribute(ast.Attribute(attr="random")) | ast.Attribute(ast.Name("random" | "rng")):
                yield "chance", node, written(node)
            case ast.For(body=[*_, ast.Return() as last]):
                yield "first round", last, written(last)
            case ast.Expr(ast.Call(ast.Attribute(attr=name))) if name in NO_EFFECT:
                yield "no effect", node, written(node)
            case ast.Expr(ast.BinOp()):
                yield "no effect", node, written(node)


def likely(group: list[Edit]) -> tuple[bool, int]:
    """The place of a change in the search: of those that are many, the ones in several places come last."""
    place = ORDER.index(group[0].kind)
    return len(group) > 1 and place > ORDER.index("piece"), place


def together(edits: list[Edit]) -> Iterator[list[Edit]]:
    """The same edit wherever it can be made."""
    alike: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.key:
            alike.setdefault(edit.kind + edit.key, []).append(edit)
    for group in alike.values():
        if len(group) > 1:
            yield group
        if len(group) > 2:
            yield from (group[1:], group[:-1])


def of_texts(own: ast.AST) -> Iterator[list[Edit]]:
    """Another one of the texts that a function holds, and two of them exchanged."""
    places: dict[str, list[tuple[ast.AST, str, int | None, ast.expr]]] = {}
    for owner in ast.walk(own):
        for field, value in ast.iter_fields(owner) if not isinstance(owner, ast.Expr) else ():
            for index, old in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(old, ast.Constant) and isinstance(old.value, str):
                    places.setdefault(old.value, []).append((owner, field, index, old))
    for one, other in itertools.islice(itertools.combinations(places, 2), 15):
        both = []
        for text, new in ((one, other), (other, one)):
            for owner, field, index, old in places[text]:
                named = ast.copy_location(ast.Name(f"{one!r} and {other!r}"), old)
                both.append(Edit("exchange", owner, field, index, ast.Constant(new), named))
                yield [Edit("piece", owner, field, index, ast.Constant(new), old)]
        yield both


def compiled(tree: ast.Module, group: list[Edit], function: types.FunctionType) -> types.CodeType | None:
    """The changed function's code, None if it is none; the tree is left as it was."""
    before = [edit.put(edit.new) for edit in group]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python doubts some of what is tried
            whole = compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec")
    except (SyntaxError, TypeError, ValueError):
        return None
    finally:
        for edit, thing in zip(reversed(group), reversed(before), strict=True):
            edit.put(thing)
    found = next((code for code in codes_in(whole) if code.co_name == function.__name__), None)
    return found if found is not None and found.co_freevars == function.__code__.co_freevars else None


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of all that is defined in a piece of code, the outer before the inner."""
    inner = [thing for thing in code.co_consts if isinstance(thing, types.CodeType)]
    yield from inner
    for thing in inner:
        yield from codes_in(thing)


def written(node: ast.AST) -> str:
    """The code of a node, on one line."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


# --- the edits, by what they change -------------------------------------------------------------------------

ORDER = ("return", "call", "assign", "stored", "accumulate", "line", "place", "sign", "exchange", "number", "condition",
         "spare", "operator", "brackets", "order", "lines", "too much", "piece", "factor", "term", "around")  # fmt: skip


def edits_of(own: ast.FunctionDef | ast.Lambda) -> Iterator[Edit]:
    """All of them."""
    known = names_in(own)
    body: list[ast.AST] = list(own.body) if isinstance(own.body, list) else [own]
    nodes = [node for part in body for node in ast.walk(part)]
    pieces = {ast.unparse(n): copy.deepcopy(n) for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
              and isinstance(n.value, ast.Name) and n.value.id in known}  # fmt: skip
    terms = [ast.Name(name, ast.Load()) for name in known] + list(pieces.values()) + [ast.Constant(2)]
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    counted = [n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)]
    for owner in [own, *nodes] if isinstance(own, ast.FunctionDef) else nodes:
        for field, value in ast.iter_fields(owner):
            if field in ("args", "decorator_list", "returns") and owner is own:
                continue
            if field in ("body", "orelse") and isinstance(value, list) and value:
                yield from of_lines(owner, field, value)
            for index, old in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(old, ast.expr):
                    for kind, new, key in of_expression(old, known, list(pieces.values()), id(old) in called):
                        if isinstance(owner, ast.Compare) and type(getattr(new, "value", None)) is int:
                            kind = "number"  # before the operator beside it
                        yield Edit(kind, owner, field, index, new, shown_for(kind, owner, old), key)
                    if isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.Div) and isinstance(old, ast.Name):
                        for op in (ast.Add(), ast.Sub()):
                            yield Edit("term", owner, field, index, ast.BinOp(old, op, ast.Constant(1)), old, f"{old.id} {op}")
                        for name in known if old.id in known else ():
                            yield Edit("piece", owner, field, index, length_of(name), old, f"{old.id} len {name}")
                    if field == "test" and not isinstance(old, ast.Compare | ast.UnaryOp):
                        yield Edit("condition", owner, field, index, ast.UnaryOp(ast.Not(), old), old)
                    if is_result(owner, field):
                        yield from around(owner, field, index, old, terms)
                elif isinstance(old, ast.AugAssign | ast.Assign):
                    yield from of_assignment(owner, field, index, old, counted)


def names_in(own: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names of its arguments and of its own variables."""
    found = [arg.arg for node in ast.walk(own) if isinstance(node, ast.arguments) for arg in node.args]
    found += [node.id for node in ast.walk(own) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(found))[:10]


def shown_for(kind: str, owner: ast.AST, old: ast.expr) -> ast.AST:
    """What a message shows: with too little around it, a name or the indices alone say nothing."""
    indices = isinstance(owner, ast.Subscript) and isinstance(old, ast.Tuple)
    return owner if indices or (kind == "piece" and isinstance(owner, ast.Attribute)) else old


def is_result(owner: ast.AST, field: str) -> bool:
    """True for what is returned, stored, or looped over."""
    values = isinstance(owner, ast.Return | ast.Assign | ast.AugAssign | ast.Tuple | ast.Lambda | ast.List)
    inner = isinstance(owner, ast.For | ast.Call) and field in ("iter", "args")
    return inner or (values and field in ("value", "elts", "body"))


Change = tuple[str, ast.expr, str]  # kind, what could stand there instead, key


def of_expression(old: ast.expr, known: list[str], pieces: list[Any], called: bool) -> Iterator[Change]:
    """What could stand in the place of an expression."""
    yield from of_operation(old)
    yield from of_name(old, known, pieces, called)
    yield from of_constant(old, known, pieces)
    yield from of_call(old)


def of_operation(old: ast.expr) -> Iterator[Change]:
    """Another operator, another order, other brackets, or one side alone."""
    match old:
        case ast.BinOp(left, op, right):
            neutral = {"1": (ast.Mult, ast.Div, ast.Pow), "0": (ast.Add, ast.Sub)}.get(ast.unparse(right), ())
            for other in OPERATORS:
                if not isinstance(op, other) and other not in neutral:  # then it is too much
                    yield "operator", ast.BinOp(left, other(), right), f"{type(op)} {other}"
            if isinstance(right, ast.Constant):
                yield "spare", left, f"{type(op)} {ast.unparse(right)}"
            if isinstance(left, ast.Constant):
                yield "spare", right, f"{ast.unparse(left)} {type(op)}"
            if isinstance(op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
                yield "order", ast.BinOp(right, op, left), str(type(op))
            if isinstance(op, ast.Add | ast.Sub) and isinstance(left, ast.BinOp) and isinstance(right, ast.BinOp):
                inner = ast.BinOp(left.right, op, right.left)
                yield "brackets", ast.BinOp(ast.BinOp(left.left, left.op, inner), right.op, right.right), "in the middle"
            if isinstance(right, ast.BinOp):
                yield "brackets", ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right), "to the left"
            if isinstance(left, ast.BinOp):
                yield "brackets", ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right)), "to the right"
            yield "too much", left, f"{type(op)} {ast.unparse(right)}"
            yield "too much", right, f"{ast.unparse(left)} {type(op)}"
        case ast.Compare(left, [op], [right]):
            plain = getattr(right, "value", None) is not None  # nobody asks whether something is the same object as a number
            signs = [other for other in COMPARISONS if not isinstance(op, other) and not (plain and other in IDENTITY)]
            yield from (("operator", ast.Compare(left, [sign()], [right]), str(sign)) for sign in signs)
        case ast.BoolOp(op, values):
            yield "operator", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values), ""
            yield from (("too much", value, "") for value in values)
        case ast.UnaryOp(op, operand):
            plain = isinstance(op, ast.USub) and not isinstance(operand, ast.Constant)  # of [::-1], the whole is too much
            yield "sign" if plain else "too much", operand, str(type(op))


def of_name(old: ast.expr, known: list[str], pieces: list[Any], called: bool) -> Iterator[Change]:
    """Another name or attribute; `called` where brackets follow."""
    text = ast.unparse(old)
    match old:
        case ast.Name(id) if id in known:
            yield from (("piece", ast.Name(other, old.ctx), f"{id} {other}") for other in known if other != id)
            if isinstance(old.ctx, ast.Load):
                yield from (("piece", piece, f"{id} {ast.unparse(piece)}") for piece in pieces)
        case ast.Name(id) if called:
            yield from (("piece", ast.Name(other, old.ctx), f"{id} {other}") for other in relatives(id, []))
        case ast.Attribute(value, attr):
            what = text if isinstance(old.ctx, ast.Load) else f"stored {attr}"
            yield from (("piece", ast.Attribute(value, other, old.ctx), f"{what} {other}") for other in relatives(attr, pieces))
            if called:
                yield from (("piece", ast.Name(name, ast.Load()), f"{text} {name}") for name in known)
            if isinstance(old.ctx, ast.Load):
                here = {ast.unparse(piece): piece for piece in pieces}
                same = {f"{name}.{attr}": ast.Attribute(ast.Name(name, ast.Load()), attr, ast.Load()) for name in known}
                yield from (("piece", piece, f"{text} {shown}") for shown, piece in {**same, **here}.items() if shown != text)
                if not called:
                    yield "too much", value, f".{attr}"


def of_constant(old: ast.expr, known: list[str], pieces: list[Any]) -> Iterator[Change]:
    """Another number, or a name in its place."""
    match old:
        case ast.Constant(int() | float() as value) if type(value) is not bool:
            usual = (0.1, 0.5) if isinstance(value, float) else ()
            for number in dict.fromkeys([value + 1, value - 1, 0, 1, 2, -value, value / 2, value / 10, value * 10, *usual]):
                if number != value:
                    kind = "number" if isinstance(value, float) else "piece"
                    yield kind, ast.Constant(number), f"{value} {number}"
            yield "piece", ast.Constant(None), f"{value} None"
            yield from (("piece", ast.Name(name, ast.Load()), f"{value} {name}") for name in known)
            if type(value) is int and value > 2:
                yield from (("piece", length_of(name), f"{value} len {name}") for name in known)
            yield from (("piece", piece, f"{value} {ast.unparse(piece)}") for piece in pieces)
        case ast.Constant(None | True | False as value):
            others = [other for other in (True, False, 0.0, None) if other is not value]
            yield from (("piece", ast.Constant(other), f"{value} {other}") for other in others)


def of_call(old: ast.expr) -> Iterator[Change]:
    """A call, an index, a list or a choice with its parts in another order, or with less or more of them."""
    match old:
        case ast.Call(func, args, keywords):
            for k in range(len(args) - 1):
                turned = [*args[:k], args[k + 1], args[k], *args[k + 2 :]]
                yield "order", ast.Call(func, turned, keywords), ast.unparse(func)
            for k in range(len(keywords)):
                yield "too much", ast.Call(func, args, keywords[:k] + keywords[k + 1 :]), "keyword"
            yield from (("too much", arg, ast.unparse(func)) for arg in args[:1])
            if isinstance(func, ast.Attribute):
                yield "too much", func.value, f".{func.attr} call"
            if not isinstance(func, ast.Attribute) or args:
                yield "too much", func, f"{ast.unparse(func)} call"
            if isinstance(func, ast.Attribute) and func.attr in RELATIVES[0]:
                more = [("axis", 0), ("axis", 1), ("keepdims", True)]
                yield from (("around", ast.Call(func, args, [*keywords, ast.keyword(name, ast.Constant(value))]), name)
                            for name, value in more if name not in [k.arg for k in keywords])  # fmt: skip
        case ast.Subscript(value, index):
            yield "too much", value, f"[{ast.unparse(index)}]"
        case ast.Tuple(elts) | ast.List(elts) if len(elts) > 1:
            for k in range(len(elts) - 1):
                turned = [*elts[:k], elts[k + 1], elts[k], *elts[k + 2 :]]
                yield "order", type(old)(turned, old.ctx), ast.unparse(old)
        case ast.IfExp(test, body, orelse):
            yield "order", ast.IfExp(test, orelse, body), ""


def relatives(attribute: str, pieces: list[Any]) -> list[str]:
    """What is easily written in the place of an attribute."""
    near = [other for family in RELATIVES if attribute in family for other in family]
    near += [piece.attr for piece in pieces] if attribute in [piece.attr for piece in pieces] else []
    return [other for other in dict.fromkeys(near) if other != attribute]


def around(owner: ast.AST, field: str, index: int | None, old: ast.expr, terms: list[Any]) -> Iterator[Edit]:
    """What may be missing from a value that is returned, stored, or given to a function."""
    if not isinstance(old, ast.Constant) and isinstance(owner, ast.Return | ast.AugAssign | ast.Tuple | ast.Lambda):
        yield Edit("sign", owner, field, index, ast.UnaryOp(ast.USub(), old), old, "minus")
    if isinstance(owner, ast.Call) and getattr(owner.func, "attr", "") in ("save_for_backward", "apply"):
        return  # what is given there is nearly always meant as it is
    for form in AROUND if not isinstance(owner, ast.For) else ("reversed({})", "{}[::-1]"):
        new = Filled(old).visit(ast.parse(form.format("_"), mode="eval").body)
        yield Edit("around", owner, field, index, new, old, form)
    if not isinstance(owner, ast.Call | ast.For):
        for term in terms:
            for kind, op in (("factor", ast.Mult()), ("factor", ast.Div()), ("term", ast.Add()), ("term", ast.Sub())):
                yield Edit(kind, owner, field, index, ast.BinOp(old, op, term), old, f"{type(op)} {ast.unparse(term)}")
        for term in terms:
            if isinstance(term, ast.Name):
                divided = ast.BinOp(old, ast.Div(), length_of(term.id))
                yield Edit("factor", owner, field, index, divided, old, f"/ len {term.id}")


def length_of(name: str) -> ast.Call:
    """len of this name."""
    return ast.Call(ast.Name("len", ast.Load()), [ast.Name(name, ast.Load())], [])


class Filled(ast.NodeTransformer):
    """Puts an expression in the place of the name _."""

    def __init__(self, thing: ast.expr) -> None:
        self.thing = thing

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.thing if node.id == "_" else node


def of_assignment(
    owner: ast.AST, field: str, index: int | None, old: ast.AugAssign | ast.Assign, counted: list[str]
) -> Iterator[Edit]:
    """Replaced or added; with which sign; to all, or to the entry of a name that counts rounds."""
    if isinstance(old, ast.AugAssign):
        for other in OPERATORS[:4]:
            if not isinstance(old.op, other):
                new = ast.AugAssign(old.target, other(), old.value)
                yield Edit("accumulate", owner, field, index, new, old, f"{type(old.op)} {other}")
        yield Edit("accumulate", owner, field, index, ast.Assign([old.target], old.value), old, "=")
        for name in counted:
            if not isinstance(old.target, ast.Name):
                break
            entry = ast.Subscript(ast.Name(old.target.id, ast.Load()), ast.Name(name, ast.Load()), ast.Store())
            yield Edit("around", old, "target", None, entry, old.target, "one entry")
    elif len(old.targets) == 1 and isinstance(old.targets[0], ast.Name | ast.Attribute | ast.Subscript):
        target: Any = old.targets[0]
        negative = isinstance(old.value, ast.UnaryOp) and isinstance(old.value.op, ast.USub)
        value = old.value.operand if isinstance(old.value, ast.UnaryOp) and negative else old.value
        nothing = isinstance(value, ast.Constant) and (not value.value or negative)  # 0 added; a sign is the sign's
        for other in (ast.Add, ast.Sub) if not switch(value) and not nothing else ():
            new = ast.AugAssign(target, other(), value)
            yield Edit("accumulate", owner, field, index, new, old, f"{other} {type(target)}")
        for n in (1, 0) if isinstance(old.value, ast.Name) else ():
            yield Edit("piece", old, "value", None, ast.Constant(n), old)
        for name in counted if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice) else ():
            yield Edit("piece", target, "slice", None, ast.Name(name, ast.Load()), target)


def switch(value: ast.expr) -> bool:
    """True for True, False and None, to which nothing is added."""
    return isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool))


def thrown_away(line: ast.stmt) -> str:
    """The variable from which a line computes something that it does not store; "" for other lines."""
    value = line.value if isinstance(line, ast.Expr) else None
    places: list[ast.AST] = []
    if isinstance(value, ast.Call):
        places = [*([value.func.value] if isinstance(value.func, ast.Attribute) else []), *value.args[:1]]
    elif isinstance(value, ast.BinOp):
        places = [value.left, value.right]
    names = [place.id for place in places if isinstance(place, ast.Name) and place.id not in ("np", "numpy", "torch")]
    return names[0] if names else ""


BLOCKS = (ast.For, ast.While, ast.If, ast.With)


def of_lines(owner: ast.AST, field: str, lines: list[Any]) -> Iterator[Edit]:
    """Lines left out, in another order, in or out of a loop; and what is computed but not handed back."""

    def instead(kind: str, new: list[Any], shown: ast.AST) -> Edit:
        return Edit(kind, owner, field, None, new or [ast.Pass()], shown)

    last = lines[-1]
    for k, line in enumerate(lines):
        before, after = lines[:k], lines[k + 1 :]
        match line:
            case ast.Expr(ast.Attribute() | ast.Name()):
                yield instead("call", [*before, ast.Expr(ast.Call(line.value, [], [])), *after], line)
            case ast.Expr(ast.Compare(ast.Name() | ast.Attribute() | ast.Subscript() as target, [ast.Eq()], [value])):
                store = ast.parse(ast.unparse(target) + " = 0").body[0]
                yield instead("assign", [*before, ast.Assign(store.targets, value), *after], line)  # type: ignore[attr-defined]
            case ast.Expr(ast.Call(ast.Name("print"), [value])):
                yield instead("return", [*before, ast.Return(value), *after], line)
        name = thrown_away(line)
        if name:
            kept = ast.Assign([ast.Name(name, ast.Store())], line.value)
            yield instead("stored", [*before, kept, *after], line)
        if isinstance(line, ast.Expr) and line is last:
            yield instead("return", [*before, ast.Return(line.value)], line)
        if isinstance(line, ast.Assign) and line is last:
            yield instead("return", [*lines, ast.Return(ast.parse(ast.unparse(line.targets[0]), mode="eval").body)], line)
        if isinstance(line, ast.FunctionDef) and line is last:
            yield instead("return", [*lines, ast.Return(ast.Name(line.name, ast.Load()))], line)
        if not isinstance(line, ast.Return | ast.FunctionDef | ast.Pass):
            yield instead("line", before + after, line)
        if after and isinstance(line, ast.Assign | ast.AugAssign) and isinstance(after[0], type(line)):
            turned: list[Any] = [copy.copy(line), copy.copy(after[0])]
            turned[0].value, turned[1].value = after[0].value, line.value
            both = ast.copy_location(ast.Name(f"{written(line)} and {written(after[0])}"), line)
            yield instead("lines", [*before, *turned, *after[1:]], both)
        if after and not isinstance(line, ast.Return | ast.FunctionDef):
            yield instead("place", [*before, after[0], line, *after[1:]], line)
        if isinstance(line, BLOCKS):
            yield from over_the_edge(instead, before, line, after)


def over_the_edge(
    instead: Callable[[str, list[Any], ast.AST], Edit], before: list[Any], block: Any, after: list[Any]
) -> Iterator[Edit]:
    """The last line of a block moved out, the next one moved in, and the same at its beginning."""

    def with_body(body: list[Any]) -> Any:
        fields = dict(ast.iter_fields(block)) | {"body": body}
        return type(block)(**fields)

    body = block.body
    each = {n.id for n in ast.walk(block.target) if isinstance(n, ast.Name)} if isinstance(block, ast.For) else set()

    def leaves(line: Any) -> bool:
        return len(body) > 1 and not each & {n.id for n in ast.walk(line) if isinstance(n, ast.Name)}

    if leaves(body[-1]):
        yield instead("place", [*before, with_body(body[:-1]), body[-1], *after], body[-1])
    if leaves(body[0]):
        yield instead("place", [*before, body[0], with_body(body[1:]), *after], body[0])
    if after:
        yield instead("place", [*before, with_body([*body, after[0]]), *after[1:]], after[0])
    if before:
        yield instead("place", [*before[:-1], with_body([before[-1], *body]), *after], before[-1])

