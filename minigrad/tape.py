"""The tape: each operation on a tensor that wants a gradient writes one Node; `backward()` walks them back.

Second of the four files.  You meet, in this order:

  grad mode   the switch, one per thread, that says whether operations write to the tape (no_grad, enable_grad, ...)
  Node        one step: which rules apply, which nodes its inputs came from, what the rules need to remember
  record      how an operation writes its node (operations.py makes these functions from the lines of the table)
  walk        the backward pass: newest node first, each node once, its gradient complete when it speaks
  backward    what `loss.backward()` and `autograd.grad` check before the walk starts
"""

from __future__ import annotations

import _thread
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import anomaly, dtypes, errors
from minigrad.birthplace import caller, outside, quoted
from minigrad.decorating import decorated
from minigrad.hooks import Hook, Hooks, Pass, RemovableHandle, Watch, unpacked, watched
from minigrad.kernels import sum_dims
from minigrad.layout import laid_as
from minigrad.nesting import PASSES_A_THREAD, in_a_thread
from minigrad.tensor import Array, Tensor, Untracked, method, wrap
from minigrad.versions import check_versions, counters_of

if TYPE_CHECKING:
    from minigrad.operations import Operation

tick = count(-1, -1).__next__  # the newest node has the smallest number, so that a heap serves it first
last_pass: int | None = None  # the tick of the latest backward pass (for `explain`)
last_write = 0  # the tick of the latest in-place write anywhere: nodes newer than it need no version check
depositing = _thread.RLock()  # two threads may add to the gradient of one leaf: neither's part is lost

unusual: set[int] = set()  # the threads that are not simply recording: while there are none, nobody need look closer

Rule = Callable[..., Any]
SPELLED_OUT = ("AccumulateGrad", "CopyBackwards", "CopySlices", "NotImplemented")  # nodes whose name() is in C++

# ---------------------------------------------------------------------------------------------------- grad mode


class GradMode(_thread._local):  # threading.local; the rest of threading would be a fiftieth of `import minigrad`
    """What this thread is doing: whether operations are recorded (`record` is not None), whether in inference mode."""

    def __init__(self) -> None:
        self.record: Any = True  # None: nothing is recorded; a function: called with each new node
        self.recorder: Any = True  # what `record` is while recording is on
        self.enabled = True  # what was asked for
        self.inference = False
        self.running: Pass | None = None  # the backward pass that this thread is in


