"""`minigrad build --site DIR`: the course as pages that need no Python, no network and no server.

Text, code, outputs and pictures come from the stored notebooks; steppers, sliders and predictions work on the page
(`alive`, `questions`). The look is in templates/ and static/. The same commit and the same packages give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import multiprocessing
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from minigrad.course import lessons, notebooks
from minigrad.course.commands import building
from minigrad.course.exercise import Exercise, Lesson
from minigrad.course.site import alive, answers, api, questions, share, text
from minigrad.viz import pages as stepper
from minigrad.viz.data import as_json
from minigrad.viz.svg import describe, picture

__all__ = ["build"]

HERE = Path(__file__).parent
GUIDES = {  # Markdown files: their pages, and the name of each in the menu
    "docs/install.md": ("install.html", "Installing"),
    "notebooks/TEACHING.md": ("teaching.html", "Teaching"),
    "notebooks/reference/in_class.md": ("in_class.html", "In class"),
    "docs/grading.md": ("grading.html", "Grading a class"),
    "docs/engine.md": ("engine.html", "How the engine works"),
    "docs/pytorch.md": ("pytorch.html", "The stepper on PyTorch"),
    "docs/authors.md": ("authors.html", "For authors"),
    "docs/site.md": ("site.html", "The course on the web"),
    "docs/upgrading.md": ("upgrading.html", "Upgrading"),
}
REFERENCE = {
    "notebooks/GLOSSARY.md": ("glossary.html", "Glossary"),
    "notebooks/ERRORS.md": ("errors.html", "Error messages"),
    "notebooks/reference/misconceptions.md": ("misconceptions.html", "Misconceptions"),
    "notebooks/reference/rules.md": ("rules.html", "Every rule"),
    "notebooks/reference/corner_cases.md": ("corner_cases.html", "Corner cases"),
    "docs/differences.md": ("differences.html", "Differences from PyTorch"),
}
LOOSE = GUIDES | REFERENCE
SHARED = "render pageModel RULES apply compute number one renamed term tuple cutText h".split()  # noqa: SIM905
IMAGES = ("notebooks/images", "docs/images")
SHARED_PICTURE = "pictures/share.png"
COLUMN = 870  # pixels of a drawing that fits the column of the text (site.css) with its smallest letters
API = ("api.html", "API")
PLAYGROUND = ("playground.html", "Playground")
PRESETS = [
    ("Two paths", "x = 3\na = x ** 2\nb = sin(x)\ny = a + b"),
    ("A chain", "x = 2\ny = exp(sin(x) * 0.5)"),
    ("A neuron", "x = 0.5\nw = -2\nb = 1\ny = tanh(w * x + b)"),
    ("Mean squared error", "w = 0.5\nb = 0.25\nx = [1, 2, 3]\nerror = w * x + b - [2, 4, 7]\nloss = mean(error ** 2)"),
    ("Two layers", "x = [[1, -1]]\nV = [[0.5, -1], [1, 0.25]]\nw = [[2], [-1]]\nh = tanh(x @ V)\nloss = sum((h @ w - 1) ** 2)"),
    ("x − x", "x = 2\ny = x - x"),
]
ABOUT = (
    "Learn how PyTorch computes gradients by building the engine yourself: pictures of every backward pass, questions before "
    "each answer, and exercises that say what went wrong."
)
HEADING = re.compile(r"(?=<h2 )")
CODE = re.compile(r"<code[^>]*>[^<]*</code>")
TERM = re.compile(r"<tr>\s*<td>(.*?)</td>")
ROW = re.compile(r'<tr id="([^"]*)">\s*<td>(.*?)</td>\s*<td>(.*?)</td>', re.DOTALL)
OPTIONS = re.compile(r'<ul>\s*(<li><code[^>]*>(?:"|&quot;)[a-z](?:"|&quot;)</code>.*?</li>\s*)+</ul>\s*$', re.DOTALL)
ENTRY = re.compile(r'<details class="entry" id="([^"]*)"><summary><code>(.*?)</code> <span>(.*?)</span>')
SECTION = re.compile(r'<h[1-3] id="([^"]*)">(.*?)</h[1-3]>', re.DOTALL)
SKIPPED = re.compile(r"<(pre|script|math|form|svg)\b.*?</\1>|<a class=\"anchor\".*?</a>", re.DOTALL)


@dataclass
class Page:
    """One page of the site; `body` is its article, `headings` level, text and anchor of each heading. What `more` has as
    `about` is the description that search engines and messages show."""

    path: str
    title: str
    kind: str
    body: str
    headings: list[tuple[int, str, str]]
    more: dict[str, Any] = field(default_factory=dict)


@dataclass
class Maker:
    """Where everything lies, and the files made so far."""

    root: Path
    lite: str
    places: dict[str, str]
    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def hub(self) -> str:
        """Owner and name of the repository, where the address is one of GitHub's pages: it says both."""
        found = re.fullmatch(r"https://([\w-]+)\.github\.io/([\w.-]+)/", self.address)
        return f"{found[1]}/{found[2]}" if found else ""

    def put_picture(self, content: bytes, suffix: str) -> str:
        """Keep a picture under a name made from its bytes; its path in the site."""
        path = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
        self.files[path] = content
        return path


