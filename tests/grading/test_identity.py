"""Who handed in what: no student's file changes another one's grade, and no file is lost or counted twice."""

from __future__ import annotations

import concurrent.futures as futures
import csv
import io
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.commands import cli
from minigrad.course.grading import journal, pages, runs
from minigrad.course.grading.identity import Person
from minigrad.course.grading.plan import Plan
from tests.grading.classroom import notebook
from tests.grading.test_runs import RIGHT, WRONG, hand_in, here, level, one_thread, rows  # noqa: F401

CLASSES = 2_000
NAMES = ["Zoe Smith", "Zoë Smith", "Bo Li", "BO LI", "张 伟", "Ann Bee", "Ann  Bee", "De La Cruz, Eva", "Ann", "4711", "zsmith"]


class AtOnce(futures.Executor):
    """Grades without running anything: a notebook says in its last cell what it is worth."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        done: futures.Future[Any] = futures.Future()
        result = runs.not_graded(args[0]["lesson"], "")
        worth = float(args[0]["submission"].cells[-1].removeprefix("worth = "))
        verdicts = [v | {"status": "wrong", "points": worth, "lines": []} for v in result["verdicts"][:1]]
        done.set_result(result | {"graded": True, "points": worth, "verdicts": verdicts})
        return done


class Drawn:
    """A class: people, the files of each, and what each file is worth. Folder names may be anything, another's login too."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng, self.folder, self.files = rng, folder, 0
        self.worth: dict[str, float] = {}  # by the folder or file of a source
        self.downloads = [folder / f"download {n}" for n in range(rng.choice((1, 1, 2)))]
        names = [rng.choice(NAMES) for _ in range(rng.randint(2, 5))]
        self.people = [
            Person(name=name, login=rng.choice(["zsmith", "bo", "ann", f"x{n}"]), canvas=rng.choice(["4711", f"{n}00"]),
                   email=rng.choice(["ann", f"{n}@x"]), sis=rng.choice(["", "4711"]), moodle=f"Participant 80{n}",
                   folder=rng.choice(["", "", name]))
            for n, name in enumerate(names)
        ]  # fmt: skip
        self.roster = rng.sample(self.people, rng.randint(0, len(self.people)))
        for download in self.downloads:
            download.mkdir(parents=True)
            for n in range(len(self.people)):
                self.hand_in(download, n)

    def hand_in(self, download: Path, n: int) -> None:
        person, rng = self.people[n], self.rng
        own = [person.name, person.login, person.email, person.canvas]
        name = rng.choice([*own, rng.choice(NAMES), "smith, zoe", "ann ", "ANN"])
        way = rng.choice(["folder", "folder", "canvas", "moodle", "moodle flat", "loose", "empty"])
        base = {"folder": f"{name}", "empty": f"{name}", "loose": f"{name}{rng.choice(['', ' (1)'])}.ipynb",
                "canvas": f"who{n}_{person.canvas}_9{n}_05.ipynb", "moodle": f"{person.name}_80{n}_assignsubmission_file_",
                "moodle flat": f"{person.name}_80{n}_assignsubmission_file_05.ipynb"}[way]  # fmt: skip
        target = download / base
        if target.exists():
            return
        if way == "empty":
            target.mkdir()
        elif way in ("folder", "moodle"):
            for copy in range(rng.choice((1, 1, 2, 3))):
                self.write(target / ("x" * copy + "05.ipynb"), base)
        else:
            self.write(target, base)

    def write(self, path: Path, source: str) -> None:
        path.parent.mkdir(exist_ok=True)
        self.files += 1
        worth = self.files / 100
        path.write_bytes(notebook('check("5.1")', f"worth = {worth}"))
        when = self.rng.randint(1, 3)
        os.utime(path, (when, when))
        self.worth[str(path.relative_to(self.folder))] = worth


def source_of(path: str) -> str:
    """A folder or file with all that Canvas and Moodle say of a person; a folder of several downloads is one folder."""
    base = Path(path).parts[1]
    form = re.fullmatch(r"(.+)_(\d+)_(?:assignsubmission_file_.*|\d+_.*)", base)
    return f"{form[1]}_{form[2]}" if form else base + "/" * (len(Path(path).parts) > 2)


