"""A part of a very long walk as a recording of its own: its beginning, its end, and what lies around a node between.

Boxes stand for what is left out. What the nodes in a box received goes to the box; what they sent on, the box sends,
added up for each tensor: so every ledger outside the boxes ends with the sums of the whole walk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from functools import reduce
from itertools import accumulate, pairwise
from operator import add

from ..record.recording import Place, Recording, Share, Step

LEFT_OUT = "{} of the walk's {} nodes are left out here; step(..., around={}) shows those in their middle"


def ranges(costs: list[int], moves: int, around: int | None) -> list[tuple[int, int]]:
    """Which steps are shown, of about so many moves: two thirds the beginning, one the end; or most of them around one."""
    total = len(costs)
    head, tail = (moves // 8, moves // 8) if around is not None else (2 * moves // 3, moves // 3)
    first = max(1, bisect_right([*accumulate(costs)], head))
    last = max(first, total - bisect_right([*accumulate(reversed(costs))], tail))
    if around is None:
        return [(0, first), (last, total)]
    left = bisect_right([*accumulate(reversed(costs[:around]))], 2 * moves // 8)
    right = max(1, bisect_right([*accumulate(costs[around:])], 4 * moves // 8))
    start = min(max(first, around - left), last)
    return [(0, first), (start, min(last, max(start, around + right))), (last, total)]


def excerpt(recording: Recording, moves: int, around: int | None = None) -> Recording:
    """The recording with about so many moves, and boxes for the others. around: the index of a step that is shown."""
    steps = recording.steps
    shown = ranges([max(1, len(step.shares)) for step in steps], moves, around)
    bounds = sorted({at for pair in shown for at in pair})
    opened = {bounds.index(start) for start, stop in shown if start < stop}
    parts: list[list[tuple[int, Step]]] = [[] for _ in bounds[1:]]
    spoke = [{step.node for step in steps[a:b]} for a, b in pairwise(bounds)]
    users: dict[int, set[int]] = {}
    for a, b, _ in recording.edges:
        users.setdefault(a, set()).add(b)
    for i, step in enumerate(steps):
        part = bisect_right(bounds, i) - 1
        if step.kind == "leaf" and step.node in users and i != around:  # a leaf goes where those stand that use it
            part = next((k for k, nodes in enumerate(spoke) if users[step.node] <= nodes), part)
        parts[part].append((i, step))
    hidden = [(-1 - part, members) for part, members in enumerate(parts) if members and part not in opened]
    home = {step.node: box for box, members in hidden for _, step in members}
    sent = {box: sendings(members, home, box) for box, members in hidden}
    merged, so_far = Counter[int](), Counter[int]()  # arrivals that have become part of another one
    for targets in sent.values():
        merged.update({target: len(shares) - 1 for target, shares in targets.items()})

    def told(share: Share) -> Share:
        i = share.parent
        if i in home:  # each of what a box receives has a tensor of its own there: nothing is added up
            return replace(share, parent=home[i], how="slot", before=None, after=share.contribution, note="")
        return replace(share, arrived=share.arrived - so_far[i], expected=share.expected - merged[i])

    made: list[Step] = []
    boxes: list[Place] = []
    for part, members in enumerate(parts):
        box = -1 - part
        if box not in sent:
            made += [replace(step, shares=[told(x) for x in step.shares]) for _, step in members]
            continue
        name = f"{len(members)} nodes"
        boxes.append(Place(box, f"{name} (2)" if boxes and boxes[0].name == name else name, "", (), symbol="\u2026"))
        into = [x for step in made for x in step.shares if x.parent == box and not x.skipped]
        for i, x in enumerate(into):
            x.arrived, x.expected = i + 1, len(into)
        upstream = into[-1].contribution if into else None
        step = Step("node", box, recording.seed if upstream is None else upstream)
        middle = members[len(members) // 2][0] + 1
        for slot, (target, shares) in enumerate(sent[box].items()):
            so_far[target] += len(shares) - 1
            onward = target >= 0  # else into the next box, where each has a tensor of its own: the last one is shown
            given = reduce(add, (x.contribution for x in shares)) if onward else shares[-1].contribution
            share = Share(slot, target, rule="\u2026", how="function" if onward else "slot", raw=given, contribution=given)
            share.before, share.after = (shares[0].before, shares[-1].after) if onward else (None, given)
            share.arrived, share.expected = shares[-1].arrived - so_far[target], shares[-1].expected - merged[target]
            share.note, share.around = LEFT_OUT.format(len(members), len(steps), middle), middle
            step.shares.append(share)
        made.append(step)
    return numbered(recording, made, boxes)


def sendings(members: list[tuple[int, Step]], home: dict[int, int], box: int) -> dict[int, list[Share]]:
    """What the steps in a box send out of it, by where it goes: to a tensor, or into another box."""
    sent: dict[int, list[Share]] = {}
    for share in (share for _, step in members for share in step.shares):
        target = home.get(share.parent, share.parent)
        if target != box and not share.skipped:
            sent.setdefault(target, []).append(share)
    return sent


def numbered(recording: Recording, steps: list[Step], boxes: list[Place]) -> Recording:
    """The steps and what they speak of as a recording; who speaks late stands first, as inputs do."""
    place = {box.id: box for box in boxes}
    late = {step.node: float(i) for i, step in enumerate(steps)}
    speakers = set(late)
    for i, step in enumerate(steps):
        for share in step.shares:
            if share.parent not in speakers:
                late[share.parent] = i + 0.5  # just before those that use it
    new = {old: i for i, old in enumerate(sorted(late, key=lambda node: -late[node]))}
    return Recording(
        new[recording.root],
        [replace(place.get(old) or recording.places[old], id=i) for old, i in new.items()],
        [(new[x.parent], new[step.node], x.slot) for step in steps for x in step.shares],
        [replace(s, node=new[s.node], shares=[replace(x, parent=new[x.parent]) for x in s.shares]) for s in steps],
        recording.seed,
        recording.seed_given,
    )
