"""A teacher's afternoon: the class file, what it makes of points, and what is handed back."""

from __future__ import annotations

import csv
import datetime
import io
import os
import re
import zipfile
from pathlib import Path

import pytest

from minigrad.course.commands import cli
from minigrad.course.grading import identity, plan, runs, tables, tally
from tests.grading.classroom import notebook
from tests.grading.test_runs import RIGHT, WRONG, hand_in, here, level, one_thread, rows  # noqa: F401

DOCS = Path(__file__).parents[2] / "docs" / "grading.md"
DUE = datetime.datetime(2026, 11, 20, 23, 59, tzinfo=datetime.UTC)
CLASS = """
title = "Autograd, autumn <2026>"
lessons = "05"
roster = "students.csv"
feedback = "zips"
[late]
per_day = 0.25
days = 3
grace = 10
[lesson.05]
due = 2026-11-20T23:59:00Z
points = 8
[[extension]]
student = "Bob Boole"
lesson = 5
due = 2026-11-30
[[override]]
student = "cy"
lesson = 5
points = 3.5
comment = "handed in on paper"
[[override]]
student = "dan"
exercise = "5.1"
points = 0.5
comment = "the right idea"
[[override]]
student = "Ned Nemo"
lesson = 5
points = 2
comment = "on paper alone"
[[override]]
student = "Gus"
lesson = 5
points = 9
comment = "nobody"
"""
ROSTER = (
    'Folder,Student,ID,SIS User ID,SIS Login ID,Section,Email\nann,"Lovelace, Ann",11,s1,ann@x,A,a@x\n,Bob Boole,12,s2,bob,A,\n'
    "cy,Cy,13,s3,cy,B,\ndan,Dan,14,s4,dan,B,\nzed,Zed,15,s5,zed,B,\n"
    ',"Nemo, Ned",16,s6,nemo,B,\n'
)


@pytest.mark.slow
def test_a_teachers_afternoon(
    tmp_path: Path, level: str, here: None, capsys: pytest.CaptureFixture[str]  # noqa: F811
) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT, bob=RIGHT, dan=WRONG, eve=RIGHT, cy=b"{"), tmp_path / "out"
    for name, hours in (("ann", 30), ("bob", 48), ("dan", -1), ("eve", 0)):  # after the due date
        when = (DUE + datetime.timedelta(hours=hours)).timestamp()
        os.utime(hand_ins / name / "05_vectors.ipynb", (when, when))
    (tmp_path / "students.csv").write_text(ROSTER)
    (tmp_path / "class.toml").write_text(CLASS)
    command = ["grade", str(hand_ins), "--out", str(out), "--class", str(tmp_path / "class.toml"), "--jobs", "1"]
    assert cli.main(command) == 1, "cy's file could not be read"
    found = {row["Student"]: row for row in rows(out)}
    everybody = ["Lovelace, Ann", "Bob Boole", "Cy", "Dan", "eve", "Zed", "Nemo, Ned"]
    assert sorted(found) == sorted(everybody)
    points = {name: row["05_vectors"] for name, row in found.items()}
    full = sum(e.points for e in runs.known.lesson(5).exercises if not e.written)
    share = 8 / full
    # Ann is two days late, Bob has more time, Dan's answer is corrected, Zed handed in nothing, Ned nothing but paper.
    assert [float(points[n]) for n in everybody] == pytest.approx([share / 2, share, 3.5, share / 2, share, 0, 2], abs=0.005)
    assert (found["Dan"]["ID"], found["Dan"]["SIS User ID"], found["Dan"]["Section"]) == ("14", "s4", "B")
    moodle = list(csv.DictReader(io.StringIO((out / "moodle.csv").read_text(encoding="utf-8"))))
    assert sorted(line["ID number"] for line in moodle) == ["", "s1", "s2", "s3", "s4", "s5", "s6"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Not graded, 05: Cy" not in page, "there are points set by hand"
    assert "names Gus, but no student" in page and "Ned, but" not in page
    assert "Autograd, autumn &lt;2026&gt;" in page and "Not in the class list: eve" in page and "Zed (B)" in page
    feedback = "".join(path.read_text(encoding="utf-8") for path in (out / "feedback").rglob("*.html"))
    for text in ("2 days late: 50 %", "set the points to 3.5: handed in on paper", "set the points to 0.5: the right idea"):
        assert text in feedback
    assert "Dan" not in {path.stem for path in (out / "hand_back").iterdir()}
    with zipfile.ZipFile(out / "hand_back" / "dan.zip") as back:
        assert back.namelist() == ["05_vectors.html"] and b"the right idea" in back.read("05_vectors.html")

    hand_in(hand_ins, dan=RIGHT)  # the correction survives
    os.utime(hand_ins / "dan" / "05_vectors.ipynb", (DUE.timestamp(), DUE.timestamp()))
    capsys.readouterr()
    cli.main([*command, "--regrade", "Dan", "--regrade", "Gus"])
    said = capsys.readouterr().out
    assert "no notebook of Gus" in said and "no notebook of Dan" not in said
    assert "dan  5.1  wrong -> passed  (another notebook)" in said and "4 were graded before" not in said
    assert {row["Student"]: row["05_vectors"] for row in rows(out)}["Dan"] == points["Dan"]
    assert cli.main([*command, "--regrade", "5.1"]) == 1 and "0 verdicts moved since before" in capsys.readouterr().out


@pytest.mark.slow
def test_partial_credit_counts_a_students_own_questions_alone(tmp_path: Path, level: str) -> None:  # noqa: F811
    slip = "def vjp_square(v, x):\n    return 2 * x * v if len(x) < 4 else x"
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=slip, cy="def vjp_square(v, x):\n    return 0 * x")
    # A fixed key: with one in thirty, every vector that is drawn for Bob has four numbers or more.
    credit = plan.Plan(partial=True, weights={5: 1.0})
    runs.grade(hand_ins, out=tmp_path / "out", executor=one_thread(), plan=credit, key=b"k" * 16)
    whole = sum(e.points for e in runs.known.lesson(5).exercises if not e.written)
    ann, bob, cy = (float(row["05_vectors"]) for row in rows(tmp_path / "out"))
    assert ann == 1.0 and 0 < bob < 1 and cy == 0
    assert rows(tmp_path / "out")[0][tables.TOTAL] == tally.amount(100 / whole), "with weights a percentage"


