"""The notebooks of the course: where they lie, how they are read, and what is made from what.

A lesson has one number and three files: `notebooks/05_vectors.ipynb` to read,
`exercises/05_vectors_exercises.ipynb` with the student's blanks, and `solutions/05_vectors_exercises.ipynb`,
from which the exercises are made. This is the only module that knows these folders. Its parts: where
the notebooks lie; reading and writing (a notebook is handled as the plain JSON that it is); the way from a solution
to an exercise; the swap of engines; running a notebook (only this needs Jupyter); nbgrader's folder; and the
student's own folder. `building` puts them together.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from minigrad import __version__
from minigrad.course.exercise import EDITION

Notebook = dict[str, Any]
Cell = dict[str, Any]

KINDS = ("notebooks", "exercises", "solutions")
SUFFIX = "_exercises"  # so that the two tabs of a lesson have different names
STUB = "...  # your code here"
# A value with its own dots and the stub below it: they become one line.
TWO_BLANKS = r"^( *)(\w+ = .*\.\.\..*?)(?:  #.*)?\n\1\.\.\.(?=  # your code here$)"
ONE_BLANK = r"\1\2"
BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
MINIGRAD_ONLY = "minigrad-only"
IGNORE_OUTPUT = "nbval-ignore-output"

PIXELS = ("image/png", "image/jpeg")

_CHECK = re.compile(r"""^(?:check|predict)\(\s*["'](\d+\.\w+)["']""", re.MULTILINE)
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LIVE_KERNEL = _KERNEL | {"display_name": "Python 3 (ipykernel)"}
_LIVE_LANGUAGE = {
    "name": "python", "mimetype": "text/x-python", "pygments_lexer": "ipython3", "nbconvert_exporter": "python",
    "file_extension": ".py",
}  # fmt: skip
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


# Where they lie ----------------------------------------------------------------------------------------


def course_root() -> Path:
    """The folder that holds `notebooks/`, `exercises/` and `solutions/`: the checkout's, else the wheel's."""
    package = Path(__file__).resolve().parent
    carried = package / "_files"
    return carried if carried.is_dir() else package.parents[1]


def is_installed() -> bool:
    """Whether this is an installed copy that carries the notebooks, not a checkout."""
    return course_root().name == "_files"


def path(kind: str, lesson: str) -> Path:
    """The file of one lesson, for example `path("exercises", "05_vectors")`."""
    if kind not in KINDS:
        raise ValueError(f"a lesson has {', '.join(KINDS)}, not {kind!r}")
    return course_root() / kind / (f"{lesson}.ipynb" if kind == "notebooks" else f"{lesson}{SUFFIX}.ipynb")


def lessons() -> list[str]:
    """The names of the lessons that are written, in order: `["05_vectors", ...]`."""
    folders = (course_root() / kind for kind in ("notebooks", "solutions"))
    names = (file.stem for folder in folders for file in folder.glob("[0-9][0-9]_*.ipynb"))
    return sorted({name.removesuffix(SUFFIX) for name in names})


def lesson_of(file: Path) -> str | None:
    """The lesson that a student's file belongs to: by its name, else by the checks in it, else None."""
    known = lessons()
    for lesson in known:
        if re.match(rf"{re.escape(lesson)}(?:{SUFFIX})?(?:\W|$)", file.stem):
            return lesson
    numbers = [int(id.split(".")[0]) for id in exercise_ids(read(file))]
    if not numbers:
        return None
    most = max(set(numbers), key=numbers.count)
    return next((lesson for lesson in known if lesson.startswith(f"{most:02d}_")), None)


# Reading and writing -----------------------------------------------------------------------------------


def read(file: Path) -> Notebook:
    """Read a notebook, each cell's source as one string; ValueError, with a sentence, for what is none of format 4."""
    try:
        nb = json.loads(file.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file} is not a notebook: {error}") from None
    if not isinstance(nb, dict) or not isinstance(nb.get("cells"), list):
        raise ValueError(f"{file} is not a notebook of format 4: it has no list of cells")
    for cell in nb["cells"]:
        if not isinstance(cell, dict) or not isinstance(cell.get("source", ""), str | list):
            raise ValueError(f"{file} is not a notebook of format 4: a cell has no source")
        cell["source"] = "".join(cell.get("source", ""))
        cell.setdefault("metadata", {})
    return nb


def write(nb: Notebook, file: Path) -> None:
    """Write a notebook: the same notebook gives the same bytes, in the layout that Jupyter itself uses."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dumps(nb), encoding="utf-8", newline="\n")


def dumps(nb: Notebook) -> str:
    """The text of a notebook file."""
    out = _copy(nb)
    for cell in out["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
        for output in cell.get("outputs", ()):
            if isinstance(output.get("text"), str):
                output["text"] = output["text"].splitlines(keepends=True)
            for mime, value in output.get("data", {}).items():
                if isinstance(value, str) and mime not in PIXELS:
                    output["data"][mime] = value.splitlines(keepends=True)
    return json.dumps(out, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def code_cells(nb: Notebook) -> list[str]:
    """The source of each code cell that is not blank, in order: what a grader runs."""
    return [cell["source"] for cell in _code(nb) if cell["source"].strip()]


def exercise_ids(nb: Notebook) -> list[str]:
    """The exercises whose `check("N.k")` or `predict("N.k", ...)` is in a notebook, each once, in order."""
    return list(dict.fromkeys(id for source in code_cells(nb) for id in _CHECK.findall(source)))


def strip_outputs(nb: Notebook) -> Notebook:
    """A copy as if it had never been run."""
    out = _copy(nb)
    for cell in _code(out):
        cell["outputs"], cell["execution_count"] = [], None
    return out


# From a solution to an exercise ------------------------------------------------------------------------


def tidy(nb: Notebook, lesson: str = "") -> Notebook:
    """A copy with what a hand-written notebook may leave out (kernel, cell ids) and without what editors add."""
    out = _copy(nb)
    out["nbformat"], out["nbformat_minor"] = 4, 5
    out["metadata"] = {"kernelspec": dict(_KERNEL), "language_info": {"name": "python"}}
    number = lesson.split("_")[0] or "cell"
    taken: set[str] = set()
    for place, cell in enumerate(out["cells"]):
        id = cell.get("id") or f"{number}-{place:03d}"
        while id in taken:
            id += "x"
        taken.add(id)
        cell["id"] = id
        for untold in ("collapsed", "scrolled", "jupyter", "execution", "ExecuteTime", "trusted"):
            cell["metadata"].pop(untold, None)
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
    return out


def mark_for_nbgrader(nb: Notebook) -> Notebook:
    """A copy with nbgrader's metadata (schema 3): cells with solution markers are answers, checks are locked tests."""
    from minigrad.course import lessons as declared

    out = _copy(nb)
    used: dict[str, int] = {}

    def grade_id(kind: str, exercise: str) -> str:
        name = f"{kind}-{exercise.replace('.', '-')}"
        used[name] = used.get(name, 0) + 1
        return name if used[name] == 1 else f"{name}-{used[name]}"

    upcoming = _next_exercise(out)
    for place, cell in enumerate(out["cells"]):
        cell["metadata"].pop("nbgrader", None)
        if cell["cell_type"] != "code":
            continue
        asked = _CHECK.findall(cell["source"])
        fields: dict[str, Any] = {"schema_version": 3, "task": False}
        if BEGIN in cell["source"]:
            fields |= {"grade": False, "solution": True, "locked": False}
            fields["grade_id"] = grade_id("answer", asked[0] if asked else upcoming[place])
        elif asked:
            points = sum(float(declared.find(id).points) for id in dict.fromkeys(asked))
            fields |= {"grade": True, "solution": False, "locked": True, "points": points}
            fields["grade_id"] = grade_id("check", asked[0])
        else:
            continue
        cell["metadata"]["nbgrader"] = fields
    return out


def exercise_from_solution(nb: Notebook) -> Notebook:
    """The student's notebook: each solution a stub, outputs gone, checks locked; ValueError for markers that do not pair."""
    out = strip_outputs(nb)
    for cell in _code(out):
        cell["source"] = _blank(cell["source"], cell.get("id", "?"))
        cell["metadata"]["tags"] = sorted({*cell["metadata"].get("tags", ()), IGNORE_OUTPUT})
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["metadata"] |= {"deletable": False, "editable": False}
    return out


def solution_of(nb: Notebook, exercise: str) -> Notebook:
    """The student's notebook with the solution of one exercise in it; the others stay blank."""
    out, solved = exercise_from_solution(nb), strip_outputs(nb)
    for place, asked in enumerate(_next_exercise(nb)):
        if asked == exercise:
            out["cells"][place]["source"] = solved["cells"][place]["source"]
    return out


def _blank(source: str, id: str) -> str:
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        if BEGIN in line or END in line:
            if inside == (BEGIN in line):
                raise ValueError(f"cell {id}: the solution markers do not pair up at {line.strip()!r}")
            inside = not inside
            if inside:
                lines.append(line[: len(line) - len(line.lstrip())] + STUB)
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"cell {id}: a solution begins and does not end")
    return re.sub(TWO_BLANKS, ONE_BLANK, "\n".join(lines), flags=re.MULTILINE)


def _next_exercise(nb: Notebook) -> list[str]:
    """For each cell, the exercise of the next check after it."""
    upcoming, exercise = [], "end"
    for cell in reversed(nb["cells"]):
        if cell["cell_type"] == "code":
            exercise = next(iter(_CHECK.findall(cell["source"])), exercise)
        upcoming.append(exercise)
    return upcoming[::-1]


class CellFailed(Exception):
    """A cell that should run did not; the message quotes it, with its traceback."""


# Running -----------------------------------------------------------------------------------------------


def execute(nb: Notebook, folder: Path, timeout: float = 120) -> Notebook:
    """A copy with fresh outputs of a new kernel in `folder`; CellFailed for a cell that raises and is not tagged so."""
    import nbclient
    import nbformat
    from nbclient.exceptions import CellExecutionError

    client = nbclient.NotebookClient(
        nbformat.from_dict(strip_outputs(nb)),
        kernel_name="python3",
        timeout=timeout,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    env = {**os.environ, "MINIGRAD_DISPLAY": "static", "MINIGRAD_CHECK": "raise"}
    try:
        done = client.execute(env=env, stderr=subprocess.DEVNULL)  # where the kernel writes its own log
    except CellExecutionError as error:
        raise CellFailed(_ANSI.sub("", str(error))) from None
    ran = json.loads(json.dumps(done))
    out = _copy(nb)
    for cell, fresh in zip(out["cells"], ran["cells"], strict=True):
        if cell["cell_type"] == "code":
            cell["execution_count"] = fresh["execution_count"]
            cell["outputs"] = [_portable(output) for output in fresh["outputs"]]
    return out


def _portable(output: dict[str, Any]) -> dict[str, Any]:
    """An output without what differs from run to run or from machine to machine: widget ids, paths."""
    output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    if output["output_type"] == "error":
        ours = [part for part in output["traceback"] if not _ANSI.sub("", part).lstrip().startswith(("File ", "[... "))]
        output["traceback"] = [_ANSI.sub("", part).rstrip() for part in ours]
    return output


def same_outputs(one: Notebook, other: Notebook) -> bool:
    """Whether two runs show the same; pixels and tracebacks vary with the libraries and do not count."""
    return [_shown(cell) for cell in _code(one)] == [_shown(cell) for cell in _code(other)]


def _shown(cell: Cell) -> list[Any]:
    outputs: list[Any] = []
    for output in cell["outputs"]:
        data = {mime: _text(value) for mime, value in output.get("data", {}).items()}
        data |= {mime: "pixels" for mime in data if mime in PIXELS}
        rest = {key: output.get(key) for key in ("output_type", "name", "ename", "evalue")}
        outputs.append((rest, data, _text(output.get("text", ""))))
    return outputs


def _text(value: Any) -> Any:
    return "".join(value) if isinstance(value, list) else value


# For nbgrader ------------------------------------------------------------------------------------------


NBGRADER_CONFIG = f'''"""With these settings nbgrader makes the same student notebooks as `minigrad build`."""

import re

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions


class OneBlank(ClearSolutions):
    """A value has one blank: its own dots and the stub below them become one line."""

    def _replace_solution_region(self, cell, language):
        replaced = super()._replace_solution_region(cell, language)
        cell.source = re.sub({TWO_BLANKS!r}, {ONE_BLANK!r}, cell.source, flags=re.MULTILINE)
        return replaced


c = get_config()
c.CourseDirectory.course_id = "minigrad"
c.ClearSolutions.code_stub = {{"python": "{STUB}"}}
steps = GenerateAssignment.class_traits()["preprocessors"].default()
c.GenerateAssignment.preprocessors = [OneBlank if step is ClearSolutions else step for step in steps]
'''


def lay_out_for_nbgrader(folder: Path) -> list[Path]:
    """Write `folder/source/<lesson>/<lesson>_exercises.ipynb` for each lesson, and the settings that nbgrader needs."""
    written = []
    for lesson in lessons():
        solution = path("solutions", lesson)
        if solution.exists():
            file = folder / "source" / lesson / solution.name
            nb = strip_outputs(read(solution))
            nb["metadata"]["minigrad"] = stamp(nb)
            write(nb, file)
            written.append(file)
    settings = folder / "nbgrader_config.py"
    settings.write_text(NBGRADER_CONFIG, encoding="utf-8", newline="\n")
    return [*written, settings]


# A student's folder ------------------------------------------------------------------------------------


def lay_out(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy lessons and exercises into a student's folder; the files written, and those found there, which are not touched."""
    written: list[Path] = []
    kept: list[Path] = []
    for kind in ("notebooks", "exercises"):
        source = course_root() / kind
        for file in sorted(source.rglob("*")):
            inner = file.relative_to(source)
            if not file.is_file() or any(part.startswith((".", "_")) for part in inner.parts):
                continue
            target = folder / kind / inner
            (written if create(target, for_student(file)) else kept).append(target)
    return written, kept


def dated(file: Path) -> Path:
    """A name for the old copy that no file has yet: `05_vectors.2026-11-20-093000.ipynb`."""
    when = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    candidate, number = file.with_name(f"{file.stem}.{when}{file.suffix}"), 2
    while candidate.exists():
        candidate, number = file.with_name(f"{file.stem}.{when}-{number}{file.suffix}"), number + 1
    return candidate


def for_student(file: Path) -> bytes:
    """What a student gets for a file of the course: a notebook without outputs, anything else as it is."""
    return file.read_bytes() if file.suffix != ".ipynb" else dumps(student_copy(file)).encode()


def student_copy(file: Path) -> Notebook:
    """A notebook of the course as a student gets it.

    It names its kernel as JupyterLab does, which would otherwise mark it as changed when it is opened; its way back to all
    lessons leads to the welcome page; and it says which edition, version and text it was made from (`updating`).
    """
    nb = strip_outputs(read(file))
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = cell["source"].replace("](../notebooks/README.md)", "](../Welcome.md)")
    version = {"version": platform.python_version(), "codemirror_mode": {"name": "ipython", "version": 3}}
    nb["metadata"] = {"kernelspec": _LIVE_KERNEL, "language_info": _LIVE_LANGUAGE | version, "minigrad": stamp(nb)}
    return nb


def stamp(nb: Notebook) -> dict[str, Any]:
    """What a copy says about itself: edition, version, and a mark of its text."""
    text = json.dumps([[cell["cell_type"], cell["source"]] for cell in nb["cells"]]).encode()
    return {"edition": EDITION, "version": __version__, "text": hashlib.sha256(text).hexdigest()[:16]}


def create(target: Path, content: bytes) -> bool:
    """Write a file that must not be there yet, whole or not at all; False when it is there."""
    if os.path.lexists(target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as part:
            part.write(content)
        os.chmod(name, 0o644)
        try:
            os.link(name, target)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            os.rename(name, target)
        return True
    finally:
        Path(name).unlink(missing_ok=True)


def _code(nb: Notebook) -> list[Cell]:
    return [cell for cell in nb["cells"] if cell["cell_type"] == "code"]


def _copy(nb: Notebook) -> Notebook:
    copied: Notebook = json.loads(json.dumps(nb))
    return copied
