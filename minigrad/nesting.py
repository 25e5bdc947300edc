"""Backward passes within backward passes: a hook, or a Function's backward, may start a pass of its own, and so on.

Each takes some of Python's stack, which holds a thousand calls.  A thread has a stack of its own: so every few passes the
next one runs in a new thread, in the grad mode of the one that waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PASSES_A_THREAD = 25


def in_a_thread(mode: Any, switch: Callable[[bool], None], walk: Callable[..., None], *args: Any) -> None:
    """walk(*args) in a thread of its own; what it raises is raised here."""
    from threading import Thread  # seldom needed, and not cheap to load

    state, recording = dict(mode.__dict__), mode.enabled
    raised: list[BaseException] = []

    def body() -> None:
        mode.__dict__.update(state)
        switch(recording)
        try:
            walk(*args)
        except BaseException as error:  # raised again below, in the thread that waits
            raised.append(error)
        finally:
            mode.__init__()
            switch(True)

    thread = Thread(target=body)
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()