@pytest.mark.parametrize(("text", "named"), [
    ("titel = 'x'", "titel"), ("title = 3", "title"), ("lessons = '99'", "lessons"), ("lessons = [true]", "lessons"),
    ("lessons = '5-6-7'", "lessons"), ("partial = 1", "partial"), ("feedback = 'fax'", "feedback"), ("late = 3", "late"),
    ("[late]\nper_day = 2", "late.per_day"), ("[late]\nper_day = nan", "late.per_day"), ("[late]\ndays = '1'", "late.days"),
    ("[lesson]\n99 = {}", "lesson.99"), ("[lesson.05]\ndue = '2026-11-20'", "lesson.05.due"), ("roster = 'none.csv'", "roster"),
    ("[lesson.05]\npoints = 0", "lesson.05.points"), ("[lesson.05]\nweight = -1", "lesson.05.weight"),
    ("[[override]]\nstudent = 'a'\nlesson = 5\npoints = 1", "override[1].comment"), ("[override]\nstudent = 'a'", "override"),
    ("[[override]]\nstudent = 'a'\nexercise = '5.99'\npoints = 1\ncomment = ''", "override[1].exercise"),
    ("[[override]]\nstudent = 'a'\nexercise = '5.1'\nlesson = 5\npoints = 1\ncomment = ''", "override[1].exercise"),
    ("[[extension]]\nstudent = 'a'\nlesson = 5", "extension[1].due"), ("student_timeout = 0", "student_timeout"),
    ("[lesson.02]\npoints = 5", "lesson.02.points"), ("written = 1", "written"), ("x =", "class.toml"),
])  # fmt: skip
def test_a_wrong_field_names_itself(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "class.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(named)) as caught:
        plan.read(file)
    assert caught.type is ValueError
    (tmp_path / "in").mkdir(exist_ok=True)
    assert cli.main(["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--class", str(file)]) == 2


def test_every_field_is_documented_and_read(tmp_path: Path) -> None:
    page = DOCS.read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE))
    known = {name for table in plan.FIELDS.values() for name in table}
    assert known == {name.split(".")[-1] for name in documented} and len(documented) == 21
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "students.csv").write_text(ROSTER)
    (tmp_path / "class.toml").write_text(example)
    plan.read(tmp_path / "class.toml")
    for name in documented:
        assert name.split(".")[-1] in example