def build(out: Path, lite: str = "", only: str = "", address: str = "") -> Iterator[tuple[Path, str]]:
    """Write the site into the folder `out`; yields each file with what became of it: `written` or `unchanged`.

    lite: the path of a JupyterLite site below `out`, to which each notebook's page then links. only: the beginning of a
    lesson's name, whose pages are then the only ones. address: where the site will be, for the links that need it whole:
    each page's own, and that to the picture which messages show. Files of `out` that are not the site's are left alone. Raises
    ValueError for a link to a page that is not there, CellFailed for a cell that fails.
    """
    known = lessons.all_lessons()
    root = notebooks.course_root()
    maker = Maker(root, lite, places(root, known), address and address.rstrip("/") + "/")
    for file in drawings(root):
        maker.files[f"pictures/{file.name}"] = file.read_bytes()
    made: list[Page] = []
    for lesson, living in moved([lesson for lesson in known if lesson.slug.startswith(only)]):
        made += [lesson_page(maker, lesson, living), exercise_page(maker, lesson), answer_page(maker, lesson)]
    if not only:
        made += [loose_page(maker, source, path) for source, (path, _) in LOOSE.items()]
        made += [Page(path, title, "plain", body, headings) for path, title, body, headings in api.pages()]
        made += [playground_page(), front_page(known)]
        maker.files["404.html"] = piece("404.html").encode()
        maker.files["assets/search.js"] = search_index([page for page in made if page.kind != "answers"])
    if address:
        maker.files[SHARED_PICTURE] = share.drawn(example(), "Follow a gradient back to each input, step by step")
    maker.files["assets/stepper.js"] = stepper_script()
    maker.files["assets/playground.js"] = playground_script()
    for name in ("site.css", "site.js"):
        maker.files[f"assets/{name}"] = (HERE / "static" / name).read_bytes()
    for page in made:
        maker.files[page.path] = rendered(page, known, maker)
    for path, content in sorted(maker.files.items()):
        yield out / path, building.put(content, out / path)


def places(root: Path, known: list[Lesson]) -> dict[str, str]:
    """The page of each source file, by their paths in the repository and in the site."""
    found = {"notebooks/README.md": "index.html", **{source: path for source, (path, _) in LOOSE.items()}}
    for lesson in known:
        found[source_of("notebooks", lesson)] = f"lessons/{lesson.slug}.html"
        found[source_of("exercises", lesson)] = f"exercises/{lesson.slug}{notebooks.SUFFIX}.html"
        found[answers.source(lesson)] = f"answers/{lesson.slug}.html"
    for file in drawings(root):
        found[file.relative_to(root).as_posix()] = f"pictures/{file.name}"
    return found


def drawings(root: Path) -> list[Path]:
    """The drawn pictures of the lessons and of the guides."""
    return [file for folder in IMAGES for file in sorted((root / folder).glob("*.svg"))]


def source_of(kind: str, lesson: Lesson) -> str:
    """The path of a notebook in the repository."""
    return notebooks.path(kind, lesson.slug).relative_to(notebooks.course_root()).as_posix()


# What moves ----------------------------------------------------------------------------------------------


def moved(known: list[Lesson]) -> Iterator[tuple[Lesson, dict[str, alive.Moving]]]:
    """Each lesson with what moves in it. Each lesson runs in a process of its own, so none depends on another."""
    if len(known) == 1:
        yield known[0], living_of(known[0].slug)
        return
    from minigrad.viz import live, plots  # noqa: F401  once, before the processes divide

    method = "fork" if multiprocessing.get_start_method() == "fork" else "spawn"  # macOS has a fork that it warns against
    with multiprocessing.get_context(method).Pool(min(2, os.cpu_count() or 1), maxtasksperchild=1) as pool:
        # All before the first page is made: a process that is forked in the middle of an import waits for it for ever.
        found = pool.map(living_of, [lesson.slug for lesson in known], chunksize=1)
    yield from zip(known, found, strict=True)