def is_grad_enabled() -> bool:
    """Whether operations of this thread are to be recorded (in inference mode none is, whatever was asked)."""
    return mode.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in `inference_mode`."""
    return mode.inference


class set_grad_enabled:
    """Switch recording on or off, at once; as a context manager, or around a function, switch back at the end."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(errors.must_be_bool("set_grad_enabled", "enabled", mode))
        self.enabled, self.before = mode, is_grad_enabled()
        _switch(self.enabled)

    def __enter__(self) -> None:
        _switch(self.enabled)

    def __exit__(self, *_: object) -> None:
        _switch(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _switch(self.before)  # used as a decorator: nothing is switched until the function runs
        return decorated(function, lambda: set_grad_enabled(self.enabled))


class _Mode:
    """A grad mode as a context manager and as a decorator, with or without brackets, nested, exception-safe."""

    enabled: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        return self if function is None else decorated(function, cls)

    def __enter__(self) -> None:
        self.before = is_grad_enabled()
        _switch(self.enabled)

    def __exit__(self, *_: object) -> None:
        _switch(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorated(function, type(self))


class no_grad(_Mode):
    """Inside, nothing is recorded: results require no gradient, and nothing is kept for a backward pass.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False
    """

    enabled = False


class enable_grad(_Mode):
    """Inside, operations are recorded again, also within `no_grad`."""

    enabled = True


class inference_mode:
    """A stricter `no_grad`: what is made inside can never be part of a graph."""

    on: bool

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self.on = True if callable(mode) else bool(mode)
        return decorated(mode, cls) if callable(mode) else self

    def __enter__(self) -> None:
        self.before = mode.inference, is_grad_enabled()
        mode.inference = self.on
        _switch(not self.on)

    def __exit__(self, *_: object) -> None:
        mode.inference, enabled = self.before
        _switch(enabled)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorated(function, lambda: inference_mode(self.on))


def _switch(enabled: bool) -> None:
    mode.enabled = enabled
    if enabled and mode.recorder is True and not mode.inference:
        mode.record = True
        unusual.discard(_thread.get_ident())
    else:
        unusual.add(_thread.get_ident())  # first: Ctrl-C may come between any two lines
        mode.record = mode.recorder if enabled and not mode.inference else None


def record_with(recorder: Any) -> None:
    """Call `recorder(node)` with each node this thread records from now on; True: no longer."""
    mode.recorder = recorder
    _switch(is_grad_enabled())


# ---------------------------------------------------------------------------------------------------- nodes


class Node:
    """One recorded operation.  PyTorch calls it a grad_fn; each operation has its own subclass (MulBackward0, ...)."""

    __slots__ = ("__dict__", "__weakref__", "at", "code", "dtype", "guards", "kept", "parents", "seq", "shape")

    seq: int  # its place on the tape: smaller is newer
    parents: tuple[Node | None, ...]  # the nodes that made its inputs; None where no gradient is wanted
    kept: tuple[tuple[Any, ...] | None, ...] | None  # for each rule, its arguments after g; None once freed
    guards: tuple[Any, ...] | None  # counter, version, counter, version, ... of the tensors among them
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None
    code: Any  # with `at`: which instruction of whose code made it
    at: int

    operation: Operation
    rules: tuple[Rule | None, ...] | None = None  # None: ask `evaluate` instead (a custom Function, a hook, ...)
    nowhere = False  # whether it stands for no graph at all: a view that was made without recording
    part = False  # whether it read a part, x[key], and its rule puts g back there among zeros
    hooks: Hooks | None = None
    output_nr = 0

    @property
    def owner(self) -> Node:
        """The node whose output this is: itself, unless it stands for one of several outputs."""
        return self

    def name(self) -> str:
        """PyTorch's name for this kind of node, such as 'MulBackward0'."""
        kind = type(self).__name__
        return f"torch::autograd::{kind}" if kind in SPELLED_OUT else kind

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that made it and which of that node's outputs it was; (None, 0) for a constant."""
        rules = type(self).rules or (True,) * len(self.parents)  # what has no rule, such as an index, has no place
        pairs = zip(self.parents, rules, strict=True)
        return tuple((None, 0) if p is None else (p.owner, p.output_nr) for p, rule in pairs if rule is not None)

    def lift(self, kept: Any) -> tuple[Any, ...]:
        """What was kept, as Tensors tied to the nodes they came from: what a differentiable backward works on."""
        sources, counters = (*self.parents, self), counters_of(self)

        def lifted(value: Any, source: int | None) -> Any:
            if source is None or not hasattr(value, "dtype"):
                return value
            tensor = wrap(value, sources[source])
            tensor._counter = counters.get(source) or tensor._counter  # a write to what was kept is a write to this
            return tensor

        return tuple(
            args and tuple(map(lifted, args, places)) for args, places in zip(kept, self.operation.places, strict=True)
        )

    def evaluate(self, g: Any, create_graph: bool) -> tuple[tuple[Rule, ...], tuple[Any, ...]]:
        """Where the plain rules are not enough: the contributions, disguised as rules that already know the answer."""
        __tracebackhide__ = True
        if self.hooks is not None:
            g = self.hooks.before_node(g, create_graph)
        rules = type(self).rules
        if g is None:  # a hook took it away
            shares: tuple[Any, ...] = (None,) * len(self.parents)
        elif rules is None:
            shares = self.contributions(g, create_graph)
        else:
            kept = self.lift(unpacked(self.kept)) if create_graph else unpacked(self.kept)
            shares = tuple(
                None if parent is None or rule is None else rule(g, *args)
                for parent, rule, args in zip(self.parents, rules, kept, strict=True)
            )
        shares = tuple(s if s is None else fit(s, p, self) for s, p in zip(shares, self.parents, strict=True))
        if self.hooks is not None:
            shares = self.hooks.after_node(g, shares, create_graph)
        return (_given,) * len(shares), tuple((share,) for share in shares)

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        """All contributions at once: what a custom Function has in place of rules."""
        raise NotImplementedError(f"{self.name()} has no rules")

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; a tuple it returns replaces grad_inputs."""
        self.rules = None
        return hooks_of(self).add("after", hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node; a tuple it returns replaces grad_outputs."""
        self.rules = None
        return hooks_of(self).add("before", hook)


def _given(_g: Any, contribution: Any) -> Any:
    return contribution


class AccumulateGrad(Node):
    """Where the tape ends: adds what arrives to the `.grad` of its leaf."""

    __slots__ = ()

    def __init__(self, leaf: Tensor) -> None:
        self.seq = tick()
        self.parents, self.kept, self.guards = (), (), None
        self.shape, self.dtype = leaf._data.shape, leaf._data.dtype
        frame = caller()
        self.code, self.at = frame.f_code, frame.f_lasti
        self.leaf = weakref.ref(leaf)  # weak: the tensor holds its node, and nothing may go round in circles

    @property
    def variable(self) -> Tensor | None:
        """The leaf itself."""
        return self.leaf()

    def accumulate(self, g: Any, create_graph: bool) -> None:
        """Add `g` to the leaf's .grad: in place, unless the sum is to be differentiated itself."""
        leaf = self.leaf()
        if leaf is None or leaf._node is not self:
            return  # nobody can look any more, or requires_grad was switched off
        if self.hooks is None:
            return deposit(leaf, g, create_graph)
        g = self.hooks.before_node(g, create_graph)
        deposit(leaf, g, create_graph)
        self.hooks.after_leaf(leaf, g, create_graph)


def deposit(tensor: Tensor, g: Any, create_graph: bool) -> None:
    """tensor.grad += g, where None counts as nothing yet."""
    with depositing:
        old = tensor._grad
        if old is None and not create_graph:
            tensor._grad = wrap(g if g.strides == tensor._data.strides else laid_as(g, tensor._data))
        elif old is None:
            tensor._grad = TABLE["copied"].function(wrap(np.zeros_like(tensor._data)), g)
        elif create_graph:
            tensor._grad = old + g
        else:
            if isinstance(old._data, np.ndarray):
                old._data += g
            else:
                old._data = old._data + g
            touch(old._counter)


def touch(version: list[Any], writer: Node | None = None, inside: int = 1) -> None:
    """Note that the memory behind this counter was written to (by `writer`; from so far `inside` the engine, or further)."""
    global last_write
    if isinstance(version, Untracked):
        return
    last_write = tick()
    version[0] += 1
    frame = outside(_getframe(inside))
    note = (writer and weakref.ref(writer), frame.f_code, frame.f_lasti)
    if len(version) > 1:
        version[1] = note
    else:
        version.append(note)


def touch_all(tensors: list[Tensor]) -> None:
    """The same for the memory of several tensors at once, for writes at one place in the program."""
    global last_write
    last_write = tick()
    frame = caller()
    note = (None, frame.f_code, frame.f_lasti)
    for tensor in tensors:
        version = tensor._counter
        if not isinstance(version, Untracked):
            version[0] += 1
            version[1:2] = (note,)


# ---------------------------------------------------------------------------------------------------- operations


def record(kind: type[Node], parents: tuple[Any, ...], kept: Any, guards: Any, out: Array) -> Node:
    """Write one node to the tape.  (What operations.py makes does the same, spelled out.)"""
    node: Node = object.__new__(kind)
    node.seq = tick()
    node.parents, node.kept, node.guards = parents, kept, guards
    node.shape, node.dtype = out.shape, out.dtype
    frame = outside(_getframe(1))
    node.code, node.at = frame.f_code, frame.f_lasti
    if callable(mode.record):
        mode.record(node)
    return node


mode = GradMode()
TABLE: dict[str, Operation] = {}  # every operation of derivatives.py, by name


# ---------------------------------------------------------------------------------------------------- the walk


def walk(
    roots: Sequence[tuple[Node, Any]],
    create_graph: bool = False,
    retain_graph: bool = False,
    targets: dict[Node, Any] | None = None,
) -> None:
    """The backward pass: carry each root's gradient back to the leaves.

    Take the newest node.  Its gradient is complete, for all who used it are newer and have spoken.  Ask each of its
    rules for a contribution, add that to what its parent has received so far, and go on until nothing is left.

    Gradients are arrays, or Tensors if `create_graph`.  With `targets`, only the gradients of those nodes are wanted:
    they are stored there, and no leaf accumulates.  Everything the walk needs is local to it: an exception, another
    thread or a backward pass inside a hook disturbs nothing.
    """
    __tracebackhide__ = True
    heap: list[int] = []
    arrived: dict[int, tuple[Node, Any]] = {}  # tick -> (node, the sum of its gradient so far)
    partly: set[int] = set()  # those of them whose sum began with a part: an array that nobody else holds
    for node, g in roots:
        if node.seq in arrived:
            g = g + arrived[node.seq][1]
        else:
            heappush(heap, node.seq)
        arrived[node.seq] = node, g
    speakers, useful = (None, None) if targets is None else on_the_way([node for node, _ in roots], targets)
    watch = Watch(ancestors([node for node, _ in roots], 0) if useful is None else useful) if watched else None
    checking = anomaly.state.enabled

    while heap:
        node, g = arrived.pop(heappop(heap))
        if node.hooks is not None:
            if watch is not None:
                node, g = watch.first(node, g, heap, arrived)
            if targets is not None and node in targets and node in speakers:  # type: ignore[operator]
                targets[node] = g  # as in PyTorch, where a node on the way to another target has not heard its hooks yet
            g = node.hooks.arriving(g, create_graph, deposit)  # type: ignore[union-attr]
        if targets is not None:
            if node in targets and targets[node] is None:
                targets[node] = g
            if node not in speakers:  # type: ignore[operator]
                continue
        parents = node.parents
        if not parents:
            node.accumulate(g, create_graph)  # type: ignore[attr-defined]
            continue
        kept, rules, part = node.kept, node.rules, node.part
        if kept is None and type(node).rules is not None:  # a custom Function may do without what it saved
            if checking:
                anomaly.tell(node)
            raise freed(node)
        if node.seq > last_write:
            check_versions(node)
        if rules is None or checking:
            (rules, kept), part = (anomaly.evaluated if checking else type(node).evaluate)(node, g, create_graph), False
        elif create_graph:
            kept, part = node.lift(kept), False

        for parent, rule, args in zip(parents, rules, kept):  # type: ignore[arg-type]
            if parent is None or rule is None or (useful is not None and parent not in useful):
                continue
            if part and parent.shape:
                if parent.seq in partly:
                    arrived[parent.seq][1][args[1]] += g  # type: ignore[index]  # where it was read: the rest would be zeros
                    continue
                partly.add(parent.seq)
            if not args:
                share = rule(g)
            elif len(args) == 1:  # spelled out, for `*args` costs as much as a small multiplication
                share = rule(g, args[0])
            else:
                share = rule(g, *args)
            if share is None:
                continue
            raw = share._data if create_graph and parent.shape is not None else share
            if raw.shape != parent.shape or raw.dtype is not parent.dtype:
                share = fit(share, parent, node)
            seq = parent.seq
            if seq in arrived:
                if share is g or create_graph or share.base is not None:
                    share = share + arrived[seq][1]
                else:
                    share += arrived[seq][1]  # in place: nobody else holds this array
            else:
                heappush(heap, seq)
                if not parent.parents and not create_graph and (share is g or share.base is not None):
                    share = share.copy()  # a leaf keeps its gradient: it must be nobody else's
            arrived[seq] = parent, share

        if not retain_graph and node.guards is not None:
            node.kept = None  # give the memory back as the walk proceeds
    if watch is not None:
        watch.finish()


def on_the_way(roots: list[Node], targets: dict[Node, Any]) -> tuple[set[Node], set[Node]]:
    """The nodes that must speak, for a target is among their ancestors; and the nodes that they must speak to."""
    seen = ancestors(roots, max((t.seq for t in targets), default=0))
    speakers, useful = set(), seen & targets.keys()
    for node in sorted(seen, key=lambda node: node.seq, reverse=True):  # oldest first
        if not useful.isdisjoint(node.parents):
            speakers.add(node)
            useful.add(node)
    return speakers, useful


def ancestors(roots: list[Node], oldest: int) -> set[Node]:
    """The roots and all they were made from, as far back as the node with this number."""
    seen, stack = set(roots), list(roots)
    while stack:
        for parent in stack.pop().parents:
            if parent is not None and parent.seq <= oldest and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return seen


def fit(g: Any, node: Node | None, giver: Node | None = None) -> Any:
    """Undo broadcasting and promotion: bring gradient `g` to the shape and dtype of the node it is for.

    A dimension that broadcasting stretched was used many times, once per copy: its gradient is the sum over them.
    """
    if node is None or node.shape is None:  # a node with several outputs takes a gradient for each
        return g
    shape, dtype, have = node.shape, node.dtype, g.shape
    if have != shape:
        over = _stretched(shape, have)
        if over is None:
            raise _misfit(have, node, giver)
        if isinstance(g, Tensor):
            g = g.sum(over, keepdim=True) if shape else g.sum()
            g = g if g._data.shape == shape else g.reshape(shape)
        else:
            g = sum_dims(g, over, True).reshape(shape)
    if isinstance(g, Tensor):
        return g if g._data.dtype is dtype else g.to(dtypes.of(dtype))  # type: ignore[arg-type]
    return g if g.dtype is dtype else g.astype(dtype)[()]


@lru_cache(maxsize=256)
def _stretched(shape: tuple[int, ...], have: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dimensions along which broadcasting takes one shape to another; None if it does not."""
    lead = len(have) - len(shape)
    inside = [lead + i for i, n in enumerate(shape) if lead >= 0 and have[lead + i] != n]
    return None if lead < 0 or any(shape[i - lead] != 1 for i in inside) else (*range(lead), *inside)


def _misfit(have: tuple[int, ...], node: Node, giver: Node | None) -> RuntimeError:
    index = giver.parents.index(node) if giver is not None and node in giver.parents else 0
    error = RuntimeError(
        f"Function {'' if giver is None else giver.owner.name()} returned an invalid gradient at index {index} - got "
        f"{list(have)} but expected shape compatible with {list(node.shape or ())}"
    )
    return error if giver is None else noted(error, giver, "a gradient has the shape of its input")


def noted(error: RuntimeError, node: Node, what: str) -> RuntimeError:
    """The error with a note that says which of the student's lines it is about."""
    where = quoted(node.code, node.at)
    if where:
        error.add_note(f"minigrad: {node.owner.name()} was recorded{where}; {what}.")
    return error


def freed(node: Node) -> RuntimeError:
    """The error for a node whose saved values an earlier backward pass has given back."""
    return noted(RuntimeError(errors.FREED), node, "its saved values were freed by an earlier backward pass")


# ---------------------------------------------------------------------------------------------------- backward


def starts(
    roots: Sequence[Tensor], gradients: Sequence[Tensor | None], create_graph: bool
) -> list[tuple[Node, Any]]:
    """Where the walk starts: each root's node, with the gradient that was given, or 1 for a root that holds one number.

    RuntimeError for a tensor that has no graph to walk, and for a gradient that is missing or of another shape.
    """
    found: list[tuple[Any, Any]] = []
    for i, (root, g) in enumerate(zip(roots, gradients, strict=False)):
        array: Array = root._data
        if g is not None:
            if g.shape != root.shape:
                raise errors.wrong_start(i, g.shape, root.shape)
            g = g if g._data.dtype == array.dtype else g.to(root.dtype)
            found.append((root._node, g if create_graph else g._data.copy()))
            continue
        if root._node is not None and array.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        one = np.ones(array.shape, array.dtype) if array.shape else array.dtype.type(1)
        found.append((root._node, wrap(one) if create_graph else one))
    if len(found) < len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(found)} gradients")
    for i, (node, _) in enumerate(found):
        if node is None or node.nowhere:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return found


def run(
    started: list[tuple[Node, Any]], create_graph: bool, retain_graph: bool, targets: dict[Node, Any] | None = None
) -> None:
    """Walk from there, in a grad mode that is the pass's own; a pass in a pass in a pass ... gets a thread of its own."""
    global last_pass
    __tracebackhide__ = True
    last_pass = tick()
    before = mode.__dict__.copy()
    depth = 0 if mode.running is None else mode.running.depth + 1
    try:
        mode.running = Pass(started, targets, depth)
        _switch(create_graph)
        if depth % PASSES_A_THREAD < PASSES_A_THREAD - 1:
            walk(started, create_graph, retain_graph, targets)
        else:
            in_a_thread(mode, _switch, walk, started, create_graph, retain_graph, targets)
    finally:
        mode.__dict__.update(before)  # at one stroke: Ctrl-C comes before or after
        (unusual.discard if before["record"] is True else unusual.add)(_thread.get_ident())


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | Tensor | None = None,
) -> None:
    """Add d(self)/d(leaf) to the `.grad` of every leaf this tensor was computed from.

    gradient: a tensor of this tensor's shape, how much the rest of the world cares about each element; may be left out
    if there is just one element.  retain_graph: keep what the rules saved, for another pass.  create_graph: record the
    pass itself, so that gradients can be differentiated.  inputs: accumulate into these tensors only.
    RuntimeError if there is no graph, if it was freed, or if something it needs was overwritten.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x**2).backward(torch.tensor([1.0, 0.5]))
    >>> x.grad
    tensor([2., 2.])
    """
    __tracebackhide__ = True  # a traceback shows the line that called and the line that raised, not the way between
    if gradient is None and inputs is None and not create_graph:  # the call that everybody writes: without a detour
        return run(starts((self,), (None,), False), False, bool(retain_graph))
    backward_all(self, gradient, retain_graph, create_graph, inputs=inputs)


def backward_all(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """`autograd.backward`: one backward pass from several tensors, accumulating into leaves (see Tensor.backward)."""
    __tracebackhide__ = True
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(errors.BOTH_GRADIENTS)
    wanted = None if inputs is None else sequence(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = sequence(tensors)
    if not all(isinstance(root, Tensor) for root in roots):
        raise AssertionError("Expected output to be a torch.Tensor")
    gradients = given_gradients(grad_variables if grad_tensors is None else grad_tensors, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warnings.warn(errors.CYCLE, UserWarning, stacklevel=3)
    started = starts(roots, gradients, create_graph)
    if wanted is None:
        return run(started, create_graph, retain)
    for t in wanted:
        check_input(t)
        if not t.__dict__.get("_edge"):
            t.retain_grad()
    targets: dict[Node, Any] = {t._node: None for t in wanted if t._node is not None}
    run(started, create_graph, retain, targets)
    for node, g in targets.items():
        if g is not None and isinstance(node, AccumulateGrad):
            node.accumulate(g if create_graph else g.copy(), create_graph)
        elif g is not None and not retain and node.guards is not None:
            node.kept = None  # PyTorch runs this node too, for nobody


def sequence(tensors: Any) -> tuple[Tensor, ...]:
    """One tensor (or gradient edge) or several, as a tuple of tensors."""
    if isinstance(tensors, Tensor):
        return (tensors,)
    several = (tensors,) if hasattr(tensors, "output_nr") else tuple(tensors)
    return tuple(t.tensor() if hasattr(t, "output_nr") and not isinstance(t, Tensor) else t for t in several)


def given_gradients(gradients: Any, n: int) -> list[Tensor | None]:
    """The starting gradients as a list of n Tensors or Nones."""
    if gradients is None:
        return [None] * n
    found = [gradients] if isinstance(gradients, Tensor) else list(gradients)
    for g in found:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    return found[:n]


def check_input(t: Any) -> None:
    """RuntimeError for something that no gradient can be asked of."""
    if not isinstance(t, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {errors.type_name(t)}")


# ---------------------------------------------------------------------------------------------------- on a tensor


@method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask for a gradient of this leaf (or stop asking); returns the tensor itself.  No effect on a non-leaf.

    >>> torch.ones(2).requires_grad_()
    tensor([1., 1.], requires_grad=True)
    """
    if not isinstance(requires_grad, (bool, np.bool_)):
        raise TypeError(errors.must_be_bool("requires_grad_", "requires_grad", requires_grad))
    if requires_grad and self._data.dtype.kind != "f":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if requires_grad and self.is_inference() and not mode.inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if self.is_leaf and requires_grad != (self._node is not None and not self._node.nowhere):
        frozen = self.__dict__.pop("_frozen", None)  # its hooks, and graphs from before it was frozen, belong to its old node
        if frozen is not None:
            frozen.shape, frozen.dtype = self._data.shape, self._data.dtype
        if not requires_grad:
            self.__dict__["_frozen"] = self._node
        self._node = None if not requires_grad else frozen or AccumulateGrad(self)
        if len(self._counter) > 2:
            self._tell_views()
    elif not requires_grad and not self.is_leaf:
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
            "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    return self


@method
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in `.grad` too (leaves do so anyway).

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> y.retain_grad()
    >>> y.exp().backward()
    >>> y.grad == y.exp()
    tensor(True)
    """
    if self._node is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if not self.is_leaf:
        hooks_of(self._node).retained = weakref.ref(self)


@method
def register_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Call `hook(grad)` when this tensor's gradient is complete; a tensor it returns takes the gradient's place.

    >>> x = torch.tensor([3.0, -4.0], requires_grad=True)
    >>> handle = x.register_hook(lambda g: g.clamp(-1, 1))
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([ 1., -1.])
    """
    if self._node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return hooks_of(self._node).add("tensor", hook)


@method
def register_post_accumulate_grad_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Call `hook(leaf)` each time after a backward pass has added to its `.grad`."""
    if self._node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return hooks_of(self._node).add("accumulated", hook)


def hooks_of(node: Node) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks(node)
    return node.hooks


def _retains_grad(self: Tensor) -> bool:
    """Whether a non-leaf keeps its gradient (`retain_grad()` was called)."""
    hooks = None if self._node is None else self._node.hooks
    return not self.is_leaf and hooks is not None and hooks.retained is not None


Tensor.retains_grad = property(_retains_grad)  # type: ignore[attr-defined]
