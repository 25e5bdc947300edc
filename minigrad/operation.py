"""How a row of the derivative table becomes a function that computes and records.

Third of the six files.  `operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)` reads off the rules'
parameter names what has to be saved for backward, and gives a function that takes Tensors and records, or takes arrays
and only computes.  So the same rule runs on arrays in an ordinary backward pass, and on Tensors in one that is recorded.

`public` and `attach` are how the files in ops/ offer functions.  `x * w` calls `Tensor.__mul__`, to which
ops/elementwise.py attaches this very `mul`; `y.sum()` calls `sum` of ops/reductions.py, which calls the row `sum_all`.
"""

# mypy: disable-error-code="no-any-return"
# (a function that is written has no type)

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from sys import _getframe
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from . import dtypes, errors, tape
from .tape import INPUTS, TABLE, leave_out, outside, outsiders, state, tick, unusual
from .tape import counter as counter
from .tensor import Array, Node, Rule, Tensor, Untracked, wrap
from .tensor import link_view as link_view

F = TypeVar("F", bound=Callable[..., Any])
N = TypeVar("N", bound=Node)

# node names that do not end in Backward0
BARE = ("CopySlices", "NotImplemented", "Error")
new = object.__new__

# A function spelled out for its row runs a third faster than a general one, so each is written from this template when it
# is first called; `print(TABLE["mul"].source())` shows mul's.  x_ is the array of the tensor x, x_node its node.  frame is
# the call site: where the user's code called; `outsiders` are the files outside the engine that are known so far.
TEMPLATE = """
def call({taken}):
    {arrays}
    {compute}
    out = new(Tensor)
    out._data, out._counter, out._node = out_, [0], None
    {view}
    if unusual and not recorded(out, {inputs}):
        return out
    {saved}
    node = out._node = kind()
    node.seq, node.parents = tick(), {nodes}
    node.saved, node.versions = saved, versions
    node.shape, node.dtype = out_.shape, out_.dtype
    frame = _getframe(1)
    if frame.f_code.co_filename not in outsiders:
        frame = outside(frame)
    node.code, node.at = frame.f_code, frame.f_lasti
    if unusual and state.on_record:
        state.on_record[-1](node)
    return out
"""
# How {arrays} unwraps one input, or two that are brought to one dtype; `source` writes other cases input by input.
ONE = """
    if not isinstance(x, Tensor):
        return forward({taken})
    x_, x_node = x.{array}, x._node"""
TWO = """
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        x_, x_node, y_, y_node = x._data, x._node, y._data, y._node
        if x_.dtype is not y_.dtype:
            x_, y_ = promote(x_, y_)
    elif type(y) is float and x._data.dtype.num in FLOATS:
        x_, x_node, y_, y_node = x._data, x._node, y, None
    elif isinstance(x, Tensor) or isinstance(y, Tensor):
        x_, x_node, y_, y_node = with_number(x, y, promote)
        if x_ is NotImplemented:
            return x_
    else:
        return forward(x, y)"""
# numpy's error about two shapes becomes PyTorch's.
SHAPES = """
    try:
        out_ = forward(x_, y_)
    except (TypeError, ValueError) as error:
        raise errors.refused(error, np.shape(x_), np.shape(y_)) from None"""


