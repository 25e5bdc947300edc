"""A newer minigrad in the middle of a term: beside files of another edition (tests/data/another_edition,
shortened), and beside those of an older version of this edition. Nothing is lost or misread, and a sentence says so."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad.course import notebooks
from minigrad.course.checks import checking, progress_store, updating
from minigrad.course.commands import cli, lab
from minigrad.course.exercise import EDITION

ANOTHER = Path(__file__).parents[1] / "data" / "another_edition"
OTHERS = ("04_pytorch_semantics", "10_cross_entropy", "11_clinic", "13_capstone")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder as another edition left it; also the working directory."""
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    monkeypatch.setattr(progress_store, "memory", {})
    monkeypatch.setattr(progress_store, "said", [])
    course = tmp_path / "minigrad-course"
    shutil.copytree(ANOTHER / "exercises", course / "exercises")
    shutil.copy(ANOTHER / "progress.json", course / progress_store.FILE)
    monkeypatch.chdir(course)
    return course


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_a_folder_of_another_edition(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    *_, news = lab.lay_out(folder)
    after = contents(folder)
    assert before == {name: after[name] for name in before}, "nothing that was there is touched"
    (said,) = [sentence for sentence in news if updating.OTHER in sentence]
    assert all(f"exercises/{name}.ipynb" in said for name in OTHERS) and "05_vectors" not in said
    page = (folder / "Welcome.md").read_text(encoding="utf-8")
    assert f"> {said}" in page and "solved 0 of" in page
    progress_store.news()
    for command in ("check", "reset", "solution"):
        for name in OTHERS:
            assert cli.main([command, f"exercises/{name}.ipynb"]) == 2
            assert updating.OTHER in capsys.readouterr().err
    assert contents(folder) == after
    assert cli.main(["check", "exercises/05_vectors.ipynb"]) == 0, "it names no edition, so it is today's"
    assert cli.main([]) == 0
    assert "solved 0 of" in (shown := capsys.readouterr().out) and "another edition" in shown
    progress_store.note("5.1", passed=True)
    (kept,) = folder.glob("minigrad-progress.2*.json")
    assert kept.read_bytes() == before[progress_store.FILE] and list(progress_store.load(folder)) == ["5.1"]


def edit(file: Path, change: Any) -> None:
    nb = notebooks.read(file)
    change(nb)
    notebooks.write(nb, file)


@pytest.mark.slow
def test_a_folder_of_an_older_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solved, run and annotated notebooks are not called old; those of which the text has changed since are."""
    *_, news = lab.lay_out(tmp_path)
    lessons = [tmp_path / "notebooks" / f"{name}.ipynb" for name in ("05_vectors", "06_broadcasting", "07_matmul", "08_mse")]
    marked = notebooks.read(lessons[0])["metadata"]["minigrad"]
    assert news == [] and marked["version"] == minigrad.__version__ and marked["edition"] == EDITION
    edit(lessons[0], lambda nb: nb["cells"].append({**nb["cells"][0], "source": "my own notes"}))
    edit(lessons[1], lambda nb: nb["metadata"]["minigrad"].update(text="of an older version"))
    edit(lessons[2], lambda nb: nb["metadata"].pop("minigrad"))
    edit(lessons[3], lambda nb: (nb["metadata"].pop("minigrad"), nb["cells"].pop(0)))
    (tmp_path / "notebooks" / "GLOSSARY.md").write_text("older", encoding="utf-8")
    *_, news = lab.lay_out(tmp_path)
    newer, pages = news
    assert "newer copies of notebooks/06_broadcasting.ipynb, notebooks/08_mse.ipynb. Yours stay" in newer
    assert pages.startswith("1 pages or pictures")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reset", "notebooks/06_broadcasting.ipynb"]) == 0 and cli.main(["reset", "notebooks/08_mse.ipynb"]) == 0
    (tmp_path / "notebooks" / "GLOSSARY.md").unlink()
    assert lab.lay_out(tmp_path)[-1] == []
    edit(lessons[0], lambda nb: nb["metadata"]["minigrad"].update(edition=EDITION + 1))
    assert "05_vectors" in lab.lay_out(tmp_path)[-1][0], "a newer edition's, beside an older minigrad"


def test_an_open_notebook_of_another_edition_is_not_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jupyter tells a kernel the path of its notebook."""
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "exercises" / "11_clinic.ipynb"))
    for ask in (lambda: checking.check("11.1"), lambda: checking.hint("11.1"), lambda: checking.predict("11.1a", 3)):
        ask()
        assert "another edition" in " ".join((said := capsys.readouterr().out).split()) and "11.1" not in said
    assert (folder / progress_store.FILE).read_bytes() == (ANOTHER / "progress.json").read_bytes()
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "exercises" / "05_vectors.ipynb"))
    checking.hint("5.1")
    assert "5.1" in capsys.readouterr().out


def test_progress_in_a_format_of_the_future_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    monkeypatch.chdir(tmp_path)
    future = json.dumps({"minigrad": progress_store.FORMAT + 1, "edition": EDITION, "exercises": {"5.1": {"passed": True}}})
    (tmp_path / progress_store.FILE).write_text(future, encoding="utf-8")
    assert progress_store.load() == {} and "newer version of minigrad" in progress_store.news()
    progress_store.note("5.1", tries=1)
    (kept,) = tmp_path.glob("minigrad-progress.2*.json")
    assert kept.read_text(encoding="utf-8") == future
    progress_store.news()


@pytest.mark.parametrize("metadata", [None, [], {"minigrad": 3}, {"minigrad": {"edition": "1"}}, {"minigrad": {}}])
def test_odd_metadata_are_todays(metadata: Any) -> None:
    assert updating.edition(metadata) == EDITION
