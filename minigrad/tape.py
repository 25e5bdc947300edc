"""The tape: operations record nodes, and a backward pass walks them from the newest to the oldest.

Second of the six files.  You meet, in this order:

  walk         the backward pass, and what it asks of a node
  grad modes   the switches, one set a thread, that say whether operations are recorded (no_grad, enable_grad, ...)
  call sites   at which line of the user's code a node was recorded
  versions     how a write to memory is noted, so that a node whose saved numbers were overwritten can refuse
  leaves       where the tape ends: a gradient is added to `.grad`; `requires_grad_` gives a leaf its node
  Walk         the same pass in parts that can be replaced: where there are hooks, anomaly detection or planted bugs
  backward     what `loss.backward()` and `autograd.grad` check before they walk
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import warnings
import weakref
from _thread import _local, get_ident
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from heapq import heappop, heappush
from itertools import count
from sys import _getframe
from types import FrameType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from . import dtypes, errors
from .errors import check, quoted
from .tensor import Array, Hook, Hooks, Node, Tensor, Untracked, age_views, hooked, views_of, wrap

# ------------------------------------------------------------------------------------------------ the walk


def walk(roots: Roots, retain_graph: bool = False, create_graph: bool = False, targets: Targets = None) -> None:
    """The backward pass: carry each root's gradient back to the leaves.

    Take the newest node.  Its gradient is complete, because every node that used it is newer.  Ask each of its rules for
    a contribution, add that to what the parent has received so far, and go on until no node is left.

    With `targets` the gradients of these nodes are stored there, and nothing is computed that does not lead to them.  With
    `create_graph` gradients are Tensors: then the rules are recorded themselves.
    """
    # IPython and pytest leave this function out of tracebacks
    __tracebackhide__ = True
    needed = None if targets is None else towards(targets, {node for node, _ in roots})
    # a heap serves the smallest number first, and ticks count up: so it holds -tick
    heap: list[int] = []
    # -tick -> (node, the sum of its gradient so far)
    arrived: dict[int, tuple[Node, Any]] = {}
    for node, g in roots:
        key = -node.seq
        if key in arrived:
            g = arrived[key][1] + g
        else:
            heappush(heap, key)
        arrived[key] = node, g

    while heap:
        node, g = arrived.pop(heappop(heap))
        if targets is not None and node in targets:
            targets[node] = g
        if not node.parents:
            if targets is None:
                node.accumulate(g, create_graph)  # type: ignore[attr-defined]
            continue
        if needed is not None and needed.isdisjoint(node.parents):
            continue
        # Freed, or older than the latest write?
        if node.saved is None or node.seq < last_write:
            check_saved(node)
        rules, saved = node.rules, node.saved or ()
        # A custom Function, for example, computes its contributions together; then each rule only returns one of them.
        if rules is None:
            found = contributions(node, g, create_graph, needed)
            rules, saved = (lambda g, known: known,) * len(found), tuple((known,) for known in found)
        elif create_graph:
            saved = lifted(node, saved)
        for parent, rule, values in zip(node.parents, rules, saved):
            if parent is None or rule is None or (needed is not None and parent not in needed):
                continue
            # rule(g, *values), but without the star it is faster
            new = rule(g) if not values else rule(g, values[0]) if len(values) == 1 else rule(g, *values)
            if new is None:
                continue
            array = new._data if create_graph else new
            if array.shape != parent.shape or array.dtype is not parent.dtype:
                new = fit(new, parent, node)
            key = -parent.seq
            if key not in arrived:
                heappush(heap, key)
                # a leaf's .grad has to be an array that nothing else refers to
                if not parent.parents and not create_graph and (new is g or new.base is not None):
                    new = new.copy()
            elif create_graph or new is g or new.base is not None:
                new = arrived[key][1] + new
            else:
                new += arrived[key][1]
            arrived[key] = parent, new
        if not retain_graph and node.versions is not None:
            # free the memory as the walk proceeds
            node.saved = None


# where a pass starts: nodes, each with its upstream gradient
Roots: TypeAlias = list[tuple[Node, Any]]
# nodes whose gradients are wanted; the pass fills in the gradients
Targets: TypeAlias = dict[Node, Any] | None


def contributions(node: Node, g: Any, create_graph: bool = False, needed: Any = None, fit: Any = None) -> Sequence[Any]:
    """What one node contributes to each parent, from its rules or from a custom Function's backward.

    With `create_graph` g is a Tensor, and the rules run on Tensors.  Parents that are not in `needed` get None.  `fit`
    brings contributions to the shape and dtype of the parent.
    """
    __tracebackhide__ = True
    rules, found = node.rules or type(node).rules, []
    if rules is None:
        with users_turn(create_graph):
            return node.contributions(g, create_graph)  # type: ignore[attr-defined,no-any-return]
    if node.saved is None or node.seq < last_write:
        check_saved(node)
    # saved_tensors_hooks, which packed what the rules take, has set node.rules to None
    saved: Any = unpacked(node.saved or (), create_graph) if node.rules is None else node.saved
    for rule, parent, values in zip(rules, node.parents, lifted(node, saved) if create_graph else saved):
        new = None
        if rule is not None and parent is not None and (needed is None or parent in needed):
            new = rule(g, *values)
            if new is not None and fit is not None:
                new = fit(new, parent, node)
        found.append(new)
    return found


def unpacked(saved: Sequence[Any], create_graph: bool = False) -> tuple[Any, ...]:
    """Saved values, with each one that a hook had packed (autograd.graph.saved_tensors_hooks) unpacked once."""
    packed = {id(v): v for values in saved for v in values or () if hasattr(v, "unpack")}
    with users_turn(create_graph):
        found = {key: v.value() for key, v in packed.items()}
    return tuple(values and tuple(found.get(id(v), v) for v in values) for values in saved)


def lifted(node: Node, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the rules take, with saved arrays as Tensors with the nodes they came from: the rules are then recorded."""
    if node.operation is None:
        return saved
    found, parents, versions = [values and list(values) for values in saved], node.parents, node.versions
    for rule, place, source, counter in node.operation.tensors(*[parent is not None for parent in parents]):
        value = found[rule][place]
        if hasattr(value, "dtype"):
            t = found[rule][place] = wrap(value, node if source is None else parents[source])
            if versions:
                t._counter = versions[counter]
    return tuple(found)


