"""Writing into a tensor that exists: `y += 1`, `y.add_(1)`, `y[0] = 5`, and views that share memory.

The idea: compute the new value like any operation (that records a node), write it into the old memory, and give the
tensor the new node.  Three things make it safe.  Every write adds one to the version counter that all views of the
memory share, so a node that kept the old numbers notices.  A leaf that requires grad refuses.  And a write through a
view is also a write to its base: the base gets a CopySlices node, and the views get nodes that read from the new base.

A version counter is a list: [number of writes, (who wrote last, the line), weak references to the views...].
"""

from __future__ import annotations

import math
import operator
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import derivatives as table
from minigrad import dtypes, errors, tape
from minigrad.derivatives import add, mul, sub
from minigrad.operations import Nowhere, Operation, operation
from minigrad.tape import AccumulateGrad, Node, hooks_of, mode, touch
from minigrad.tensor import Tensor, Untracked, method, set_data, wrap
from minigrad.versions import Detached, also, guarded_names

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation."
ONE_OF_SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
    "modified inplace. You should replace the inplace operation by an out-of-place one."
)
FUNCTION_VIEW = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
    "handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
NO_FUNCTION = None, True, False, False
OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
INFERENCE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
    "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)


def write(target: Tensor, operation: Any, *args: Any) -> Tensor:
    """target.operation_(*args): replace target's numbers by operation(target, *args), and its history accordingly.

    RuntimeError for a leaf that requires grad, a result of another shape or a wider type, memory that overlaps itself.
    """
    __tracebackhide__ = True
    check_writable(target)
    check_overlap(target, args)
    result = operation(target, *args)
    if result is NotImplemented:
        return result  # type: ignore[no-any-return]
    check_order(target, args, result)
    commit(target, result)
    return target


def copy(target: Tensor, operation: Any, source: Tensor) -> None:
    """Write the numbers of another tensor, stretched to the target's shape (PyTorch stretches first, and so looks less)."""
    __tracebackhide__ = True
    check_writable(target)
    if source._data.shape == target._data.shape:
        check_overlap(target, (source,))
    result = operation(target, source)
    check_order(target, (source,), result)
    commit(target, result)


def assignment(operation: Any) -> Callable[[Tensor, Any], Any]:
    """The method behind an augmented assignment, `x += y`."""
    ufunc = DIRECT.get(operation)

    def assign(self: Tensor, other: Any) -> Any:
        __tracebackhide__ = True
        if ufunc is not None and mode.record is None and written_directly(self, ufunc, other):
            return self
        return write(self, operation, other)

    return assign


def overwrite(target: Tensor, operation: Any, *args: Any) -> Tensor:
    """As `write`, also where elements share their memory: only those that change are written, in order."""
    __tracebackhide__ = True
    check_history(target)
    check_overlap(target, tuple(a for a in args if isinstance(a, Tensor) and a._data.ndim))  # a single number is read first
    commit(target, operation(target, *args))
    return target


# Operations that PyTorch lets write into an expanded tensor; some of them with a warning that names what to avoid.
STRETCHABLE = {"tril": "", "triu": "", "masked_fill": "tensor[mask] = scalar", "index_fill": "tensor[mask] = scalar",
               "index_put": "tensor[indices] = tensor"}  # fmt: skip


def warn_if_stretched(target: Tensor, name: str) -> None:
    """PyTorch's warning, if elements of the tensor share their memory."""
    if _is_stretched(target._data) and STRETCHABLE[name]:
        warnings.warn(
            f"Use of {name}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
            f"This also applies to advanced indexing e.g. {STRETCHABLE[name]}",
            UserWarning,
            stacklevel=3,
        )


def _is_stretched(array: Any) -> bool:
    if not isinstance(array, np.ndarray) or 0 not in array.strides or not array.size:
        return False
    return any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True))


def _overlaps_itself(array: Any) -> bool:
    """Whether one place in memory stands for several elements, as in windows: PyTorch's result is a matter of luck then."""
    if not isinstance(array, np.ndarray) or array.flags.forc or not array.size:
        return False
    reach = 0
    for n, stride in sorted(_layout(array), key=operator.itemgetter(1)):
        if stride <= reach:
            return bool(np.unique(_addresses(array)).size < array.size)
        reach += (n - 1) * stride
    return False


