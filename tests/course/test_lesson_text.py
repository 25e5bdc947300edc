"""A lesson's text: what its grammar makes, what cannot be read, and that Markdown shows it as the loader reads it."""

import re
import subprocess
import sys
import traceback
from pathlib import Path

import mistune
import pytest

from minigrad.course import lesson_text, lessons
from minigrad.course.lesson_text import MISCONCEPTIONS, TextError, grouped, lesson, pieces
from tests.together import together

FOLDER = Path(lessons.__file__).parent
TEXTS = sorted(FOLDER.glob("*.md"))
WHOLE = """
# 99 A title

- idea: One sentence.

## 99.1 twice

- asks for: `double(x)`
- minutes: 2

### Right

- **by hand**
  ```python
  y = x * 2
  return y
  ```
- `x + x`

### Wrong

- **once** `x` M22
  > Once, and not\\_twice.
- **again** `x * 2` → `x` like **once**
- **more** `x * 2` -> `x * 3` and `return y` → `return y + 1`
  > Too much.
- **less**
  > Too little.
  ```diff
   y = x * 2
  -return y
  +return -y
  ```
- **from the first** `by_hand(x) + 1` M23
""".lstrip()


def loaded(folder: Path, text: str | bytes, code: object = None):
    (folder / "99_title.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    asked = {"99.1": {"probes": lambda rng: [], "oracle": abs}}
    made = lesson(str(folder / "l99_title.py"), {}, asked if code is None else code)
    assert all(len(exercise.wrong) for exercise in made.exercises)  # which are read when they are needed
    return made


def test_an_answer_is_an_expression_a_body_or_an_edit(tmp_path):
    (exercise,) = loaded(tmp_path, WHOLE).exercises
    assert (exercise.title, exercise.minutes, exercise.names) == ("twice", 2, ("double",))
    assert [right(3) for right in exercise.alternatives] == [6, 6]
    assert {w.id: w.answer(3) for w in exercise.wrong} == {"once": 3, "again": 3, "more": 10, "less": -6, "from the first": 7}
    once, again, *_ = exercise.wrong
    assert once.says == again.says == "Once, and not_twice." and once.alike == again.alike == "once"
    assert again.misconception == "M22"


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip("\n")])
def test_line_ends_and_a_byte_order_mark_change_nothing(tmp_path, change):
    (exercise,) = loaded(tmp_path, change(WHOLE)).exercises
    assert [w.answer(3) for w in exercise.wrong] == [3, 3, 10, -6, 7]


def test_a_traceback_shows_the_line_of_the_text(tmp_path):
    (exercise,) = loaded(tmp_path, WHOLE).exercises
    with pytest.raises(TypeError) as caught:
        exercise.alternatives[0](None)
    shown = "".join(traceback.format_exception(caught.value))
    assert "99_title.md:13" in shown and "y = x * 2" in shown
    assert WHOLE.splitlines()[12] == "  ```python"


BAD = [
    # what is changed, into what; where the line is that is named ("" for the same place), and a word of the sentence
    ("### Right", "### Rights", "", "'Rights'"),
    ("- minutes: 2", "- minutes 2", "", "a fact is"),
    ("- minutes: 2", "- minute: 2", "## 99.1", "minute"),
    ("`x` M22", "`x` M99", "", "no misconception M99"),
    ("`x * 2` → `x` like", "`x * 9` → `x` like", "", "nowhere"),
    ("`x * 2` → `x` like", "`y` → `x` like", "", "2 times"),
    ("like **once**", "like **twice**", "", "'twice'"),
    ("  +return -y\n  ```", "  +return -y", "  ```diff", "no end"),
    ("`x + x`", "`x +`", "", "invalid syntax"),
    ("**once** `x`", "**once** x", "", "'x'"),
    ("**once** `x`", "**once**", "", "an answer is"),
    ("  > Too much.\n", "", "- **more**", "nothing is said"),
    ("- idea: One sentence.", "\t- idea: One sentence.", "", "a tab"),
    ("- idea: One sentence.", "- after: 05", "# 99", "idea"),
    ("# 99 A title", "A title", "", "one heading"),
    ("## 99.1 twice", "## twice", "", "'twice'"),
    ("- minutes: 2", "- kind: dance", "## 99.1", "dance"),
    ("# 99 A title", "# A title", "", "one heading"),
    ("- minutes: 2", "- minutes: 05", "", "leading zeros"),
    ("- minutes: 2", "- minutes: two", "## 99.1", "minutes is a number, and not 'two'"),
    ("- minutes: 2", "- minutes: yes", "## 99.1", "minutes is a number, and not True"),
    ("- minutes: 2", "- minutes: 2\n\n### Asks", "## 99.1", "nothing below ### Asks"),
    ("- idea: One sentence.", "- ideas: Two.\n- idea: One sentence.", "", "'ideas': the facts of a lesson"),
]


