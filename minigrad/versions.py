"""Version counters, looked at before a node uses what it kept: was any of it written to, or cut off from its graph, since?

The walk calls `check_versions` for the nodes that are older than the latest write; the rest of this file finds the words
of the error: PyTorch's sentence, and our note on which line kept the tensor and which one overwrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import anomaly, dtypes
from minigrad.birthplace import quoted

if TYPE_CHECKING:
    from minigrad.tape import Node
    from minigrad.tensor import Array, Tensor

DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead"
)


WATCHED = ("target",)  # arguments of an operation that are tensors: what they hold is differentiated by nobody, but noticed


class Detached(int):
    """The version of a tensor that `detach_` has cut off: the same number, and which node the tensor had."""

    seq: int

    def after(self, node: Node) -> Detached:
        self.seq = node.seq
        return self

    def __add__(self, writes: int) -> Detached:
        further = Detached(int(self) + writes)
        further.seq = self.seq
        return further


def noticing(out: Any, *tensors: Tensor) -> Any:
    """`out`, whose node notices writes to these tensors too: PyTorch keeps them, our rule what was read from them."""
    node = out._node
    if node is not None and tensors:
        if node.guards is None and type(node).rules is not None:
            node.guards = ()  # freed like what keeps something
        for t in tensors:  # True: the node itself, which does not hold itself
            node._also += ((t._counter, t._counter[0], t._data.shape, t._data.dtype, t is out or t._node),)
    return out


def also(node: Node) -> tuple[Any, ...]:
    """What `noticing` was told of: (counter, version, shape, type, node) of each tensor."""
    told: tuple[Any, ...] = node._also  # type: ignore[attr-defined]
    return told


def check_versions(node: Node) -> None:
    """Raise if something this node kept has been written to since."""
    guards = node.guards or ()
    for counter, version, shape, dtype, maker in also(node):
        if counter[0] != version:
            raise _noted(node, np.broadcast_to(np.zeros((), dtype), shape), node if maker is True else maker, counter, version)
    for counter, version in zip(guards[::2], guards[1::2], strict=True):
        now = counter[0]
        if type(now) is Detached and any(p is not None and p.seq == now.seq for p in node.parents):
            raise RuntimeError(DETACHED)
        if now != version:
            raise _overwritten(node, counter, version)


def _overwritten(node: Node, counter: list[Any], version: int) -> RuntimeError:
    """The error for a node that kept something with this counter, with our note on who wrote what."""
    made = node.operation
    array, origin = np.zeros(0), None
    for names, args in zip(made.arguments, node.kept or (), strict=True):
        for name, value in zip(names, args or (), strict=bool(args)):
            if name in ("out", *made.inputs) and hasattr(value, "dtype"):
                maker = node if name == "out" else node.parents[made.inputs.index(name)]
                if counter_of(node, name) is counter:
                    array, origin = value, maker
            elif name in WATCHED and value is not None and value._counter is counter:
                array = value._data
    return _noted(node, array, origin, counter, version)


def _noted(node: Node, array: Array, origin: Node | None, counter: list[Any], version: int) -> RuntimeError:
    """PyTorch's sentence with our note: `origin` made what the node kept."""
    written, code, at = counter[1] if len(counter) > 1 and counter[1] else (None, None, 0)
    writer = written and written()
    maker = node if origin is node else origin if _is_view(origin) else writer or origin
    error = modified(array, maker, counter[0], version)
    name = getattr(getattr(node, "operation", None), "name", "") or node.name()
    error.add_note(
        f"minigrad: saved by {name}{quoted(node.code, node.at)}, overwritten{quoted(code, at)}: "
        "make a new tensor there instead, as in y = y + 1."
    )
    if anomaly.state.enabled:
        anomaly.tell(node)
    return error


def _is_view(node: Node | None) -> bool:
    return getattr(getattr(node, "operation", None), "view", False)


def counter_of(node: Node, name: str) -> list[Any] | None:
    """The version counter among the guards that watches what was kept under this name."""
    names = guarded_names(node)
    counter: list[Any] | None = (node.guards or ())[2 * names.index(name)] if name in names and node.guards else None
    return counter


def counters_of(node: Node) -> dict[int, list[Any]]:
    """The version counter of each tensor that this node kept, by its place: inputs in order, then the result."""
    if not node.guards:
        return {}
    made = node.operation
    key = (*(p is None for p in node.parents), "_own_x" in node.__dict__)
    if key not in made.watched:
        places = {**{name: i for i, name in enumerate(made.inputs)}, "out": len(made.inputs)}
        made.watched[key] = tuple(places.get(name, -1) for name in guarded_names(node))
    return dict(zip(made.watched[key], node.guards[::2], strict=True))


def guarded_names(node: Node) -> list[str]:
    """Which inputs (or "out") the pairs of a node's guards belong to, in order."""
    made = node.operation
    wanted = [names for names, p in zip(made.arguments, node.parents, strict=True) if p is not None]
    named = dict.fromkeys(n for names in wanted for n in names if n in ("out", *made.inputs, *WATCHED))
    return [n for n in named if n != "x" or not node.__dict__.get("_own_x")]


def modified(array: Array, maker: Node | None, now: int, expected: int) -> RuntimeError:
    """PyTorch's sentence for a saved tensor that was changed in place."""
    kind = "CPUBoolType" if array.dtype.kind == "b" else f"torch.{dtypes.of(array.dtype).tensor_name}Tensor"
    made = "" if maker is None or not maker.parents else f", which is output {maker.output_nr} of {short(maker)},"
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
        "changed in there or anywhere later. Good luck!"
        if anomaly.state.enabled
        else "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(array.shape)}]{made} is at version {now}; expected version {expected} instead. Hint: {hint}"
    )


def short(node: Node) -> str:
    """A node's name as PyTorch's in-place message gives it: Add, not AddBackward0; a view is read anew from its base."""
    name = "AsStrided" if _is_view(node) else node.owner.name()
    return name if "::" in name else name.replace("Backward0", "").replace("Backward", "")
