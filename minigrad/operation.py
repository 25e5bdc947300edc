"""How a line of the derivative table becomes a function that computes and records.

Third of the six files.  `operation("Mul", operator.mul, lambda g, y: g * y, lambda g, x: g * x)` reads off the rules'
parameter names what has to be saved for backward, and gives a function that takes Tensors and records, or takes arrays
and only computes.  So the same rule runs on arrays in an ordinary backward pass, and on Tensors in one that is recorded.

`replace` puts a student's own rule into the engine; `public` and `attach` are how the files in ops/ offer functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from sys import _getframe
from typing import Any, TypeVar

import numpy as np

from minigrad import dtypes, errors, tape
from minigrad.errors import outside, outsiders
from minigrad.tape import INPUTS, TABLE, AccumulateGrad, state, tick, unusual
from minigrad.tensor import Array, Node, Rule, Tensor, Untracked, link_view, wrap

F = TypeVar("F", bound=Callable[..., Any])

BARE = ("CopySlices", "NotImplemented", "Error")  # node names that do not end in Backward0
NEVER_WRITTEN = [0]  # the version counter of a number
new = object.__new__


class Operation:
    """A row of the derivative table: its name, its forward function, its rules, and what they save."""

    name = ""  # its name in the table, set when the table is complete

    def __init__(
        self, node_name: str, forward: Callable[..., Any], rules: Sequence[Rule | None], view: bool, promote: Any
    ) -> None:
        self.node_name = node_name if "Backward" in node_name or node_name in BARE else f"{node_name}Backward0"
        self.forward, self.view = forward, view
        self.promote = promote if None not in rules else None
        self.inputs = INPUTS[: len(rules)]
        self.rules = tuple(rules)
        self.savers: dict[int, tuple[type[Node], Callable[..., Any]]] = {}
        simple = len(rules) == 1 or (len(rules) == 2 and not self.statics)
        self.function = several(self) if not simple else unary(self) if len(rules) == 1 else binary(self)
        self.function.operation = self

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

    def versioned(self, wanted: Sequence[bool]) -> list[str]:
        """Which inputs (or "out") a node saves, whose version it therefore checks, if these inputs want a gradient."""
        named = dict.fromkeys(n for names, yes in zip(self.arguments, wanted) if yes for n in names)
        return [n for n in named if n == "out" or n in self.inputs]

    def saver(self, wanted: int) -> tuple[type[Node], Callable[..., Any]]:
        """The class of a new node and the function that gives it (saved, versions), if these inputs want a gradient.

        For mul it is `lambda x, y, out, x_, y_, out_: (((y_,), (x_,)), (y._counter, y._counter[0], ...))`, where x_ is
        the array of x.
        """
        yes = [bool(wanted >> i & 1) for i in range(len(self.inputs))]
        arrays = {n: f"{n}_" for n in (*self.inputs, "out")} | {f"{n}_shape": f"{n}_.shape" for n in self.inputs}
        values = [f"({''.join(arrays.get(n, n) + ', ' for n in names)})" for names in self.arguments]
        saved = "".join(f"{v if y else None}, " for v, y in zip(values, yes))
        named = self.versioned(yes)
        counters = [f"{n}._counter" if n == "out" or yes[self.inputs.index(n)] else f"counter({n})" for n in named]
        versions = "".join(f"{c}, {c}[0], " for c in counters)
        frees = named or any(n in SAVED_STATICS for names, y in zip(self.arguments, yes) if y for n in names)
        taken = ", ".join((*self.inputs, "out", *(f"{n}_" for n in self.inputs), "out_", *self.statics))
        made = eval(f"lambda {taken}: (({saved}), {f'({versions})' if frees else None})", {"counter": counter})
        self.savers[wanted] = self.kind, made
        return self.kind, made

    def set_rules(self, rules: Sequence[Rule | None]) -> None:
        """Record with these rules from now on; nodes that exist go on with those they were recorded with."""
        old = new(Operation)
        old.__dict__.update(self.__dict__)
        self.kind.operation = old
        for made in ("kind", "arguments"):
            self.__dict__.pop(made, None)
        self.rules = tuple(rules)
        old.savers = dict(self.savers)
        self.savers.clear()  # the functions below hold this very dictionary

    def __repr__(self) -> str:
        return f"<operation {self.name} ({self.node_name})>"


SAVED_STATICS = ("index", "condition", "mask", "path")  # not differentiated, but memory that a backward pass frees


def operation(
    name: str,
    forward: Callable[..., Any],
    *rules: Rule | None,
    view: bool = False,
    promote: Any = dtypes.promote,
) -> Callable[..., Any]:
    """A recorded operation from one row of the table: the node's name, the forward function, one rule per input.

    A rule's first parameter is g, the gradient of the result.  The others say what it needs, and so what is saved:
    x, y, z (the inputs), out (the result), x_shape, ..., and the forward function's further parameters.  None in place
    of a rule: no gradient is defined for that input.  `view=True`: the result may share its input's memory.
    `promote(a, b)` brings two inputs to one dtype; None where their dtypes are independent.
    """
    return Operation(name, forward, rules, view, promote).function


def enter(rows: dict[str, Any]) -> None:
    """Name the operations of a file as the file names them, and enter them in the table."""
    for name, function in list(rows.items()):
        made = getattr(function, "operation", None)
        if isinstance(made, Operation) and not made.name:
            made.name = function.__name__ = function.__qualname__ = name
            TABLE[name] = made


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters; none for numpy's own functions."""
    if hasattr(function, "takes"):  # a rule around another rule says what that one takes
        return tuple(function.takes)
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()


