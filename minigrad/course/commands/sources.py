"""The four documents from which this course began, and the cells that show what each of their examples prints."""

from minigrad.course import notebooks

__all__ = ["EXAMPLES", "table"]

SINGLE = "How is a single PyTorch tensor's gradient calculated?"
SAMPLE = "How does PyTorch calculate gradients in sample code?"
MULTI = "How are gradients computed for multi-dimensional tensors in PyTorch?"
AUTOGRAD = "Understanding Autograd and Gradient Calculation in PyTorch"

# document, example, and the cells: lesson and id
EXAMPLES: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (SINGLE, "1: scalar calculation", (("02_chain_rule", "02-1fdb4f"),)),
    (SINGLE, "2: vector calculation", (("05_vectors", "05-1fdb4f"),)),
    (SINGLE, "3: matrix multiplication", (("07_matmul", "07-c26281"),)),
    (SAMPLE, "1: simple linear regression", (("06_broadcasting", "06-72a3dd"), ("08_mse", "08-909832"))),
    (SAMPLE, "2: custom function", (("01_slope", "01-9b46b6"), ("09_custom_function", "09-a3e241"))),
    (SAMPLE, "3: multiple outputs", (("05_vectors", "05-2d0efa"), ("05_vectors", "05-a62195"))),
    (MULTI, "1: a scalar operation", (("06_broadcasting", "06-9308f0"),)),
    (MULTI, "2: matrix multiplication", (("07_matmul", "07-e95b32"),)),
    (MULTI, "3: the chain rule", (("02_chain_rule", "02-2fbb0d"), ("11_cross_entropy", "11-03dd16"))),
    (AUTOGRAD, "setting `requires_grad`", (("04_pytorch_semantics", "04-c4ea06"),)),
    (AUTOGRAD, "`backward()`", (("04_pytorch_semantics", "04-4775c0"), ("04_pytorch_semantics", "04-5cd85d"))),
    (AUTOGRAD, "disabling tracking", (("04_pytorch_semantics", "04-ac0459"),)),
    (AUTOGRAD, "accumulation", (("04_pytorch_semantics", "04-022277"), ("04_pytorch_semantics", "04-106"))),
    (AUTOGRAD, "the graph of a result", (("04_pytorch_semantics", "04-106"),)),
    (AUTOGRAD, "partial derivatives of a mean", (("05_vectors", "05-1fdb4f4"),)),
    (AUTOGRAD, "accessing `grad_fn`", (("04_pytorch_semantics", "04-36a40f"),)),
    (AUTOGRAD, "chaining operations", (("02_chain_rule", "02-1fdb4f4"),)),
    (AUTOGRAD, "the gradient of a loss", (("08_mse", "08-e16703"),)),
    (AUTOGRAD, "detaching", (("04_pytorch_semantics", "04-d8a930"),)),
    (AUTOGRAD, "clearing in between", (("04_pytorch_semantics", "04-df2297"), ("04_pytorch_semantics", "04-6dc884"))),
    (AUTOGRAD, "a custom gradient", (("09_custom_function", "09-8f639a"),)),
)


def table() -> list[str]:
    """The lines of a Markdown table: each example, and links to the lessons and parts that run it."""
    lines = ["| document | example | lesson and part |", "|---|---|---|"]
    for document, example, cells in EXAMPLES:
        parts = dict.fromkeys(part(lesson, id) for lesson, id in cells)
        lines.append(f"| {document} | {example} | {', '.join(parts)} |")
    return lines


def part(lesson: str, id: str) -> str:
    """A link to the part of a lesson in which this cell is."""
    cells = notebooks.read(notebooks.path("notebooks", lesson))["cells"]
    place = [cell["id"] for cell in cells].index(id)
    prose = "\n".join(cell["source"] for cell in cells[:place] if cell["cell_type"] == "markdown")
    heading = [line[3:].strip() for line in prose.split("\n") if line.startswith("## ")][-1]
    return f"[{lesson[:2]}, part {heading.split()[0]}]({lesson}.ipynb#{heading.replace('`', '').replace(' ', '-')})"
