"""`step(loss)`: a backward pass to walk through; `draw(loss)`: its graph as a still picture.

The reader meets `step` and `draw`, and the two forms that need no widget: `Still`, a picture with its text, and
`Framed`, the stepper in a frame of the output, which every front end shows and saves. The widget is in widget.py, which
loads when it is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from ..record.names import callers_variables
from ..record.recording import Recording
from ..tensor import Tensor
from .data import dress, place_of, recorded
from .foreign import is_foreign
from .pages import Forms, image, saved_html
from .program import Program
from .svg import describe


def step(
    loss: Any,
    gradient: Any = None,
    names: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
    predict: bool = False,
    portable: bool = False,
    display: str | None = None,
    around: Any = None,
    **inputs: Any,
) -> Any:
    """Walk through the backward pass of `loss`, one step for each press of a key.

    loss: a tensor that requires a gradient; or the root of a student's own engine (an object with data, grad,
    parents and an operation's name); or a function, with its inputs by name: step(f, x=3.0) runs it, and shows the
    forward pass, then the backward pass. Numbers, lists and arrays become tensors that require a gradient; in a live
    notebook they can be changed. backward() must not have freed a tensor's graph: the walk needs the saved values.
    gradient: what the pass starts from, for a root of more than one number; same shape as `loss`. names: what
    to call tensors, {"x": x}; by default the caller's variables. rules: {"mul": rule}: show your rule beside
    the engine's and beside a measurement, and stop where yours is wrong. predict: ask before each reveal. portable: ask
    the kernel for nothing, even where the page cannot compute a changed input itself. display: "page", the default, is the
    stepper as a page in the output, for any front end and a saved notebook; "live" a widget, whose answers and position
    Python sees, and which only some front ends save; "static" the still picture (also by MINIGRAD_DISPLAY=static in the
    environment). around: of a pass that is too long to be shown whole, what is: around a tensor, the name of one, or the
    number of a node; by default both ends, of PyTorch's the modules.
    Raises TypeError for inputs without a function and for a function that returns no tensor, ValueError if the pass does
    not reach `around`, RuntimeError if the graph was freed, if there is none, or if a gradient is needed and missing.
    """
    names = names or callers_variables()
    program = None
    if callable(loss) and not isinstance(loss, (Tensor, Recording)) and not is_foreign(loss):
        program = Program(loss, inputs, gradient, names, rules)
        recording = program.run()
    elif inputs:
        raise TypeError(f"step() takes inputs ({', '.join(inputs)}) only with a function, step(f, {next(iter(inputs))}=...)")
    else:
        recording = recorded(loss, gradient, names, rules, whole=around is not None)
    at = None if around is None else place_of(around, recording, names)
    data, text = dress(recording, at, forward=program is not None)
    data["predict"] = bool(predict)
    display = display or os.environ.get("MINIGRAD_DISPLAY") or "page"
    if program is not None:
        data["inputs"] = program.editable()
    if display == "static":
        return Still(data, text)
    whole = recording if len(data["nodes"]) < len(recording.places) else None
    if portable or display != "live":
        asks = not portable and (whole is not None or (program is not None and "live" not in data)) and in_kernel()
        return Framed(data, text, connected(whole, program) if asks else None)
    from .widget import Stepper

    return Stepper(data, text, whole=whole, program=program)


def in_kernel() -> bool:
    """Whether Jupyter runs this, so that a page in an output can be answered."""
    module: Any = sys.modules.get("IPython")
    return module is not None and hasattr(module.get_ipython(), "kernel")


def connected(whole: Recording | None, program: Program | None) -> tuple[str, str]:
    """The names of a page and of the channel by which it asks for what it cannot compute itself."""
    from .live import Behind, channel

    return Behind(whole, program).id, channel().model_id


def draw(loss: Any, names: Mapping[str, Any] | None = None, grads: bool = False) -> Still:
    """The graph behind `loss` as a still picture, with `.svg()`. `grads` adds the gradient of every tensor."""
    data, text = dress(recorded(loss, None, names or callers_variables(), None, ones=True))
    return Still(data, describe(data) if not grads else text, grads=grads)


class Still(Forms):
    """A still picture with its text. Shows itself as SVG; `print` gives the transcript."""

    def __init__(self, data: dict[str, Any], text: str, grads: bool = True) -> None:
        self.data, self.text, self.grads = data, text, grads

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Always empty: nothing comes back from here."""
        return []

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = {"image/svg+xml": self.svg(), "text/plain": self.text}
        if os.environ.get("MINIGRAD_DISPLAY") != "static":  # JupyterLab shows an SVG without its words
            bundle["text/html"] = image(self.text, "svg+xml", bundle["image/svg+xml"].encode())
        return bundle


class Framed(Still):
    """The stepper in a frame: it works in a saved notebook, in any page, without a kernel.

    kernel: for what the page cannot compute itself, the names of the page and of the channel to the kernel that made it.
    """

    def __init__(self, data: dict[str, Any], text: str, kernel: tuple[str, str] | None = None) -> None:
        super().__init__(data, text)
        self.kernel = kernel

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": saved_html(self.data, self.kernel), "text/plain": self.text}