# ------------------------------------------------------------------------------------------------ computing and recording


def unary(made: Operation) -> Any:
    """The function of an operation with one input."""
    forward, savers = made.forward, made.savers

    def call(x: Any, *arguments: Any) -> Any:
        if not isinstance(x, Tensor):
            return forward(x, *arguments)
        a = x._writable() if made.view else x._data
        c = forward(a, *arguments)
        out = new(Tensor)
        out._data, out._counter, out._node = c, [0], None
        if made.view and shares_memory(a, c):
            link_view(out, x, call, arguments)
        if unusual and not recorded(out, (x,)):
            return out
        if x._node is not None:
            kind, save = savers.get(1) or made.saver(1)
            node = out._node = new(kind)
            node.seq = tick()
            node.parents = (x._node,)
            node.saved, node.versions = save(x, out, a, c, *arguments)
            node.shape, node.dtype = c.shape, c.dtype
            frame = _getframe(1)
            if frame.f_code.co_filename not in outsiders:  # called from inside the engine
                frame = outside(frame)
            node.code, node.at = frame.f_code, frame.f_lasti
            if unusual and state.on_record is not None:
                state.on_record(node)
        return out

    return call


def binary(made: Operation) -> Any:
    """The function of an operation with two inputs and no other arguments; one of the two may be a number."""
    forward, savers, promote = made.forward, made.savers, made.promote

    def call(x: Any, y: Any) -> Any:
        if isinstance(x, Tensor):
            a, p = x._data, x._node
            if isinstance(y, Tensor):
                b, q = y._data, y._node
                differ = a.dtype is not b.dtype
            else:
                b, q = y if type(y) is float else number(y), None
                differ = a.dtype.num not in FLOATS
        elif isinstance(y, Tensor):
            b, q = y._data, y._node
            a, p = x if type(x) is float else number(x), None
            differ = b.dtype.num not in FLOATS
        else:
            return forward(x, y)
        if a is NotImplemented or b is NotImplemented:
            return NotImplemented
        if differ and promote:
            a, b = promote(a, b)
        try:
            c = forward(a, b)
        except (TypeError, ValueError) as error:
            raise errors.refused(error, np.shape(a), np.shape(b)) from None
        out = new(Tensor)
        out._data, out._counter, out._node = c, [0], None
        if unusual and not recorded(out, (x, y)):
            return out
        wanted = (1 if q is None else 3) if p is not None else 0 if q is None else 2
        if wanted:
            kind, save = savers.get(wanted) or made.saver(wanted)
            node = out._node = new(kind)
            node.seq = tick()
            node.parents = p, q
            node.saved, node.versions = save(x, y, out, a, b, c)
            node.shape, node.dtype = c.shape, c.dtype
            frame = _getframe(1)
            if frame.f_code.co_filename not in outsiders:  # called from inside the engine
                frame = outside(frame)
            node.code, node.at = frame.f_code, frame.f_lasti
            if unusual and state.on_record is not None:
                state.on_record(node)
        return out

    return call


def several(made: Operation) -> Any:
    """The function of any other operation; its forward function promotes and checks."""
    forward, n = made.forward, len(made.inputs)
    alike = n == 2 and None not in made.rules  # an index, whose rule is None, has a dtype of its own

    def call(*given: Any) -> Any:
        inputs, arguments = given[:n], given[n:]
        if not any(isinstance(t, Tensor) for t in inputs):
            return forward(*given)
        arrays = [t._data if isinstance(t, Tensor) else t for t in inputs]
        if alike and made.promote:
            arrays = made.promote(*arrays)
        c = forward(*arrays, *arguments)
        out = new(Tensor)
        out._data, out._counter, out._node = c, [0], None
        if unusual and not recorded(out, inputs):
            return out
        nodes = tuple(t._node if isinstance(t, Tensor) else None for t in inputs)
        wanted = sum(1 << i for i, node in enumerate(nodes) if node is not None)
        if wanted:
            kind, save = made.savers.get(wanted) or made.saver(wanted)
            saved, versions = save(*inputs, out, *arrays, c, *arguments)
            out._node = record(kind, nodes, saved, versions, c)
        return out

    return call