@pytest.mark.parametrize("text", [
    ROSTER, ROSTER.replace(",", ";"), "First name,Surname,ID number,Email address,Groups\nAnn,Lovelace,s1,a@x,A\n",
    "Identifier,Full name,Email address,Status\nParticipant 11,Ann Lovelace,a@x,Submitted\n",
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,x\n    Points Possible,,,,,1\nLovelace Ann,11,s1,ann@x,A,\n",
])  # fmt: skip
def test_class_lists_as_they_come(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(text.replace('"Lovelace; Ann"', '"Lovelace, Ann"'), encoding="utf-8")
    people = plan.people(tmp_path / "r.csv")
    assert identity.plainly(people[0].name) == "ann lovelace"
    assert identity.People(people).meant("ann_lovelace") == 0


@pytest.mark.parametrize(("text", "line"), [
    ("Name,Group\nAnn,A\n,B\n", 3), ("Folder,Login,Room\n\nann,,1\n,,2\n", 4), ('Name\n"A\nB",\n-\n" ",x\n', 5),
])  # fmt: skip
def test_a_line_of_the_class_list_that_names_nobody_is_told(text: str, line: int, tmp_path: Path) -> None:
    """Whoever it is would be missing from every table; blank lines, as spreadsheets leave them, are nobody."""
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ValueError, match=f"roster: line {line} of .*r.csv names nobody"):
        plan.people(tmp_path / "r.csv")
    (tmp_path / "r.csv").write_text("Name,Group\nAnn,A\n,\n\n , \n")
    assert [person.name for person in plan.people(tmp_path / "r.csv")] == ["Ann"]


def test_each_promise_of_the_guide_names_tests_that_are_there() -> None:
    promises = DOCS.read_text(encoding="utf-8").split("| promise | test |")[1].split("**Not promised")[0].splitlines()[2:]
    there = {path.name: path.read_text(encoding="utf-8") for folder in ("grading", "attacks")
             for path in (DOCS.parents[1] / "tests" / folder).glob("test_*.py")}  # fmt: skip
    rows = [line for line in promises if line.startswith("|")]
    for row in rows:
        named = re.findall(r"`(test_\w+(?:\.py)?)`", row.split("|")[2])
        assert named, row
        for name in named:
            assert name in there or any(f"def {name}(" in text for text in there.values()), name
    assert len(rows) >= 14


@pytest.mark.slow
def test_what_was_not_asked_for_is_no_column_of_zeros(tmp_path: Path, level: str) -> None:  # noqa: F811
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT, bob=RIGHT, cy=RIGHT), tmp_path / "out"
    (hand_ins / "ann" / "06.ipynb").write_bytes(notebook("def unbroadcast(g, shape):\n    return g", 'check("6.1")'))
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert "06_broadcasting" not in rows(out)[0]
    assert "Lesson 06 does not count: 1 of 3 handed it in" in (out / "report.html").read_text()
    runs.grade(hand_ins, out=out, executor=one_thread(), lessons=[6])
    assert "05_vectors" not in rows(out)[0] and [row["06_broadcasting"] for row in rows(out)] == ["0", "0", "0"]


