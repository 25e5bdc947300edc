"""Texts of answers: a lesson's own is tried while it is written, and a teacher's adds answers to those of the lessons.

You will meet `Text`, the exercises of a file with the place of each answer, and `Added`, an exercise of a lesson with the
answers that another file adds to it. What is in such a file is code: who reads it runs it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import lessons
from ..exercise import Exercise, Lesson
from ..judge.shown import shown_answer
from ..lesson_text import Answer, Section, TextError, facts, sections
from ..student.wire import Failure
from .matrix import SEEDS, Matrix, prove

__all__ = ["Added", "Text", "checked", "given", "read", "report", "unnamed"]

FOLDER = Path(lessons.__file__).parent
LONGEST_ROW = 8_000  # characters of a student's code that a report shows as a row


class Added(Section):
    """An exercise of a lesson, with the answers of another file below its own."""

    def __init__(self, of_lesson: Section, added: Section) -> None:
        super().__init__(of_lesson.file, of_lesson.top, of_lesson.space, of_lesson.code, of_lesson.compiled)
        self.added, self.names = added, set[str]()
        kinds = [part for part in ("Right", "Wrong") if part in self.parts]
        if odd := [part.text for part in added.top.below if part.mark == "-" or part.text not in kinds]:
            says = f"{odd[0]!r}: what can be added to {self.id} is {' and '.join(f'### {kind}' for kind in kinds) or 'nothing'}"
            raise TextError(added.file, added.top.line, says)

    def answers(self, part: str) -> Iterator[tuple[Answer, Any]]:
        """Those of the lesson, then the added ones, whose errors name their own file."""
        yield from super().answers(part)
        of_lesson, self.file, self.parts = (self.file, self.parts), self.added.file, self.added.parts
        for found, made in super().answers(part):
            self.names.add(found.name)
            yield found, made
        self.file, self.parts = of_lesson


@dataclass(frozen=True)
class Text:
    """The exercises of a file, and for each of its answers, by exercise and by what is tried, where it stands."""

    exercises: dict[str, Exercise]
    places: dict[str, dict[str, str]]

    def tried(self, id: str, seeds: tuple[int, ...]) -> Matrix:
        """The proof of one exercise."""
        return prove(self.exercises[id], seeds, self.places.get(id))

    def of(self, lesson: Lesson) -> Lesson:
        """The lesson with the exercises as they are here."""
        return dataclasses.replace(lesson, exercises=tuple(self.exercises.get(e.id, e) for e in lesson.exercises))


def read(file: Path) -> Text:
    """The text of a lesson, or a file whose answers are added to exercises of any lessons; TextError if it cannot be read."""
    file.read_bytes()  # if it is not there, that is all there is to say
    try:
        if file.resolve().parent == FOLDER:
            beside = {module[1:]: number for number, module in lessons.files().items()}
            if file.stem not in beside:
                raise TextError(file, 1, f"a lesson's text has its questions beside it, in l{file.stem}.py")
            lesson = lessons.lesson(beside[file.stem])
            found = {section.id: section for section in lesson.sections}
            exercises = {exercise.id: exercise for exercise in lesson.exercises}
        else:
            top, own = sections(file, {}, {}, "")
            if odd := facts(file, top):
                says = f"{next(iter(odd))!r}: facts stand in the text of a lesson, and here stand '## 5.1' and answers below it"
                raise TextError(file, next(iter(odd.values()))[0].line, says)
            found = {section.id: Added(of_lesson(section), section) for section in own}
            exercises = {id: section.exercise() for id, section in found.items()}
        for exercise in exercises.values():
            len(exercise.wrong)  # made now, for what is wrong in the file is to be said now
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TextError(file, line, "this is no UTF-8: save the file as UTF-8") from error
    return Text(exercises, {id: places(found[id], exercise) for id, exercise in exercises.items() if id in found})


def of_lesson(added: Section) -> Section:
    """The exercise of a lesson to which answers are added."""
    try:
        lesson = lessons.lesson(lessons.find(added.id).lesson)
    except KeyError as error:
        raise TextError(added.file, added.top.line, error.args[0]) from error
    found: Section | None = next((each for each in lesson.sections if each.id == added.id), None)
    if found is None:
        raise TextError(added.file, added.top.line, f"the answers of {added.id} are Python, so nothing can be added to them")
    return found


def places(section: Section, exercise: Exercise) -> dict[str, str]:
    """By what is tried ("right 1", "wrong no sign"), the file and the line; of an added answer, the file it comes from."""
    found = {}
    for number, (name, answer) in enumerate(section.known.items(), 1):
        what = f"right {number}" if number <= len(exercise.alternatives) else f"wrong {name}"
        file = section.added.file if isinstance(section, Added) and name in section.names else section.file
        found[what] = f"{file.name}, line {answer.line}"
    return found


def report(matrix: Matrix, verbose: bool = False) -> str:
    """The matrix as text; `verbose` shows what a student reads."""
    exercise = matrix.exercise
    fine = "fine" if not matrix.problems else "NOT FINE"
    out = [f"{exercise.id}  {exercise.title}: {fine} (slowest check {matrix.seconds:.2f} s)"]
    out += [f"  ! {problem}" for problem in matrix.problems]
    if matrix.table and exercise.points:
        out.append(f"  refused only by questions that are the same for everybody: {', '.join(matrix.table)}")
    for what, verdict in matrix.rows if verbose else []:
        if verdict.seed == matrix.rows[0][1].seed:
            out.append(f"  {what}: {verdict.status} {verdict.misconception}")
            parts = (("called", verdict.call), ("got", verdict.got), ("expected", verdict.expected))
            out += [f"      {label}: {text}" for label, text in parts if text]
            out += [f"      {line}" for line in verdict.lines]
    return "\n".join(out)


# ------------------------------------------------------------------ what a class answers


def checked(file: Path) -> bytes:
    """A teacher's own answers; ValueError, with file and line, for the first that is not right or wrong as it says."""
    text = read(file)
    for id in text.exercises:
        if problems := text.tried(id, SEEDS[:1]).problems:
            raise ValueError(problems[0])
    return file.read_bytes()


