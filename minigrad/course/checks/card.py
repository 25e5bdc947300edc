"""What a check says, twice: as plain text, the same in every run, and as a card for the notebook.

The card takes its colours from the page it stands on, so it reads in light and dark; a word says what the
coloured bar says, headings and lists carry the structure for a screen reader, and there is no script in it.
"""

from __future__ import annotations

import html
import os
import re
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import lessons, misconceptions
from ..judge.verdict import Verdict
from .progress_store import in_notebook

__all__ = ["Card", "believed_in", "heading", "hush_blanks", "marked", "show", "thought", "verdict_card"]

WIDTH = 96
DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)"
CODE = re.compile(  # `x`, f(x), torch.tensor(x), x.grad, zero_grad, __add__, x[0]
    rf"`([^`]+)`|\b(?:(?:{DOTTED}+|[A-Za-z_]\w*)\([^()]*\)|{DOTTED}+|[a-z]\w*_\w+|__\w+__|[a-z]\w*\[\w+\])"
)
GREEN, ORANGE = "#009E73", "#C75000"
BARS = {"passed": GREEN, "kept": GREEN, "not yet": ORANGE, "locked": ORANGE, "not kept": ORANGE}  # any other state is grey
GREY = "#767676"


@dataclass(frozen=True)
class Card:
    """A title with a state, labelled code, paragraphs and a last line."""

    title: str
    state: str = ""
    code: tuple[tuple[str, str], ...] = ()
    paragraphs: tuple[str, ...] = ()
    foot: str = ""
    table: tuple[tuple[str, ...], ...] = ()  # the first row is the head
    link: tuple[str, str] = ("", "")  # where it goes on: words and address
    believed: str = ""  # the id of the misconception that a paragraph ends with: there it links to its page
    folded: bool = False  # a stored one shows its title, and the rest only on a click

    def text(self) -> str:
        """Plain text, at most 96 columns of prose."""
        out = [f"{self.title}: {self.state}" if self.state else self.title]
        width = max((len(label) for label, _ in self.code), default=0)
        for label, code in self.code:
            first, *rest = code.split("\n")
            out.append(f"  {label:{width}}  {first}")
            out += [f"  {'':{width}}  {line}" for line in rest]
        out += aligned(self.table)
        wrap = textwrap.TextWrapper(WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)  # a path is one
        for paragraph in self.paragraphs:
            out += wrap.wrap(paragraph)
        if self.link[0]:
            out.append(f"  Next: {self.link[0]}")
        if self.foot:
            out += wrap.wrap(self.foot)
        return "\n".join(out)

    def html(self) -> str:
        """The card: no script, no style sheet, nothing fetched."""
        bar = BARS.get(self.state, GREY)
        title = html.escape(self.title)
        state = f": <span style='font-weight:normal'>{html.escape(self.state)}</span>" if self.state else ""
        label = html.escape(f"{self.title}: {self.state}" if self.state else self.title, quote=True)
        out = [
            f'<div role="group" tabindex="-1" aria-label="{label}" style="border-left:5px solid {bar};padding:0.3em 0.9em;'
            'margin:0.3em 0;max-width:56em;line-height:1.45;overflow-wrap:break-word">',
            f'<p style="margin:0 0 0.3em 0"><strong>{title}{state}</strong></p>',
        ]
        for name, code in self.code:
            out.append(
                f'<p style="margin:0.2em 0 0 0">{html.escape(name)}</p>'
                f'<pre style="margin:0 0 0.2em 1.2em;white-space:pre-wrap;word-break:normal">{html.escape(code)}</pre>'
            )
        out += html_table(self.table)
        out += [f'<p style="margin:0.4em 0">{linked(paragraph, self.believed)}</p>' for paragraph in self.paragraphs]
        if self.link[0]:
            words, address = map(html.escape, self.link)
            words = f'<a href="{address}">{words}</a>' if address else words
            out.append(f'<p style="margin:0.4em 0">Next: {words}</p>')
        if self.foot:
            out.append(f'<p style="margin:0.4em 0 0 0"><small>{html.escape(self.foot)}</small></p>')
        return "\n".join([*out, "</div>"])

    def fold(self) -> str:
        """A line that opens on a click, for pages without a kernel."""
        below = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in self.paragraphs)
        return f"<details><summary>{html.escape(self.title)}</summary>{below}</details>"

    def bundle(self) -> dict[str, str]:
        """What is shown: text always, the card unless outputs are to be stored."""
        if os.environ.get("MINIGRAD_DISPLAY") == "static":
            return {"text/plain": self.text(), **({"text/html": self.fold()} if self.folded else {})}
        return {"text/plain": self.text(), "text/html": self.html()}