DIRECT = {add: np.add, sub: np.subtract, mul: np.multiply}


def written_directly(target: Tensor, ufunc: Any, other: Any) -> bool:
    """Where types, shapes and memory leave no question: without an array in between (p -= rate * g, v *= 0.9)."""
    array, counter = target._data, target._counter
    if type(array) is not ndarray or type(counter) is not list or array.dtype.num not in (11, 12):  # float32, float64
        return False
    if type(other) is float:
        if array.base is not None and (0 in array.strides or not array.flags.forc):
            return False
        ufunc(array, other, array)
    else:
        value = other._data if isinstance(other, Tensor) else None
        if type(value) is not ndarray or value.dtype is not array.dtype or value.shape != array.shape:
            return False
        views = array.base is not None or value.base is not None
        if views and (0 in array.strides or np.may_share_memory(array, value)):
            return False
        ufunc(array, value, array)
    if len(counter) > 2:
        unrecorded(counter)
    else:  # no views: no way round
        touch(counter, None, 3)
    return True


def check_writable(target: Tensor) -> None:
    """Raise if PyTorch would not let anybody write into this tensor now."""
    __tracebackhide__ = True
    check_history(target)
    if _is_stretched(target._data) or _overlaps_itself(target._data):
        raise RuntimeError(OVERLAP)


def check_history(target: Tensor) -> None:
    """The part of `check_writable` that is about the graph."""
    if isinstance(target._counter, Untracked) and not mode.inference:
        raise RuntimeError(INFERENCE)
    if mode.record is None:
        return
    base = root_of(target)
    if base._node is None and HELD.__get__(target) is None and not target.__dict__.get("_of_function", NO_FUNCTION)[3]:
        return
    if target._view is None and target.is_leaf and target._node is not None:
        raise RuntimeError(LEAF)
    _check_view(target)
    if target.requires_grad and base.is_leaf:
        raise RuntimeError(LEAF_VIEW)


def _check_view(target: Tensor) -> None:
    """Raise if a recorded write through this view could not be told to what it is a view of."""
    words = _forbidden(target, "is being modified inplace")
    if words is not None:
        raise RuntimeError(words)


def _forbidden(target: Tensor, written: str) -> str | None:
    """What PyTorch says of a write to this view, or to its base, if it cannot be told to the other; None if it can."""
    view: Tensor | None = target
    node = HELD.__get__(target)
    while view is not None:
        function, recorded, several, _ = view.__dict__.get("_of_function", NO_FUNCTION)
        name = function or view.__dict__.get("_one_of")
        itself = view is target
        view, *_, recorded = view._view or (None, recorded)
        if recorded and name is None:
            continue
        kind = name if itself else type(node).__name__.split("Backward")[0].rstrip("0")
        output, inference = f"Output {node.output_nr if node else 0} of {kind}", recorded is None
        if recorded:
            place = f"{output} is a view and {written}. "
        else:
            place = "A view was" if itself else f"{output} is a view of a view which was"
            place += f" created in {errors.MODES[inference][0]} mode and {written} {errors.MODES[inference][1]}. "
        if function and not several:
            return place + FUNCTION_VIEW
        return place + (ONE_OF_SEVERAL if recorded and name is not None else errors.view_without_graph(inference))
    return None


HELD: Any = Tensor.__dict__["_node"]  # the slot that holds a tensor's node


class Stale(Tensor):
    """A view that cannot be read anew from its base, now that this was written to: whoever asks for its node is refused."""

    __slots__ = ()
    __module__, __qualname__ = "minigrad", "Tensor"

    @property
    def _node(self) -> Node | None:
        if mode.record is None:
            return None  # nobody records, so nobody asks
        raise RuntimeError(self.__dict__["_refused"])

    @_node.setter
    def _node(self, node: Node | None) -> None:
        HELD.__set__(self, node)

    @property
    def grad_fn(self) -> Node | None:
        raise RuntimeError(self.__dict__["_refused"])

    @property
    def is_leaf(self) -> bool:
        raise RuntimeError(self.__dict__["_refused"])

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        return root_of(self).requires_grad


