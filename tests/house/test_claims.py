"""Each sentence of the source documents that is wrong, and each of their examples, has a cell that shows it.

The first letter is C for a claim, B for a block of code; the numbers are those of the documents. A claim's cell
follows the words "Spot the error" (or says that it is true), at most six cells later, and prints the proof.
"""

import pytest

from minigrad.course import notebooks

MOMENTS = [
    ("C03 each tensor gets a gradient", "04_pytorch_semantics", "04-b1ebf7", "tensor([2., 2.]) None None"),
    ("C04 each tensor has a grad_fn", "04_pytorch_semantics", "04-715a32", "True True None"),
    ("C05 nodes have tensors as inputs", "04_pytorch_semantics", "04-ad496c", "AddBackward0\n  SinBackward0"),
    ("C06 a node stores inputs and output", "04_pytorch_semantics", "04-db37d8", "tensor([1., 1.])\nRuntimeError"),
    ("C07 the graph is no structure", "04_pytorch_semantics", "04-ad496c", "AccumulateGrad"),
    ("C08 the graph is discarded", "04_pytorch_semantics", "04-d996b1", "SumBackward0\n['MulBackward0']"),
    ("C11 gradients pile up on the way", "02_chain_rule", "02-837c16", "None None"),
    ("C12 the walk is recursive", "03_scalar_engine", "03-e45284", "tensor(1.)"),
    ("C13 all tensors involved", "04_pytorch_semantics", "04-334960", "tensor([5., 6.]) None"),
    ("C15 the function is differentiated", "03_scalar_engine", "03-bfeb36", "['ExpBackward0', 'SinBackward0']"),
    ("C16 all with requires_grad", "04_pytorch_semantics", "04-b1ebf7", "None None"),
    ("C17 detach turns tracking off", "04_pytorch_semantics", "04-ac0459", "tensor([100.,   3.], requires_grad=True) True"),
    ("C18 zero_ between steps", "04_pytorch_semantics", "04-176007", "no attribute 'zero_'"),
    ("C18 zero_ and whoever kept it", "04_pytorch_semantics", "04-022277", "tensor([3., 3.]) tensor([3., 3.])"),
    ("C19 what requires grad has a creator", "04_pytorch_semantics", "04-715a32", "True True None"),
    ("C20 a comment lost its text", "04_pytorch_semantics", "04-fa1d11", "<SumBackward0 object"),
    ("C23 detach does not break the chain", "04_pytorch_semantics", "04-952648", "does not require grad"),
    ("C24 detach builds no graph", "04_pytorch_semantics", "04-ce869a", "30 tensors, 120000 bytes\nno_grad: 0 tensors"),
    ("C25 accumulation that clears", "04_pytorch_semantics", "04-6dc884", "tensor([3., 3.])"),
    ("C28 once for each operation", "03_scalar_engine", "03-7ae7c3", "after 1 run"),
    ("C33 all parameters", "04_pytorch_semantics", "04-b1ebf7", "None None"),
    ("B000-1", "02_chain_rule", "02-1fdb4f", "tensor(8.)"),
    ("B001-2", "03_scalar_engine", "03-473cc5", "Gradient of x: tensor(3.6439)"),
    ("B002-3", "02_chain_rule", "02-2fbb0d", "tensor([ 1.8556, -0.3533, -2.6236])"),
    ("B003-1", "04_pytorch_semantics", "04-c4ea06", "z: tensor(10., grad_fn=<SumBackward0>)"),
    ("B003-2", "04_pytorch_semantics", "04-4775c0", "Gradient of x: tensor([2., 2.])"),
    ("B003-2 run twice", "04_pytorch_semantics", "04-5cd85d", "Trying to backward through the graph a second time"),
    ("B003-4", "04_pytorch_semantics", "04-022277", "tensor([2., 2.])\ntensor([3., 3.])"),
    ("B003-5", "04_pytorch_semantics", "04-fa1d11", "<SumBackward0 object"),
    ("B003-7", "04_pytorch_semantics", "04-36a40f", "AddBackward0 MulBackward0"),
    ("B003-8", "02_chain_rule", "02-1fdb4f4", "tensor(8.)"),
    ("B003-10", "04_pytorch_semantics", "04-d8a930", "False\nFalse"),
    ("B003-11", "04_pytorch_semantics", "04-df2297", "Grad after first backward: tensor([2., 2.])"),
    ("B003-11 second", "04_pytorch_semantics", "04-6dc884", "Grad after second backward: tensor([3., 3.])"),
]


@pytest.mark.parametrize(("what", "lesson", "cell", "proof"), MOMENTS, ids=[moment[0] for moment in MOMENTS])
def test_a_cell_proves_it(what: str, lesson: str, cell: str, proof: str) -> None:
    cells = notebooks.read(notebooks.path("notebooks", lesson))["cells"]
    place = [each["id"] for each in cells].index(cell)
    shown = "".join("".join(output.get("text", "")) for output in cells[place]["outputs"])
    assert proof in shown
    if what.startswith("C"):
        before = " ".join(each["source"].lower() for each in cells[max(0, place - 6) : place])
        assert "spot the error" in before or "a claim that is true" in before
