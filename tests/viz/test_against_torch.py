"""What a recording says of each leaf's .grad is what real PyTorch computes, for every case and for random graphs."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from minigrad.record.recorder import record

from . import cases, graphs

pytestmark = [pytest.mark.slow, pytest.mark.needs("torch")]
NAMES = [case.__name__ for case in cases.CASES if not case.__name__.startswith("own_")]


def in_torch(module: ModuleType) -> ModuleType:
    """The same file with real PyTorch in place of minigrad."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    source = source.replace("import minigrad as torch", "import torch").replace("from minigrad.", "from torch.")
    made = ModuleType(module.__name__ + "_in_torch")
    exec(compile(source, module.__file__, "exec"), made.__dict__)
    return made


def leaf_grads(root) -> list[np.ndarray]:
    """The .grad of every leaf that PyTorch's graph reaches."""
    seen, stack, found = set(), [root.grad_fn], []
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        stack.extend(n for n, _ in node.next_functions)
    return [leaf.grad.numpy() for leaf in found]


@pytest.mark.parametrize("name", NAMES)
def test_the_final_ledger_of_a_case_is_torchs_grad(name: str) -> None:
    loss, given = getattr(cases, name)()
    steps = record(loss, given.get("gradient"), given["names"]).steps
    ours = [step.after for step in steps if step.kind == "leaf"]
    theirs, given = getattr(in_torch(cases), name)()
    theirs.backward(given.get("gradient"), retain_graph=True)
    expected = leaf_grads(theirs)
    assert len(ours) == len(expected) > 0
    for grad in ours:
        match = [i for i, e in enumerate(expected) if e.shape == grad.shape
                 and np.allclose(e, grad, rtol=1e-4, atol=1e-6, equal_nan=True)]  # fmt: skip
        assert match, (name, grad)
        expected.pop(match[0])


@pytest.mark.parametrize("seed", range(40))
def test_the_final_ledger_of_a_random_graph_is_torchs_grad(seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    grads = record(loss, names=leaves).grads
    theirs, torchs = in_torch(graphs).graph(seed)
    theirs.backward()
    assert grads.keys() == {name for name, leaf in torchs.items() if leaf.grad is not None}
    for name, grad in grads.items():
        np.testing.assert_allclose(grad, torchs[name].grad.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)