def living_of(slug: str) -> dict[str, alive.Moving]:
    """The steppers and sliders of a lesson, by cell."""
    file = notebooks.path("notebooks", slug)
    return alive.run(notebooks.read(file), slug, file.parent)


# Pages ---------------------------------------------------------------------------------------------------


def lesson_page(maker: Maker, lesson: Lesson, living: dict[str, alive.Moving]) -> Page:
    """A lesson: prose, code, outputs, and what moves. After a question everything to the next heading is folded."""
    source = source_of("notebooks", lesson)
    prose = text.Prose(source, maker.places[source], maker.places)
    nb = notebooks.read(maker.root / source)
    out: list[str] = []
    folded = asked = 0
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            before, *sections = HEADING.split(prose.html(cell["source"]))
            out.append(before)
            if sections:
                out += ["</div>\n" * folded, *sections]
                folded = 0
            continue
        ids = notebooks.exercise_ids({"cells": [cell]})
        if cell["source"].startswith("predict(") and ids:
            exercise = lessons.find(ids[0])
            out[-1] = OPTIONS.sub("", out[-1]) if exercise.options else out[-1]  # the form has them
            out.append(asking(exercise))
            folded, asked = folded + 1, asked + 1
            continue
        out += [text.colour(cell["source"]), *outputs(cell, living.get(cell["id"]), maker, prose.target)]
    out.append("</div>\n" * folded)
    before = next((each for each in reversed(lessons.all_lessons()) if each.number < lesson.number), None)
    more = {
        "lesson": lesson, "about": lesson.idea, "asked": asked, "next": f"exercises/{lesson.slug}{notebooks.SUFFIX}.html",
        "next_title": f"Exercises of lesson {lesson.number:02d}", "previous": before and f"lessons/{before.slug}.html",
        "previous_title": before and title_of(before),
    }  # fmt: skip
    more |= {} if before else {"previous": "index.html", "previous_title": "All lessons"}
    more |= download(maker, source)
    return Page(prose.target, prose.headings[0][1], "lesson", "".join(out), prose.headings, more)


def exercise_page(maker: Maker, lesson: Lesson) -> Page:
    """The exercises of a lesson, to read: under each check its hints, folded."""
    source = source_of("exercises", lesson)
    prose = text.Prose(source, maker.places[source], maker.places)
    out = []
    for cell in notebooks.read(maker.root / source)["cells"]:
        if cell["cell_type"] == "markdown":
            out.append(prose.html(cell["source"]))
            continue
        out.append(text.colour(cell["source"]))
        out += [hints(lessons.find(id)) for id in notebooks.exercise_ids({"cells": [cell]})]
    later = next((each for each in lessons.all_lessons() if each.number > lesson.number), None)
    more = {"lesson": lesson, "about": f"Exercises: {lesson.idea}"}
    more |= {"previous": f"lessons/{lesson.slug}.html", "previous_title": title_of(lesson)}
    if later:
        more |= {"next": f"lessons/{later.slug}.html", "next_title": title_of(later)}
    more |= download(maker, source)
    return Page(prose.target, prose.headings[0][1], "exercises", "".join(out), prose.headings, more)


def answer_page(maker: Maker, lesson: Lesson) -> Page:
    """What students answer in a lesson, and what they are told: for teachers, so no page of students leads here."""
    source = answers.source(lesson)
    prose = text.Prose(source, maker.places[source], maker.places)
    body = prose.html(answers.markdown(lesson))
    return Page(prose.target, prose.headings[0][1], "answers", body, prose.headings, {"lesson": lesson})


def download(maker: Maker, source: str) -> dict[str, str]:
    """The notebook as a student gets it, to download, and where it opens in the browser."""
    path = f"files/{Path(source).name}"
    maker.files[path] = notebooks.dumps(notebooks.strip_outputs(notebooks.read(maker.root / source))).encode()
    found = {"file": path}
    if maker.lite:
        found["lite"] = f"{maker.lite}/lab/index.html?path={source}"
    if maker.hub:
        found["binder"] = f"https://mybinder.org/v2/gh/{maker.hub}/main?urlpath=lab/tree/{source}"
        found["colab"] = f"https://colab.research.google.com/github/{maker.hub}/blob/main/{source}"
    return found | edit(maker, source)


def edit(maker: Maker, source: str) -> dict[str, str]:
    """Where a reader proposes a change of a file, if it is written by hand and not made from others."""
    made = ("exercises/", "notebooks/reference/misconceptions", "notebooks/reference/rules")
    by_hand = maker.hub and not source.startswith(made)
    return {"edit": f"https://github.com/{maker.hub}/edit/main/{source}"} if by_hand else {}


