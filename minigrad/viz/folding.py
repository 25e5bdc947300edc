"""What a picture may show as one box: the turns of a loop, and what one call of a module or function made.

Only what the source says is folded. The turns of a loop run the same instructions in the same order, are wired alike, and
each takes something from the turn before it; what merely looks alike is not a loop. The nodes of a call come from one
expression, or from one function's lines.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

FEWEST = 3  # turns that make a loop
LONGEST = 24  # operations in a turn, at most
SHORT = 18  # letters of a call that is written out
Line = tuple[int, int, int]  # from a box, to a box, at which of its inputs


@dataclass(slots=True)
class Run:
    """A loop: its first operation, how many there are in a turn, and how many turns."""

    start: int
    period: int
    turns: int


class Wires:
    """The operations of a graph in order, where each stands, its inputs as (slot, node), and its users."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.made = operations(data)
        self.position = {n["id"]: i for i, n in enumerate(self.made)}
        self.parents: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.users: dict[int, set[int]] = defaultdict(set)
        for a, b, slot in data["edges"]:
            self.parents[b].append((slot, a))
            self.users[a].add(b)


@dataclass(slots=True)
class Group:
    """What one call made: how it is written, and its nodes, the result last."""

    label: str
    members: list[int] = field(default_factory=list)


def operations(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [n for n in data["nodes"] if n["rg"] and not n["leaf"]]


# ---------------------------------------------------------------- loops
def loops(data: dict[str, Any]) -> list[Run]:
    """The longest runs of turns that run the same instructions and are wired alike."""
    wires = Wires(data)
    made = wires.made
    signs = [(n["op"], n["spot"], len(n["shape"])) for n in made]
    found: list[Run] = []
    i = 0
    while i < len(made):
        best: Run | None = None
        for period in range(1, min(LONGEST, (len(made) - i) // FEWEST) + 1):
            length = 0
            while i + period + length < len(made) and signs[i + length] == signs[i + period + length]:
                length += 1
            run = wired_alike(wires, Run(i, period, length // period + 1))
            if run.turns >= FEWEST and (best is None or run.turns * period > best.turns * best.period):
                best = run
        if best is None:
            i += 1
        else:
            found.append(best)
            i += best.turns * best.period
    return found


def wired_alike(wires: Wires, run: Run) -> Run:
    """The run with those of its turns that take their inputs from the same places, relative to their turn."""
    if run.turns < FEWEST:
        return run

    def place(node: int, turn: int) -> tuple[Any, ...]:
        at = wires.position.get(node, -1)
        if at >= run.start:
            back, offset = divmod(at - run.start, run.period)
            return "turn", turn - back, offset
        own = range(run.start + turn * run.period, run.start + (turn + 1) * run.period)
        alone = at < 0 and all(wires.position.get(user, -1) in own for user in wires.users[node])
        return ("its own",) if alone else ("outside", node)

    def wiring(turn: int) -> list[list[tuple[int, tuple[Any, ...]]]]:
        first = run.start + turn * run.period
        nodes = (wires.made[first + k]["id"] for k in range(run.period))
        return [[(slot, place(a, turn)) for slot, a in sorted(wires.parents[node])] for node in nodes]

    second = wiring(1)
    if not any(kind == "turn" and back[0] > 0 for inputs in second for _, (kind, *back) in inputs):
        return Run(run.start, run.period, 1)  # side by side: their results would go from one box to many places
    alike = 2
    while alike < run.turns and wiring(alike) == second:
        alike += 1
    return Run(run.start, run.period, alike)


# ---------------------------------------------------------------- calls
def modules(data: dict[str, Any]) -> list[Group]:
    """The nodes that one call of a module or a function made, with the parameters that nothing else uses."""
    made = operations(data)
    if not made:
        return []
    outermost = where(data["nodes"][data["root"]])
    found: list[Group] = []
    before: tuple[Any, ...] = ()
    start = 0  # the instruction with which the call before began
    for node in made:
        call = call_of(data, node, outermost)
        at = int(node["spot"].rpartition(":")[2]) if call else 0
        again = call == before and call[:1] == ("function",) and at <= start
        if call and (call != before or again):
            found.append(Group(call[1]))
            start = at
        if call:
            found[-1].members.append(node["id"])
        before = call
    users = Wires(data).users
    groups = []
    for group in found:
        inside = set(group.members)
        if len(inside) < 2 or not all(users[i] <= inside for i in group.members[:-1]):
            continue  # others use more of it than its result
        groups.append(group)
        own = [n["id"] for n in data["nodes"] if n["leaf"] and "." in n["name"] and users[n["id"]] <= inside]
        group.members[:0] = own
    return groups


def where(node: dict[str, Any]) -> str:
    """The function that a node was written in."""
    text: str = node["spot"].rpartition(":")[0]
    return text


def call_of(data: dict[str, Any], node: dict[str, Any], outermost: str) -> tuple[Any, ...]:
    """How the call is written that made a node; nothing for an operation of the student's own lines."""
    span = node.get("span")
    if span is None:
        return ()
    block = data["code"][span[0]]
    if where(node) != outermost:
        title = block["title"].partition(",")[0].removeprefix("in ")
        return "function", title.removesuffix(".forward").removesuffix(".__call__"), where(node)
    if node["expr"] or span[1] != span[3]:
        return ()
    text = block["lines"][span[1]][1][span[2] : span[4]]
    if not text.endswith(")"):
        return ()
    return "call", text if len(text) <= SHORT else f"{text.partition('(')[0]}(\u2026)", node["spot"]


# ---------------------------------------------------------------- the folded view
def folded(data: dict[str, Any], runs: list[Run], groups: list[Group]) -> dict[str, Any] | None:
    """Which node stands for each, and the lines between those that stand; None where nothing folds."""
    made, ids = operations(data), [n["id"] for n in data["nodes"]]
    rep = {i: i for i in ids}
    turn: dict[int, tuple[int, int]] = {}  # of a node of a loop: the number of its loop, and its turn from 1
    stacked: list[int] = []
    for k, run in enumerate(runs):
        standing = [made[run.start + j]["id"] for j in range(run.period)]
        stacked += standing
        for j in range(run.period * run.turns):
            node = made[run.start + j]["id"]
            rep[node], turn[node] = standing[j % run.period], (k, j // run.period + 1)
    stacked += parameters(data, rep, turn, runs)
    shown: dict[int, Any] = {}
    for group in groups:
        if not any(i in turn for i in group.members):
            last = group.members[-1]
            rep.update(dict.fromkeys(group.members, last))
            shown[last] = {"label": group.label, "members": group.members}
    if not runs and not shown:
        return None
    lines: dict[Line, None] = {}
    again: dict[Line, None] = {}  # from one turn of a loop to the next
    which: list[Line] = []
    for a, b, slot in data["edges"]:
        inside = rep[a] >= rep[b] and (rep[a] != a or rep[b] != b)  # inside a box, or from one turn to the next
        line = rep[a], rep[b], slot if rep[b] not in shown else sum(line[1] == rep[b] for line in lines)
        if not inside:
            lines[line] = None
        elif a in turn and b in turn and turn[a][0] == turn[b][0]:
            again[line] = None
        which.append(line)
    number = {line: i for i, line in enumerate([*lines, *again])}
    return {
        "rep": [rep[i] for i in ids],
        "line": [number.get(line, -1) for line in which],
        "lines": list(lines),
        "again": list(again),
        "turn": [list(turn[i]) if i in turn else None for i in ids],
        "turns": [run.turns for run in runs],
        "stacked": sorted(stacked),
        "groups": shown,
    }


def parameters(
    data: dict[str, Any], rep: dict[int, int], turn: dict[int, tuple[int, int]], runs: list[Run]
) -> list[int]:
    """The inputs of which each turn has one of its own, such as the layers' weights: they fold with the turns."""
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for a, b, slot in data["edges"]:
        users[a].append((b, slot))
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node in data["nodes"]:
        uses = users[node["id"]]
        outside = node["leaf"] or not node["rg"]
        if outside and uses and len({turn.get(b, (-1, 0)) for b, _ in uses}) == 1 and uses[0][0] in turn:
            alike[rep[uses[0][0]], uses[0][1]].append(node["id"])
    standing = []
    for (user, _), nodes in alike.items():
        k = turn[user][0]
        if len(nodes) == runs[k].turns:
            standing.append(nodes[0])
            for i, node in enumerate(nodes):
                rep[node], turn[node] = nodes[0], (k, i + 1)
    return standing