Stale.__name__ = "Tensor"


def check_overlap(target: Tensor, args: tuple[Any, ...]) -> None:
    """Raise if one of these tensors shares part of the memory that is written to, and neither has gaps in it."""
    array = target._data
    for other in args:
        data = other._data if isinstance(other, Tensor) else None
        if shared(array, data) and _is_dense(array) and _is_dense(data):
            raise RuntimeError(PARTIAL_OVERLAP)


def check_apart(target: Tensor, *others: Any) -> None:
    """Raise if one of these arrays lies in memory that is written at indices: there also if it is the same array."""
    array = target._data
    for data in others:
        both = isinstance(data, np.ndarray) and np.may_share_memory(array, data) and _is_dense(array) and _is_dense(data)
        if both or (data is array and isinstance(data, np.ndarray)):
            raise RuntimeError(PARTIAL_OVERLAP)


def check_order(target: Tensor, args: tuple[Any, ...], result: Tensor) -> None:
    """Raise if a number is read where another has just been written: PyTorch's result is a matter of luck then.

    What lies further on in memory than the number that is being written has not been written yet.
    """
    array = target._data
    for other in args:
        data = other._data if isinstance(other, Tensor) else None
        if data is None or not shared(array, data) or not _fits(data.shape, array.shape):
            continue
        written, read = _addresses(array), _addresses(np.broadcast_to(data, array.shape))
        changed = written[np.asarray(result._data != array)]
        if np.isin(read[read < written], changed).any():
            raise RuntimeError(PARTIAL_OVERLAP)


def shared(array: Any, data: Any) -> bool:
    """Whether two arrays share memory, but are not the same elements in the same order."""
    if data is array or not isinstance(data, np.ndarray) or not isinstance(array, np.ndarray):
        return False
    if not np.may_share_memory(array, data):
        return False
    return array.ndim != data.ndim or array.ctypes.data != data.ctypes.data or _layout(array) != _layout(data)


def _layout(array: Any) -> list[tuple[int, int]]:
    """Size and stride of each dimension that has more than one element."""
    return [(n, s) for n, s in zip(array.shape, array.strides, strict=True) if n > 1]


def _is_dense(array: Any) -> bool:
    """Whether the elements lie side by side, in whatever order, each in a place of its own."""
    step = array.itemsize
    for n, stride in sorted(_layout(array), key=operator.itemgetter(1)):
        if stride != step:
            return False
        step *= n
    return True


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to the target's."""
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False))


def _addresses(array: Any) -> Any:
    """Where in memory each element lies."""
    places = np.asarray(array.ctypes.data)
    for n, stride in zip(array.shape, array.strides, strict=True):
        places = places[..., None] + stride * np.arange(n)
    return places


def commit(target: Tensor, result: Tensor) -> None:
    """Write the numbers of `result` into `target`, and make its node target's node."""
    array, value = target._writable(), result._data
    if np.shape(value) != array.shape:
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape {list(np.shape(value))}"
        )
    into, came = dtypes.of(array.dtype), dtypes.of(value.dtype)
    if not dtypes.can_cast(came, into):
        raise RuntimeError(
            f"result type {came.tensor_name} can't be cast to the desired output type {into.tensor_name}"
        )
    node = result._node if mode.record is not None else None
    if node is None and mode.record is not None and target._node is not None:
        node = tape.TABLE["zero"].function(target)._node  # the new numbers do not depend on the old: y.gt_(0), y.normal_()
    if node is not None:
        _check_view(target)
        _keep_old(node, target)
        node.dtype = array.dtype
    if 0 in array.strides:
        changed = np.asarray(value != array)
        array[changed] = np.asarray(value)[changed]
    else:
        array[...] = value
    if node is None:
        unrecorded(target._counter)
    else:
        touch(target._counter, node)
        move_guards(node, result._counter, target._counter)
        rewrite_history(target, node)


