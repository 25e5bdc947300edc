"""Random graphs for the property tests: small tensors, shared, broadcast, reduced, cut."""

import random

import minigrad as torch

UNARY = [torch.tanh, torch.sin, torch.exp, torch.relu, lambda t: t * t, lambda t: -t, lambda t: t**2]
BINARY = [torch.add, torch.sub, torch.mul, torch.maximum]


def graph(seed: int, cuts: bool = True):
    """A scalar loss and its leaves by name, all float64. `cuts`: some uses are detached."""
    pick = random.Random(seed)
    torch.manual_seed(seed)
    shapes = [(), (3,), (2, 3), (2, 1), (1, 3)]
    leaves = {
        f"p{i}": torch.randn(pick.choice(shapes), dtype=torch.float64) for i in range(pick.randint(1, 4))
    }
    for leaf in leaves.values():
        leaf.requires_grad_()
    pool = list(leaves.values())
    for _ in range(pick.randint(1, 12)):
        a, b = pick.choice(pool), pick.choice(pool)
        kind = pick.random()
        if kind < 0.35:
            made = pick.choice(UNARY)(a * 0.5)
        elif kind < 0.8:
            made = pick.choice(BINARY)(a, b)
        elif kind < 0.9:
            made = a.sum() * 0.1
        elif kind < 0.95 and a.ndim == 2:
            made = a @ a.T
            made = made[0] if pick.random() < 0.5 else made.mean()
            made = made.sum()
        else:
            made = (a.detach() if cuts else a) * b
        pool.append(made)
    used = pick.sample(pool, min(len(pool), 4))
    loss = sum((t * t).sum() for t in used[1:]) + (pool[-1] * pool[-1]).sum()
    return loss, leaves


def ledger(recording, place: int):
    """Which node contributed what to a tensor, in order of arrival."""
    sent = [(step.node, each) for step in recording.steps for each in step]
    return [(node, each) for node, each in sent if each.parent == place and not each.skipped]


def sentences(recording) -> list[str]:
    """All that a recording says."""
    moves = [(step, sent) for step in recording.steps for sent in step.contributions or [None]]
    return [text for step, sent in moves for text in recording.sentences(step, sent)]