class Operation:
    """A row of the derivative table: its name, its forward function, its rules, and what they save."""

    # its name in the table, set when the table is complete
    name = ""

    def __init__(self, node_name: str, forward: Rule, rules: Sequence[Rule | None], view: bool, promote: Any) -> None:
        self.node_name = node_name if "Backward" in node_name or node_name in BARE else f"{node_name}Backward0"
        self.forward, self.view = forward, view
        # Of two inputs, one without a rule is an index: its dtype is its own.
        self.promote = promote if len(rules) == 2 and None not in rules else None
        self.inputs = INPUTS[: len(rules)]
        self.rules = tuple(rules)
        self.function = unwritten(self)

    @cached_property
    def kind(self) -> type[Node]:
        """The class of its nodes, such as MulBackward0; made when the first one is recorded."""
        content = {"__slots__": (), "__module__": "builtins", "operation": self, "rules": self.rules}
        return type(self.node_name, (Node,), content)

    @cached_property
    def statics(self) -> tuple[str, ...]:
        """What the forward function takes besides the inputs."""
        return parameters(self.forward)[len(self.inputs) :]

    @cached_property
    def arguments(self) -> tuple[tuple[str, ...], ...]:
        """What each rule takes besides g."""
        return tuple(() if rule is None else parameters(rule)[1:] for rule in self.rules)

    # B019 asks whether a row may be freed: it lives as long as the program
    @functools.cache  # noqa: B019
    def versioned(self, *wanted: bool) -> list[str]:
        """The inputs (or "out") that a node saves, and whose version it therefore checks.

        wanted: for each input, whether it wants a gradient; only the rules of those that do save anything.
        """
        named = dict.fromkeys(n for names, yes in zip(self.arguments, wanted) if yes for n in names)
        return [n for n in named if n == "out" or n in self.inputs]

    @functools.cache  # noqa: B019
    def tensors(self, *wanted: bool) -> list[tuple[int, int, int | None, int]]:
        """What of the values that a node saves was a tensor, as (rule, place in what it takes, input, place in `versions`).

        The input is None for the result.  `wanted` as in `versioned`.
        """
        named, known = self.versioned(*wanted), (*self.inputs, "out")
        return [
            (rule, place, None if name == "out" else self.inputs.index(name), 2 * named.index(name))
            for rule, names in enumerate(self.arguments) if wanted[rule]
            for place, name in enumerate(names) if name in known
        ]

    def source(self) -> str:
        """The function that computes and records, as Python source."""
        inputs, taken = self.inputs, ", ".join((*self.inputs, *self.statics))
        arrays = ", ".join((*(f"{n}_" for n in inputs), *self.statics))
        compute = f"out_ = forward({arrays})"
        if len(inputs) == 1:
            unwrap = ONE.format(taken=taken, array="_writable()" if self.view else "_data")
        elif self.promote and not self.statics:
            unwrap, compute = TWO, SHAPES
        else:
            some = " or ".join(f"isinstance({n}, Tensor)" for n in inputs)
            unwrap = f"\n    if not ({some}):\n        return forward({taken})"
            for n in inputs:
                unwrap += f"\n    {n}_, {n}_node = ({n}._data, {n}._node) if isinstance({n}, Tensor) else ({n}, None)"
            unwrap += "\n    x_, y_ = promote(x_, y_)" if self.promote else ""
        view = f"if same_memory(x_, out_):\n        link_view(out, x, call, {as_tuple(self.statics)})"
        saved = ""
        for yes in subsets(len(inputs)):
            asked = " and ".join(f"{n}_node is {'not ' * y}None" for n, y in zip(inputs, yes))
            saved += f"{'el' if saved else ''}if {asked}:\n        {self.saving(yes)}\n    "
        return TEMPLATE.format(
            taken=taken, arrays=unwrap.strip(), compute=compute.strip(), view=view if self.view else "",
            inputs=as_tuple(inputs), nodes=as_tuple(f"{n}_node" for n in inputs),
            saved=f"{saved}else:\n        return out",
        )

    def saving(self, yes: Sequence[bool]) -> str:
        """The line of the source that sets what a node saves, and whose versions it checks (`yes` as in `versioned`)."""
        arrays = {n: f"{n}_" for n in (*self.inputs, "out")} | {f"{n}_shape": f"{n}_.shape" for n in self.inputs}
        values = [as_tuple(arrays.get(n, n) for n in names) for names in self.arguments]
        named = self.versioned(*yes)
        counters = [f"{n}._counter" if n == "out" or yes[self.inputs.index(n)] else f"counter({n})" for n in named]
        # A path too is freed by a backward pass, as in PyTorch; shapes and numbers are not.
        frees = named or "path" in self.statics
        versions = as_tuple(f"(c := {each}), c[0]" for each in counters) if frees else None
        saved = as_tuple(v if y else None for v, y in zip(values, yes))
        return f"saved, versions = {saved}, {versions}"

    def write(self) -> Callable[..., Any]:
        """Give the function the code of its source."""
        found: dict[str, Any] = {}
        exec(compile(self.source(), f"{errors.PACKAGE}/<{self.node_name}>", "exec"), found)
        # first: another thread may call the new code at once
        self.function.__globals__["kind"] = self.kind
        self.function.__code__ = found["call"].__code__
        return self.function

    def set_rules(self, rules: Sequence[Rule | None]) -> None:
        """Record with these rules from now on; nodes that exist go on with those they were recorded with."""
        self.kind.operation = copy.copy(self)
        Operation.versioned.cache_clear()
        Operation.tensors.cache_clear()
        for made in ("kind", "arguments"):
            self.__dict__.pop(made, None)
        self.rules = tuple(rules)
        self.write()