def _keep_old(node: Node, target: Tensor) -> None:
    """Where a rule needs the target's old numbers, keep a copy of them: the originals are about to be overwritten."""
    if also(node):
        node.__dict__["_also"] = tuple(one for one in also(node) if one[0] is not target._counter)
    made = getattr(type(node), "operation", None)
    if made is None or not node.kept or not node.guards or not any("x" in names for names in made.arguments):
        return
    old = target._data.copy()
    node.kept = tuple(
        args and tuple(old if name == "x" else value for name, value in zip(names, args, strict=True))
        for names, args in zip(made.arguments, node.kept, strict=True)
    )
    pairs = zip(guarded_names(node), node.guards[::2], node.guards[1::2], strict=True)
    node.guards = tuple(item for name, *pair in pairs if name != "x" for item in pair)
    node.__dict__["_own_x"] = True


def move_guards(node: Node | None, old: list[Any], now: list[Any]) -> None:
    """A node that kept its own result kept what is now in the target's memory: watch the target's counter."""
    if node is not None and also(node):
        node.__dict__["_also"] = tuple((now, now[0], *one[2:]) if one[0] is old else one for one in also(node))
    if node is not None and node.guards:
        pairs = list(node.guards)
        for i in range(0, len(pairs), 2):
            if pairs[i] is old:
                pairs[i], pairs[i + 1] = now, now[0]
        node.guards = tuple(pairs)


def root_of(view: Tensor) -> Tensor:
    """The tensor whose memory this is a view of (itself, if it is none)."""
    while view._view is not None:
        view = view._view[0]
    return view


def path_of(view: Tensor) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """The view operations that lead from the root to this view."""
    path: list[tuple[Any, tuple[Any, ...]]] = []
    while view._view is not None:
        base, operation, statics, _ = view._view
        path.append((operation, statics))
        view = base
    return tuple(reversed(path))


def follow(x: Any, path: tuple[tuple[Any, tuple[Any, ...]], ...]) -> Any:
    """The view of `x` that these view operations make (of an array or of a Tensor)."""
    for view, statics in path:
        x = view(x, *statics)
    return x


def rewrite_history(target: Tensor, node: Node) -> None:
    """Make `node` the one that made target's numbers: its base, if it has one, and all other views follow."""
    base = root_of(target)
    if base is target:
        _move_retained(target._node, node)
        base._node = node
    else:
        path = path_of(target)
        old = target._node
        if old is not None and old.hooks is not None:  # hooks stay with what the view was: nobody sees that any more
            again = follow(_alias(base), path)._node
            node.parents = tuple(again if p is old else p for p in node.parents)
        parents = (base._node, node)
        kept = tuple(None if p is None else (path,) for p in parents)
        made = tape.record(COPY_SLICES.node, parents, kept, (), base._data)  # freed like what keeps something
        _move_retained(base._node, made)
        base._node = made
        base._counter[1] = weakref.ref(base._node), *base._counter[1][1:]  # it is the latest writer now
    for reference in list(base._counter[2:]):
        view = reference()
        if view is not None and root_of(view) is base:
            _follow_base(view, base)


def unrecorded(counter: list[Any], known: Tensor | None = None) -> None:
    """Note a write that nobody records: views of that memory (but the one known) are read anew from their bases."""
    touch(counter)
    if len(counter) <= 2:
        return  # there are no views
    alive = [v for v in map(operator.call, counter[2:]) if v is not None and v is not known and v._view is not None]
    views = [v for v in alive if type(v) is not Stale and root_of(v)._node is not None]
    if views:
        before, mode.inference = mode.inference, False
        try:
            with tape.enable_grad():
                for view in views:
                    _follow_base(view, root_of(view))
        finally:
            mode.inference = before


@method
def _tell_views(base: Tensor) -> None:
    """Views made before their base asked for a gradient ask for one too, until it stops; as in PyTorch, nobody gets it."""
    for view in map(operator.call, base._counter[2:]):
        if view is None or root_of(view) is not base:
            continue
        if view._node is None and base._node is not None:
            view._node = Nowhere(view)
        elif base._node is None and isinstance(view._node, Nowhere):
            view._node = None