def fit(g: Any, node: Node, child: Node | None = None) -> Any:
    """Undo broadcasting and promotion: bring the gradient to the shape and dtype of the node it is for.

    An axis that broadcasting stretched was used once for each copy: its gradient is the sum over the copies.
    RuntimeError, with the line of the node `child` that contributed it, if broadcasting does not explain the shape.
    """
    shape, dtype = node.shape, node.dtype
    # a node with several outputs takes a tuple of gradients
    if shape is None or dtype is None:
        return g
    if g.shape != shape:
        axes = stretched_axes(shape, g.shape)
        if axes is None:
            raise errors.misfit(g.shape, node, child)
        g = g.sum(axes, keepdims=True) if axes else g
        g = g.reshape(shape)
    if isinstance(g, Tensor):
        return g if g._data.dtype is dtype else g.to(dtypes.of(dtype))
    return g if g.dtype is dtype else g.astype(dtype)[()]


@lru_cache(maxsize=256)
def stretched_axes(shape: tuple[int, ...], have: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes that broadcasting stretched to take `shape` to `have`; None if it cannot."""
    lead = len(have) - len(shape)
    if lead < 0:
        return None
    axes = [lead + i for i, n in enumerate(shape) if have[lead + i] != n]
    return None if any(shape[i - lead] != 1 for i in axes) else (*range(lead), *axes)


F = TypeVar("F", bound=Callable[..., Any])
# every Operation of derivatives.py, by name
TABLE: dict[str, Any] = {}
# what rules call the inputs of an operation
INPUTS = ("x", "y", "z", "u", "v", "w")
# the newest node has the largest number
tick = count(1).__next__

# ------------------------------------------------------------------------------------------------ grad modes


class State(_local):
    """Whether this thread records; each thread has its own, and begins with these defaults."""

    # grad mode
    enabled = True
    inference = False
    # enabled, and not in inference mode
    recording = True
    # the last one is called with each new node (saved_tensors_hooks)
    on_record: tuple[Callable[[Node], None], ...] = ()
    # while a backward pass is recorded: the user's frame that asked for it
    asked: FrameType | None = None


state = State()
# threads whose state is not the default; while it is empty, operations skip `state`
unusual: set[int] = set()


def switch(enabled: bool) -> None:
    """Set the grad mode of this thread, and note in `unusual` whether its state is now the default."""
    state.enabled, state.recording = enabled, enabled and not state.inference
    simple = state.recording and not state.on_record
    (unusual.discard if simple else unusual.add)(get_ident())


def is_grad_enabled() -> bool:
    """Whether operations of this thread are to be recorded."""
    return state.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in `inference_mode`."""
    return state.inference


class GradMode:
    """A grad mode as a context manager and as a decorator, with or without brackets, nested, exception-safe."""

    mode = True

    # In `@no_grad` without brackets the argument is the function to decorate.
    def __new__(cls, mode: Any = None) -> Any:
        self = super().__new__(cls)
        return self if not callable(mode) else self._recreate_cm()(mode)

    def __init__(self) -> None:
        pass

    def __call__(self, function: F) -> F:
        if not inspect.isgeneratorfunction(function):

            @wraps(function)
            def called(*args: Any, **keywords: Any) -> Any:
                with self._recreate_cm():
                    return function(*args, **keywords)

            return called  # type: ignore[return-value]

        @wraps(function)
        def steps(*args: Any, **keywords: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **keywords)
            resume, given = generator.send, None
            # the mode is on while the generator runs, off while its caller does
            while True:
                with self._recreate_cm():
                    try:
                        step = resume(given)
                    except StopIteration as end:
                        return end.value
                try:
                    resume, given = generator.send, (yield step)
                # throw() or close() of the caller's
                except BaseException as error:
                    resume, given = generator.throw, error

        return steps  # type: ignore[return-value]

    # one object may decorate several functions, and each call needs its own
    def _recreate_cm(self) -> Any:
        return type(self)()

    def __enter__(self) -> None:
        self.before = state.enabled
        switch(self.mode)

    def __exit__(self, *_: object) -> None:
        switch(self.before)


class no_grad(GradMode):
    """Inside, nothing is recorded: results require no gradient, and nothing is saved for a backward pass.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False
    """

    mode = False


class enable_grad(GradMode):
    """Inside, operations are recorded again, also within `no_grad`."""


class set_grad_enabled(GradMode):
    """Switch recording on or off, at once; as a context manager or decorator, switch back at the end."""

    def __new__(cls, mode: Any = None) -> Any:
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise errors.must_be("bool", "set_grad_enabled", "enabled", 1, mode)
        self.mode, self.before = mode, state.enabled
        switch(mode)

    def __call__(self, function: F) -> F:
        # used as a decorator: nothing changes until the function runs
        switch(self.before)
        return super().__call__(function)

    def _recreate_cm(self) -> Any:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        switch(self.mode)


class inference_mode(GradMode):
    """A stricter `no_grad`: what is made inside can never be part of a graph."""

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _recreate_cm(self) -> Any:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.outer = state.inference, state.enabled
        state.inference = self.mode
        switch(not self.mode)

    def __exit__(self, *_: object) -> None:
        state.inference, enabled = self.outer
        switch(enabled)


def record_with(*on_record: Callable[[Node], None]) -> None:
    """From now on call the last of these with each node that this thread records."""
    state.on_record = on_record
    switch(state.enabled)


@contextmanager
def users_turn(create_graph: bool) -> Iterator[None]:
    """Around code of the user that a backward pass calls: it is recorded only with `create_graph`, line by line."""
    before = state.enabled, state.on_record, state.asked
    state.asked = None
    switch(create_graph)
    try:
        yield
    finally:
        state.enabled, on_record, state.asked = before
        record_with(*on_record)


# ------------------------------------------------------------------------------------------------ call sites

# count as users of the engine
USERS = os.path.join(errors.PACKAGE, "course"), os.path.join(errors.PACKAGE, "viz")
# files of the engine, and files outside it: filled as they are met
insiders: set[str] = set()
outsiders: set[str] = set()


def outside(frame: FrameType) -> FrameType:
    """The innermost frame from here on that is not the engine's own; in a recorded pass, the one that asked for it."""
    if state.asked is not None:
        return state.asked
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if file not in insiders and (file in outsiders or not is_ours(file)):
            break
        frame = frame.f_back
    return frame


def is_ours(filename: str) -> bool:
    """For a file that is met for the first time."""
    ours = filename.startswith(errors.PACKAGE) and not filename.startswith(USERS)
    (insiders if ours else outsiders).add(filename)
    return ours


# ------------------------------------------------------------------------------------------------ versions

# the tick of the latest in-place write anywhere; newer nodes need not check what they saved
last_write = 0


def bump_version(*tensors: Tensor, writer: Node | None = None, times: int = 1) -> None:
    """Note that the memory of these tensors was written to, by which node and at which line of the user's code."""
    global last_write
    last_write = tick()
    frame = outside(_getframe(1))
    line = (writer and weakref.ref(writer), frame.f_code, frame.f_lasti)
    for tensor in tensors:
        counter = tensor._counter
        if not isinstance(counter, Untracked):
            counter[:2] = counter[0] + times, line
            age_views(counter)


def check_saved(node: Node) -> None:
    """RuntimeError if what this node saved was freed by a backward pass, or has been written to since."""
    if node.saved is None and type(node).rules is not None:
        raise errors.freed(node)
    # counter, version, counter, version, ...
    pairs = node.versions or ()
    for counter, version in zip(pairs[::2], pairs[1::2]):
        if counter[0] != version:
            raise overwritten(node, counter, version, *saved_with(node, counter))
    # Did `leaf.data = other` give one of the inputs other numbers after this node was recorded?
    for name, parent in zip(INPUTS, node.parents):
        if isinstance(parent, AccumulateGrad) and parent.exchanged > node.seq and node.saved and node.operation:
            # then the rules take the leaf's present numbers, as in PyTorch
            node.saved = tuple(
                values and tuple(parent.data if n == name else v for n, v in zip(taken, values))
                for taken, values in zip(node.operation.arguments, node.saved)
            )


def overwritten(node: Node, counter: list[Any], version: int, array: Array, origin: Node | None) -> RuntimeError:
    """PyTorch's error for a saved array that `origin` made and that was overwritten, with a note that quotes the two lines."""
    written, code, at = counter[1]
    maker = origin if origin is node or errors.is_view(origin) else (written and written()) or origin
    error = errors.modified(dtypes.of(array.dtype), array.shape, maker, counter[0], version)
    name = node.operation.name if node.operation else node.name()
    error.add_note(
        f"minigrad: saved by {name}{quoted(node.code, node.at)}, overwritten{quoted(code, at)}: "
        "make a new tensor there instead, as in y = y + 1."
    )
    return error


def saved_with(node: Node, counter: list[Any]) -> tuple[Array, Node | None]:
    """Which of a node's saved arrays this counter belongs to, and the node that made it."""
    row = node.operation
    names = row.versioned(*map(bool, node.parents))
    name = names[[c is counter for c in (node.versions or ())[::2]].index(True)]
    origin = node if name == "out" else node.parents[row.inputs.index(name)]
    saved = zip(row.arguments, node.saved or ())
    array = next((values[taken.index(name)] for taken, values in saved if values and name in taken), np.zeros(0))
    # PyTorch's linear saves the transposed weight, and its error gives that one's shape and node.
    if row.name.startswith("linear") and name == "z":
        view = object.__new__(TABLE["transpose"].kind)
        view.parents = (origin,)
        return array.T, view
    return array, origin


# ------------------------------------------------------------------------------------------------ leaves


class AccumulateGrad(Node):
    """Where the tape ends: the node of a leaf, which adds the leaf's gradient to its `.grad`."""

    __slots__ = ()
    # the tick of the latest `leaf.data = other`, and the other's numbers; 0: there was none
    exchanged, data = 0, None

    def __init__(self, leaf: Tensor) -> None:
        self.seq = tick()
        self.parents, self.saved, self.versions = (), (), None
        self.shape, self.dtype = leaf._data.shape, leaf._data.dtype
        frame = outside(_getframe(1))
        self.code, self.at = frame.f_code, frame.f_lasti
        # weak: the tensor holds its node, and a cycle would keep both alive
        self.leaf = weakref.ref(leaf)

    @property
    def variable(self) -> Tensor | None:
        """The leaf itself."""
        return self.leaf()

    def accumulate(self, g: Any, create_graph: bool = False) -> None:
        """leaf.grad += g, if the leaf still exists and wants a gradient: in place, unless the sum is to be differentiated."""
        leaf = self.leaf()
        if leaf is None or leaf._node is not self:
            return
        old = leaf._grad
        if create_graph:
            leaf._grad = TABLE["copied"].function(wrap(np.zeros_like(leaf._data)), g) if old is None else old + g
        elif old is None:
            leaf._grad = wrap(g)
            leaf._grad._counter = GradCounter((0,))
        else:
            old._data = old._data + g if not isinstance(old._data, np.ndarray) else np.add(old._data, g, old._data)
            bump_version(old)


class GradCounter(list[Any]):
    """The version counter of a `.grad`.

    A pass that adds to a `.grad` in place may overwrite what one of its own nodes saved.  Whether it does depends on when
    leaves are served.  So while there is a node that saved a `.grad`, passes are Walks, which serve leaves when PyTorch does.
    """

    # is in `hooked` from the time that a node saves the `.grad`
    mark: Node | None = None


def counter(value: Any) -> list[Any]:
    """The version counter of what a node is about to save: of a tensor without a node, or of a number."""
    if not isinstance(value, Tensor):
        return NEVER_WRITTEN
    found = value._counter
    if isinstance(found, GradCounter) and found.mark is None:
        found.mark = Node()
        hooked[weakref.ref(found.mark, hooked.pop)] = None
    return found


# the version counter of every number
NEVER_WRITTEN = [0]


def exchange(node: AccumulateGrad, data: Array) -> None:
    """Note that `leaf.data = other` gave the leaf of this node other numbers."""
    global last_write
    node.shape, node.dtype = data.shape, data.dtype
    node.data, node.exchanged = data, tick()
    last_write = node.exchanged


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask for a gradient of this leaf (or stop asking); returns the tensor itself.

    RuntimeError for a tensor that is not of floats, or False for one that an operation made.

    >>> torch.ones(2).requires_grad_()
    tensor([1., 1.], requires_grad=True)
    """
    if not isinstance(requires_grad, (bool, np.bool_)):
        raise errors.must_be("bool", "requires_grad_", "requires_grad", 1, requires_grad)
    floats = self._data.dtype.kind == "f"
    check(floats or not requires_grad, "only Tensors of floating point dtype can require gradients")
    allowed = not requires_grad or state.inference or not self.is_inference()
    check(allowed, errors.INFERENCE_REQUIRES)
    check(requires_grad or self.is_leaf, errors.ONLY_LEAVES + errors.USE_DETACH)
    node: Any = self._node
    if self.is_leaf and not requires_grad and node is not None:
        self.__dict__["_frozen"], self._node = node, None
        follow_base(self)
    elif self.is_leaf and requires_grad and (node is None or node.leaf() is None):
        # The node from before `requires_grad_(False)`, if there is one: older graphs end in it.
        self._node = node = self.__dict__.pop("_frozen", None) or AccumulateGrad(self)
        node.shape, node.dtype = self._data.shape, self._data.dtype
        follow_base(self)
    return self


def follow_base(base: Tensor) -> None:
    """Views that were not recorded require grad while their base does, as in PyTorch, but no gradient reaches them."""
    for view in views_of(base._counter):
        notes = view.__dict__
        if view._base is base and "_old" not in notes and (view._node is None or "_unreached" in notes):
            leave_out(view)


def leave_out(view: Tensor) -> None:
    """Give a view that was not recorded a node that no gradient reaches, or none, as its base has one or not."""
    node: Any = view.__dict__.setdefault("_unreached", AccumulateGrad(view))
    node.leaf = lambda: None
    view._node = node if view._view and view._view[0]._node else None


def started(tensors: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool) -> list[tuple[Node, Any]]:
    """Where the walk starts: each tensor's node with its upstream gradient, which is 1 for a tensor of one element.

    RuntimeError for a tensor that has no graph, and for a gradient that is missing or of another shape.
    """
    if not all(isinstance(root, Tensor) for root in tensors):
        raise AssertionError("Expected output to be a torch.Tensor")
    roots: list[tuple[Any, Any]] = []
    for i, (tensor, g) in enumerate(zip(tensors, gradients)):
        if g is None:
            if tensor._node is not None and tensor._data.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = wrap(np.ones_like(tensor._data)[()])
        elif g.shape != tensor.shape:
            raise RuntimeError(errors.WRONG_START.format(i, g.shape, tensor.shape))
        elif g.dtype is not tensor.dtype:
            g = g.to(tensor.dtype)
        # no pass starts at a view that was not recorded
        node = None if tensor._node is tensor.__dict__.get("_unreached") else tensor._node
        roots.append((node, g if create_graph else g._data.copy()))
    for i, (node, _) in enumerate(roots):
        if node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return roots


# ------------------------------------------------------------------------------------------------ the general form


class Walk:
    """The same pass in parts, each of which may be replaced (see record/bugs.py), and with the hooks of nodes.

    Gradients are arrays, or Tensors if `create_graph`.  With `targets` only these nodes' gradients are wanted: they are
    stored there, and no leaf accumulates.
    """

    fit = staticmethod(fit)
    # what happens to two contributions to one node
    join = staticmethod(operator.add)
    started = staticmethod(started)

    def __init__(self, roots: Roots, create_graph: bool = False, retain_graph: bool = False, targets: Targets = None) -> None:
        self.roots, self.targets = roots, targets
        self.create_graph, self.retain_graph = create_graph, retain_graph
        nodes = {node for node, _ in roots}
        self.needed = None if targets is None else towards(targets, nodes)
        graph = ancestors(nodes, 0) if hooked else set()
        self.due = leaves_due(graph) if any(map(order_matters, graph)) else {}

    def run(self) -> None:
        """Walk: the newest node first; where hooks could see the order, each leaf as soon as its gradient is complete."""
        __tracebackhide__ = True
        heap: list[float] = []
        # -tick, or the key of a leaf that is due earlier
        arrived: dict[float, tuple[Node, Any]] = {}
        needed, due, arrivals = self.needed, self.due, iter(self.roots)
        while True:
            for node, g in arrivals:
                if node is None or g is None or (needed is not None and node not in needed):
                    continue
                key = due.get(node, -node.seq) if due else -node.seq
                if key in arrived:
                    g = self.join(arrived[key][1], g)
                else:
                    heappush(heap, key)
                arrived[key] = node, g
            if not heap:
                return
            arrivals = self.visit(*arrived.pop(heappop(heap)))

    def visit(self, node: Node, g: Any) -> Iterator[Any]:
        """Each parent of a node whose gradient is complete, with its contribution; a leaf's gradient is accumulated."""
        __tracebackhide__ = True
        needed, targets, parents = self.needed, self.targets, node.parents
        # Does a path to a target lead through a parent?  If not, no rule has to run.
        runs = needed is None or not needed.isdisjoint(parents)
        if node.hooks is not None:
            if targets is not None and node in targets and runs:
                # before the hooks, as in PyTorch
                targets[node] = g
            g = self.hooked(node, g)
        if targets is not None and node in targets and targets[node] is None:
            targets[node] = g
        if not parents and targets is None:
            self.accumulate(node, g)
        if not parents or not runs:
            return iter(())
        found = zip(parents, self.contributions(node, g))
        if not self.retain_graph and node.versions is not None:
            node.saved = None
        return found

    def contributions(self, node: Node, g: Any) -> Sequence[Any]:
        """What a node contributes to each parent, in the parent's shape and dtype, with its hooks applied."""
        __tracebackhide__ = True
        if node.hooks is not None:
            g = before_node(node.hooks, g, self.create_graph)
            if g is None:
                return ()
        found = contributions(node, g, self.create_graph, self.needed, self.fit)
        return found if node.hooks is None else after_node(node.hooks, g, tuple(found), self.create_graph)

    def hooked(self, node: Node, g: Any) -> Any:
        """The gradient after the hooks on the tensor have run; a tensor that retains its gradient gets a copy."""
        hooks: Any = node.hooks
        g = on_tensor(hooks, g, self.create_graph)
        tensor = hooks.retained and hooks.retained()
        if tensor is not None and g is not None:
            new = g if self.create_graph else wrap(g.copy())
            tensor._grad = new if tensor._grad is None else tensor._grad + new
        return g

    def accumulate(self, node: Any, g: Any) -> None:
        """Add a leaf's gradient to its `.grad`, between the hooks on its node."""
        hooks = node.hooks
        if hooks is not None:
            g = before_node(hooks, g, self.create_graph)
        if g is not None:
            node.accumulate(g if self.create_graph else g.copy(), self.create_graph)
        if hooks is not None:
            leaf = node.leaf()
            for hook in list(hooks.accumulated.values()) if leaf is not None else ():
                answer = hook(leaf)
                replaced(hook, leaf, answer)
                check(answer is None, "Tensor post accumulate grad hooks should return None.")
            after_node(hooks, g, (), self.create_graph)


def ancestors(roots: Iterable[Node], oldest: int) -> set[Node]:
    """The roots and the nodes they were computed from, as far back as the tick `oldest`."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for parent in stack.pop().parents:
            if parent is not None and parent.seq >= oldest and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return seen


def towards(targets: dict[Node, Any], roots: set[Node]) -> set[Node]:
    """The nodes from which a path leads to a target."""
    nodes = ancestors(roots, min(target.seq for target in targets))
    found = nodes & targets.keys()
    # the oldest first
    for node in sorted(nodes, key=operator.attrgetter("seq")):
        if not found.isdisjoint(node.parents):
            found.add(node)
    return found


def order_matters(node: Node) -> bool:
    """Whether it could see when leaves are served: it has hooks, or it saved a `.grad`."""
    return node.hooks is not None or any(isinstance(counter, GradCounter) for counter in node.versions or ())


def leaves_due(nodes: set[Node]) -> dict[Node, float]:
    """For each leaf a key of the heap, by which its turn comes right after that of the oldest node that used it.

    Leaves of one node come in the order of its inputs, so each key is a fraction between two ticks.
    """
    due: dict[Node, float] = {}
    for node in nodes:
        for i, parent in enumerate(node.parents):
            if parent is not None and not parent.parents:
                due[parent] = max(due.get(parent, -math.inf), -node.seq + (i + 1) / (len(node.parents) + 1))
    return due


# ------------------------------------------------------------------------------------------------ calling hooks


def as_tensor(g: Any) -> Any:
    return g if g is None or isinstance(g, Tensor) else wrap(g)


def as_gradient(tensor: Any, create_graph: bool) -> Any:
    return tensor if tensor is None or create_graph else tensor._data


def on_tensor(hooks: Hooks, g: Any, create_graph: bool) -> Any:
    """A gradient after the hooks on its tensor have run, each of which may replace it."""
    for hook in list(hooks.tensor.values()):
        given = as_tensor(g if g is None or create_graph else g.copy())
        g = as_gradient(replaced(hook, given, hook(given)), create_graph)
    return g


def before_node(hooks: Hooks, g: Any, create_graph: bool) -> Any:
    """A node's gradients after its pre-hooks have run, each of which may replace them."""
    several = isinstance(g, tuple)
    for hook in list(hooks.before.values()):
        given = tuple(map(as_tensor, g if several else (g,)))
        answer = hook(given)
        if answer is not None:
            values = [as_gradient(a, create_graph) for a in all_replaced(hook, given, answer)]
            g = type(g)(values) if several else values[0]
    return g


def after_node(hooks: Hooks, g: Any, found: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """A node's contributions after its hooks have run, each of which may replace them."""
    for hook in list(hooks.after.values()):
        inputs = tuple(map(as_tensor, found))
        answer = hook(inputs, tuple(map(as_tensor, g if isinstance(g, tuple) else (g,))))
        if answer is not None:
            found = tuple(as_gradient(a, create_graph) for a in all_replaced(hook, inputs, answer))
    return found


def all_replaced(hook: Hook, old: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    """What a hook on a node returned, checked: a tuple with a tensor, or None, for each gradient in `old`."""
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{errors.type_name(new)}'")
    check(len(new) == len(old), errors.HOOK_COUNT.format(hook_name(hook), len(new), len(old)))
    for before, after in zip(old, new):
        found = before is not None or after is None
        check(found, "can't replace a None gradient with a non-None value")
        replaced(hook, before, after)
    return new


def replaced(hook: Hook, old: Any, new: Any) -> Any:
    """What a hook returned in place of a gradient, of the same shape and dtype; the gradient itself if it returned None."""
    if new is None:
        return old
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{errors.type_name(new)}'")
    changed, kinds = f"hook '{hook_name(hook)}' has changed", f"(was {old.type()} got {new.type()})"
    check(new.shape == old.shape, f"{changed} the size of value")
    check(new.dtype is old.dtype, f"{changed} the type of value {kinds}")
    return new


def hook_name(hook: Hook) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


# ------------------------------------------------------------------------------------------------ backward

# the walk that `using` put in place of this file's
chosen: type[Walk] | None = None
# the tick of the latest backward pass, for `explain`
last_pass: int | None = None


@contextmanager
def using(walk: type[Walk]) -> Iterator[None]:
    """Within the block every backward pass is this kind of Walk: what checks, anomaly detection and planted bugs use."""
    before = chosen
    choose(walk)
    try:
        yield
    finally:
        choose(before)


def choose(walk: type[Walk] | None) -> None:
    """Let every backward pass be this kind of Walk from now on; None ends that."""
    global chosen
    chosen = walk


def run(roots: Roots, create_graph: bool, retain_graph: bool | None, targets: Targets = None) -> None:
    """One backward pass: by `walk`, or by a Walk where there are hooks or `using` chose one.

    On arrays nothing is recorded.  With `create_graph` the pass is, as if all of it stood in the line that asked for it.
    """
    __tracebackhide__ = True
    global last_pass
    last_pass = tick()
    retain = create_graph if retain_graph is None else retain_graph
    general = chosen or (Walk if hooked else None)
    if not create_graph and general is None:
        return walk(roots, retain, False, targets)
    with users_turn(create_graph):
        if general is not None:
            return general(roots, create_graph, retain, targets).run()
        state.asked = outside(_getframe(1))
        walk(roots, retain, True, targets)


def tensor_backward(
    self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Sequence[Tensor] | Tensor | None = None,
) -> None:
    """Add d(self)/d(leaf) to the `.grad` of every leaf that this tensor was computed from.

    gradient: the upstream gradient, of this tensor's shape; may be left out if there is just one element.
    retain_graph: do not free what the rules saved, so that another pass can follow.  create_graph: record the pass
    itself, so that gradients can be differentiated.  inputs: accumulate into these tensors only.
    RuntimeError if there is no graph, if it was freed, or if something it needs was overwritten.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x**2).backward(torch.tensor([1.0, 0.5]))
    >>> x.grad
    tensor([2., 2.])
    """
    __tracebackhide__ = True
    node, data = self._node, self._data
    simple = gradient is None and not create_graph and inputs is None and chosen is None
    if simple and node is not None and node.parents and not data.ndim:
        return run([(node, data.dtype.type(1))], False, retain_graph)
    backward(self, gradient, retain_graph, create_graph, inputs)


tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"


def backward(
    tensors: Tensor | Sequence[Tensor], grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Any = None,
) -> None:
    """`autograd.backward`: one backward pass from several tensors, accumulating into leaves (see Tensor.backward)."""
    __tracebackhide__ = True
    roots = sequence(tensors)
    if create_graph:
        warnings.warn(errors.CYCLE, stacklevel=3)
    begin = (chosen or Walk).started(roots, upstream(grad_tensors, len(roots)), create_graph)
    if inputs is None:
        return run(begin, create_graph, retain_graph)
    targets: dict[Any, Any] = {}
    for t in asked_for(inputs, "backward"):
        # an input that is no leaf gets its `.grad` in this way
        t.retain_grad()
        targets[t._node] = None
    run(begin, create_graph, retain_graph, targets)
    retain = create_graph if retain_graph is None else retain_graph
    for node, g in targets.items():
        if g is not None and isinstance(node, AccumulateGrad):
            Walk([], create_graph).accumulate(node, g)
        # as in PyTorch, which calls the backward of an input's own operation too
        elif g is not None and node.versions is not None and not retain:
            node.saved = None


def grad(
    outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradient of the sum of `outputs` (weighted by `grad_outputs`) with respect to each of `inputs`.

    grad_outputs: a tensor of each output's shape, or None for outputs with one element.  Inputs may be non-leaves.  Returns
    a tensor of each input's shape; for an unused one None under `allow_unused`, zeros under `materialize_grads`.
    RuntimeError if an input is unused or requires no gradient, if there is no graph, or if it was freed; ValueError for
    `materialize_grads` with allow_unused=False.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    >>> torch.autograd.grad(slope, x)
    (tensor(12.),)
    """
    if materialize_grads and allow_unused is not None and not allow_unused:
        raise ValueError(errors.MATERIALIZED.format(allow_unused))
    roots, wanted = sequence(outputs), asked_for(inputs, "grad")
    begin = (chosen or Walk).started(roots, upstream(grad_outputs, len(roots)), create_graph)
    nodes: list[Any] = [t._node for t in wanted]
    check(None not in nodes, "One of the differentiated Tensors does not require grad")
    targets: dict[Node, Any] = dict.fromkeys(nodes)
    run(begin, create_graph, retain_graph, targets)
    results = []
    for i, (t, node) in enumerate(zip(wanted, nodes)):
        g = None if t.is_leaf and node.leaf() is None else targets[node]
        if g is not None:
            results.append(g if create_graph else wrap(g.copy()))
        elif materialize_grads:
            results.append(wrap(np.zeros_like(t._data)).requires_grad_(create_graph))
        elif allow_unused:
            results.append(None)
        else:
            raise RuntimeError(errors.UNUSED.format(i))
    return tuple(results)


def sequence(tensors: Any) -> tuple[Any, ...]:
    """One tensor or several, as a tuple."""
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def upstream(gradients: Any, n: int) -> list[Tensor | None]:
    """The upstream gradients of n roots as a list; None where the user gave none."""
    if gradients is None:
        return [None] * n
    found = [gradients] if isinstance(gradients, Tensor) else list(gradients)
    for g in found:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    check(len(found) >= n, f"got {n} tensors and {len(found)} gradients")
    return found[:n]


def asked_for(inputs: Any, function: str) -> tuple[Tensor, ...]:
    """The inputs whose gradients are wanted, at least one.  RuntimeError for none, and for anything but a Tensor."""
    found = sequence(inputs)
    check(found, f"`inputs` argument to `{function}()` cannot be empty.")
    for t in found:
        check(isinstance(t, Tensor), f"all inputs have to be Tensors or GradientEdges, but got {errors.type_name(t)}")
    return found
