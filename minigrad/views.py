"""Views, and writing into a tensor that exists: `y += 1`, `y.add_(1)`, `y[0] = 5`.

Fifth of the six files.  The idea: compute the new numbers like any operation (which records a node), write them into the
old memory, and give the tensor the new node.  Three things make that safe:

  1. A write adds one to the version counter that all views of the memory share, so that a node which saved the old
     numbers can refuse (tape.py).
  2. A leaf that requires grad refuses to be written to.
  3. A write to a view is a write to the tensor that owns the memory: the owner gets a CopySlices node, and every view
     that is alive gets, when it is used again, a node that reads from the owner as it is then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from . import derivatives as table
from . import dtypes, errors, tape
from .errors import check
from .kernels import follow
from .operation import attach, record
from .tape import AccumulateGrad, bump_version, state
from .tensor import Array, Hooks, Node, Tensor, Untracked, age_views, wrap

# ------------------------------------------------------------------------------------------------ writing


def write(target: Tensor, operation: Any, *args: Any, **keywords: Any) -> Any:
    """Give target the numbers and the node of operation(target, ...); returns target.

    RuntimeError where PyTorch forbids it (see check_writable), and for a result of another shape or a wider dtype.
    """
    __tracebackhide__ = True
    ufunc = DIRECT.get(operation)
    if ufunc is not None and not state.recording and len(args) == 1 and written_directly(target, ufunc, args[0]):
        return target
    check_writable(target)
    check_memory(target._data, (*args, *keywords.values()))
    result = operation(target, *args, **keywords)
    return result if result is NotImplemented else commit(target, result)


def overwrite(target: Tensor, operation: Any, *args: Any) -> Tensor:
    """As `write`, for an operation that may write to one place several times, as `x.expand(3).fill_(0)` does."""
    __tracebackhide__ = True
    check_writable(target)
    return commit(target, operation(target, *args))


def commit(target: Tensor, result: Tensor) -> Tensor:
    """Write the numbers of `result` into `target`, and make its node target's node; returns target."""
    array, value = target._writable(), result._data
    if value.shape != array.shape:
        raise RuntimeError(errors.OUTPUT_SHAPE.format(list(array.shape), list(value.shape)))
    into, new = dtypes.of(array.dtype), dtypes.of(value.dtype)
    if not dtypes.can_cast(new, into):
        raise RuntimeError(errors.OUTPUT_DTYPE.format(new.tensor_name, into.tensor_name))
    node = result._node if state.recording else None
    if node is None and state.recording and target._node is not None:
        # the new numbers do not depend on the old: y.zero_(), y.normal_()
        node = table.zero(target)._node
    if node is not None:
        check_view(target)
        node.dtype = array.dtype
        save_again(node, target)
    array[...] = value
    bump_version(target, writer=node)
    if node is not None:
        rewrite_history(target, node)
    return target