def _follow_base(view: Tensor, base: Tensor) -> None:
    """Give a view the node that reads it from what its base is now."""
    if base._node is None or type(view) is Stale:
        return
    words = _forbidden(view, "its base or another view of its base has been modified inplace")
    if words is not None:
        view.__dict__["_refused"] = words
        view.__class__ = Stale
        return
    seen = follow(_alias(base), path_of(view))
    if seen._node is not None:
        _move_retained(view._node, seen._node)
    view._node = seen._node
    if view._node is not None:
        view._node.__class__ = renamed(type(view._node), "AsStridedBackward0")


def _move_retained(old: Node | None, new: Node) -> None:
    """`retain_grad` follows the tensor to its new node."""
    if old is not None and old.hooks is not None and old.hooks.retained is not None:
        hooks_of(new).retained, old.hooks.retained = old.hooks.retained, None


def _alias(base: Tensor) -> Tensor:
    """A tensor with the base's memory and node, but outside the family: following it registers nothing."""
    return wrap(base._data, base._node)


_renamed: dict[tuple[type[Node], str], type[Node]] = {}


def renamed(kind: type[Node], name: str) -> type[Node]:
    """The same kind of node under another name: PyTorch's for a view whose base was rewritten, or for `t_`."""
    if kind.__name__ == name:
        return kind
    if (kind, name) not in _renamed:
        _renamed[kind, name] = type(name, (kind,), {"__slots__": (), "__module__": "builtins", "__repr__": Node.__repr__})
    return _renamed[kind, name]


def _places(shape: tuple[int, ...], path: Any) -> Any:
    """Which elements of an array of this shape the view at the end of the path shows."""
    return follow(np.arange(math.prod(shape)).reshape(shape), path).reshape(-1)


def _without(x: Any, path: Any) -> Any:
    copy = np.array(x, order="C")  # so that reshape gives a view
    copy.reshape(-1)[_places(copy.shape, path)] = 0
    return copy


def _copied_slice(x: Any, y: Any, path: Any) -> Any:
    copy = np.array(x, order="C")  # so that reshape gives a view
    copy.reshape(-1)[_places(copy.shape, path)] = np.reshape(y, -1)
    return copy


Tensor._base = property(  # type: ignore[attr-defined]
    lambda self: None if self._view is None else root_of(self), doc="The tensor whose memory this is a view of."
)


@method
def _is_view(self: Tensor) -> bool:
    """Whether writing into this tensor is recorded as writing into another."""
    return self._view is not None


@method
def detach_(self: Tensor) -> Tensor:
    """Cut this tensor itself off from its graph: it becomes a leaf that requires no gradient."""
    if self._view is not None and not self.is_inference():
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
            "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
            "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution."
        )
    if self._node is not None and not self.is_leaf:
        self._counter[0] = Detached(self._version).after(self._node)
        tape.last_write = tape.tick()
    self._node = None
    _tell_views(self)
    return self


def give_shape(target: Tensor, shape: tuple[int, ...]) -> None:
    """Let the tensor show the first numbers of its memory in this shape; where it needs more, they are 0."""
    array, n = target._writable(), math.prod(shape)
    reach = 1 + sum((n - 1) * stride for n, stride in _layout(array)) // array.itemsize if array.size else 0
    flat = np.lib.stride_tricks.as_strided(array, (reach,), (array.itemsize,))  # the same memory, and what lies between
    if n > flat.size:
        flat = np.concatenate([flat, np.zeros(n - flat.size, array.dtype)])
    target._data = flat[:n].reshape(shape)


def into(out: Any, result: Any, name: str) -> Any:
    """Write a result into the tensors given as `out=`."""
    if isinstance(result, tuple):
        for o, r in zip(out, result, strict=True):
            into(o, r, name)
        return out
    if mode.record is not None and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad."
        )
    check_writable(out)
    if out._data.shape != result._data.shape:
        if out._data.size:
            warnings.warn(errors.resized(out._data.shape, result._data.shape), UserWarning, stacklevel=4)
        give_shape(out, result._data.shape)
    commit(out, result)
    return out


