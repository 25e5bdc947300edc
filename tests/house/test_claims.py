"""Each sentence of the source documents that is wrong, and each of their examples, has a cell that shows it.

The first letter is C for a claim, B for a block of code; the numbers are those of the documents. A claim's cell
follows the words "Spot the error" or "A common claim" (or says that it is true), at most six cells later, and prints the proof.
"""

import pytest

from minigrad.course import notebooks
from minigrad.course.commands import sources

MOMENTS = [
    ("B000-1", "02_chain_rule", "02-1fdb4f", "tensor(8.)"),
    ("B002-3", "02_chain_rule", "02-2fbb0d", "tensor([ 1.8556, -0.3533, -2.6236])"),
    ("B003-1", "04_pytorch_semantics", "04-c4ea06", "z: tensor(10., grad_fn=<SumBackward0>)"),
    ("B003-2", "04_pytorch_semantics", "04-4775c0", "Gradient of x: tensor([2., 2.])"),
    ("B003-2 run twice", "04_pytorch_semantics", "04-5cd85d", "Trying to backward through the graph a second time"),
    ("B003-4", "04_pytorch_semantics", "04-022277", "tensor([2., 2.])"),
    ("B003-4 second", "04_pytorch_semantics", "04-106", "tensor([3., 3.])"),
    ("B003-5", "04_pytorch_semantics", "04-106", "<SumBackward0 object"),
    ("B003-7", "04_pytorch_semantics", "04-36a40f", "AddBackward0 MulBackward0"),
    ("B003-8", "02_chain_rule", "02-1fdb4f4", "tensor(8.)"),
    ("B003-10", "04_pytorch_semantics", "04-d8a930", "False\nFalse"),
    ("B003-11", "04_pytorch_semantics", "04-df2297", "Grad after first backward: tensor([2., 2.])"),
    ("B003-11 second", "04_pytorch_semantics", "04-6dc884", "Grad after second backward: tensor([3., 3.])"),
    ("C02 a gradient is promised", "05_vectors", "05-2d0efa", "None"),
    ("C09 entry by entry", "05_vectors", "05-874a64", "tensor([ 0.1875, -0.0625])"),
    ("B000-2", "05_vectors", "05-1fdb4f", "tensor([4., 6.])"),
    ("B001-3", "05_vectors", "05-a62195", "tensor([2.5403, 3.5839])"),
    ("B003-6", "05_vectors", "05-1fdb4f4", "tensor([0.6667, 1.3333, 2.0000])"),
    ("B001-1", "06_broadcasting", "06-72a3dd", "Gradient of w: tensor([-3.4578])"),
    ("B002-1", "06_broadcasting", "06-9308f0", "tensor([[1., 1., 1., 1.]"),
    ("C01 a comment with numbers", "07_matmul", "07-c26281", "tensor([[11., 15.],\n        [11., 15.]])"),
    ("C14 data that asks", "08_mse", "08-2d0efa", "[-0.7730],\n        [-1.2445]"),
    ("C22 a share of the error", "08_mse", "08-56d45a", "tensor(0.2500)\ntensor([-0.5000, -0.5000]) tensor(-1.)"),
    ("C15 a custom function", "09_custom_function", "09-7e92ef", "MulBackward0 ['ExpBackward0', 'SinBackward0']"),
    ("C26 a needless saved tensor", "09_custom_function", "09-50b369", "tensor(4.)"),
    ("C27 the default gradient", "09_custom_function", "09-5924a7", "tensor([0., 0.])"),
    ("C27 a gradient replaced", "09_custom_function", "09-202", "tensor([1., 0., 1.]) tensor([10., 20.,  0.])"),
    ("C09 element by element", "11_cross_entropy", "11-1a7fd8", "tensor([ 0.2247, -0.1598, -0.0650])"),
    ("C33 a parameter that is listed", "13_clinic", "13-113", "'unused.weight': False, 'unused.bias': False"),
    ("C32 the shape of the input", "14_capstone", "14-1388e3", "tensor([[ 7.0000],\n        [25.5000]]"),
    ("C12 recursion", "14_capstone", "14-203", "RecursionError"),
    ("C28 once for each operation, forty steps", "14_capstone", "14-208", "tensor(True)"),
    ("B000-3", "07_matmul", "07-c26281", "tensor([[11., 15.],\n        [11., 15.]])"),
    ("B002-2", "07_matmul", "07-e95b32", "[ 2.1094,  2.1094,  2.1094,  2.1094]"),
    ("B001-1", "08_mse", "08-909832", "Gradient of w: tensor([-3.4578])\nGradient of b: tensor([-1.7562])"),
    ("B003-9", "08_mse", "08-e16703", "tensor([-0.5000, -0.5000])"),
    ("B001-2 measured", "01_slope", "01-9b46b6", "3.6439"),
    ("B001-3 as it is", "05_vectors", "05-2d0efa", "None"),
    ("B003-3", "04_pytorch_semantics", "04-ac0459", "tensor([100.,   3.], requires_grad=True) True"),
    ("B001-2", "09_custom_function", "09-a3e241", "tensor(3.6439)"),
    ("B003-12", "09_custom_function", "09-8f639a", "tensor(2.)"),
    ("B002-3 once more", "11_cross_entropy", "11-03dd16", "tensor([ 1.8556, -0.3533, -2.6236])"),
]


@pytest.mark.parametrize(("what", "lesson", "cell", "proof"), MOMENTS, ids=[moment[0] for moment in MOMENTS])
def test_a_cell_proves_it(what: str, lesson: str, cell: str, proof: str) -> None:
    cells = notebooks.read(notebooks.path("notebooks", lesson))["cells"]
    place = [each["id"] for each in cells].index(cell)
    shown = "".join("".join(output.get("text", "")) for output in cells[place]["outputs"])
    assert proof in shown
    if what.startswith("C"):
        before = " ".join(each["source"].lower() for each in cells[max(0, place - 6) : place])
        assert any(words in before for words in ("spot the error", "a common claim", "a claim that is true"))


def test_the_table_of_source_examples_names_these_cells() -> None:
    """`notebooks/README.md` shows the table; that it is as generated is tested with the other pages."""
    told = {cell for _, _, cells in sources.EXAMPLES for cell in cells}
    assert told == {(lesson, cell) for what, lesson, cell, _ in MOMENTS if what.startswith("B")}
    assert len(sources.EXAMPLES) == 21 and all(cells for *_, cells in sources.EXAMPLES)
    page = (notebooks.course_root() / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert all(line in page for line in sources.table())
