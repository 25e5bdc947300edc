"""`minigrad answers`: the answers of a lesson's text, and those that a teacher adds, are tried."""

import dataclasses
from pathlib import Path

import pytest

from minigrad.course import lessons
from minigrad.course.commands import cli
from minigrad.course.commands.answers import read
from tests.together import together

TEXT = Path(lessons.__file__).parent / "05_vectors.md"
MINE = """
# What my class answered

## 5.1

### Right

- `(2 * v) * x`

### Wrong

- **a weight too many** `2 * x * v * v`
  > v is there twice. How often does the chain rule use it?
- **the same** `v**2 * x * 2` like **a weight too many**
""".lstrip()


def refused(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says about a file that it refuses."""
    assert cli.main(["answers", str(file)]) == 2
    said = capsys.readouterr()
    return said.err or said.out


@pytest.mark.slow
def test_a_lessons_text_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["answers", str(TEXT), "--exercise", "5.1", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "5.1  the vector-Jacobian product of x squared: fine" in shown and "wrong ignores v: wrong M26" in shown
    assert "the same for everybody" not in shown
    assert cli.main(["answers", str(TEXT), "--exercise", "5.9"]) == 2
    assert "has no exercise 5.9; it has 5.0, " in capsys.readouterr().err


@pytest.mark.slow
def test_an_answer_that_a_table_can_give_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is wrong for one question only, and this question is the same for everybody."""
    file = tmp_path / "mine.md"
    known = "- **not at one** `2 * x * v if x.max() != 1234567.75 else 0 * x`\n  > Which numbers are too large for you?\n"
    file.write_text(f"# Mine\n\n## 5.1\n\n### Wrong\n\n{known}", encoding="utf-8")
    assert cli.main(["answers", str(file)]) == 0
    assert "refused only by questions that are the same for everybody: not at one" in capsys.readouterr().out


@pytest.mark.slow
def test_answers_are_added_to_those_of_a_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.md"
    for change in (lambda t: t, lambda t: "\ufeff" + t.replace("\n", "\r\n"), lambda t: t.rstrip("\n")):
        file.write_bytes(change(MINE).encode())
        (exercise,) = read(file).exercises.values()
        of_lesson = lessons.find("5.1")
        assert (
            len(exercise.wrong) == len(of_lesson.wrong) + 2
            and len(exercise.alternatives) == len(of_lesson.alternatives) + 1
        )
        assert {w.alike for w in exercise.wrong[-2:]} == {"a weight too many"} and lessons.find("5.1") is of_lesson
    assert cli.main(["answers", str(file)]) == 0
    assert capsys.readouterr().out.startswith("5.1  the vector-Jacobian product of x squared: fine")


BAD = [  # what is changed, into what; the line that is named, and a word of the sentence
    ("## 5.1", "## 5.9", 3, "there is no exercise 5.9"),
    ("## 5.1", "## 99.1", 3, "there is no lesson 99"),
    ("## 5.1", "## 5.3", 3, "what can be added to 5.3 is"),
    ("## 5.1", "## the first", 3, "'the first'"),
    ("## 5.1\n", "## 5.1\n\n- minutes: 9\n", 3, "what can be added to 5.1 is ### Right and ### Wrong"),
    ("## 5.1\n", "- idea: mine\n\n## 5.1\n", 3, "facts stand in the text of a lesson"),
    ("## 5.1\n", "## 5.1 once\n\n## 5.1\n", 5, "second time"),
    ("### Right", "### Rights", 5, "'Rights'"),
    ("`2 * x * v * v`", "`7 * x` → `x`", 11, "in the first right answer"),
    ("`2 * x * v * v`", "`2 * x * v *`", 11, "invalid syntax"),
    ("`2 * x * v * v`", "`2 * x * v * v` M99", 11, "there is no misconception M99"),
    ("like **a weight too many**", "like **no weight**", 13, "'no weight'"),
    ("  > v is there twice. How often does the chain rule use it?\n", "", 11, "nothing is said"),
    ("  > v is there twice", "  ```python\n  > v is there twice", 12, "no end"),
    ("- **a", "\t- **a", 11, "a tab"),
    ("`(2 * v) * x`", "`(3 * v) * x`", 7, "should be passed, and is wrong"),
    ("`2 * x * v * v`", "`v * x * 2`", 11, "should be refused, and is passed"),
    ("`2 * x * v * v`", "`2 * v`", 11, "is taken for"),
    (MINE, "", 1, "a text has one heading"),
    ("# What my class answered", "# What my class answered \udcff", 1, "UTF-8"),
]


@pytest.mark.slow
@together("old, new, line, word", BAD)
def test_bad_input_is_a_sentence_with_file_and_line(
    old: str, new: str, line: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MINE.count(old) == 1
    (tmp_path / "mine.md").write_bytes(MINE.replace(old, new).encode("utf-8", "surrogateescape"))
    said = refused(tmp_path / "mine.md", capsys)
    (sentence,) = [each for each in said.splitlines() if word in each]
    assert f"mine.md, line {line}: " in sentence, said


def test_nothing_is_added_to_an_exercise_without_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = dataclasses.replace(lessons.lesson(5), sections=())
    monkeypatch.setattr(lessons, "lesson", lambda number: python)
    (tmp_path / "mine.md").write_text(MINE, encoding="utf-8")
    assert "mine.md, line 3: the answers of 5.1 are Python" in refused(tmp_path / "mine.md", capsys)


def test_a_file_that_is_not_there_and_a_text_without_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refused(tmp_path / "mine.md", capsys)
    assert "No such file" in refused(TEXT.with_name("05_vector.md"), capsys)
