"""A part of a very long walk as a recording of its own: its beginning, its end, and what lies around a node between.

Boxes stand for what is left out. What the nodes in a box received goes to the box; what they sent on, the box sends,
added up for each tensor: so every ledger outside the boxes ends with the sums of the whole walk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from itertools import accumulate, groupby, pairwise, takewhile
from operator import add
from typing import Any

from ..record.moves import Contribution, Place, Step
from ..record.names import variables
from ..record.numbers import Extent
from ..record.pytorch_pass import Arrays, Crossings, is_leaf, is_pytorch, pytorch
from ..record.recording import Recording

MANY, BOXES, PARTS = 3000, 40, 10  # nodes from which on modules are shown; boxes at most; parts where there are no modules
BY_MODULES = "Its {:,} nodes are too many to be shown one by one: a box is a module, or a part of the walk"
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
    shown = ranges([max(1, len(step.contributions)) for step in steps], moves, around)
    bounds = sorted({at for pair in shown for at in pair})
    opened = {bounds.index(start) for start, stop in shown if start < stop}
    parts: list[list[tuple[int, Step]]] = [[] for _ in bounds[1:]]
    done = [{step.node for step in steps[a:b]} for a, b in pairwise(bounds)]
    users: dict[int, set[int]] = {}
    for a, b, _ in recording.edges:
        users.setdefault(a, set()).add(b)
    for i, step in enumerate(steps):
        part = bisect_right(bounds, i) - 1
        if step.kind == "leaf" and step.node in users and i != around:  # a leaf goes where those stand that use it
            part = next((k for k, nodes in enumerate(done) if users[step.node] <= nodes), part)
        parts[part].append((i, step))
    hidden = [(-1 - part, members) for part, members in enumerate(parts) if members and part not in opened]
    home = {step.node: box for box, members in hidden for _, step in members}
    leaving = {box: sendings(members, home, box) for box, members in hidden}
    merged, so_far = Counter[int](), Counter[int]()  # arrivals that have become part of another one
    for targets in leaving.values():
        merged.update({target: len(contributions) - 1 for target, contributions in targets.items()})

    def moved_in(sent: Contribution) -> Contribution:
        i = sent.parent
        if i in home:  # each of what a box receives has a tensor of its own there: nothing is added up
            return replace(sent, parent=home[i], how="slot", before=None, after=sent.value, note="")
        return replace(sent, arrived=sent.arrived - so_far[i], expected=sent.expected - merged[i])

    made: list[Step] = []
    boxes: list[Place] = []
    for part, members in enumerate(parts):
        box = -1 - part
        if box not in leaving:
            made += [replace(step, contributions=[moved_in(x) for x in step]) for _, step in members]
            continue
        name = f"{len(members)} nodes"
        boxes.append(Place(box, f"{name} (2)" if boxes and boxes[0].name == name else name, "", (), symbol="\u2026"))
        into = [x for step in made for x in step.contributions if x.parent == box and not x.skipped]
        for i, x in enumerate(into):
            x.arrived, x.expected = i + 1, len(into)
        upstream = into[-1].value if into else None
        step = Step("node", box, recording.seed if upstream is None else upstream)
        middle = members[len(members) // 2][0] + 1
        for slot, (target, contributions) in enumerate(leaving[box].items()):
            so_far[target] += len(contributions) - 1
            last, onward = contributions[-1], target >= 0  # else into the next box, where each has a tensor of its own
            whole = onward and not isinstance(last.value, Extent)  # of what cannot be added up the last one is shown
            given = reduce(add, (x.value for x in contributions)) if whole else last.value
            sent = Contribution(slot, target, rule="\u2026", how="function" if onward else "slot", raw=given, value=given)
            sent.before, sent.after = (contributions[0].before, last.after) if onward else (None, given)
            sent.arrived, sent.expected = last.arrived - so_far[target], last.expected - merged[target]
            sent.note, sent.around = LEFT_OUT.format(len(members), len(steps), middle), middle
            step.contributions.append(sent)
        made.append(step)
    return numbered(recording, made, boxes)


def outline(loss: Any, gradient: Any, names: Mapping[str, Any]) -> Recording | None:
    """A pass of PyTorch through very many nodes, as a box for each module and what goes from one to another."""
    graph = is_pytorch(loss) and loss.grad_fn is not None
    passed = Crossings(pytorch(), loss, gradient, Arrays(pytorch())) if graph else None
    if passed is None or len(passed.nodes) < MANY:
        return None
    parts = by_modules(passed, {id(t): name for name, t in variables(names, pytorch().Tensor)})
    passed.box, passed.crossing = {node: i for i, (_, nodes) in enumerate(parts) for node in nodes}, {}
    passed.run()
    seed = passed.arrays.copied(loss.detach() * 0 + 1 if gradient is None else gradient)
    last, sizes = len(parts) - 1, [sum(n.name() != "TBackward0" for n in nodes) for _, nodes in parts]
    starts = [0, *accumulate(sizes)]  # without the transposes, which a whole recording shows as part of `linear`
    steps = [Step("node", last - i, seed) for i in range(len(parts))]
    for (here, there), sums in sorted(passed.crossing.items(), key=lambda each: each[0]):
        value = passed.arrays.copied([*sums.values()][-1])
        slot = len(steps[here].contributions)  # each gradient is that of a tensor of its own: one arrives
        sent = Contribution(slot, last - there, rule="\u2026", how="function", arrived=1, expected=1)
        sent.raw = sent.value = sent.after = steps[there].upstream = value
        sent.around = starts[here] + sizes[here] // 2 + 1
        sent.note = LEFT_OUT.format(sizes[here], starts[-1], sent.around)
        steps[here].contributions.append(sent)
    places = [Place(last - i, name, "", (), symbol="\u2026") for i, (name, _) in enumerate(parts)]
    edges = [(sent.parent, step.node, sent.slot) for step in steps for sent in step.contributions]
    return Recording(last, places[::-1], edges, steps, seed, gradient is not None, BY_MODULES.format(len(passed.nodes)))


def by_modules(passed: Crossings, names: Mapping[int, str]) -> list[tuple[str, list[Any]]]:
    """The nodes in the order of the walk, by the modules whose weights they use: as deep as there are not too many."""
    owner = {n: names.get(id(n.variable), "").rpartition(".")[0] for n in passed.nodes if is_leaf(n)}
    walk = sorted(passed.edges.keys() - owner, key=lambda n: -n._sequence_nr())
    own = {n: owner[p] for n in walk for p, _ in passed.edges[n] if owner.get(p)}
    label, module = dict[Any, str](), next((own[n] for n in reversed(walk) if n in own), "")
    for node in reversed(walk):  # what has no weights of its own goes with those that were used before it
        module = label[node] = own.get(node, module)
    label.update(dict.fromkeys(takewhile(lambda n: n not in own, walk), names.get(id(passed.root), "loss")))
    for depth in range(1 + max(name.count(".") for name in {*label.values()}), 0, -1):
        runs = groupby(walk, lambda n, depth=depth: label[n].split(".")[:depth])  # type: ignore[misc]
        found = [(".".join(parts), [*nodes]) for parts, nodes in runs]
        if 2 < len(found) <= BOXES:
            return found
    size = len(walk) // PARTS
    rest = [(i, walk[i : i + size]) for i in range(1, len(walk), size)]
    return [(label[walk[0]], walk[:1]), *((f"nodes {i + 1} to {i + len(nodes)}", nodes) for i, nodes in rest)]


def sendings(members: list[tuple[int, Step]], home: dict[int, int], box: int) -> dict[int, list[Contribution]]:
    """What the steps in a box send out of it, by where it goes: to a tensor, or into another box."""
    found: dict[int, list[Contribution]] = {}
    for sent in (sent for _, step in members for sent in step.contributions):
        target = home.get(sent.parent, sent.parent)
        if target != box and not sent.skipped:
            found.setdefault(target, []).append(sent)
    return found


def numbered(recording: Recording, steps: list[Step], boxes: list[Place]) -> Recording:
    """The steps and the places they name as a recording; what comes late in the walk stands first, as inputs do."""
    place = {box.id: box for box in boxes}
    late = {step.node: float(i) for i, step in enumerate(steps)}
    passing = set(late)
    for i, step in enumerate(steps):
        for sent in step.contributions:
            if sent.parent not in passing:
                late[sent.parent] = i + 0.5  # just before those that use it
    new = {old: i for i, old in enumerate(sorted(late, key=lambda node: -late[node]))}
    return Recording(
        new[recording.root],
        [replace(place.get(old) or recording.places[old], id=i) for old, i in new.items()],
        [(new[x.parent], new[step.node], x.slot) for step in steps for x in step.contributions],
        [replace(step, node=new[step.node], contributions=[replace(x, parent=new[x.parent]) for x in step]) for step in steps],
        recording.seed,
        recording.seed_given,
        recording.remark,
    )
