"""The pages beside the lessons: the index, the glossary, the guide for teachers. They say what is so, and link to it."""

import builtins
import importlib
import re
from pathlib import Path

import pytest

import minigrad
from minigrad import tape
from minigrad.course import lessons, notebooks
from minigrad.course.commands import building, reference
from minigrad.course.misconceptions import catalogue
from tests.course.test_misconceptions import printed
from tests.house.pages import BLOCK
from tests.house.test_notebook_style import anchors
from tests.together import together

ROOT = Path(__file__).parents[2]
HERE = ROOT / "notebooks"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *HERE.rglob("*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
GLOSSARY = (HERE / "GLOSSARY.md").read_text(encoding="utf-8")
TEACHING = (HERE / "TEACHING.md").read_text(encoding="utf-8")


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table that has this head line."""
    lines = page.split(f"{head}\n", 1)[1].splitlines()[1:]
    table = lines[: next((n for n, line in enumerate(lines) if not line.startswith("|")), None)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def heading_names(page: str) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ +(.+?) *$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# Links ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            known = anchors(file) if file.suffix == ".ipynb" else heading_names(file.read_text(encoding="utf-8"))
            assert anchor in known, target


def test_links_stay_inside_what_a_student_has(tmp_path: Path) -> None:
    notebooks.lay_out(tmp_path)
    for page in (tmp_path / "notebooks").rglob("*.md"):
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            assert re.match(r"[a-z]+:|#", target) or (page.parent / target.partition("#")[0]).exists(), target


# Every rule ------------------------------------------------------------------------------------------------


def test_the_page_of_rules_explains_its_words() -> None:
    """All that the rules call is an operation with a line of its own, or stands at the end; or it is Python's."""
    page = (HERE / "reference" / "rules.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert explained >= set(tape.TABLE)
    assert set(reference.CALLED.findall(page.partition("## Words")[0])) - explained <= set(dir(builtins))


# Corner cases ----------------------------------------------------------------------------------------------

CORNERS = re.split(r"^## ", (HERE / "reference" / "corner_cases.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
ENGINES = ["minigrad", pytest.param("torch", marks=[pytest.mark.slow, pytest.mark.needs("torch")])]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.partition("\n")[0])
def test_a_corner_case_prints_what_stands_under_it(corner: str, engine: str) -> None:
    program, shown = re.findall(r"^```(?:python|text)\n(.+?)^```", corner, re.MULTILINE | re.DOTALL)
    assert printed(program, importlib.import_module(engine)).startswith(shown.strip())


# The index -----------------------------------------------------------------------------------------------


def test_the_index_names_every_lesson_with_its_exercises() -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    for lesson in lessons.all_lessons():
        assert lesson.idea.endswith(".") and lesson.idea in page
        assert all(number < lesson.number for number in lesson.after)
        assert f"]({lesson.slug}.ipynb)" in page and f"](../exercises/{lesson.slug}_exercises.ipynb)" in page
        assert all(f"{exercise.id} {exercise.title}" in page for exercise in lesson.exercises if exercise.points)


@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda lesson: lesson.slug)
def test_the_first_screen_says_what_is_declared(lesson: lessons.Lesson) -> None:
    opening = notebooks.read(notebooks.path("notebooks", lesson.slug))["cells"][0]["source"]
    told = r"^\*\*(\d+) minutes\*\*: (\d+) here, (\d+) for the exercises · (.+?) · "
    *minutes, after = re.search(told, opening, re.MULTILINE).groups()
    assert opening.startswith(f"# {lesson.number:02d} · ")
    read, solve = building.times(lesson)
    assert [int(each) for each in minutes] == [read + solve, read, solve]
    named = re.fullmatch(r"after lessons? (.+)", after)
    assert (named[1] if named else "") == lesson.prerequisites


@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda lesson: lesson.slug)
def test_a_lesson_is_read_in_forty_minutes(lesson: lessons.Lesson) -> None:
    read, _ = building.times(lesson)
    assert read <= 40
    asks = notebooks.read(notebooks.path("solutions", lesson.slug))["cells"]
    core = [int(minutes) for cell in asks for minutes in re.findall(r"^★+ core, (\d+) minutes", cell["source"], re.MULTILINE)]
    assert core and read + sum(core) <= 100, "with its core exercises"


@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda lesson: lesson.slug)
def test_a_lesson_has_five_predictions_and_says_why_people_differ(lesson: lessons.Lesson) -> None:
    nb = notebooks.read(notebooks.path("notebooks", lesson.slug))
    asked = {id for code in notebooks.code_cells(nb) for id in re.findall(r"predict\(\"([\w.]+)\"", code)}
    predictions = [exercise for exercise in lesson.exercises if exercise.kind == "prediction" and not exercise.points]
    assert asked == {exercise.id for exercise in predictions} and len(asked) >= 5
    for exercise in predictions:
        assert exercise.wrong and all(wrong.says for wrong in exercise.wrong), f"{exercise.id}: why would one answer otherwise?"


