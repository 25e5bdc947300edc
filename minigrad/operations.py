"""How a line of the derivative table becomes a function that computes and records.

`operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)` reads off the rules' parameter names what has to be
kept until backward, and writes the function that a person would have written by hand: print(mul.operation.source) shows
it.  `replace` swaps a rule for a student's own, for as long as a `with` block lasts.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from sys import _getframe
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import dtypes, errors
from minigrad.birthplace import PACKAGE, caller, outside, outsiders
from minigrad.nodes import readers
from minigrad.tape import TABLE, AccumulateGrad, Node, Rule, mode, record, tick, unusual
from minigrad.tensor import Array, Tensor, Untracked, wrap
from minigrad.versions import WATCHED

NEVER_WRITTEN = [0]  # the version of a Python number


class Operation:
    """A line of the derivative table: its name, its forward function, its rules and what they keep."""

    def __init__(
        self, node_name: str, forward: Callable[..., Any], rules: Sequence[Rule | None], view: bool, part: bool
    ) -> None:
        self.name = ""  # its name in the table, set when the table is complete
        self.forward = forward
        self.view, self.part = view, part
        self.inputs = INPUTS[: len(rules)]
        self.node_name = node_name if node_name[:-1].endswith("Backward") or node_name in BARE else f"{node_name}Backward0"
        self.further: dict[str, Any] = {}  # what its nodes have besides, such as other next_functions
        self._node: type[Node] | None = None
        self.rules = tuple(rules)
        self.function = _unwritten(self)

    @property
    def node(self) -> type[Node]:
        """The class of its nodes, MulBackward0 for mul; made when it is first needed."""
        if self._node is None:
            self._node = type(
                self.node_name,
                (Node,),
                {
                    **{"__slots__": (), "__module__": "builtins"},
                    **{"operation": self, "rules": self.rules, "part": self.part, **readers(self), **self.further},
                },
            )
        return self._node

    # Read off the parameters' names when somebody asks: `import minigrad` need not do it two hundred times.

    @cached_property
    def statics(self) -> tuple[str, ...]:
        """What the forward function takes besides the inputs."""
        return parameters(self.forward)[len(self.inputs) :]

    @cached_property
    def arguments(self) -> tuple[tuple[str, ...], ...]:
        """What each rule takes besides g."""
        return tuple(() if rule is None else parameters(rule)[1:] for rule in self.rules)

    @cached_property
    def watched(self) -> dict[tuple[bool, ...], tuple[int, ...]]:
        """Which places the guards of its nodes belong to, by what was wanted (see versions.py)."""
        return {}

    @cached_property
    def places(self) -> tuple[tuple[int | None, ...], ...]:
        """Which input each of the arguments is: its number, or that after the last for `out`; None for all else."""
        where = {name: i for i, name in enumerate((*self.inputs, "out"))}
        return tuple(tuple(where.get(name) for name in names) for names in self.arguments)

    @property
    def source(self) -> str:
        """The function that computes and records, as Python source."""
        template = {1: _UNARY, 2: _BINARY}.get(len(self.rules), _MANY)
        if None in self.rules:  # such as an index, whose type is its own
            template = _MANY
        return template.format(**self._pieces())

    def set_rules(self, rules: Sequence[Rule | None], node: type[Node] | None = None) -> None:
        """Record with these rules from now on; what is recorded already keeps those it was recorded with."""
        self.node.operation = copy(self)
        self._node, self.rules = node, tuple(rules)
        for read_off in ("arguments", "places", "watched"):
            self.__dict__.pop(read_off, None)
        self.node.operation, self.node.rules = self, self.rules
        self.node.part = self.part and node is not None
        self.write()

    def write(self) -> Callable[..., Any]:
        """Give the function its code; tracebacks and `inspect` show the source."""
        filename = f"{PACKAGE}/<{self.node_name}>"
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(keepends=True), filename)
        written: dict[str, Any] = {}
        exec(compile(self.source, filename, "exec"), written)
        self.function.__globals__["Kind"] = self.node  # before the code: another thread may call the function at once
        self.function.__code__ = written[self.function_name].__code__
        return self.function

    @property
    def function_name(self) -> str:
        return self.node_name.rstrip("0123456789").removesuffix("Backward").lower() + "_"

    def keeps(self, wanted: int) -> str:
        """Source of (kept, guards) for the inputs in the bit set `wanted`: only what their rules name."""
        place = {"out": "c", **dict(zip(self.inputs, ARRAYS, strict=False))}
        picks, guarded, frees = [], {}, False
        for i, names in enumerate(self.arguments):
            values = [f"{place[n[:-6]]}.shape" if n.endswith("_shape") else place.get(n, n) for n in names]
            picks.append(f"({''.join(v + ', ' for v in values)})" if wanted >> i & 1 else "None")
            if wanted >> i & 1:
                guarded.update(dict.fromkeys(n for n in names if n in place or n in WATCHED))
                frees = frees or any(n in SAVED_STATICS for n in names)
        counters = {n: f"{n}._counter" for n in guarded}
        for i, n in enumerate((*self.inputs, *WATCHED)):
            if n in counters and not wanted >> i & 1:  # a constant: perhaps a number, which has no version
                counters[n] = f"(k := {n}._counter if isinstance({n}, Tensor) else NEVER_WRITTEN)"
        guards = "".join(f"{c}, {c if c[0] != '(' else 'k'}[0], " for c in counters.values())
        return f"({', '.join(picks)},), {f'({guards})' if guards or frees else None}"

    def _pieces(self) -> dict[str, str]:
        statics = "".join(f", {name}" for name in self.statics)
        name = self.function_name
        arrays, nodes = ARRAYS[: len(self.inputs)], NODES[: len(self.inputs)]
        return {
            "name": name,
            "statics": statics,
            "share": _SHARE.format(name=name, statics="".join(f"{s}, " for s in self.statics)) if self.view else "[0]",
            "array": "x._writable()" if self.view else "x._data",
            "keep": self.keeps(1),
            "keep_x": self.keeps(1),
            "keep_y": self.keeps(2),
            "keep_both": self.keeps(3),
            "inputs": ", ".join(self.inputs),
            "arrays": ", ".join(arrays),
            "nodes": ", ".join(nodes),
            "any_tensor": " or ".join(f"isinstance({x}, Tensor)" for x in self.inputs),
            "unwrapped": "\n    ".join(
                f"{a}, {p} = ({x}._data, {x}._node) if isinstance({x}, Tensor) else ({x}, None)"
                for x, a, p in zip(self.inputs, arrays, nodes, strict=True)
            ),
            "no_node": " and ".join(f"{p} is None" for p in nodes),
            "keep_wanted": "\n    el".join(
                f"if {_exactly(wanted, nodes)}:\n        node.kept, node.guards = {self.keeps(wanted)}"
                for wanted in reversed(range(1, 1 << len(nodes)))
            ),
        }

    def __repr__(self) -> str:
        return f"<operation {self.name} ({self.node_name})>"


# What `operation` writes for a line of the table, ready to be filled in.  `print(operation.source)` shows the result,
# e.g. for mul; the templates exist because a function that is spelled out runs a third faster than a generic one.

_RECORD = """
    out._node = node = Kind()
    node.seq = tick()
    {parents}
    node.shape = c.shape
    node.dtype = c.dtype
    frame = getframe(1)
    code = frame.f_code
    if code.co_filename not in outsiders:  # perhaps called from inside the engine: look for whoever called that
        frame = outside(frame)
        code = frame.f_code
    node.code = code
    node.at = frame.f_lasti
    if unusual and mode.record is not True:
        mode.record(node)
    return out
