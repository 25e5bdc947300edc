"""The reference pages, made from the code they describe: every rule of the engine, every misconception.

`minigrad build` writes them to `notebooks/reference/`, and a test fails when they differ from the code.
"""

import minigrad.nn.rules  # noqa: F401 (its lines belong to the table too)
from minigrad import tape
from minigrad.course import misconceptions
from minigrad.formulas import formulas_of


def pages() -> dict[str, str]:
    """File name -> text."""
    return {"rules.md": rules(), "misconceptions.md": misconceptions.page()}


def rules() -> str:
    """The derivative table as a page: the gradient of each input, and what is kept for it until backward."""
    lines = [
        "# Every rule of the engine",
        "",
        "`g` is the gradient of the output; `x`, `y`, `z` are the inputs, `out` is the result. A rule may "
        "give a gradient that is still stretched by broadcasting: the walk sums it to the input's shape. "
        "Made by `minigrad build` from `minigrad/derivatives.py`; edit there.",
        "",
        "| operation | node | gradient of each input | kept until backward |",
        "|---|---|---|---|",
    ]
    for name, operation in tape.TABLE.items():
        given = zip(operation.inputs, formulas_of(operation), operation.rules, strict=True)
        shares = [f"{x}: {code(formula)}" for x, formula, rule in given if rule is not None]
        kept = dict.fromkeys(argument for arguments in operation.arguments for argument in arguments)
        cells = (
            f"`{name}`",
            f"`{operation.node_name}`",
            "<br>".join(shares),
            ", ".join(map(code, kept)) or "nothing",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Text as code inside a table, where a bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`"
