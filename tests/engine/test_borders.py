"""The engine where it meets something else: threads, interrupts, files, copies, numpy."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import minigrad as mg
from minigrad import tape
from minigrad.utils.data import DataLoader, get_worker_info

# ---------------------------------------------------------------------------------------------------- threads


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
def test_ctrl_c_at_the_start_of_a_pass_leaves_the_grad_mode(create_graph: bool, monkeypatch: pytest.MonkeyPatch) -> None:
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
    loader = DataLoader([1, 2, 3], batch_size=2, num_workers=2, persistent_workers=True, multiprocessing_context="spawn")
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]
    assert get_worker_info() is None


def test_anomaly_mode_is_a_bool() -> None:
    with pytest.raises(TypeError) as caught:
        mg.autograd.set_detect_anomaly(1)  # type: ignore[arg-type]
    assert str(caught.value) == "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"
    assert not mg.is_anomaly_enabled()