"""

_UNARY = """
def {name}(x{statics}):
    if not isinstance(x, Tensor):
        return forward(x{statics})
    a = {array}
    c = forward(a{statics})
    out = make(Tensor)
    out._data = c
    out._counter = {share}
    if unusual and mode.inference and out._counter is not x._counter:  # a view is what its base is
        out._counter = Untracked(out._counter)
    p = x._node
    if p is None or (unusual and mode.record is None):
        out._node = None
        if p is not None:
            note_lost(out, "no_grad")
        return out
""" + _RECORD.replace(
    "{parents}",
    """node.parents = (p,)
    node.kept, node.guards = {keep}""",
)

_BINARY = """
def {name}(x, y{statics}):
    if isinstance(x, Tensor):
        a, p = x._data, x._node
        if isinstance(y, Tensor):
            b, q = y._data, y._node
            if a.dtype is not b.dtype:
                a, b = promote(a, b)
        else:
            b, q = y if type(y) is float or type(y) is int else number(y), None
            if b is NotImplemented:
                return b
            if a.dtype.num not in (11, 12):  # float32, float64
                a, b = promote(a, b)
    elif isinstance(y, Tensor):
        a, p = x if type(x) is float or type(x) is int else number(x), None
        b, q = y._data, y._node
        if a is NotImplemented:
            return a
        if b.dtype.num not in (11, 12):
            a, b = promote(a, b)
    else:
        return forward(x, y{statics})
    try:
        c = forward(a, b{statics})
    except (TypeError, ValueError) as error:
        raise refused(error, shape(a), shape(b)) from None
    out = make(Tensor)
    out._data = c
    out._counter = [0]
    if unusual and mode.inference:
        out._counter = Untracked(out._counter)
    if (p is None and q is None) or (unusual and mode.record is None):
        out._node = None
        if p is not None or q is not None:
            note_lost(out, "no_grad")
        return out