def as_tuple(parts: Iterable[Any]) -> str:
    """The source of a tuple."""
    return f"({''.join(f'{part}, ' for part in parts)})"


def unwritten(row: Operation) -> Any:
    """The function of a row.  Its first call writes its code, so that an import does not have to write all of them.

    `names` are the globals of that code: those of this module (`counter` and `link_view` are imported for it) and the row's.
    """
    names: dict[str, Any] = globals() | {"row": row, "forward": row.forward, "promote": row.promote}
    function: Any = FunctionType(first_call.__code__, names, row.node_name)
    names["call"], function.operation = function, row
    return function


def first_call(*given: Any) -> Any:
    # row is a name that `unwritten` gives it
    return globals()["row"].write()(*given)


def subsets(n: int) -> list[tuple[bool, ...]]:
    """The ways in which at least one of n inputs wants a gradient; first the one in which all do."""
    return [tuple(bool(bits >> i & 1) for i in range(n)) for bits in range(2**n - 1, 0, -1)]


def with_number(x: Any, y: Any, promote: Any) -> tuple[Any, Node | None, Any, Node | None]:
    """The arrays and nodes of a tensor and a number, in the dtype of the result; NotImplemented for other types."""
    x_, x_node = (x._data, x._node) if isinstance(x, Tensor) else (number(x), None)
    y_, y_node = (y._data, y._node) if isinstance(y, Tensor) else (number(y), None)
    if x_ is NotImplemented or y_ is NotImplemented:
        return NotImplemented, None, None, None
    if (x_ if isinstance(x, Tensor) else y_).dtype.num not in FLOATS:
        x_, y_ = promote(x_, y_)
    return x_, x_node, y_, y_node


# numpy's numbers of float32 and float64, which a Python number does not change
FLOATS = (11, 12)


def operation(
    name: str, forward: Rule, *rules: Rule | None, view: bool = False, promote: Any = dtypes.promote
) -> Callable[..., Any]:
    """A recorded operation from one row of the table: the node's name, the forward function, one rule per input.

    A rule's first parameter is g, the gradient of the result.  The others say what it needs, and so what is saved:
    x, y, z (the inputs), out (the result), x_shape, ..., and the forward function's further parameters.  None in place
    of a rule: no gradient is defined for that input.  `view=True`: the result may share its input's memory.
    `promote(a, b)` brings two inputs to one dtype; None where their dtypes are independent.
    """
    return Operation(name, forward, rules, view, promote).function


def enter(rows: dict[str, Any]) -> None:
    """Enter the operations among a file's globals in the table, under the names that they have there."""
    for name, function in list(rows.items()):
        row = getattr(function, "operation", None)
        if isinstance(row, Operation) and not row.name:
            row.name = function.__name__ = function.__qualname__ = name
            TABLE[name] = row


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters; none for numpy's own functions."""
    # a wrapper around a rule names the rule's parameters
    if hasattr(function, "takes"):
        return tuple(function.takes)
    own = hasattr(function, "__code__")
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None) if own else None
    return code.co_varnames[: code.co_argcount] if code else ()


