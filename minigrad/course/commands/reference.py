"""The pages made from the code they describe: the index of lessons, every rule of the engine, every misconception.

`minigrad build` writes them below `notebooks/`, and a test fails when they differ from the code.
"""

import inspect
import math
import re
from collections.abc import Iterator
from typing import Any

from minigrad import derivatives, kernels, tape
from minigrad.course import lessons, misconceptions
from minigrad.course.checks import next_step
from minigrad.course.commands import sources
from minigrad.course.exercise import Exercise
from minigrad.operation import Operation
from minigrad.record.formula import formulas_of, shown

INDEX = """# The lessons

{count} lessons, from a slope that you measure to an engine that you wrote: {read} hours to read and run, and {solve} more
for the exercises. Each lesson has a notebook, and a second one with exercises that check themselves. If you have never
used a notebook, begin with [00](00_start_here.ipynb). If you know backward passes, try the predictions of
[04](04_pytorch_semantics.ipynb), and go on from the first one that surprises you.

- [Every term in plain words](GLOSSARY.md)
- [Error messages, and what to do](ERRORS.md)
- [Every rule of the engine](reference/rules.md)
- [Corner cases of leaves, graphs and gradients](reference/corner_cases.md)
- [Common misconceptions about gradients](reference/misconceptions.md)
- [Teaching with this course](TEACHING.md)

<!-- Made by `minigrad build` from `minigrad/course/lessons/`; edit there. -->
"""

IN_CLASS = """# In class: minutes, and answers of the predictions

For teachers. The first table of a lesson says how long its parts take to read and run. The second has the answer of each
prediction, and the wrong answers that we expect most. How a class splits differs: let all vote before you run the cell.
The exercises with their solutions are in the folder `solutions/` of the repository; what students answer there, and what
they are told, stands in the texts of `minigrad/course/lessons/`.

<!-- Made by `minigrad build` from the lessons; edit there. -->
"""

SOURCES = """The course began with four documents about gradients in PyTorch. Each of their programs is run in a lesson, some of
them with other names for functions and variables.
"""


Parts = dict[int, list[tuple[str, int]]]  # of each lesson: its parts, with their minutes


def pages(minutes: dict[int, tuple[int, int]], parts: Parts) -> dict[str, str]:
    """File name below `notebooks/` -> text. `minutes` are those of each lesson and of its exercises."""
    return {
        "README.md": index(minutes),
        "reference/in_class.md": in_class(parts),
        "reference/rules.md": rules(),
        "reference/misconceptions.md": misconceptions.page(),
    }


def index(minutes: dict[int, tuple[int, int]]) -> str:
    """All lessons: title, idea, minutes, what each builds on, and its exercises."""
    known = lessons.all_lessons()
    asked = {each.number: [e for e in each.exercises if e.points] for each in known}
    read, solve = (math.ceil(sum(each) / 60) for each in zip(*minutes.values(), strict=True))
    lines = [INDEX.format(count=len(known), read=read, solve=solve)]
    lines += ["| lesson | minutes | after | the idea |", "|---|---|---|---|"]
    for each in known:
        title = f"[{each.number:02d} · {each.title}]({each.slug}.ipynb)"
        lines.append(f"| {title} | {minutes[each.number][0]} | {each.prerequisites} | {each.idea} |")
    lines += ["", "## The exercises", "", "| of lesson | minutes | |", "|---|---|---|"]
    for each in known:
        title = f"[{each.number:02d} · {each.title}](../exercises/{each.slug}_exercises.ipynb)"
        links = (f"[{e.id} {e.title}]({next_step.address(e, 'notebooks/README.md')})" for e in asked[each.number])
        titles = "<br>".join(links)
        lines.append(f"| {title} | {minutes[each.number][1]} | {titles} |")
    lines += ["", "## Where each source example is taught", "", SOURCES, *sources.table()]
    return "\n".join(lines) + "\n"