""" + _RECORD.replace(
    "{parents}",
    """node.parents = (p, q)
    if q is None:
        node.kept, node.guards = {keep_x}
    elif p is None:
        node.kept, node.guards = {keep_y}
    else:
        node.kept, node.guards = {keep_both}""",
)

# Three inputs or more, each of which may be None; the forward function does its own promotion and checks.
_MANY = """
def {name}({inputs}{statics}):
    if not ({any_tensor}):
        return forward({inputs}{statics})
    {unwrapped}
    c = forward({arrays}{statics})
    out = make(Tensor)
    out._data = c
    out._counter = [0]
    if unusual and mode.inference:
        out._counter = Untracked(out._counter)
    if ({no_node}) or (unusual and mode.record is None):
        out._node = None
        if not ({no_node}):
            note_lost(out, "no_grad")
        return out
""" + _RECORD.replace(
    "{parents}",
    """node.parents = ({nodes})
    {keep_wanted}""",
)


_SHARE = "share(x, a, c, out, {name}, ({statics}))"


def _exactly(wanted: int, nodes: str) -> str:
    """Source of the question whether these nodes are there and the others are not."""
    return " and ".join(f"{p} is not None" if wanted >> i & 1 else f"{p} is None" for i, p in enumerate(nodes))


def _unwritten(made: Operation) -> Callable[..., Any]:
    """A function that is written at its first call: `import minigrad` need not write two hundred."""
    namespace = {
        "forward": made.forward, "Tensor": Tensor, "Untracked": Untracked, "make": object.__new__,
        "mode": mode, "unusual": unusual, "tick": tick, "getframe": _getframe, "outside": outside, "outsiders": outsiders,
        "NEVER_WRITTEN": NEVER_WRITTEN, "share": _share, "note_lost": note_lost, "shape": np.shape,
        "number": countable if made.node_name in SUBTRACTIONS else number,
        "promote": PROMOTION.get(made.node_name, dtypes.promote),
        "refused": errors.refused, "write": made.write, "__name__": __name__,
    }  # fmt: skip
    function: Any = FunctionType(_first_call.__code__, namespace, made.function_name)
    namespace[made.function_name] = function
    function.operation = made
    return function  # type: ignore[no-any-return]


def _first_call(*args: Any, **keywords: Any) -> Any:
    return write()(*args, **keywords)  # type: ignore[name-defined]  # noqa: F821 (in the namespace of the function)


INPUTS = ("x", "y", "z", "u", "v", "w")
ARRAYS, NODES = "abdefg", "pqrstu"  # in the functions that are written: the inputs' numbers and nodes (c is the result)
# Node names that PyTorch does not end in "Backward0".
BARE = ("CopySlices", "CopyBackwards", "NotImplemented", "Error", "DiagonalBackward0_copy")
SUBTRACTIONS = ("SubBackward0", "RsubBackward1")  # which refuse booleans
PROMOTION = {**dict.fromkeys(("MulBackward0", "DivBackward2", "NotImplemented"), dtypes.promote_factors),
             "DivBackward0": dtypes.promote_quotient, "CopysignBackward0": dtypes.promote_floating,
             **dict.fromkeys(SUBTRACTIONS, dtypes.promote_numbers)}  # fmt: skip
SAVED_STATICS = ("index", "condition", "mask")  # not differentiated, but memory that a backward pass gives back


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters; none for numpy's own functions."""
    if hasattr(function, "takes"):
        return tuple(function.takes)
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()