def loose_page(maker: Maker, source: str, path: str) -> Page:
    """A page of Markdown."""
    prose = text.Prose(source, path, maker.places)
    body = prose.html((maker.root / source).read_text(encoding="utf-8"))
    if source == "notebooks/GLOSSARY.md":  # each term has an address, and the search finds it
        body = TERM.sub(lambda row: f'<tr id="{prose.anchor(text.plain(row[1]))}">\n  <td>{row[1]}</td>', body)
        body = CODE.sub(lambda code: code[0].replace(".", ".<wbr>"), body)  # a long name breaks at a point
    return Page(path, prose.headings[0][1], "plain", body, prose.headings, edit(maker, source))


def front_page(known: list[Lesson]) -> Page:
    """The first page: what this is, something to try, and all lessons."""
    rows = []
    for lesson in known:
        read, solve = building.times(lesson)
        scored = [exercise for exercise in lesson.exercises if exercise.points]
        rows.append({"lesson": lesson, "read": read, "solve": solve, "exercises": len(scored), "title": title_of(lesson)})
    hours = [math.ceil(sum(part) / 60) for part in zip(*map(building.times, known), strict=True)]
    more = {"rows": rows, "hours": hours, "playground": Markup(trying())}
    return Page("index.html", "minigrad", "front", "", [], more)


def playground_page() -> Page:
    """The playground as a page of its own."""
    words = (
        '<h1>Playground</h1>\n<p class="lead">A line such as <code>x = 3</code> or <code>x = [1, 2]</code> makes an input, '
        "which you can also change with a slider. The backward pass starts from the last line. There are "
        "<code>+ - * / ** @</code> and the functions sin, cos, exp, log, sqrt, tanh, sigmoid, relu, abs, sum and mean.</p>\n"
    )
    about = {"about": "Type a formula, move its inputs, and follow the backward pass step by step, without Python."}
    return Page(*PLAYGROUND, "playground", words + trying(), [(1, "Playground", "article")], about)


def trying() -> str:
    """The field, the examples, and the first example as a picture for pages without a script."""
    data = example()
    return piece("playground.html", presets=PRESETS, still=Markup(inlined(picture(data))), words=describe(data))


def example() -> dict[str, Any]:
    """The recording of the first example."""
    import minigrad as torch
    from minigrad.record import record
    from minigrad.viz.data import dress

    x = torch.tensor(3.0, requires_grad=True)
    a, b = x**2, torch.sin(x)
    y = a + b
    return dress(record(y, names={"x": x, "a": a, "b": b, "y": y}))[0]


def title_of(lesson: Lesson) -> str:
    """A lesson's number and title."""
    return f"{lesson.number:02d} · {lesson.title}"


# Cells ---------------------------------------------------------------------------------------------------


def outputs(cell: notebooks.Cell, living: alive.Moving | None, maker: Maker, page: str) -> Iterator[str]:
    """What a cell shows; a stepper or slider in the place of its stored picture."""
    for output in cell["outputs"]:
        data = {mime: "".join(value) for mime, value in output.get("data", {}).items()}
        if output["output_type"] == "error":
            trace = "\n".join(output["traceback"])
            yield piece("error.html", text=trace, name=output["ename"])
        elif output["output_type"] == "stream":
            yield piece("printed.html", text="".join(output["text"]).rstrip("\n"))
        elif isinstance(living, dict) and "image/svg+xml" in data:
            yield stepping(living)
        elif isinstance(living, alive.Frames) and "image/png" in data:
            yield sliding(living, maker, page)
        elif isinstance(living, str) and "image/png" in data:
            yield f"<figure>{living}</figure>"
        elif "image/svg+xml" in data or "image/png" in data:
            yield still(data, maker, page)
        else:
            yield piece("printed.html", text=data.get("text/plain", ""))


def still(data: dict[str, str], maker: Maker, page: str) -> str:
    """A picture that stands still."""
    if "image/svg+xml" in data:
        path = maker.put_picture(data["image/svg+xml"].encode(), "svg")
    else:
        path = maker.put_picture(alive.small(base64.b64decode(data["image/png"])), "webp")
    return piece("picture.html", source=text.relative(path, page), alt=data.get("text/plain", ""), png="image/png" in data)


def stepping(data: dict[str, Any]) -> str:
    """A stepper: its recording, and the picture for pages that are printed or have no script. It is wide where the
    drawing in the fewest rows does not fit the text's column."""
    views = data["layout"]["views"].values()
    wide = any(min(view["drawings"], key=lambda drawing: drawing["rows"])["w"] > COLUMN for view in views)
    return piece("stepper.html", data=Markup(as_json(data).replace("<", "\\u003c")), title=data["title"],
                 still=Markup(inlined(picture(data))), words=describe(data), wide=wide)  # fmt: skip