@method
def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Another shape for this tensor, over the same memory as far as it reaches.  RuntimeError if it requires grad."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = tuple(sizes[0]) if sizes and not isinstance(sizes[0], int) else sizes
    if min(shape, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    if math.prod(shape) * self._data.itemsize >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    if shape != self._data.shape:
        give_shape(self, shape)
        touch(self._counter)
    return self


@method
def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """`resize_` to the shape of another tensor."""
    return resize_(self, other._data.shape)


@method
def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """Let this tensor have another one's memory and shape (nobody's, without `source`)."""
    if mode.record is not None and self.is_leaf and self._node is not None:
        raise RuntimeError(LEAF)
    if self._node is not None and not self.is_leaf:
        raise NotImplementedError("minigrad has no set_ for a tensor that was computed from what requires grad")
    given = wrap(np.zeros(0, self._data.dtype)) if source is None else source
    if not isinstance(given, Tensor):
        raise TypeError(f"set_() received an invalid combination of arguments - got ({type(given).__name__})")
    if given._data.dtype != self._data.dtype:
        raise RuntimeError(f"Could not set tensor of type {given.dtype.c_name} to a tensor of type {self.dtype.c_name}")
    set_data(self, given)
    touch(self._counter)
    if self._node is not None:
        self._node = AccumulateGrad(self)  # what was computed before leads to the tensor that was
    return self


TURNS = (table.swap, table.transpose)  # each its own inverse
RESHAPED = {"SqueezeBackward0": "SqueezeBackward3", "SqueezeBackward1": "SqueezeBackward4",
            "SqueezeBackward2": "SqueezeBackward5", "UnsqueezeBackward0": "UnsqueezeBackward1",
            "TransposeBackward0": "TransposeBackward1", "TBackward0": "TBackward1"}  # fmt: skip


def reshaped_in_place(target: Tensor, view: Any, *args: Any, **keywords: Any) -> Tensor:
    """Make a tensor one of its own views (t_, squeeze_, ...): other numbers of dimensions, the same memory."""
    check_history(target)
    before = wrap(target._writable(), target._node)  # what the tensor was: views of that go on as views of the memory
    before._counter = target._counter
    related = [v for v in map(operator.call, target._counter[2:]) if v is not None and v is not target and root_of(v) is target]
    if target._view is not None:
        before._view = target._view
    result = view(before, *args, **keywords)
    target._data, target._node = result._data, result._node
    if target._view is not None:
        target._view = (*result._view[:3], target._view[3])
    elif result._view is not None and related:  # they go on as views of what the tensor was, and that is a view of it now
        _, turned, statics, _ = result._view
        before._view = (target, turned, statics, True) if turned in TURNS else (target, table.reshape, (before.shape,), True)
        for each in related:
            link = each
            while link._view[0] is not target and link._view[0] is not before:
                link = link._view[0]
            link._view = (before, *link._view[1:])
            _follow_base(each, target)
    if mode.record is None and target._view is None:
        target._node = before._node
        if target._node is not None and target.is_leaf:
            target._node.shape = target._data.shape
    elif target._node is not None and type(target._node).__name__ in RESHAPED:
        target._node.__class__ = renamed(type(target._node), RESHAPED[type(target._node).__name__])
    unrecorded(target._counter, None if mode.record is None else target)
    return target


# The old base loses the part that was overwritten; what was written there gets the gradient of that part.
erase: Any = operation("Erase", lambda x, path: _without(x, path), lambda g, path: erase(g, path))
COPY_SLICES: Operation = operation(
    "CopySlices", _copied_slice, lambda g, path: erase(g, path), lambda g, path: follow(g, path)
).operation  # type: ignore[attr-defined]


def _edges(self: Node) -> tuple[tuple[Node | None, int], ...]:
    """What PyTorch's node shows, which holds the node of the write within itself: the base, and what else was read."""
    base, write = Node.next_functions.fget(self)  # type: ignore[attr-defined]
    return (base, *(() if write[0] is None else write[0].next_functions[1:]))


COPY_SLICES.further["next_functions"] = property(_edges)