def operation(
    name: str, forward: Callable[..., Any], *rules: Rule | None, view: bool = False, part: bool = False
) -> Callable[..., Any]:
    """A recorded operation from one line of the table: the node's name, the forward function, one rule per input.

    A rule's first parameter is g, the gradient of the result.  The others say what it needs, and so what is kept:
    x, y, z (the inputs), out (the result), x_shape, ..., and the forward function's further parameters.  None in place
    of a rule means that no gradient reaches that input.  `view=True`: the result may share its input's memory.
    `part=True`: it is x[key], and what is put back goes straight where other parts have been put back before.
    The function that comes out takes Tensors and records, or takes arrays and only computes; rules are made of such
    functions, and so run on arrays in a plain backward pass and on Tensors in one that is differentiated itself.
    """
    function = Operation(name, forward, rules, view, part).function
    return function


class Joined(Node):
    """The node of an operation on any number of tensors."""

    __slots__ = ()

    def lift(self, kept: Any) -> tuple[Any, ...]:
        return tuple(kept)

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        return tuple(rule(g, *args) for rule, args in zip(self.rules or (), self.kept or ()))


def joined(name: str, forward: Callable[..., Any], rule: Rule) -> Callable[..., Any]:
    """An operation on a list of tensors; the rule takes g, the number of the input, and forward's other arguments."""
    kind = type(f"{name}Backward0", (Joined,), {"__slots__": (), "__module__": "builtins"})

    def apply(tensors: Sequence[Tensor], *statics: Any) -> Tensor:
        out = wrap(forward([x._data for x in tensors], *statics))
        parents = tuple(x._node for x in tensors)
        if mode.record is not None and any(p is not None for p in parents):
            out._node = node = record(kind, parents, tuple((i, *statics) for i in range(len(parents))), None, out._data)
            node.rules = (rule,) * len(parents)
        return out

    return apply


def enter(namespace: dict[str, Any]) -> None:
    """Name the operations that a file has made as the file names them, and enter them in the table."""
    for name, function in list(namespace.items()):
        made = getattr(function, "operation", None)
        if isinstance(made, Operation) and not made.name:
            made.name = function.__name__ = function.__qualname__ = name
            TABLE[name] = made