def in_class(parts: Parts) -> str:
    """For teachers: the minutes of each part, and of each prediction the answer and what else a class says."""
    lines = [IN_CLASS]
    for each in lessons.all_lessons():
        lines += [f"## {each.number:02d} {each.title}", ""]
        lines += ["| part | minutes |", "|---|---|", *(f"| {name} | {minutes} |" for name, minutes in parts[each.number]), ""]
        lines += ["| prediction | answer | expect also |", "|---|---|---|"]
        for asked in each.exercises:
            if asked.kind == "prediction":
                answer, *others = (said(asked, a) for a in (asked.right, *(wrong.answer for wrong in asked.wrong[:2])))
                lines.append(f"| {asked.id} {asked.title} | {answer} | {', or '.join(others)} |")
        lines.append("")
    return "\n".join(lines)


def said(asked: Exercise, answer: Any) -> str:
    """An answer as a class would say it."""
    if asked.options:
        return f"`{answer}`: {asked.options[answer]}"
    return code(str(answer))


def rules() -> str:
    """The derivative table as a page: the gradient of each input, what is kept for it, and the words that rules use."""
    lines = [
        "# Every rule of the engine",
        "",
        "`g` is the gradient of the output; `x`, `y`, `z` are the inputs, `out` is the result, `x_shape` the shape of an "
        "input; other names are arguments of the operation. A rule may give a gradient that is still stretched by "
        "broadcasting: the walk sums it to the input's shape. Words that are no operations are explained at the end. "
        "Made by `minigrad build` from `minigrad/derivatives.py`; edit there.",
    ]
    words: dict[str, str] = {}
    for family, names in families():
        lines += ["", f"## {family.capitalize()}", ""]
        lines += ["| operation | node | gradient of each input | saved for backward |", "|---|---|---|---|"]
        for name in names:
            operation = tape.TABLE[name]
            lines.append(row(name, operation))
            for formula, rule in zip(formulas_of(operation), operation.rules, strict=True):
                words.update({word: meaning(word, rule) for word in CALLED.findall(formula) if word not in tape.TABLE})
    lines += ["", "## Words in the rules", "", "| word | means |", "|---|---|"]
    lines += [f"| `{word}` | {text} |" for word, text in sorted(words.items()) if text]
    return "\n".join(lines) + "\n"


def families() -> Iterator[tuple[str, list[str]]]:
    """The headings of the table, and which operations stand under each."""
    parts = re.split(r"^# -{9,} (.+)$", inspect.getsource(derivatives), flags=re.MULTILINE)
    for family, source in zip(parts[1::2], parts[2::2]):
        defined = " ".join(re.findall(r"^(\w[\w, ]*) = ", source, re.MULTILINE))
        names = [name for name in re.findall(r"\w+", defined) if name in tape.TABLE]
        if names:
            yield family, names


def row(name: str, operation: Operation) -> str:
    """One line of the derivative table as a line of the page."""
    given = zip(operation.inputs, formulas_of(operation), operation.rules, strict=True)
    gradients = [f"{x}: {code(shown(formula))}" for x, formula, rule in given if rule is not None]
    kept = dict.fromkeys(argument for arguments in operation.arguments for argument in arguments)
    cells = (f"`{name}`", f"`{operation.node_name}`", "<br>".join(gradients), ", ".join(map(code, kept)) or "nothing")
    return f"| {' | '.join(cells)} |"


CALLED = re.compile(r"(?<![.\w])([A-Za-z_]\w+)(?=\()")  # a name with an opening bracket behind it


def meaning(word: str, rule: Any) -> str:
    """What a function that a rule calls does: the beginning of its docstring; nothing for Python's own."""
    rooms = (rule.__globals__, vars(kernels))
    function = rule if rule.__name__ == word else next((room[word] for room in rooms if word in room), None)
    text = inspect.getdoc(function) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|") if function is not None else ""


def code(text: str) -> str:
    """Text as code inside a table, where a bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`"