@pytest.mark.slow
def test_copies_links_and_lookalikes_are_named(tmp_path: Path, level: str) -> None:  # noqa: F811
    long = RIGHT + "\n" + "\n".join(f"def helper_{n}(value):\n    return value + {n}" for n in range(20))
    renamed = "# mine\n" + long.replace("helper_", "assist_").replace("value", "number")
    solution = (Path(__file__).parents[2] / "solutions" / "05_vectors_exercises.ipynb").read_bytes()
    hand_ins = hand_in(tmp_path / "in", ann=long, bob=renamed, dan=long, sol=solution)
    (hand_ins / "eve").mkdir()
    os.link(hand_ins / "ann" / "05_vectors.ipynb", hand_ins / "eve" / "05_vectors.ipynb")
    for name in ("bad.zip", "mine.py", "adalovelace_4711_90001_work.zip"):
        (hand_ins / name).touch()
    (hand_ins / ".secret").mkdir()
    (hand_ins / "ann" / "notes.pdf").touch()
    for name in (b"zo\xc3\xab", b"zoe\xcc\x88", b"z\xe9", b"z\\xe9", "－1+1".encode()):
        hand_in(hand_ins, **{os.fsdecode(name): WRONG})
    out = tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    page = (out / "report.html").read_text(encoding="utf-8")
    for text in ("The same file, 05: ann, dan, eve", "names, comments and spaces, 05: ann, bob, dan, eve",
                 "published solution, 05: sol",
                 ".secret: a hidden folder", *(f"{name}: not a notebook" for name in ("mine.py", "ann/notes.pdf")),
                 *(f"{name}: a zip: unpack it, then run again" for name in ("bad.zip", "adalovelace_4711_90001_work.zip"))):
        assert text in page, text
    names = [row["Student"] for row in rows(out)]
    assert len(set(names)) == len(names) == 12 and {"adalovelace_4711", "bad.zip"} <= set(names)
    assert "'-1+1" in names and sum(name.startswith("zoë") for name in names) == 2
    assert all(line.startswith('"') for line in (out / "grades.csv").read_text(encoding="utf-8").splitlines())


def test_a_download_from_moodle(tmp_path: Path, level: str) -> None:  # noqa: F811
    """Folders or flat, files with one number are of one person; what is handed back has the names that Moodle gave."""
    (tmp_path / "in").mkdir()
    for name, lesson in (("Ann Bee_101_assignsubmission_file_05.ipynb", 5), ("Ann Bee_101_assignsubmission_file_06.ipynb", 6)):
        (tmp_path / "in" / name).write_bytes(notebook(RIGHT, f'check("{lesson}.1")'))
    folder = tmp_path / "in" / "Cy Dee_103_assignsubmission_file_"
    folder.mkdir()
    (folder / "05_vectors.ipynb").write_bytes(notebook(RIGHT, 'check("5.1")'))
    out = tmp_path / "out"
    runs.grade(tmp_path / "in", out=out, executor=one_thread(), plan=plan.Plan(feedback="moodle"))
    assert [(row["Student"], row["05_vectors"]) for row in rows(out)] == [("Ann Bee", "1"), ("Cy Dee", "1")]
    handed_back = {}
    for path in (out / "hand_back").iterdir():
        with zipfile.ZipFile(path) as back:
            handed_back[path.stem] = sorted(name.split("/")[0] for name in back.namelist())
    twin = tmp_path / "in" / "Cy Dee_104_assignsubmission_file_"  # another person of that name, in the same assignment
    twin.mkdir()
    (twin / "mine.ipynb").write_bytes(notebook(WRONG, 'check("5.1")'))
    for number in (301, 302):  # and two whose names are hidden
        file = tmp_path / "in" / f"Participant_{number}_assignsubmission_file_{number}.ipynb"
        file.write_bytes(notebook(WRONG, f"check('{number % 2 + 5}.1')"))
    roster = tuple(identity.Person(name="Cy Dee", sis=sis, moodle=f"Participant {n}") for n, sis in ((104, "s7"), (103, "")))
    runs.grade(tmp_path / "in", out=out, executor=one_thread(), plan=plan.Plan(roster=roster))
    found = [(row["Student"], row["SIS User ID"], row["05_vectors"]) for row in rows(out)]
    assert found == [("Ann Bee", "", "1"), ("Cy Dee (Participant 103)", "", "1"), ("Cy Dee (s7)", "s7", "0"),
                     ("Participant_301", "", "0"), ("Participant_302", "", "0")]  # fmt: skip
    assert handed_back == {
        "moodle-05_vectors": ["Ann Bee_101_assignsubmission_file_", "Cy Dee_103_assignsubmission_file_"],
        "moodle-06_broadcasting": ["Ann Bee_101_assignsubmission_file_"],
    }