def joined(name: str, forward: Callable[..., Any], rule: Rule) -> Callable[..., Any]:
    """An operation on a list of tensors; the rule takes g, the number of the input, and forward's other arguments."""
    kind = type(f"{name}Backward0", (Joined,), {"__slots__": (), "__module__": "builtins"})

    def call(tensors: Sequence[Tensor], *arguments: Any) -> Tensor:
        out = wrap(forward([x._data for x in tensors], *arguments))
        parents = tuple(x._node for x in tensors)
        if (not unusual or recorded(out, tensors)) and any(parents):
            saved = tuple((i, *arguments) for i in range(len(parents)))
            out._node = record(kind, parents, saved, None, out._data)
            out._node.rules = (rule,) * len(parents)
        return out

    return call


class Joined(Node):
    """The node of an operation on a list of tensors."""

    __slots__ = ()

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        return tuple(rule(g, *values) for rule, values in zip(self.rules or (), self.saved or ()))  # type: ignore[misc]


FLOATS = (11, 12)  # numpy's numbers of float32 and float64, which a Python number does not change


def record(kind: type[Node], parents: tuple[Any, ...], saved: Any, versions: Any, out: Array) -> Node:
    """Write one node to the tape."""
    node = new(kind)
    node.seq = tick()
    node.parents, node.saved, node.versions = parents, saved, versions
    node.shape, node.dtype = out.shape, out.dtype
    frame = _getframe(2)
    if frame.f_code.co_filename not in outsiders:  # called from inside the engine: the user's line is further up
        frame = outside(frame)
    node.code, node.at = frame.f_code, frame.f_lasti
    if unusual and state.on_record is not None:
        state.on_record(node)
    return node


def recorded(out: Tensor, inputs: Sequence[Any]) -> bool:
    """Whether this thread records now; if not, note at which line the result lost its history (for `explain`)."""
    if state.inference and out._view is None:
        out._counter = Untracked(out._counter)
    if state.recording:
        return True
    if out._view is not None:
        out.__dict__["_made_in"] = "inference" if state.inference else "no_grad"
    if any(isinstance(t, Tensor) and t._node is not None for t in inputs):
        note_cut(out, "no_grad")
        if out._view is not None:  # as in PyTorch it requires grad too, and gets none
            out._node = AccumulateGrad(out)
            out._node.leaf = lambda: None
    return False


def note_cut(out: Tensor, how: str) -> None:
    """Note which line of the user's code left this tensor without history: `no_grad` or `detach`."""
    frame = outside(_getframe(2))
    out.__dict__["_cut"] = how, frame.f_code, frame.f_lasti


def shares_memory(a: Array, c: Array) -> bool:
    """Whether the result of a view operation really is a view (a reshape may have to copy)."""
    return c.base is not None and (c.base is a or c.base is a.base or bool(np.may_share_memory(a, c)))


def counter(value: Any) -> list[Any]:
    return value._counter if isinstance(value, Tensor) else NEVER_WRITTEN


def number(value: Any) -> Any:
    """A Python number from a number of any kind; NotImplemented for what is none."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float)) else NotImplemented


# ------------------------------------------------------------------------------------------------ a rule of your own


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
    made: Operation = TABLE[name]
    before, n = made.rules, len(made.rules)
    rules = tuple(rule) if isinstance(rule, (tuple, list)) else tuple(nth(rule, i, n) for i in range(n))
    if len(rules) != n:
        raise ValueError(f"{name} has {n} inputs, so it takes {n} rules, not {len(rules)}")
    made.set_rules([each and careful(each) for each in rules])
    try:
        yield
    finally:
        made.set_rules(before)


def nth(rule: Rule, i: int, n: int) -> Rule:
    """The i-th answer of a rule that returns the gradients of all n inputs at once."""

    def answer(g: Any, *saved: Any) -> Any:
        found = rule(g, *saved)
        if n == 1:
            return found[0] if isinstance(found, tuple) else found
        if not isinstance(found, tuple) or len(found) != n:
            raise RuntimeError(f"the rule must return a tuple of {n} gradients, one for each input")
        return found[i]

    answer.takes = parameters(rule)  # type: ignore[attr-defined]
    return answer


def careful(rule: Rule) -> Rule:
    """A rule that may return a number, or one of the arrays it was given, into which the walk must not write."""

    def answer(g: Any, *saved: Any) -> Any:
        found = rule(g, *saved)
        return found if found is None or isinstance(found, Tensor) else np.array(found)[()]

    answer.takes = parameters(rule)  # type: ignore[attr-defined]
    return answer


# ------------------------------------------------------------------------------------------------ what users call


def public(function: F) -> F:
    """What users call: the same function, whose wrong calls raise errors that name the argument."""
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
    """Make functions methods of Tensor: under their own names, or under the one given as a keyword."""
    for function in functions:
        setattr(Tensor, function.__name__, function)
    for name, function in named.items():
        setattr(Tensor, name, function)


attach(tape.requires_grad_, backward=tape.tensor_backward)