# ------------------------------------------------------------------------------------------------ recording


def joined(name: str, forward: Callable[..., Any], rule: Rule) -> Callable[..., Any]:
    """An operation on a list of tensors; the rule takes g, the number of the input, and forward's other arguments."""
    kind: type[Node] = type(f"{name}Backward0", (Node,), {"__slots__": (), "__module__": "builtins"})

    def call(tensors: Sequence[Tensor], *arguments: Any) -> Tensor:
        out = wrap(forward([x._data for x in tensors], *arguments))
        parents = tuple(x._node for x in tensors)
        if (not unusual or recorded(out, tensors)) and any(parents):
            saved = tuple((i, *arguments) for i in range(len(parents)))
            out._node = record(kind, parents, saved, None, out._data)
            out._node.rules = (rule,) * len(parents)
        return out

    return call


def record(kind: type[N], parents: tuple[Any, ...], saved: Any, versions: Any, out: Array) -> N:
    """Write one node to the tape."""
    node = new(kind)
    node.seq = tick()
    node.parents, node.saved, node.versions = parents, saved, versions
    node.shape, node.dtype = out.shape, out.dtype
    frame = _getframe(2)
    # called from inside the engine: the user's line is further up
    if frame.f_code.co_filename not in outsiders:
        frame = outside(frame)
    node.code, node.at = frame.f_code, frame.f_lasti
    if unusual and state.on_record:
        state.on_record[-1](node)
    return node


def recorded(out: Tensor, inputs: Sequence[Any]) -> bool:
    """Whether this thread records now; if not, mark the result: made in inference mode, or cut off at which line."""
    if state.inference and out._view is None:
        out._counter = Untracked(out._counter)
    if state.recording:
        return True
    if out._view is not None:
        out.__dict__["_made_in"] = "inference" if state.inference else "no_grad"
    if any(isinstance(t, Tensor) and t._node is not None for t in inputs):
        note_cut(out, "no_grad")
        if out._view is not None:
            leave_out(out)
    return False


def note_cut(out: Tensor, how: str) -> None:
    """Note, for `explain`, which line of the user's code left this tensor without history, by `no_grad` or `detach`."""
    frame = outside(_getframe(2))
    out.__dict__["_cut"] = how, frame.f_code, frame.f_lasti


def same_memory(a: Array, c: Array) -> bool:
    """Whether the result of a view operation really is a view (a reshape may have to copy)."""
    return c.base is not None and (c.base is a or c.base is a.base or bool(np.may_share_memory(a, c)))


def number(value: Any) -> Any:
    """A Python number from a Python or numpy number; NotImplemented for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, complex):
        raise TypeError("minigrad leaves out complex numbers")
    return value if isinstance(value, (bool, int, float)) else NotImplemented


# ------------------------------------------------------------------------------------------------ what users call


def public(function: F) -> F:
    """The same function for users: it takes numpy's argument names too, and a wrong call raises PyTorch's error."""
    takes_tensor = next(iter(function.__annotations__.values()), None) == "Tensor"

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        if takes_tensor and not (args and isinstance(args[0], Tensor)):
            args, keywords = errors.first_tensor(function, Tensor, (args, keywords))
        try:
            return function(*args, **keywords)
        except (TypeError, AttributeError) as error:
            args, keywords = errors.other_names(function, Tensor, (args, keywords), error)
        return function(*args, **keywords)

    return call  # type: ignore[return-value]


def attach(*functions: Callable[..., Any], **named: Any) -> None:
    """Make functions methods of Tensor: under their own names, or under the keywords that they are given by."""
    named.update((function.__name__, function) for function in functions)
    for name, function in named.items():
        setattr(Tensor, name, function)


attach(tape.requires_grad_, backward=tape.tensor_backward)
