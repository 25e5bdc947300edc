"""torch.autograd.graph: nodes as objects, and hooks on the tensors they save."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from minigrad import tape
from minigrad.function import FunctionCtx
from minigrad.hooks import Pass, RemovableHandle
from minigrad.tape import Node, mode, no_grad
from minigrad.tensor import Tensor, wrap
from minigrad.versions import guarded_names

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

PACKED_IN_PLACE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified "
    "by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform "
    "in-place operations on the input to a pack hook."
)
FREED_BEFORE = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when "
    "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
    "time or if you need to access saved variables after calling backward."
)


class GradientEdge(NamedTuple):
    """A place where a gradient arrives: a node, and which of its outputs."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None  # PyTorch's third field: here a node keeps what it needs alive

    def tensor(self) -> Tensor:
        """A tensor of that shape and node, without numbers: what stands for the edge in a backward pass."""
        node = self.node
        if node.shape is None:
            raise NotImplementedError("minigrad has gradient edges for nodes with one output only")
        stand_in = wrap(np.broadcast_to(np.zeros((), node.dtype), node.shape), node)
        stand_in.__dict__["_edge"] = True
        return stand_in


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of this tensor arrives.  RuntimeError if it requires none."""
    if tensor._node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(tensor._node.owner, tensor._node.output_nr)


class Packed:
    """What a pack hook returned, in place of the array a node would have kept."""

    __slots__ = ("content", "node", "unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], node: Node | None = None) -> None:
        self.content, self.unpack, self.node = content, unpack, node

    def value(self) -> Any:
        """The array that the unpack hook gives back.  TypeError if it gives no tensor."""
        tensor = self.unpack(self.content)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return tensor._data


class saved_tensors_hooks:
    """Within the `with` block, nodes keep `pack(tensor)` in place of each tensor; backward gets `unpack(that)`."""

    forbidden: str | None = None

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self.entered: list[tuple[Pass | None, Any]] = []  # each time in which backward pass, and what recorded before

    def __enter__(self) -> None:
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError("saved_tensors_hooks takes two functions: pack_hook(tensor) and unpack_hook(packed)")
        if saved_tensors_hooks.forbidden is not None:
            raise RuntimeError(saved_tensors_hooks.forbidden)
        self.entered.append((mode.running, mode.recorder))
        tape.record_with(self._pack)

    def __exit__(self, *_: object) -> None:
        last = None
        while self.entered and (last is None or last[0] is not mode.running):  # a pass that is over took its own along
            last = self.entered.pop()
        if last is not None:
            tape.record_with(last[1])

    def pack(self, array: Any, node: Node | None = None, maker: Node | None = None, own: bool = False) -> Packed:
        """What stands in a node for this array, made by `maker` (the very node, if it is its `own`): the pack hook's answer.

        RuntimeError if the hook writes into it.
        """
        tensor = wrap(array, maker)
        with no_grad():
            content = self.pack_hook(tensor)
        if tensor._counter[0]:
            raise RuntimeError(PACKED_IN_PLACE)
        if content is tensor and own and maker is not None:  # a node that holds its own result would never go away
            made_by, unpack = weakref.ref(maker), self.unpack_hook
            return Packed(array, lambda array: unpack(wrap(array, made_by())), node)
        return Packed(content, self.unpack_hook, node)

    def _pack(self, node: Node) -> None:
        """Called with each new node: replace the arrays it keeps."""
        if isinstance(node, FunctionCtx):
            node.__dict__["pack"] = self.pack
        if type(node).rules is None or not node.kept:
            return
        packed: dict[str, Packed] = {}  # a node saves a tensor once, however many of its rules need it

        def in_place_of(value: Any, name: str, place: int | None) -> Any:
            if not isinstance(value, np.ndarray if place is None else (np.ndarray, np.generic)):
                return value
            if name not in packed:
                maker = None if place is None else (*node.parents, node)[place]
                packed[name] = self.pack(value, maker=maker, own=maker is node)
            return packed[name]

        node.kept = tuple(
            args and tuple(map(in_place_of, args, names, where))
            for args, names, where in zip(node.kept, node.operation.arguments, node.operation.places, strict=True)
        )
        node.rules = None  # the walk asks `evaluate`, which unpacks
        node.guards = None if node.guards is None else ()  # what a hook keeps is its own affair


class SavedTensor:
    """What a node keeps of one tensor: `y.grad_fn._raw_saved_self.register_hooks(pack, unpack)` packs that one only."""

    node: Node
    place: str | int  # a name in the rules, or which of the tensors of a Function's ctx.save_for_backward

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def of(self, node: Node, place: str | int) -> SavedTensor:
        self.node, self.place = node, place
        return self

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Any = None) -> None:
        """Keep `pack_hook(tensor)` in its place from now on; backward gets `unpack_hook(that)`.

        RuntimeError if it was freed, has hooks already, or is None.
        """
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks(): incompatible function arguments. It takes two functions.")
        if self.node.kept is None:
            raise RuntimeError(FREED_BEFORE)
        pack = saved_tensors_hooks(pack_hook, unpack_hook).pack
        if isinstance(self.place, str):
            self._pack_in_rules(self.node, self.place, pack)
            return
        entries: list[Any] = list(self.node.kept)
        tensor: Any
        tensor, *rest = entries[self.place] or (None,)
        self._check(tensor)
        arguments = (tensor,) if rest[0] is not None else (tensor._data, tensor._node)
        entries[self.place] = pack(*arguments), *rest
        self.node.kept = tuple(entries)

    def _check(self, value: Any) -> None:
        """Raise if there is nothing to pack."""
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time."
            )

    def _pack_in_rules(self, node: Node, name: str, pack: Callable[[Any], Packed]) -> None:
        pairs = zip(node.operation.arguments, node.kept or (), strict=True)
        value = next((args[names.index(name)] for names, args in pairs if args and name in names), None)
        self._check(value)
        packed = pack(value)
        node.kept = tuple(
            args and tuple(packed if n == name else v for n, v in zip(names, args, strict=True))
            for names, args in zip(node.operation.arguments, node.kept or (), strict=True)
        )
        if node.guards and name in (watched := guarded_names(node)):  # what a hook keeps is its own affair
            at = 2 * watched.index(name)
            node.guards = (*node.guards[:at], [0], 0, *node.guards[at + 2 :])
        node.rules = None  # the walk asks `evaluate`, which unpacks


class save_on_cpu(saved_tensors_hooks):
    """Everything is on the CPU here: keeps copies, as PyTorch's does."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t.clone(), lambda t: t)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[saved_tensors_hooks]:
    """Within the `with` block, nodes keep copies: what they were made from may be overwritten."""
    if mutating:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    here = object()

    def copied(array: Tensor) -> Tensor:
        if here not in mutating:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
                "recorded."
            )
        return array

    hooks = saved_tensors_hooks(lambda t: t.clone(), copied)
    mutating.append(here)
    try:
        with hooks:
            yield hooks
    finally:
        mutating.remove(here)