def check(drawn: Drawn, out: Path) -> int:
    """Each row's points come from one source, the one that is called so; each file is there once. How many doubts."""
    plan = Plan(roster=tuple(drawn.roster), written=True)
    count = runs.grade(drawn.downloads, out=out, executor=AtOnce(), isolation="process", trust_students=True, plan=plan,
                       lessons=[5])  # fmt: skip
    page = (out / "report.html").read_text(encoding="utf-8")
    by_worth = {worth: source_of(path) for path, worth in drawn.worth.items()}
    results = list(journal.read(out / "results.jsonl"))
    counted = {by_worth[result["points"]] for result in results}
    joined = {r["student"] for r in results}
    assert len(results) == len(joined), "two results of one row"
    aside = re.findall(r"<li><bdi>([^<]*): (?:an earlier copy of lesson 05|lesson 05 came in \d hand-ins of Moodle)", page)
    told = sum(int(n) for n in re.findall(r": (\d+) more files were left aside", page))
    assert len(results) + len(aside) + told == drawn.files, "a file is missing, or there twice"
    for result in results:  # the latest file of its own source, or of one name of Moodle in two downloads
        own = by_worth[result["points"]]
        ours = [path for path in drawn.worth if source_of(path) == own]
        rank = {path: ((drawn.folder / path).stat().st_mtime_ns, "/".join(Path(path).parts[1:]), path) for path in ours}
        assert drawn.worth[max(ours, key=rank.__getitem__)] == result["points"], own
    sources = {source_of(path) for path in drawn.worth}
    missing = sources - counted
    for one in missing:  # of two hand-ins under one name in Moodle neither counts, or the one that the column folder names
        name = one.rpartition("_")[0]
        assert any(other != one and other.rpartition("_")[0] == name and "80" in other for other in sources), one
        assert any(name in line for line in aside), "what does not count is told"
    table = rows(out)
    named = [(p.canvas, p.sis, p.login) for p in drawn.roster]
    about = [(row["ID"], row["SIS User ID"], row["SIS Login ID"]) for row in table]
    assert all(about.count(who) <= named.count(who) or who not in named for who in about), "one person in two rows"
    points = sorted(float(cell) for row in table if (cell := row.get("05_vectors", "")) not in ("", "0"))
    assert points == sorted(result["points"] for result in results), "a row holds another's points"
    assert all(pages.shown(doubt) in page or pages.shown(doubt, 600) in page for doubt in count.doubts)
    homes = {source_of(str(home.relative_to(drawn.folder))) for download in drawn.downloads for home in download.iterdir()}
    one = "|".join(re.escape(f'"{home}"' if "," in home else home) for home in sorted(homes, key=len, reverse=True))
    for doubt in count.doubts:
        if among := re.match(r"Several could be .*? of the class list: (.*)\. Taken for that person: ", doubt):
            assert re.fullmatch(f"({one})(, ({one}))+", among[1]), "a doubt names what the column folder would not find"
    return len(count.doubts)


def drawn_classes(folder: Path, count: int) -> None:
    doubts = 0
    for seed in range(count):
        home = folder / str(seed)
        doubts += check(Drawn(random.Random(seed), home / "in"), home / "out") > 0
        shutil.rmtree(home)
    assert doubts > count / 4, "too few of them are in doubt to say anything"


@pytest.mark.slow
def test_no_file_changes_anothers_grade_in_drawn_classes(tmp_path: Path) -> None:
    drawn_classes(tmp_path, 60)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_no_file_changes_anothers_grade_in_two_thousand_drawn_classes(tmp_path: Path) -> None:
    drawn_classes(tmp_path, CLASSES)


ANN = Person(name="Zoe Smith", login="zsmith", canvas="4711", email="zoe@x", sis="s1")


