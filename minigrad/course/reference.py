"""The pages made from the code they describe: the index of lessons, every rule of the engine, every misconception.

`minigrad build` writes them below `notebooks/`, and a test fails when they differ from the code.
"""

import minigrad.nn.rules
import minigrad.special  # noqa: F401 (their lines belong to the table too)
from minigrad import tape
from minigrad.course import lessons, misconceptions
from minigrad.formulas import formulas_of

INDEX = """# The lessons

{count} lessons, from a slope that you measure to an engine that you wrote: {read} hours to read and run, and {solve} more
for the exercises. Each lesson has a notebook, and a second one with exercises that check themselves. If you have never
used a notebook begin with [00](00_start_here.ipynb). If backward passes are no news, try the predictions of
[04](04_pytorch_semantics.ipynb), and go on from where they surprise you.

- [Every term in plain words](GLOSSARY.md)
- [Every message, and what to do](ERRORS.md)
- [Every rule of the engine](reference/rules.md)
- [What people believe about gradients that is not so](reference/misconceptions.md)
- [Teaching with this course](TEACHING.md)

Made by `minigrad build` from `minigrad/course/lessons/`; edit there.
"""


def pages() -> dict[str, str]:
    """File name below `notebooks/` -> text."""
    return {
        "README.md": index(),
        "reference/rules.md": rules(),
        "reference/misconceptions.md": misconceptions.page(),
    }


def index() -> str:
    """All lessons: title, idea, minutes, what each builds on, and its exercises."""
    known = lessons.all_lessons()
    asked = {each.number: [e for e in each.exercises if e.points] for each in known}
    minutes = {number: sum(e.minutes for e in exercises) for number, exercises in asked.items()}
    read, solve = (round(sum(each) / 60) for each in ([each.minutes for each in known], minutes.values()))
    lines = [INDEX.format(count=len(known), read=read, solve=solve)]
    lines += ["| lesson | minutes | after | the idea |", "|---|---|---|---|"]
    for each in known:
        title = f"[{each.number:02d} · {each.title}]({each.slug}.ipynb)"
        lines.append(f"| {title} | {each.minutes} | {each.prerequisites} | {each.idea} |")
    lines += ["", "## The exercises", "", "| of lesson | minutes | |", "|---|---|---|"]
    for each in known:
        title = f"[{each.number:02d} · {each.title}](../exercises/{each.slug}.ipynb)"
        titles = "<br>".join(f"{exercise.id} {exercise.title}" for exercise in asked[each.number])
        lines.append(f"| {title} | {minutes[each.number]} | {titles} |")
    return "\n".join(lines) + "\n"


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