@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda lesson: lesson.slug)
def test_the_exercises_take_as_long_as_their_parts(lesson: lessons.Lesson) -> None:
    cells = notebooks.read(notebooks.path("solutions", lesson.slug))["cells"]
    prose = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    total = sum(exercise.minutes for exercise in lesson.exercises if exercise.points)
    assert re.findall(r"\*\*(\d+) minutes\*\*", prose) == [str(total)]
    parts = [int(minutes) for minutes in re.findall(r"(?<!\*\*)\b(\d+) minutes?[.,]", prose)]
    assert not parts or sum(parts) == total


# The glossary --------------------------------------------------------------------------------------------

TERMS = rows(GLOSSARY, "| term | in plain words | lesson | in PyTorch |")


def test_terms_are_in_order_each_once() -> None:
    terms = [re.sub(r"[*`]", "", term).lower() for term, *_ in TERMS]
    assert terms == sorted(terms) and len(set(terms)) == len(terms)
    assert len(terms) >= 80


def test_every_lesson_introduces_a_term() -> None:
    assert {int(link[1:3]) for _, _, link, _ in TERMS} == set(lessons.numbers())


@together("row", TERMS)
def test_a_term_is_explained_and_its_lesson_speaks_of_it(row: list[str]) -> None:
    term, meaning, link, _ = row
    assert meaning.endswith((".", ".)")) and 3 <= len(meaning.split()) <= 60
    slug = re.fullmatch(r"\[(\d\d)\]\((\1_\w+)\.ipynb\)", link)[2]
    files = [notebooks.path(kind, slug) for kind in ("notebooks", "solutions")]
    text = "\n".join(cell["source"] for file in files for cell in notebooks.read(file)["cells"]).lower()
    words = re.findall(r"\w+", term.lower())
    assert any(word in text for word in words if len(word) > 2), f"lesson {slug} does not speak of {term}"


def pytorch_names() -> list[str]:
    return sorted({name for *_, names in TERMS for name in re.findall(r"`((?:torch|Tensor)\.[\w.]+)", names)})


def look_up(name: str, torch: object) -> object:
    """What a dotted name of PyTorch stands for."""
    found = torch
    for part in name.replace("Tensor.", "torch.Tensor.", 1).split(".")[1:]:
        found = getattr(found, part)
    return found


NOT_OURS = {"torch.func.jvp", "torch.autograd.forward_ad", "Tensor.sum_to_size"}  # named to those who go on to PyTorch


@together("name", sorted({*pytorch_names()} - NOT_OURS))
def test_pytorchs_names_are_ours(name: str) -> None:
    look_up(name, minigrad)


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_pytorchs_names_are_pytorchs() -> None:
    import torch

    for name in pytorch_names():
        look_up(name, torch)


# The messages --------------------------------------------------------------------------------------------

MESSAGES = [row[0] for row in rows((HERE / "ERRORS.md").read_text(encoding="utf-8"),
                                   "| the message begins with or contains | it means | do |")]  # fmt: skip