def marked(text: str) -> str:
    """A text in HTML, where what stands between backticks, and what can only be code, is set as code."""
    return CODE.sub(lambda found: f"<code>{found[1] or found[0]}</code>", html.escape(text))


def linked(paragraph: str, believed: str) -> str:
    """The paragraph in HTML; where it names this misconception, a link to its words."""
    text, found = marked(paragraph), misconceptions.catalogue().get(believed)
    if found is None:
        return text
    address = f"../notebooks/reference/misconceptions.md#{found.id}-{found.name.replace(' ', '-')}"
    for words in (html.escape(f"{found.id}, {found.name}"), marked(thought(found.id))):
        text = text.replace(f"({words})", f'(<a href="{html.escape(address)}" target="_blank">{words}</a>)')
    return text


def aligned(table: Iterable[tuple[str, ...]]) -> list[str]:
    """The rows of a table in columns."""
    rows = list(table)
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def html_table(table: tuple[tuple[str, ...], ...]) -> list[str]:
    """The same as a real table with a head."""
    if not table:
        return []
    head = "".join(f'<th scope="col" style="text-align:left;padding:0 1em 0 0">{html.escape(c)}</th>' for c in table[0])
    rows = ["<tr>" + "".join(html_cell(cell, first=not i) for i, cell in enumerate(row)) + "</tr>" for row in table[1:]]
    return [
        '<table style="color:inherit">',
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody>",
        "</table>",
    ]


def html_cell(cell: str, first: bool) -> str:
    """A cell of the table; the first one of a row names it, and a short one stays on one line."""
    opening, closing = ('th scope="row"', "th") if first else ("td", "td")
    wrap = ";white-space:nowrap" * (len(cell) < 20)
    return f'<{opening} style="text-align:left;font-weight:normal;padding:0 1em 0 0{wrap}">{html.escape(cell)}</{closing}>'


def heading(verdict: Verdict) -> str:
    """One word or two for a verdict."""
    return verdict.status if verdict.status in ("passed", "not attempted", "not graded") else "not yet"


def named(believed: str) -> str:
    """A misconception in brackets: its number and its words."""
    found = misconceptions.catalogue().get(believed)
    return f" ({found.id}, {found.name})" if found else ""


def thought(believed: str) -> str:
    """A misconception in the words of a student who believes it: what the card of a prediction says."""
    found = misconceptions.catalogue().get(believed)
    return f'common belief {found.id}: "{found.belief}"' if found else ""


def believed_in(verdict: Verdict) -> str:
    """The misconception behind a verdict that its card names: not one of a later lesson."""
    known = verdict.misconception and lessons.met(verdict.misconception, lessons.find(verdict.exercise))
    return verdict.misconception if known else ""


def verdict_card(title: str, verdict: Verdict, hint: str = "") -> Card:
    """The card of a verdict. `hint` names the next rung."""
    code = [("you wrote" if not verdict.call else "it gave", verdict.got)] if verdict.got else []
    if verdict.call:
        code.insert(0, ("called" if "\n" not in verdict.call else "run", verdict.call))
    if verdict.expected:
        code.append(("expected", verdict.expected))
    lines, believed = list(verdict.lines), believed_in(verdict)
    if lines:
        lines[-1] += named(believed)
    if verdict.status in ("passed", "not attempted", "missing"):
        code = []
    paragraphs = [*lines, *([f"Next: {hint}"] if hint else [])]
    return Card(f"{verdict.exercise} {title}", heading(verdict), tuple(code), tuple(paragraphs), believed=believed)


def show(card: Card) -> None:
    """Display in a notebook, print elsewhere."""
    if in_notebook():
        from IPython.display import display

        display(card.bundle(), raw=True)
    else:
        print(card.text())


def hush_blanks() -> None:
    """Let a blank that is run as it stands show nothing: three dots are no result."""
    if in_notebook():
        shell: Any = sys.modules["IPython"].get_ipython()
        shell.display_formatter.ipython_display_formatter.for_type(type(...), lambda dots: None)