@functools.cache
def given(content: bytes) -> Text:
    """A teacher's own answers, which a job brings to where it is done."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.md"
        file.write_bytes(content)
        return read(file)


def unnamed(exercise: Exercise, answers: Sequence[Any], cells: Iterable[str], got: str = "") -> dict[str, str]:
    """For a wrong answer without a name: a mark of what it computes, and itself as a row of a text, without its words.

    `answers` are given to questions that are the same for everybody; of what is written down, `got` is the answer.
    """
    spelled = [f"{a.type}: {a.message}" if isinstance(a, Failure) else shown_answer(a) for a in answers]
    computed = re.sub(r"-(?=0(\.0*)?(?![\d.e]))", "", "\n".join([exercise.id, got, *spelled]))  # -0 is 0
    mark = hashlib.sha256(computed.encode("utf-8", "replace")).hexdigest()[:6]
    if exercise.written:
        return {"mark": mark, "row": f"- `{got}`\n  >"}
    block = "".join(f"  {line}".rstrip() + "\n" for line in definitions(cells, exercise.names).splitlines())
    return {"mark": mark, "row": f"- **answer {mark}**\n  >\n  ```python\n{block}  ```"}


def definitions(cells: Iterable[str], names: Sequence[str]) -> str:
    """The statements of a notebook that make these names, with those that make what they use; no comments, no docstrings."""
    statements: list[ast.stmt] = []
    for cell in cells:
        try:
            with warnings.catch_warnings(action="ignore"):
                statements += ast.parse(cell).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # a cell that Python cannot read makes no name either
    for node in (n for s in statements for n in ast.walk(s) if isinstance(n, ast.FunctionDef | ast.ClassDef)):
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    makers: dict[str, set[int]] = {}
    for i, statement in enumerate(statements):
        for name in made_by(statement):
            makers.setdefault(name, set()).add(i)
    wanted, chosen = [name.partition(".")[0] for name in names], set[int]()
    while wanted:
        for i in makers.pop(wanted.pop(), set()) - chosen:
            chosen.add(i)
            wanted += [n.id for n in ast.walk(statements[i]) if isinstance(n, ast.Name)]
    try:
        source = "\n\n".join(ast.unparse(statements[i]) for i in sorted(chosen))
    except RecursionError:
        source = ""
    return source if len(source) <= LONGEST_ROW and "```" not in source else "..."  # such a line would end the row


def made_by(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or an attribute."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign) else targets
    owners = [target.value if isinstance(target, ast.Attribute) else target for target in targets]
    return {n.id for owner in owners for n in ast.walk(owner) if isinstance(n, ast.Name)}
