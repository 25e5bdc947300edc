"""Markdown, code and formulas as HTML, with links that lead from page to page of the site.

A formula becomes MathML, which browsers draw themselves, so a page needs no script and no network for it.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import mistune
from latex2mathml.converter import convert
from mistune.plugins.math import math, math_in_list, math_in_quote
from mistune.plugins.table import table
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

__all__ = ["Prose", "colour", "formula", "inline", "plain", "relative"]

FORMAT, lexer = HtmlFormatter(nowrap=True), cache(get_lexer_by_name)
TAG = re.compile(r"<[^>]+>")
KINDS = {"In a formula.": "formula", "A common claim.": "claim", "Quiz.": "quiz"}
# What the converter writes in another way than it is printed: f′, a limit below lim, a space after log.
PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
LIMIT = re.compile(r"<msub>(<mo>lim</mo><mrow>(?:(?!</?mrow>).)*</mrow>)</msub>")
FUNCTION = re.compile(r'(?<!<msup>)(?<!<msub>)<mi>[a-z]{2,}</mi>(?=<(?!/|mo stretchy="false">&#x00028;))')


class Prose:
    """Turns the Markdown of one source file into HTML: `source` in the repository, `target` in the site, and `places` is the
    page of each source. `headings` collects level, text and anchor of each heading in order."""

    def __init__(self, source: str, target: str, places: Mapping[str, str]) -> None:
        self.source, self.target, self.places = source, target, places
        self.headings: list[tuple[int, str, str]] = []
        self.taken: dict[str, int] = {}
        self.markdown = mistune.Markdown(Renderer(self), plugins=[math, math_in_quote, math_in_list, table])

    def html(self, text: str) -> str:
        """The HTML of a piece of Markdown."""
        made = self.markdown(text)
        assert isinstance(made, str)
        return made

    def anchor(self, text: str) -> str:
        """The address of a heading: JupyterLab's in a notebook, GitHub's elsewhere; a second one of a name is numbered."""
        if self.source.endswith(".ipynb"):
            made = text.replace(" ", "-")
        else:
            made = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = self.taken[made] = self.taken.get(made, 0) + 1
        return made if count == 1 else f"{made}-{count - 1}"

    def address(self, url: str) -> str:
        """Where a link of the source leads in the site. Raises ValueError when the site has no such page."""
        if re.match(r"[a-z]+:", url) or url.startswith("#"):
            return url
        path, mark, anchor = url.partition("#")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(self.source), path))
        if found not in self.places:
            raise ValueError(f"{self.source} links to {url}, and the site has no page for it")
        return relative(self.places[found], self.target) + mark + anchor


class Renderer(mistune.HTMLRenderer):
    """mistune's HTML with our headings, links, code, formulas and tables."""

    def __init__(self, prose: Prose) -> None:
        super().__init__(escape=False)
        self.prose = prose

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        words = plain(text)
        anchor = self.prose.anchor(words)
        self.prose.headings.append((level, words, anchor))
        link = f'<a class="anchor" href="#{html.escape(anchor)}" aria-label="Link to this section">#</a>' if level > 1 else ""
        return f'<h{level} id="{html.escape(anchor)}">{text}{link}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return f'<a href="{html.escape(self.prose.address(url))}">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        source, words = html.escape(self.prose.address(url)), html.escape(plain(text))
        return f'<img class="drawing" src="{source}" alt="{words}" loading="lazy">'

    def paragraph(self, text: str) -> str:
        return text if text.startswith("<figure") else f"<p>{text}</p>\n"

    def codespan(self, text: str) -> str:
        whole = ' class="whole"' if len(html.unescape(text)) < 20 else ""  # too short to be divided at the end of a line
        return f"<code{whole}>{text}</code>"

    def block_code(self, code: str, info: str | None = None) -> str:
        return colour(code.rstrip("\n"), (info or "text").split()[0])

    def block_quote(self, text: str) -> str:
        said = re.match(r"\s*<p><strong>([^<]+)</strong>", text)
        kind = KINDS.get(said[1], "") if said else ""
        return f'<blockquote class="{kind}">\n{text}</blockquote>\n'

    def block_math(self, text: str) -> str:
        return f'<div class="display" tabindex="0" role="group" aria-label="Formula">{formula(text, "block")}</div>\n'

    def inline_math(self, text: str) -> str:
        return formula(text)

    def table(self, text: str) -> str:
        return f'<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n{text}</table></div>\n'


def formula(text: str, display: str = "inline") -> str:
    """TeX as MathML; the TeX stays with it, for readers who copy it."""
    tex = html.unescape(text).strip()
    made: str = convert(tex, display=display)
    made = PRIME.sub(r'\1<mo lspace="0" rspace="0">&#x02032;</mo>', made)  # the sign is small and high already
    made = LIMIT.sub(r"<munder>\1</munder>", made) if display == "block" else made
    made = FUNCTION.sub(r'\g<0><mspace width="0.17em"/>', made)
    return made.replace("<math ", f'<math alttext="{html.escape(tex)}" ', 1)


def colour(code: str, language: str = "python") -> str:
    """Highlighted code in a `<pre>` that scrolls by keyboard."""
    body = highlight(code, lexer(language, stripnl=False), FORMAT).rstrip("\n")
    return f'<pre class="code" tabindex="0"><code>{body}</code></pre>\n'


def inline(text: str) -> str:
    """One line of Markdown without a paragraph around it: text with code in backticks."""
    made = mistune.html(html.escape(text, quote=False))
    assert isinstance(made, str)
    return re.sub(r"^<p>(.*)</p>\s*$", r"\1", made.strip(), flags=re.DOTALL)


def plain(markup: str) -> str:
    """HTML without its tags."""
    return html.unescape(TAG.sub("", markup)).strip()


def relative(target: str, page: str) -> str:
    """The address of `target` as seen from `page`, both paths in the site."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")