def graded(folder: Path, out: Path, roster: tuple[Person, ...], *more: Path) -> tuple[list[tuple[str, str, str]], str]:
    """Student, number and points of each row; and the report."""
    runs.grade([folder, *more], out=out, executor=one_thread(), plan=Plan(roster=roster))
    found = [(row["Student"], row["ID"], row["05_vectors"]) for row in rows(out)]
    return found, (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zsmith", "zoe@x", "4711", "smith, zoe", "Zoë Smith", "zoe_smith"])
def test_a_name_takes_nobodys_grade(name: str, tmp_path: Path, level: str) -> None:  # noqa: F811
    """Zoe's folder is known by her name; a neighbour calls a folder like something else of hers, and hands in later."""
    hand_ins = hand_in(tmp_path / "in", **{"Zoe Smith": RIGHT, name: WRONG})
    os.utime(hand_ins / "Zoe Smith" / "05_vectors.ipynb", (1, 1))
    found, page = graded(hand_ins, tmp_path / "out", (ANN,))
    mine = [line for line in found if line[0].startswith("Zoe Smith") and line[2]]
    assert [line[2] for line in mine] == ["1"] and len(found) == 3, found
    (among,) = re.findall(r"Several could be Zoe Smith of the class list: (.*?)\. Taken for that person: nobody is", page)
    called = f"&#34;{name}&#34;" if "," in name else name
    assert among in (f"Zoe Smith, {called}", f"{called}, Zoe Smith")
    sure, page = graded(hand_ins, tmp_path / "sure", (Person(**vars(ANN) | {"folder": "Zoe Smith"}),))
    assert [line for line in sure if line[1]] == [("Zoe Smith", "4711", "1")], "the class list says which folder it is"
    assert "Taken for that person: Zoe Smith is." in page


def test_a_number_of_canvas_outweighs_a_folder_that_is_called_so(tmp_path: Path, level: str) -> None:  # noqa: F811
    hand_ins = hand_in(tmp_path / "in", zsmith=WRONG, smithzoe_4711=WRONG)
    (hand_ins / "smithzoe_4711_90001_05.ipynb").write_bytes(notebook(RIGHT, 'check("5.1")'))
    found, _ = graded(hand_ins, tmp_path / "out", (ANN,))
    assert [line for line in found if line[1]] == [("Zoe Smith", "4711", "1")] and len(found) == 3


def test_a_loose_file_is_no_folder(tmp_path: Path, level: str) -> None:  # noqa: F811
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT)
    for name in ("ann.ipynb", "ann (1).ipynb"):
        (hand_ins / name).write_bytes(notebook(WRONG, 'check("5.1")'))
    found, page = graded(hand_ins, tmp_path / "out", ())
    assert [(line[0], line[2]) for line in found] == [("ann", "1"), ("ann (1)", "0"), ("ann.ipynb", "0")]
    assert "These read alike, and each has a row of its own: ann, ann.ipynb" in page


@pytest.mark.slow
def test_a_name_of_moodle_is_one_person_if_the_class_list_has_one(tmp_path: Path, level: str) -> None:  # noqa: F811
    for download, number, lesson in (("one", 101, 5), ("two", 202, 6)):
        folder = tmp_path / download / f"Zoe Smith_{number}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / "mine.ipynb").write_bytes(notebook(RIGHT, f'check("{lesson}.1")'))
    apart, page = graded(tmp_path / "one", tmp_path / "out", (), tmp_path / "two")
    assert [line[0] for line in apart] == ["Zoe Smith_101", "Zoe Smith_202"] and "Moodle has 2 numbers for Zoe Smith" in page
    assert graded(tmp_path / "one", tmp_path / "joined", (ANN,), tmp_path / "two")[0] == [("Zoe Smith", "4711", "1")]
    shutil.move(tmp_path / "two" / "Zoe Smith_202_assignsubmission_file_", tmp_path / "one")
    found, page = graded(tmp_path / "one", tmp_path / "same", (ANN,))
    assert sorted(found) == [("Zoe Smith", "4711", ""), ("Zoe Smith_101", "", "1"), ("Zoe Smith_202", "", "0")]


