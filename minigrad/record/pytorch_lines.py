"""Which line of the user's code made each node of a finished graph.

PyTorch remembers no lines.  Where the source at hand says it, it is read from
there: a variable that holds a node's tensor was assigned somewhere, and there
stands an operation of the node's kind; its operands lead to the nodes before.
Only what fits is believed; a node for which nothing fits has no line.
"""

import inspect
import linecache
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from traceback import walk_stack
from types import CodeType, FunctionType
from typing import Any

from .. import errors
from ..tensor import Node
from .names import Source, fits, kind_of, source, symbol

Site = tuple[CodeType, int]
Line = tuple[Site, Source]
# code, and the instruction up to which it has run
Codes = dict[CodeType, int]
# so many cells of a notebook are looked through
CELLS = 200


def user_code(names: Mapping[str, Any]) -> Codes:
    """Code in which the graph may have been made, the nearest first: callers, other cells, methods of modules in sight."""
    torch: Any = sys.modules["torch"]
    frames = (frame for frame, _ in walk_stack(sys._getframe(1)))
    running = [(f.f_code, f.f_lasti) for f in frames if readable(f.f_code.co_filename)]
    cells = [file for file in reversed([*linecache.cache]) if "ipykernel" in file or file.startswith("<ipython-input")]
    others = [code for file in cells[:CELLS] for code in compiled(file)]
    for thing in names.values():
        modules = thing.modules() if isinstance(thing, torch.nn.Module) else [thing]
        others += [code for each in modules for code in code_of(each)]
    found: Codes = {}
    for code, at in (*running, *((code, len(code.co_code)) for code in others)):
        if not code.co_filename.startswith((os.path.dirname(torch.__file__), errors.PACKAGE)):
            found.setdefault(code, at)
    return found


def code_of(thing: Any) -> list[CodeType]:
    """What runs when a function or a module is called, under its decorators."""
    made = getattr(type(thing), "forward", thing)
    made = inspect.unwrap(made) if isinstance(made, FunctionType) else made
    code = getattr(made, "__code__", None)
    return [code] if isinstance(code, CodeType) else []


def readable(file: str) -> bool:
    """Whether a file is the user's: not a library's, and there to be read."""
    library = "site-packages" in file or file.startswith(os.path.dirname(os.__file__))
    return not library and bool(linecache.getline(file, 1))


@lru_cache(maxsize=CELLS)
def compiled(file: str) -> tuple[CodeType, ...]:
    """A cell of a notebook as code again."""
    try:
        return (compile("".join(linecache.getlines(file)), file, "exec"),)
    except (SyntaxError, ValueError):
        return ()


@lru_cache(maxsize=256)
def operations(code: CodeType) -> tuple[Line, ...]:
    """The operations that are written in some code, the last ones first."""
    found = ((2 * i, at) for i, at in enumerate(code.co_positions()) if at[0] is not None)
    # of one expression, its last instruction
    spans = {at: i for i, at in found}
    made = (((code, i), source(code, i)) for i in sorted(spans.values(), reverse=True))
    return tuple((site, text) for site, text in made if text.operator)


class Lines:
    """Finds lines.  names: of nodes that variables hold; around: what the user's other names stand for."""

    def __init__(self, codes: Codes, names: Mapping[Node, str], around: Mapping[str, Any]) -> None:
        self.codes, self.names, self.around = codes, names, around
        self.sites: dict[Node, Site] = {}

    def read(self, newest_first: list[Node]) -> dict[Node, Site]:
        """The sites of as many nodes as possible."""
        for node in newest_first:
            if node.parents and node in self.names:
                self.enter(node, self.fitting(node, assignments(self.codes, self.names[node])))
        return self.sites

    def enter(self, node: Node, site: Site | None) -> None:
        """Note a site, and follow the operands from there."""
        waiting = [(node, site)]
        while waiting:
            node, site = waiting.pop()
            if site is None or node in self.sites:
                continue
            self.sites[node] = site
            found = source(*site)
            inner = [p for p in node.parents if p is not None and p.parents and p not in self.names]
            aligned = len(found.operands) == len(node.parents) and len(inner) > 1
            for parent in inner:
                texts = found.operands[node.parents.index(parent) :][:1] if aligned else found.operands
                # all that a call of a module made has the line of the call
                call = None if fits(found, symbol(kind_of(node))) else site
                known = filter(None, (self.written(parent, text, site, not call) for text in texts))
                waiting.append((parent, next(known, call)))

    def written(self, node: Node, text: str, user: Site, calls: bool) -> Site | None:
        """Where an operand is computed: it stands there itself, or is a variable that was assigned, rather before its use."""
        code, use = user
        here = [line for line in operations(code) if line[1].expression == text]
        given = assignments({code: use - 1}, text)
        return self.fitting(node, here, calls) or self.fitting(node, given, calls)

    def fitting(self, node: Node, here: list[Line], calls: bool = True) -> Site | None:
        """Of these the operation that the node is; else, with calls, what a called function returns; else the call."""
        mark = symbol(kind_of(node))
        for site, found in here:
            if fits(found, mark):
                return site
        for site, found in here if calls else ():
            called = code_of(self.around.get(found.operator))
            lines = (each for code in called for each in operations(code))
            returned = ((s, f) for s, f in lines if f.line in (f"return {f.expression}", f"return {f.assigned}"))
            inside = next((s for s, f in returned if fits(f, mark)), None)
            if inside is not None or found.expression.endswith(")"):
                return inside or site
        return None


def assignments(codes: Codes, name: str) -> list[Line]:
    """The lines that give a variable its value: the last one that has run first, those that have not run at the end."""
    lines = (line for code in codes for line in operations(code))
    found = [(site, text) for site, text in lines if text.assigned == name]
    return sorted(found, key=lambda each: each[0][1] > codes[each[0][0]])
