"""The engine where it meets something else: threads, interrupts, files, copies, numpy."""

# ruff: noqa: E501 (messages as they are)

from __future__ import annotations

import copy
import io
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad.nn.functional
from minigrad import operations, tape
from minigrad.utils.data import DataLoader, get_worker_info

# ---------------------------------------------------------------------------------------------------- threads


def test_an_operation_is_whole_when_another_thread_first_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets its node first, then the code that makes one."""
    made = operations.Operation("Watched", np.sin, (lambda g, x: g,), False, False)
    before, seen = made.function.__code__, []
    node = operations.Operation.node.fget
    assert node is not None

    def watched(self: Any) -> Any:
        seen.append(self.function.__code__ is before)
        return node(self)

    monkeypatch.setattr(operations.Operation, "node", property(watched))
    made.write()
    assert seen == [True]
    assert made.function.__code__ is not before


def test_two_threads_may_add_to_one_leaf() -> None:
    """Big enough for numpy to let go of the interpreter while it adds; each thread comes and goes in the middle."""
    w = mg.zeros(200_000, dtype=mg.float64, requires_grad=True)

    def passes() -> None:
        for _ in range(20):
            (w * 1.0 + w).sum().backward()

    threads = [threading.Thread(target=passes) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert w.grad is not None
    assert (w.grad == 160).all()


@pytest.mark.parametrize("create_graph", [False, True])
def test_ctrl_c_at_the_start_of_a_pass_leaves_the_grad_mode(
    create_graph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(tape, "Pass", interrupted)
        mg.autograd.grad(y, x, create_graph=create_graph)
    assert mg.is_grad_enabled()
    assert tape.mode.running is None
    assert mg.autograd.grad(y, x)[0].tolist() == [2, 4]


WORKERS = [
    ({"timeout": -5}, "timeout option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    (
        {"prefetch_factor": 2},
        "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, "
        "otherwise set prefetch_factor to None.",
    ),
    (
        {"multiprocessing_context": "fork"},
        "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0",
    ),
    (
        {"num_workers": 1, "multiprocessing_context": "nope"},
        "multiprocessing_context option should specify a valid start method in ['fork', 'spawn', 'forkserver'], but got "
        "multiprocessing_context='nope'",
    ),
]


@pytest.mark.parametrize(("settings", "words"), WORKERS)
def test_settings_of_workers_that_do_not_go_together(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as caught:
        DataLoader([1, 2], **settings)
    assert str(caught.value) == words


def test_workers_are_taken_and_this_process_loads() -> None:
    loader = DataLoader(
        [1, 2, 3], batch_size=2, num_workers=2, persistent_workers=True, multiprocessing_context="spawn"
    )
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]
    assert get_worker_info() is None


def test_anomaly_mode_is_a_bool() -> None:
    with pytest.raises(TypeError) as caught:
        mg.autograd.set_detect_anomaly(1)  # type: ignore[arg-type]
    assert str(caught.value) == "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"
    assert not mg.is_anomaly_enabled()


# ---------------------------------------------------------------------------------------------------- numpy

# An expression, and what PyTorch makes of it.
NUMPY = [
    ("f == a", "tensor([ True,  True, False])"),
    ("a == g", "tensor([ True,  True, False])"),
    (
        "f == np.zeros(2)",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    ('f == np.array(["a"])', "False"),
    ("s == np.float64(0.1)", "tensor(True)"),
    ("np.float64(0.1) <= s", "tensor(True)"),
    ("a / f", "tensor([1.0000, 1.0000, 1.3333], dtype=torch.float64)"),
    ("a / g", "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
    ("f - np.bool_(True)", "tensor([0., 1., 2.])"),
    ("t.clamp(s, np.float64(2)).dtype", "torch.float32"),
    ("t.where(t.tensor(True), s, np.float64(2)).dtype", "torch.float32"),
    ("t.addcmul(f, f, f, value=np.float64(2)).dtype", "torch.float32"),
    ("np.float64(5) // i", "tensor([5., 2., 1.])"),
    ("np.float64(5) % t.tensor(3)", "tensor(2.)"),
    ("F.leaky_relu(f, np.float64(2)).dtype", "torch.float32"),
    ("F.relu(a)", "TypeError: relu(): argument 'input' (position 1) must be Tensor, not numpy.ndarray"),
    ("t.full((2,), np.float64(3)).dtype", "torch.float32"),
    ("t.result_type(t.tensor(3), np.float64(2))", "torch.float32"),
    (
        "f[np.bool_(True)]",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got numpy.bool)",
    ),
    (
        "f[np.float64(1)]",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got numpy.float64)",
    ),
    ("t.from_numpy(np.matrix([[1.0, 2.0]])) * t.ones(1, 2)", "tensor([[1., 2.]], dtype=torch.float64)"),
    ("t.from_numpy(np.ma.array([1.0, 2.0], mask=[0, 1]))", "tensor([1., 2.], dtype=torch.float64)"),
    ("t.tensor(1.0, requires_grad=1)", "TypeError: tensor(): argument 'requires_grad' must be bool, not int"),
    (
        "t.tensor(a[::-1])",
        "ValueError: At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ",
    ),
    ("t.asarray(g).requires_grad", "True"),
    ("t.asarray([1], copy=False)", "ValueError: can't alias arbitrary sequence into a tensor."),
    ("t.asarray(f, dtype=t.int64, copy=False)", "ValueError: can't alias tensor with dtype 'Float' into dtype 'Long'."),
    ('t.frombuffer(bytearray(b"abcd"), dtype=t.uint8, count=2, offset=1)', "tensor([98, 99], dtype=torch.uint8)"),
    (
        't.frombuffer(bytearray(b"abc"), dtype=t.float32)',
        "ValueError: buffer length (3 bytes) after offset (0 bytes) must be a multiple of element size (4)",
    ),
    (
        't.frombuffer(bytearray(b"abcd"), dtype=t.float32, offset=9)',
        "ValueError: offset (9 bytes) must be non-negative and no greater than buffer length (4 bytes) minus 1",
    ),
    (
        't.frombuffer(bytearray(b"abcd"), dtype=t.float32, count=2)',
        "ValueError: requested buffer length (2 * 4 bytes) after offset (0 bytes) must not be greater than actual buffer length (4 bytes)",
    ),
    ('t.frombuffer(b"", dtype=t.float32)', "ValueError: both buffer length (0) and count (-1) must not be 0"),
    ("t.frombuffer([1], dtype=t.float32)", "ValueError: object does not implement Python buffer protocol."),
    ("np.from_dlpack(f)", "array([1., 2., 3.], dtype=float32)"),
    ("np.from_dlpack(g)", "BufferError: Can't export tensors that require gradient, use tensor.detach()"),
    ("t.from_dlpack(a)", "tensor([1., 2., 4.], dtype=torch.float64)"),
    (
        "t.from_dlpack([1])",
        "RuntimeError: from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.",
    ),
    ("~f", "TypeError: ~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    ("reversed(f)", "tensor([3., 2., 1.])"),
    ("reversed(s)", "tensor(0.1000)"),
    ("f.real is f", "True"),
    ("f.imag", "RuntimeError: imag is not implemented for tensors with non-complex dtypes."),
    ("f.H", "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor."),
    ("f.__delitem__(0)", "TypeError: Tensor does not support deleting items"),
    ("t.cat([a, a])", "TypeError: expected Tensor as element 0 in argument 0, but got numpy.ndarray"),
    ("f.__setitem__(0, a)", "TypeError: can't assign a numpy.ndarray to a torch.FloatTensor"),
]

# What PyTorch refuses, and minigrad once took in silence.
def outcome(expression: str) -> str:
    names: dict[str, Any] = {"t": mg, "np": np, "nn": mg.nn, "F": mg.nn.functional}
    names["f"], names["i"] = mg.tensor([1.0, 2.0, 3.0]), mg.tensor([1, 2, 3])
    names["b"], names["s"] = mg.tensor([True, False, True]), mg.tensor(0.1)
    names["g"], names["a"] = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), np.array([1.0, 2.0, 4.0])
    try:
        return repr(eval(expression, names))
    except Exception as error:  # whatever it raises is what is compared
        return f"{type(error).__name__}: {error}".partition("expected one of")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("expression", "expected"), NUMPY)
def test_numpy(expression: str, expected: str) -> None:
    assert outcome(expression) == expected.partition("expected one of")[0]


def test_a_module_on_another_device_is_refused() -> None:
    for made in (mg.nn.Linear, mg.nn.LayerNorm, mg.nn.BatchNorm1d, mg.nn.Embedding, mg.nn.LSTM, mg.nn.Conv2d):
        with pytest.raises(NotImplementedError, match="CPU only"):
            made(*(1, 1, 1)[: 3 if made is mg.nn.Conv2d else 1 if "Norm" in made.__name__ else 2], device="cuda")


def test_a_read_only_array_is_told() -> None:
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        mg.from_numpy(array)
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        mg.frombuffer(b"ab", dtype=mg.uint8)


# ---------------------------------------------------------------------------------------------------- copies and files


def saved(thing: Any, **how: Any) -> Any:
    file = io.BytesIO()
    mg.save(thing, file)
    file.seek(0)
    return mg.load(file, **how)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("copied", [saved, pickled, copy.deepcopy])
def test_copies_share_memory_among_themselves(copied: Any) -> None:
    a = mg.arange(6.0)
    whole, part, turned = copied([a, a[2:4], a.view(2, 3).T])
    whole[2] = 100
    assert a[2] == 2
    assert part.tolist() == [100, 3]
    assert turned.tolist() == [[0, 3], [1, 4], [100, 5]]
    assert turned.stride() == (1, 3)


def test_tied_weights_are_tied_again_in_a_state_dict() -> None:
    one, other = mg.nn.Linear(2, 2), mg.nn.Linear(2, 2)
    other.weight = one.weight
    state = saved(mg.nn.ModuleList([one, other]).state_dict())
    state["0.weight"][0, 0] = 5
    assert state["1.weight"][0, 0] == 5


@pytest.mark.parametrize("copied", [saved, pickled, copy.deepcopy, copy.copy])
def test_attributes_of_a_tensor_come_along(copied: Any) -> None:
    t = mg.ones(2, requires_grad=True)
    t.note = ["mine"]  # type: ignore[attr-defined]
    twin = copied(t)
    assert twin.note == ["mine"]
    assert twin.requires_grad
    assert twin.is_leaf


def test_a_deep_copy_of_a_parameter_has_no_gradient() -> None:
    p = mg.nn.Parameter(mg.ones(2))
    p.grad = mg.ones(2)
    twin = copy.deepcopy([p, p])
    assert twin[0] is twin[1]
    assert type(twin[0]) is mg.nn.Parameter
    assert twin[0].grad is None


@pytest.mark.parametrize("start", [b"PK\x03\x04rest of a zip file", pickle.dumps(0x1950A86A20F9469CFC6C, 2)])
def test_a_file_of_pytorchs_is_refused_in_plain_words(start: bytes) -> None:
    for weights_only in (True, False):
        with pytest.raises(pickle.UnpicklingError, match="written by PyTorch"):
            mg.load(io.BytesIO(start), weights_only=weights_only)


FILES = [
    (
        lambda: mg.save(1, None),
        AttributeError,
        "expected 'f' to be string, path, or a file-like object with a 'write' attribute",
    ),
    (lambda: mg.save(1, "/nowhere/x.pt"), RuntimeError, "Parent directory /nowhere does not exist."),
    (
        lambda: mg.load(5),
        AttributeError,
        "'int' object has no attribute 'seek'. You can only torch.load from a file that is seekable.",
    ),
    (lambda: saved(1, map_location="cuda"), RuntimeError, "Attempting to deserialize object on a CUDA device but"),
    (lambda: saved(1, map_location=3.5), TypeError, "'float' object is not callable"),
    (lambda: saved(1, map_location="mps"), NotImplementedError, "minigrad runs on the CPU only, not on device 'mps'"),
]


@pytest.mark.parametrize(("call", "kind", "words"), FILES)
def test_what_files_refuse(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(words)


# ---------------------------------------------------------------------------------------------------- subclasses


def test_a_torch_function_that_nobody_would_call_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="ask no __torch_function__"):
        type("Loud", (mg.Tensor,), {"__torch_function__": classmethod(lambda cls, *_: None)})


def test_a_tensor_as_a_subclass_of_its_own() -> None:
    class Mine(mg.Tensor):
        def twice(self) -> mg.Tensor:
            return self * 2

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    mine = (x * x).as_subclass(Mine)
    assert isinstance(mine, Mine)
    mine.twice().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(TypeError):
        x.as_subclass(int)


def test_an_array_from_a_file_has_numbers_of_the_same_type() -> None:
    """Types are compared by identity; what was pickled, or turned to this machine's bytes, brings an object of its own."""
    single = np.ones((2, 2), np.dtype(np.float32).newbyteorder("="))
    assert single.dtype == np.float32 and single.dtype is not np.dtype(np.float32)
    file = io.BytesIO()
    mg.save(mg.ones(2, 2), file)
    file.seek(0)
    layer = pickle.loads(pickle.dumps(mg.nn.Linear(2, 2)))
    for x in (
        mg.load(file),
        pickle.loads(pickle.dumps(mg.ones(2, 2))),
        mg.from_numpy(single),
        mg.tensor(single),
        mg.tensor([single[0], single[1]]),
        mg.from_numpy(pickle.loads(pickle.dumps(single))),
    ):
        assert x._data.dtype is np.dtype(np.float32)
        assert (x @ mg.ones(2, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
        assert layer(mg.ones(1, 2)).shape == (1, 2) and layer(x).shape == (2, 2)
        assert mg.cat([x, mg.ones(1, 2)]).shape == (3, 2)
