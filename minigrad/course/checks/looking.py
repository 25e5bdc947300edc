"""Where an attention model looks: the letters of a name, and for each the weights of the letters that it sees.

The picture is HTML that needs neither a kernel nor a script of its own: what belongs to a letter is shown while the mouse is
over it or the focus is on it. `minigrad show 16` has it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from minigrad.viz import plots
from minigrad.viz.live import Live

__all__ = ["Looking", "grid", "where_it_looks"]

Array = np.ndarray[Any, Any]
STYLE = """<style>
.mg-look{position:relative;display:grid;grid-auto-columns:minmax(0,2.2em);grid-auto-flow:column;width:min(100%,36em);
margin:.4em 0 .6em;padding:0 0 3.2em;font:1.1em ui-monospace,monospace}
.mg-look>span{grid-row:1;z-index:1;text-align:center;line-height:2.2em;border:1px solid #7c7c7c55;cursor:default}
.mg-look>span:is(:hover,:focus){border-color:currentColor;outline:none}
.mg-look>i{grid-row:1;background:rgb(199 80 0/calc(.75*var(--w)));visibility:hidden}
.mg-look>small{position:absolute;inset:auto 0 .2em 0;height:2.9em;line-height:1.4;visibility:hidden;font-family:sans-serif}
</style>"""


def shown(letter: str) -> str:
    """A letter as it is shown: the dot that begins a name is easier to see as a small circle."""
    return {".": "○", " ": "␣"}.get(letter, letter)


def sentence(name: str, row: int, weights: Array) -> str:
    """What one letter looks at most, in words."""
    seen = f".{name}"[: row + 1]
    most = np.argsort(-weights[: row + 1], kind="stable")[:3]
    parts = [f"{shown(seen[j])} {100 * weights[j]:.0f} %" for j in most]
    return f"To guess what follows {''.join(map(shown, seen))}, it looks at {', '.join(parts)}."


def grid(name: str, weights: Array, number: int = 0) -> str:
    """One name as HTML: each letter can be moved over, or reached with Tab."""
    letters = [shown(letter) for letter in f".{name}"]
    rules, parts = [], []
    for i, letter in enumerate(letters):
        words = escape(sentence(name, i, weights[i]), quote=True)
        parts.append(f'<span tabindex="0" role="img" aria-label="{words}" style="grid-column:{i + 1}" class="l{i}">'
                     f"{escape(letter)}</span>")  # fmt: skip
        on = f"#look{number}:has(.l{i}:is(:hover,:focus))"
        rules.append(f"{on}>.f{i}{{visibility:visible}}")
        parts += [f'<i class="f{i}" style="grid-column:{j + 1};--w:{weights[i, j]:.2f}"></i>' for j in range(i + 1)]
        parts.append(f'<small class="f{i}" aria-hidden="true">{words}</small>')
    return f'<style>{"".join(rules)}</style><div class="mg-look" id="look{number}">{"".join(parts)}</div>'


def heat(name: str, weights: Array) -> plots.Figure:
    """All weights of one name as a picture, for where there is no mouse."""
    letters = [shown(letter) for letter in f".{name}"]
    made = plots.heat(weights, name, "letter that is seen", "letter that looks")
    made.axes[0].set_xticks(range(len(letters)), letters)
    made.axes[0].set_yticks(range(len(letters)), letters)
    made.alt = " ".join([f"{name}:", *(sentence(name, i, row) for i, row in enumerate(weights))])
    return made


class Looking(Live):
    """Names with their weights: a picture of the first, and letters to move over where HTML is alive."""

    asks = False

    def __init__(self, names: Mapping[str, Array]) -> None:
        super().__init__()
        self.names = {name: np.asarray(weights, dtype=float) for name, weights in names.items()}
        self.still = heat(*next(iter(self.names.items())))

    def moving(self, number: int = 0) -> str:
        """The letters to move over. `number` tells apart the pictures of one page."""
        return STYLE + "".join(grid(name, weights, number + n) for n, (name, weights) in enumerate(self.names.items()))

    def body(self) -> str:
        moving = self.moving(int(self.id[:12], 16))
        return f'<div data-still>{self.still.html()}</div><div data-moving style="display:none">{moving}</div>'

    def text(self) -> str:
        return "\n".join(heat(name, weights).alt for name, weights in self.names.items())


def where_it_looks(names: Mapping[str, Any]) -> Any:
    """Show where a model looks: {"oak": weights}, with a row of weights for the beginning and for each letter.

    Row `i` holds how much the model looks at each place when it guesses what follows the first `i` letters.
    """
    for name, weights in names.items():
        if np.shape(weights) != (len(name) + 1, len(name) + 1):
            raise ValueError(f"{name!r} has {len(name)} letters, so its weights need {len(name) + 1} rows and columns")
    made = Looking(names)
    return made.still if plots.is_static(None) else made