def test_who_takes_a_name_in_moodle_replaces_no_grade(tmp_path: Path, level: str) -> None:  # noqa: F811
    """A display name can be changed: another week's hand-in of that name may be another's, and is no later copy of hers."""
    for download, number, source in (("one", 101, RIGHT), ("two", 202, WRONG)):
        folder = tmp_path / download / f"Zoe Smith_{number}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / "05.ipynb").write_bytes(notebook(source, 'check("5.1")'))
    hand_in(tmp_path / "one", bob=RIGHT)
    found, page = graded(tmp_path / "one", tmp_path / "out", (ANN,), tmp_path / "two")
    assert found == [("Zoe Smith", "4711", ""), ("bob", "", "1")]
    for number in (101, 202):
        assert f"Zoe Smith_{number}_assignsubmission_file_/05.ipynb: lesson 05 came in 2 hand-ins of Moodle" in page
    shutil.rmtree(tmp_path / "two" / "Zoe Smith_202_assignsubmission_file_")
    found, page = graded(tmp_path / "one", tmp_path / "out", (ANN,), tmp_path / "two")
    assert found == [("Zoe Smith", "4711", "1"), ("bob", "", "1")]


@pytest.mark.slow
def test_strangers_do_not_decide_which_lessons_count(tmp_path: Path, level: str) -> None:  # noqa: F811
    """One person may lay any number of loose files beside the folders of a class."""
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=RIGHT)
    for number in range(3):
        (hand_ins / f"x{number}.ipynb").write_bytes(notebook("x = 1", 'check("9.1")'))
    found, page = graded(hand_ins, tmp_path / "out", (Person(folder="ann"), Person(folder="bob"), ANN))
    assert [line[2] for line in found if line[0] in ("ann", "bob")] == ["1", "1"]
    assert "09_custom_function" not in rows(tmp_path / "out")[0] and "Lesson 09 does not count: 0 of 2" in page


@pytest.mark.slow
@pytest.mark.parametrize("year", [1902, 1969, 2263, 2300, 2999])
def test_a_file_from_any_year_stops_nobody(year: int, tmp_path: Path, level: str) -> None:  # noqa: F811
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=WRONG)
    when = (year - 1970) * 31_556_952
    os.utime(hand_ins / "bob" / "05_vectors.ipynb", (when, when))
    assert [line[2] for line in graded(hand_ins, tmp_path / "out", ())[0]] == ["1", "0"]


def test_doubts_are_told_on_the_screen(
    tmp_path: Path, level: str, here: None, capsys: pytest.CaptureFixture[str]  # noqa: F811
) -> None:
    hand_ins = hand_in(tmp_path / "in", **dict.fromkeys(("ann", "Ann", "ANN"), RIGHT))
    assert cli.main(["grade", str(hand_ins), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    assert "In doubt: These read alike, and each has a row of its own: ANN, Ann, ann" in capsys.readouterr().out
    table = list(csv.DictReader(io.StringIO((tmp_path / "out" / "grades.csv").read_text(encoding="utf-8"))))
    assert len(table) == 3


@pytest.mark.slow
def test_the_class_list_says_whose_any_source_is(tmp_path: Path, level: str) -> None:  # noqa: F811
    """The column `folder` takes what a doubt calls a source, wherever that comes from, and is trusted more than a number."""
    (tmp_path / "in").mkdir()
    written = {"smithzoe_4711": "smithzoe_4711_90001_05.ipynb", "Zoe Smith_80": "Zoe Smith_80_assignsubmission_file_05.ipynb",
               "zsmith.ipynb": "zsmith.ipynb"}  # fmt: skip
    for name in written.values():
        (tmp_path / "in" / name).write_bytes(notebook(RIGHT, 'check("5.1")'))
    bob = Person(name="Bob", canvas="12", moodle="Participant 81", login="bob")
    for number, name in enumerate(written):
        found, page = graded(tmp_path / "in", tmp_path / f"out{number}", (ANN, Person(**vars(bob) | {"folder": name})))
        assert [line for line in found if line[1] == "12"] == [("Bob", "12", "1")], (name, found)
    zoe = Person(**vars(ANN) | {"moodle": "Participant 80"})
    found, page = graded(tmp_path / "in", tmp_path / "out", (zoe,))
    (doubt,) = re.findall(r"Several could be Zoe Smith of the class list: (.*?)\. Taken for that person: nobody is", page)
    assert sorted(doubt.split(", ")) == sorted(written) and ("Zoe Smith", "4711", "") in found
    for number, name in enumerate(written):
        found, page = graded(tmp_path / "in", tmp_path / f"sure{number}", (Person(**vars(zoe) | {"folder": name}),))
        assert ("Zoe Smith", "4711", "1") in found and f"Taken for that person: {name} is." in page