SLIPS = (
    "y = x * x; y.sum().backward(); y.sum().backward()",
    "(x * x).backward()",
    "(x * x).backward(torch.tensor([1.0]))",
    "x.detach().sum().backward()",
    "x += 1",
    "y = x * 1; z = y * y; y += 1; z.sum().backward()",
    "x.grad.zero_()",
    "0.1 * x.grad",
    "torch.autograd.grad((x * x).sum(), torch.tensor(3.0, requires_grad=True))",
    "x.numpy()",
    "One.apply(x, 3.0).sum().backward()",
    "One.forward(x, 3.0)",
    "torch.mm(torch.rand(4, 2), torch.rand(3, 2))",
    "torch.rand(2, 3) + x",
    "torch.tensor([2, 3], requires_grad=True)",
    "x.item()",
    "x[[0, 5]]",
)
SLIP = """
x = torch.tensor([2.0, 3.0], requires_grad=True)
class One(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k): return x * k
    @staticmethod
    def backward(ctx, g): return g
"""


def raised(torch: object, slip: str) -> str:
    """What a line of code raises after `SLIP`, as one line."""
    with pytest.raises((RuntimeError, AttributeError, TypeError, IndexError)) as caught:
        exec(SLIP + slip, {"torch": torch})
    return " ".join(str(caught.value).split())


def says(message: str, error: str) -> bool:
    """Whether an error holds the words of a row, which may leave something out at its dots."""
    return all(part in error for part in re.findall(r"`([^`]+)`", message))


@pytest.mark.parametrize(("message", "slip"), list(zip(MESSAGES, SLIPS, strict=True)))
def test_a_message_is_what_a_slip_raises(message: str, slip: str) -> None:
    assert says(message, raised(minigrad, slip))


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_messages_are_pytorchs() -> None:
    import torch

    for message, slip in zip(MESSAGES, SLIPS, strict=True):
        assert says(message, raised(torch, slip)), message


# The guide for teachers ----------------------------------------------------------------------------------


def test_the_guide_has_questions_for_every_lesson() -> None:
    for lesson in lessons.all_lessons():
        section = re.search(rf"^### {lesson.number:02d} (.*?)(?=^##)", TEACHING, re.MULTILINE | re.DOTALL)
        assert section and section[1].count("?**") >= 2, f"fewer than two questions about {lesson.slug}"
        assert all(f"{what}:" in section[1] for what in ("On the projector", "On the board", "For those who are done"))


def test_the_guide_shows_every_misconception_in_class() -> None:
    table = rows(TEACHING, "| | what you see or hear | your move |")
    assert [cells[0] for cells in table] == [
        f"[{each.id}](reference/misconceptions.md#{each.id.lower()}-{anchor(each.name)}) {each.name}"
        for each in catalogue().values()
    ]
    for _, seen, move in table:
        assert seen.endswith((".", '."')) and move.endswith((".", "?")) and seen != move


def anchor(name: str) -> str:
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def test_the_plans_add_up() -> None:
    minutes = {lesson.number: building.times(lesson) for lesson in lessons.all_lessons()}
    takes = {each.id: each.minutes for lesson in lessons.all_lessons() for each in lesson.exercises}
    plans = re.findall(r"^\| ([^|]+) \| ([\d, ]+) \| (?:([\d., ]+) \| )?(\d+) \|", TEACHING, re.MULTILINE)
    assert any(exercises for _, _, exercises, _ in plans) and any(not exercises for _, _, exercises, _ in plans)
    for part, numbers, exercises, told in plans:
        read, solve = zip(*(minutes[int(number)] for number in numbers.split(",")), strict=True)
        chosen = [takes[id] for id in exercises.split(", ")] if exercises else solve
        assert sum(read) + sum(chosen) == int(told), part
    three_hours = TEACHING.partition("**Six sessions** of three hours")[2].partition("**A term**")[0]
    sessions = [int(told) for told in re.findall(r"\| (\d+) \|$", three_hours, re.MULTILINE)]
    assert len(sessions) == 6 and max(sessions) <= 180