def _share(x: Tensor, a: Array, c: Array, out: Tensor, apply: Any, statics: tuple[Any, ...]) -> list[Any]:
    """The version counter of a result that may share its input's memory; then it joins the views (see inplace.py)."""
    if not isinstance(a, ndarray):
        return [0]
    owner = c.base
    if c is not a and c.size and (owner is None or (owner is not a and owner is not a.base and not np.may_share_memory(a, c))):
        return [0]
    views = x._counter
    recorded = not unusual or mode.record is not None or (mode.inference and None)  # None: in inference mode
    out._view = (x, apply, statics, recorded)
    if len(views) == 1:
        views.append(None)
    elif len(views) > 30 and len(views) & (len(views) - 1) == 0:  # at powers of two: a view costs the same among thousands
        views[2:] = [r for r in views[2:] if r() is not None]
    views.append(weakref.ref(out))
    return views


class Nowhere(AccumulateGrad):
    """Where the gradient of a view made without recording goes: what is computed from it requires grad, but nobody gets any."""

    __slots__ = ()
    nowhere = True

    def accumulate(self, g: Any, create_graph: bool) -> None:
        """Let it go."""


def note_lost(out: Tensor, how: str) -> None:
    """Remember which line left this tensor without a history, for `explain`; a view still requires grad, as in PyTorch."""
    if out._view is not None and out.requires_grad and not out.is_inference():
        out._node = Nowhere(out)
    frame = caller()
    out.__dict__["_lost"] = (how, frame.f_code, frame.f_lasti)


def number(value: Any) -> Any:
    """A Python number from a number of any kind; NotImplemented for what is none."""
    if isinstance(value, (complex, np.complexfloating)):
        raise NotImplementedError(f"complex numbers are left out of minigrad: {value!r}")
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float)) else NotImplemented


def countable(value: Any) -> Any:
    """`number` for subtraction, which takes no booleans."""
    if isinstance(value, bool):
        raise RuntimeError(errors.BOOLEAN_SUBTRACTION)
    return number(value)


@contextmanager
def replace(name: str, rule: Any) -> Iterator[None]:
    """Run another rule inside the real engine: for every operation `name` that is recorded within the `with` block.

    rule: a function of g and what it needs by name (x, y, out, ...) that returns one gradient for each input, or a tuple
    of such functions, one per input.  KeyError if there is no such operation.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with minigrad.replace("exp", lambda g, out: g * 0 + 7):
    ...     y = x.exp()
    >>> y.backward()
    >>> x.grad
    tensor(7.)
    """
    if name not in TABLE:
        raise KeyError(f"no operation {name!r} in the derivative table; it has {', '.join(sorted(TABLE))}")
    made = TABLE[name]
    before, node = made.rules, made.node
    n = len(before)
    rules = tuple(rule) if isinstance(rule, (tuple, list)) else tuple(_nth(rule, i, n) for i in range(n))
    if len(rules) != n:
        raise ValueError(f"{name} has {n} inputs, so it takes {n} rules, not {len(rules)}")
    made.set_rules(tuple(None if r is None else _student_rule(r) for r in rules))
    try:
        yield
    finally:
        made.set_rules(before, node)


def _nth(rule: Rule, i: int, n: int) -> Rule:
    """The i-th answer of a rule that returns the gradients of all n inputs at once."""

    def nth(g: Any, *kept: Any) -> Any:
        shares = rule(g, *kept)
        if n == 1:
            return shares[0] if isinstance(shares, tuple) else shares
        if not isinstance(shares, tuple) or len(shares) != n:
            raise RuntimeError(f"the rule must return a tuple of {n} gradients, one for each input")
        return shares[i]

    nth.takes = parameters(rule)  # type: ignore[attr-defined]
    return nth


def _student_rule(rule: Rule) -> Rule:
    """A rule that may return a number, or one of the very arrays it was given: the walk must not write into those."""

    def careful(g: Any, *kept: Any) -> Any:
        share = rule(g, *kept)
        return share if share is None or isinstance(share, Tensor) else np.array(share)[()]

    careful.takes = parameters(rule)  # type: ignore[attr-defined]
    return careful