def in_place(*functions: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The in-place twins of functions: `exp_` computes `exp` and writes the result into the tensor itself."""

    def twin(function: Any) -> Any:
        def write_(self: Tensor, *args: Any, **keywords: Any) -> Any:
            __tracebackhide__ = True
            return write(self, function, *args, **keywords)

        write_.__name__ = write_.__qualname__ = f"{function.__name__}_"
        write_.__doc__ = f"`{function.__name__}`, written into this tensor; returns the tensor."
        # which gives it its signature
        write_.__dict__["__wrapped__"] = function
        return write_

    return [twin(function) for function in functions]


# What numpy can compute straight into the target's memory.
DIRECT = {table.add: np.add, table.sub: np.subtract, table.mul: np.multiply}


def written_directly(target: Tensor, ufunc: Any, other: Any) -> bool:
    """Compute `p -= g` without an array in between; False, and nothing done, unless numpy's result is sure to be ours."""
    array = target._data
    floats = type(array) is ndarray and array.dtype.kind == "f" and 0 not in array.strides
    if not floats or type(target._counter) is Untracked:
        return False
    if type(other) is not float:
        other = other._data if isinstance(other, Tensor) else None
        if type(other) is not ndarray or other.dtype is not array.dtype or other.shape != array.shape:
            return False
        if (array.base is not None or other.base is not None) and np.may_share_memory(array, other):
            return False
    ufunc(array, other, array)
    bump_version(target)
    return True


# ------------------------------------------------------------------------------------------------ what is refused


def check_writable(target: Tensor) -> None:
    """RuntimeError if this tensor may not be written to now."""
    __tracebackhide__ = True
    check(state.inference or not isinstance(target._counter, Untracked), errors.INFERENCE_WRITTEN)
    if not state.recording or not target.requires_grad:
        return
    words = "leaf Variable that requires grad is being used in an in-place operation."
    check(target._view is not None or not target.is_leaf, f"a {words}")
    check_view(target)
    check(target._view is None or not target._view[0].is_leaf, f"a view of a {words}")


def check_view(target: Tensor, written: str = "is being") -> None:
    """RuntimeError for a view whose owner cannot get a node for a recorded write, or which cannot get one after a write."""
    notes, text = target.__dict__, ""
    # not notes.get: to ask for a node makes one
    node: Any = notes["_old"] if "_old" in notes else target._node  # noqa: SIM401
    recorded = node is not None and node.parents
    if "_of_function" in notes:
        text = errors.FUNCTION_VIEW
    elif "_made_in" in notes:
        text = errors.MADE_IN_MODE[notes["_made_in"]]
        if recorded:
            text = text.replace("A view", "Output {} of {} is a view of a view which", 1)
    elif "_one_of" in notes and target._view is not None:
        text = errors.ONE_OF_SEVERAL
        if not recorded:
            text = errors.MADE_IN_MODE["no_grad"].partition(". ")[0] + "." + text.partition(".")[2]
    if text:
        maker = (node.output_nr, type(node.owner).__name__.split("Backward")[0]) if recorded else (0, "")
        raise RuntimeError(text.format(*maker).replace("is being", written, 1))


def check_memory(array: Array, args: tuple[Any, ...]) -> None:
    """RuntimeError if elements of the array share their memory, or if an argument shares part of it."""
    stretched = isinstance(array, ndarray) and 0 in array.strides and array.size
    check(not stretched or all(s or n < 2 for s, n in zip(array.strides, array.shape)), errors.OVERLAP)
    shared = any(overlaps(array, other._data) for other in args if isinstance(other, Tensor))
    check(not shared, errors.PARTIAL_OVERLAP)


def overlaps(array: Array, data: Array) -> bool:
    """Whether two arrays without gaps share memory, but are not the same elements in the same order."""
    if data is array or not isinstance(data, ndarray) or not isinstance(array, ndarray):
        return False
    if not np.may_share_memory(array, data) or not (array.flags.forc and data.flags.forc):
        return False
    one, other = ((a.ctypes.data, a.squeeze().shape, a.squeeze().strides) for a in (array, data))
    return one != other


# ------------------------------------------------------------------------------------------------ the graph after a write


def save_again(node: Node, target: Tensor) -> None:
    """What a node saved of target's old numbers, which are about to be overwritten, and of the new ones, its result."""
    row, versions = node.operation, list(node.versions or ())
    for i, name in enumerate(row.versioned(*map(bool, node.parents)) if row and versions else ()):
        if name == "out":
            # it will lie in target's memory, after the write
            versions[2 * i : 2 * i + 2] = target._counter, target._counter[0] + 1
        elif name == "x":
            old = target._data.copy()
            node.saved = tuple(
                values and tuple(old if taken == "x" else value for taken, value in zip(names, values))
                for names, values in zip(row.arguments, node.saved or ())
            )
            # nothing writes to the copy
            versions[2 * i : 2 * i + 2] = [0], 0
    node.versions = tuple(versions) if versions else node.versions


def rewrite_history(target: Tensor, node: Node) -> None:
    """Make `node` target's node, and give the owner of the memory and all its views nodes that follow from it."""
    owner = target if target._view is None else target._view[0]
    if target._view is not None:
        # copy_slices has a rule for the owner's old numbers and one for those written; each takes the path.
        nodes, path = (owner._node, node), target._view[1]
        saved = tuple(p and (path,) for p in nodes)
        node = record(tape.TABLE["copy_slices"].kind, nodes, saved, (), owner._data)
        # names the writer; `commit` has counted the write
        bump_version(owner, writer=node, times=0)
    move_retained(owner._node, node)
    owner._node = node
    age_views(target._counter)


def made_again(view: Tensor) -> Node | None:
    """The node of a view whose memory was written to: what the same view operations record on the owner as it is now.

    While nothing is recorded it is the old one.  RuntimeError for a view that cannot be made again.
    """
    (owner, path), notes = view._view or (view, ()), view.__dict__
    node: Node | None = None if owner._node is None and "_unreached" in notes else notes["_old"]
    if not state.recording or (owner._node is None and node is None):
        return node
    if owner._node is not None or (node is not None and node.parents):
        check_view(view, "its base or another view of its base has been")
        seen = follow(wrap(owner._data, owner._node), path)._node
        # none where the owner requires no gradient any more: then the view's old one goes on
        if seen is not None:
            seen.__class__ = as_strided(seen.__class__)
            move_retained(node, seen)
            node = seen
    view._node = node
    del notes["_old"]
    return node


@functools.cache
def as_strided(kind: type[Node]) -> type[Node]:
    """The same kind of node under PyTorch's name for a view whose memory was written to."""
    return type("AsStridedBackward0", (kind,), {"__slots__": (), "__module__": "builtins"})


def move_retained(old: Node | None, now: Node) -> None:
    """`retain_grad` follows the tensor to its new node."""
    if old is not None and old.hooks is not None and old.hooks.retained is not None:
        Hooks.of(now).retained, old.hooks.retained = old.hooks.retained, None


# ------------------------------------------------------------------------------------------------ cutting and exchanging


def detach_(self: Tensor) -> Tensor:
    """Cut this very tensor off from its graph: it becomes a leaf that requires no gradient."""
    check(self._view is None or self.is_inference(), errors.DETACH_VIEW)
    self._node = None
    tape.follow_base(self)
    return self


def set_data(self: Tensor, value: Tensor) -> None:
    """`x.data = value`: the tensor shares the other's memory from now on; its node stays the same."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    check(self._node is None or value._data.dtype.kind == "f", errors.DATA_DTYPE)
    self._data = value._writable()
    if isinstance(self._node, AccumulateGrad):
        tape.exchange(self._node, self._data)


attach(detach_, _set_data=set_data, _made_again=made_again)