def inlined(svg: str) -> str:
    """An SVG without its style sheet, which would change the whole page; site.css has it."""
    return re.sub(r"<style>.*?</style>", "", svg)


def sliding(frames: alive.Frames, maker: Maker, page: str) -> str:
    """A slider or a film over pictures."""
    sources = [text.relative(maker.put_picture(each.image, "webp"), page) for each in frames.pictures]
    start = 0
    for control in frames.controls:
        start = start * len(control.values) + control.start
    shown = {"pictures": sources, "words": [each.alt for each in frames.pictures]}
    return piece("slider.html", frames=frames, start=start, source=sources[start], alt=shown["words"][start],
                 data=Markup(json.dumps(shown, ensure_ascii=False).replace("<", "\\u003c")))  # fmt: skip


def asking(exercise: Exercise) -> str:
    """The form of a prediction, and the beginning of what is folded until it is answered."""
    data = json.dumps(questions.question(exercise), ensure_ascii=False).replace("<", "\\u003c")
    options = [(letter, Markup(text.inline(words))) for letter, words in exercise.options.items()]
    title = Markup(text.inline(exercise.title))
    return piece("question.html", exercise=exercise, options=options, data=Markup(data), title=title)


def hints(exercise: Exercise) -> str:
    """The hints of an exercise, each folded."""
    rungs = [Markup(text.inline(hint)) for hint in exercise.hints]
    return piece("hints.html", rungs=rungs, id=exercise.id) if rungs else ""


# Templates -----------------------------------------------------------------------------------------------


@cache
def templates() -> jinja2.Environment:
    """The templates; a name that a template lacks is an error."""
    loader = jinja2.FileSystemLoader(HERE / "templates")
    return jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def piece(name: str, /, **values: Any) -> str:
    """A part of a page."""
    return templates().get_template(name).render(values) + "\n"


def rendered(page: Page, known: list[Lesson], maker: Maker) -> bytes:
    """The whole page."""
    menu = {"Guides": [PLAYGROUND, *GUIDES.values()], "Reference": [API, *REFERENCE.values()]}

    def to(path: str) -> str:
        return text.relative(path.partition("?")[0], page.path) + "".join(path.partition("?")[1:])

    values = {
        "page": page, "body": Markup(page.body), "to": to, "known": known, "menu": menu, "title_of": title_of,
        "sections": [(words, anchor) for level, words, anchor in page.headings if level == 2], "more": page.more,
        "about": page.more.get("about", ABOUT), "lite": maker.lite, "SUFFIX": notebooks.SUFFIX, "address": maker.address,
        "picture": SHARED_PICTURE, "picture_size": share.SIZE,
    }  # fmt: skip
    name = {"front": "front.html", "playground": "playground_page.html"}.get(page.kind, "page.html")
    return templates().get_template(name).render(values).encode() + b"\n"


def stepper_script() -> bytes:
    """The stepper once for all pages: as a function, whose own text is what "download" puts into a page."""
    source = stepper.script().replace("export default { render };", f"return {{ {', '.join(SHARED)} }};")
    texts = f"css: String.raw`{stepper.style()}`, page: String.raw`{stepper.PAGE}`"
    return f"window.minigradStepper = {{ texts: {{ {texts} }}, module() {{\n{source}\n}} }};\n".encode()


def playground_script() -> bytes:
    """What a page with a playground brings besides: a function of the stepper's own parts."""
    return (
        f"window.minigradPlayground = ({{ {', '.join(SHARED)} }}) => {{\n{stepper.playground()}\n"
        "return { parse, startPlayground };\n};\n"
    ).encode()


def search_index(made: list[Page]) -> bytes:
    """Every section of every page: address, title of the page, heading, text."""
    rows = []
    for page in made:
        for anchor, term, words in ROW.findall(page.body) + ENTRY.findall(page.body):
            rows.append([f"{page.path}#{anchor}", page.title, text.plain(term), text.plain(words)])
        _, *parts = SECTION.split(page.body.partition('<details class="entry"')[0])
        for anchor, heading, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            words = " ".join(text.plain(SKIPPED.sub(" ", body)).split())
            rows.append([f"{page.path}#{anchor}", page.title, text.plain(SKIPPED.sub("", heading)), words])
    listed = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"window.minigradSearch = [\n{listed}\n];\n".encode()