mutating: list[object] = []  # the contexts above that are open


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the `with` block, using `saved_tensors_hooks` raises this message; so does the block within such hooks."""
    if isinstance(getattr(mode.recorder, "__self__", None), saved_tensors_hooks):
        raise RuntimeError(error_message)  # hooks are in use already
    before = saved_tensors_hooks.forbidden
    saved_tensors_hooks.forbidden = error_message
    try:
        yield
    finally:
        saved_tensors_hooks.forbidden = before


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that the memory of this tensor, or of each of these, was written to by means autograd cannot see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        tape.touch(each._counter)


def _reached(running: Pass) -> set[Node]:
    """The nodes at which a gradient arrives in this backward pass."""
    roots = [node for node, _ in running.started]
    if running.targets is None:
        return tape.ancestors(roots, 0)
    return set.union(*tape.on_the_way(roots, running.targets))


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all") -> RemovableHandle:
    """Call `fn` once in a backward pass: with all gradients when the last of these tensors has its own, or with the first.

    mode: "all" passes a list with one gradient (or None) per tensor; "any" passes the first gradient to arrive.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "all" and any(t._node is None for t in tensors):
        raise AssertionError("Expected gradient function to be set")

    def owner(t: Tensor) -> Node | None:
        return t._node and t._node.owner

    lock = threading.Lock()
    passes: weakref.WeakKeyDictionary[Pass, Any] = weakref.WeakKeyDictionary()

    def hook_for(i: int) -> Callable[[Tensor], None]:
        def hook(g: Tensor) -> None:
            running = tape.mode.running
            assert running is not None  # a hook is called by a walk
            with lock:
                if running not in passes:
                    reached = _reached(running)
                    passes[running] = [None] * len(tensors), {j for j, t in wanted if owner(t) in reached}, set()
                got, missing, heard = passes[running]
                first = not heard
                got[i] = g
                heard.add(i)
                missing.discard(i)
            if mode == "any" and first:
                fn(g)
            elif mode == "all" and not missing:
                fn(list(got))

        return hook

    wanted = [(i, t) for i, t in enumerate(tensors) if t.requires_grad]
    handles = [t.register_hook(hook_for(i)) for i, t in wanted]

    class Together(RemovableHandle):
        def __init__(self) -> None:
            super().__init__({}, handles[0].key if handles else -1)

        def remove(self) -> None:
            for handle in handles:
                handle.remove()

    return Together()


def _raw_saved_tensors(ctx: FunctionCtx) -> tuple[SavedTensor, ...]:
    if ctx.kept is None:
        raise tape.freed(ctx)
    return tuple(object.__new__(SavedTensor).of(ctx, i) for i in range(len(ctx.kept)))


FunctionCtx._raw_saved_tensors = property(_raw_saved_tensors)  # type: ignore[attr-defined]
