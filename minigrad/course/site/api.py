"""The pages of the API, one a module: every public name with its signature, its docstring and an example.

An example stands in the docstring, or in docs/api_examples.txt.
"""

from __future__ import annotations

import html
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from minigrad.course import notebooks
from minigrad.course.site import text

__all__ = ["examples", "pages", "public"]

BREAK = "\n\n"
SPACES = (
    (
        "minigrad", "Tensors and operations",
        "`import minigrad as torch` makes all of these `torch.` names. The number types are `float16` (`half`), `float32` "
        "(`float`), `float64` (`double`), `uint8`, `int8`, `int16` (`short`), `int32` (`int`), `int64` (`long`) and `bool`, "
        "and the numbers are `pi`, `e`, `inf` and `nan`.",
    ),
    ("minigrad.Tensor", "Tensor", "The methods of a tensor."),
    ("minigrad.autograd", "Autograd", "Gradients as functions, custom operations, and checks of gradients."),
    ("minigrad.autograd.function", "Autograd, operations of your own", "What a custom operation is made of."),
    ("minigrad.autograd.functional", "Autograd, functional", "Jacobians, Hessians and products with them."),
    ("minigrad.autograd.graph", "Autograd, the graph", "The nodes of a graph, and what they save."),
    ("minigrad.nn", "Layers and losses", "Modules that hold parameters."),
    ("minigrad.nn.functional", "Layers and losses as functions", "The same without parameters of their own."),
    ("minigrad.nn.init", "Initialisation", "Functions that fill a parameter before training."),
    ("minigrad.nn.utils", "Parameters as a whole", "Functions of all parameters or gradients of a model."),
    ("minigrad.optim", "Optimisers", "They change parameters by their gradients."),
    ("minigrad.optim.lr_scheduler", "Learning rates", "They change the learning rate while a net trains."),
    ("minigrad.utils.data", "Data", "Datasets and batches."),
    ("minigrad.linalg", "Linear algebra", "Norms, inverses and solutions of linear systems."),
    ("minigrad.cuda", "CUDA", "There is none, and a program can ask."),
    ("minigrad.viz", "Pictures", "The stepper and still pictures of a graph."),
    ("minigrad.course", "Course", "What you use in an exercise notebook."),
)  # fmt: skip
OPENING = "Every public name has an example here. In it `torch` is minigrad, `nn` is `torch.nn`, and `F` is `nn.functional`."


@cache
def examples() -> dict[str, str]:
    """The examples of docs/api_examples.txt, by the full names of what they show."""
    file = notebooks.course_root() / "docs" / "api_examples.txt"
    blocks = [block.partition("\n") for block in file.read_text(encoding="utf-8").split(BREAK)[1:]]
    return {name: example.rstrip("\n") for names, _, example in blocks for name in names.split()}


def example(space: str, name: str) -> str:
    """The example of a name; a method, or a function with two names, has that of the function."""
    return next((examples()[f"{place}.{name}"] for place in (space, "minigrad") if f"{place}.{name}" in examples()), "")


def pages() -> Iterator[tuple[str, str, str, list[tuple[int, str, str]]]]:
    """The page of each module and then the list of all, as path, title, body and headings."""
    rows = []
    for space, title, says in SPACES:
        path = f"api/{space}.html"
        about, names = f"<p><code>{space}</code>. {text.inline(says)}</p>\n", [*public(space)]
        body = f'<h1 id="{space}">{title}</h1>\n{about}' + "".join(entry(space, *each) for each in names)
        yield path, title, body, [(1, title, space)]
        links = ", ".join(f'<a href="{path}#{space}.{name}">{name}</a>' for name, _ in names)
        rows.append(f'<h2 id="{space}"><a href="{path}">{title}</a></h2>\n{about}<p>{links}</p>\n')
    lead = f'<h1 id="The-API">The API</h1>\n<p>{text.inline(OPENING)}</p>\n'
    headings = [(1, "The API", "The-API"), *((2, title, space) for space, title, _ in SPACES)]
    yield "api.html", "The API", lead + "".join(rows), headings


def public(space: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a namespace with docstrings, in order."""
    room: Any = importlib.import_module(space.removesuffix(".Tensor"))
    if space.endswith(".Tensor"):
        room = room.Tensor
    for name in sorted(dir(room), key=str.lower):
        thing = None if name.startswith("_") else getattr(room, name, None)
        if inspect.isclass(room) and thing is not None:
            thing = inspect.getattr_static(room, name)
            thing = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
        ours = str(getattr(thing, "__module__", "")).startswith("minigrad")
        if ours and callable(thing) and inspect.getdoc(thing):
            yield name, thing


def entry(space: str, name: str, thing: Any) -> str:
    """One name: what it is called with, and what it says of itself."""
    try:
        signature = str(inspect.signature(thing))
    except (TypeError, ValueError):
        signature = "(...)"
    signature = re.sub(r"'([\w\[\], .|]+)'", r"\1", signature)
    shown = f"class {name}{signature}" if inspect.isclass(thing) else f"{name}{signature}"
    anchor = html.escape(f"{space}.{name}")
    says, _, more = (inspect.getdoc(thing) or "").partition(BREAK)
    says = " ".join(says.split())
    if ">>> " not in more and (shows := example(space, name)):
        more = f"{more}{BREAK}{shows}"
    return (
        f'<details class="entry" id="{anchor}"><summary><code>{html.escape(name)}</code> '
        f"<span>{text.inline(says)}</span></summary>\n"
        f"{text.colour(shown)}{described(more)}</details>\n"
    )


def described(doc: str) -> str:
    """A docstring as HTML: paragraphs as they are, examples as code."""
    out = []
    for part in filter(None, doc.split(BREAK)):
        if part.startswith((">>>", "    ")):
            out.append(text.colour(inspect.cleandoc(part), "pycon" if ">>>" in part else "python"))
        else:
            out.append(f'<p class="doc">{text.inline(part)}</p>')
    return "\n".join(out)