TWICE = [  # what stands there, and what is put below it and would be lost
    ("- idea: One sentence.", "- idea: Another one."),
    ("- minutes: 2", "- minutes: 3"),
    ("### Right\n", "- `x`\n\n### Right\n"),
    ("  > Too much.", "- **more** `x * 2` → `x * 4`\n  > Again."),
]


@together("old, more", TWICE)
def test_what_stands_there_twice_is_no_loss(old, more, tmp_path):
    text = WHOLE.replace(old, f"{old}\n{more}")
    line = text.count("\n", 0, text.rindex(more.rpartition("\n\n")[2].splitlines()[0])) + 1
    with pytest.raises(TextError, match=rf"line {line}: .*stands here for the second time, first in line \d+"):
        loaded(tmp_path, text)


@together("old, new, where, word", BAD)
def test_what_cannot_be_read_is_told_with_its_line(old, new, where, word, tmp_path):
    assert WHOLE.count(old) == 1
    line = WHOLE.count("\n", 0, WHOLE.index(where or old)) + 1
    with pytest.raises(TextError) as caught:
        loaded(tmp_path, WHOLE.replace(old, new))
    assert str(caught.value).startswith(f"99_title.md, line {line}: "), caught.value
    assert word in str(caught.value) and "\n" not in str(caught.value)


def test_two_exercises_of_one_number_and_an_empty_file(tmp_path):
    with pytest.raises(TextError, match=r"99\.1 stands here for the second time"):
        loaded(tmp_path, WHOLE + "\n" + WHOLE[WHOLE.index("## 99.1") :])
    with pytest.raises(TextError, match="line 1: a text has one heading"):
        loaded(tmp_path, "")
    with pytest.raises(TextError, match=r"Python declares exercise 99\.2"):
        loaded(tmp_path, WHOLE, {"99.2": {}})


def flat(tokens):
    """The things that a Markdown library sees: (kind, words or code)."""
    for token in tokens:
        if token["type"] == "block_code":
            yield "```", token["raw"]
        elif token["type"] in ("heading", "block_text", "paragraph"):
            yield token["type"], "".join(inner(token["children"]))
        else:
            yield from flat(token.get("children", []))


def inner(tokens):
    for token in tokens:
        if token["type"] == "emphasis":
            yield f"*{''.join(inner(token['children']))}*"
        elif token["type"] == "codespan":
            yield f"`{token['raw']}`"
        elif token["type"] == "softbreak":
            yield " "
        else:
            yield token["raw"] if "raw" in token else "".join(inner(token.get("children", [])))


NAME = re.compile(r"(^|like )\*\*(.+?)\*\*")
LINK = re.compile(r"^\[(.+)\]\(.+\)$")


def walked(found):
    for piece in found:
        yield piece
        yield from walked(piece.below)


@pytest.mark.slow
@together("file", [*TEXTS, MISCONCEPTIONS])
def test_markdown_shows_what_the_loader_reads(file):
    seen = list(flat(mistune.create_markdown(renderer=None)(file.read_text(encoding="utf-8"))))
    ours = list(walked(grouped(pieces(file))))
    assert len(seen) == len(ours)
    for (kind, shown), piece in zip(seen, ours, strict=True):
        assert (kind == "```") == piece.mark.startswith("```")
        text = lesson_text.words(piece.text) if kind != "```" else piece.text
        text = NAME.sub(r"\1\2", text) if piece.mark == "-" else text
        text = LINK.sub(r"\1", text)
        assert shown.replace("`", "") == text.replace("`", ""), piece


@pytest.mark.slow
@pytest.mark.needs("ruff")
def test_the_code_of_the_texts_is_clean():
    """Each block is linted, as the body that the loader may make of it."""
    sources = []
    for file in TEXTS:
        number = int(file.name[:2])
        assert lessons.lesson(number).slug == file.stem
        sources += [piece.text for piece in walked(grouped(pieces(file))) if piece.mark == "```python"]
    bodies = [f"def answer_{i}():\n" + "".join(f"    {line}\n" for line in text.splitlines()) for i, text in enumerate(sources)]
    rules = ["--isolated", "--select", "E7,E9,F63,F7,W6", "--ignore", "E731,E741"]
    command = [sys.executable, "-m", "ruff", "check", *rules, "-q", "-"]
    done = subprocess.run(command, input="\n\n".join(bodies), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_lines_are_short():
    for file in TEXTS:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= 128, file.name
