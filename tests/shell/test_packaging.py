"""The wheel: what it carries, and that it works alone, with numpy only, outside the checkout."""

import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).parents[2]
TRY = """
import minigrad as torch, pathlib
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x**2).sum().backward()
print(x.grad, "site-packages" in torch.__file__)
from minigrad.course import notebooks
print(notebooks.is_installed(), "05_vectors" in notebooks.lessons())
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, in a folder with all that it needs: what the teaching guide has a school carry to a room without network."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", str(ROOT), "-w", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("minigrad_course-*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_carries_all_that_runs_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for kind in ("notebooks", "exercises", "solutions"):
        for file in (ROOT / kind).rglob("*"):
            if file.is_file() and not any(part.startswith(".") for part in file.parts):
                assert f"minigrad/course/_files/{file.relative_to(ROOT).as_posix()}" in names
    for file in (ROOT / "minigrad").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert file.relative_to(ROOT).as_posix() in names
    assert not [name for name in names if name.split("/")[0] not in ("minigrad",) and ".dist-info/" not in name]
    about = f"minigrad_course-{minigrad.__version__}.dist-info"
    assert {f"{about}/licenses/LICENSE", f"{about}/licenses/NOTICE"} <= names
    description = zipfile.ZipFile(wheel).read(f"{about}/METADATA").decode()
    links = re.findall(r"\]\(([^)]*)\)", description)  # as a package index shows the README, with its pictures
    repository = re.search(r"^Project-URL: Repository, (\S+)$", description, re.MULTILINE)
    assert repository and len(links) >= 5
    for link in links:
        inside = link.removeprefix(repository[1]).partition("#")[0]
        assert re.match(r"/(raw|blob)/v[\d.]+/", inside) and (ROOT / inside.split("/", 3)[3]).exists(), link
    assert "![" in description and "/raw/v" in description


@pytest.mark.slow
def test_the_wheel_works_alone_and_installs_where_the_network_is_cut(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    cut = ["unshare", "-n"] if shutil.which("unshare") else []
    if cut and subprocess.run([*cut, "true"], capture_output=True, check=False).returncode:  # who is not root may not
        cut = []
    pip = [sys.executable, "-m", "pip", "--isolated", "--python", str(python)]
    install = ["install", "-q", "--no-compile", "--no-index", "--find-links", str(wheel.parent), "minigrad-course"]
    subprocess.run([*cut, *pip, *install], check=True, timeout=600, cwd=tmp_path)
    shown = subprocess.run([str(python), "-I", "-c", TRY], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert shown.stdout == "tensor([2., 4.]) True\nTrue True\n"
    command = [str(python), "-I", str(python.with_name("minigrad")), "lab", "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 2
    assert 'extra "course"' in done.stderr and "jupyterlab" in done.stderr
    assert not (tmp_path / "minigrad-course").exists()


def what_the_extra_needs(extra: str) -> set[str]:
    """The distributions that this extra of ours brings, and what they need themselves."""
    from packaging.requirements import Requirement

    needed: set[str] = set()
    waiting = [("minigrad-course", extra)]
    while waiting:
        name, of = waiting.pop()
        for text in metadata.distribution(name).requires or ():
            found = Requirement(text)
            if found.name.lower() not in needed and (found.marker is None or found.marker.evaluate({"extra": of})):
                needed.add(found.name.lower())
                waiting.append((found.name, ""))
    return needed


@pytest.mark.slow
def test_the_wheel_grades_with_the_extra_course_alone(wheel: Path, tmp_path: Path) -> None:
    """In an environment that sees of this one what the extra brings, and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    packages = Path(subprocess.run([str(python), "-c", "import site; print(site.getsitepackages()[0])"],
                                   capture_output=True, text=True, check=True).stdout.strip())  # fmt: skip
    zipfile.ZipFile(wheel).extractall(packages)
    for name in what_the_extra_needs("course") - {"minigrad-course"}:
        for file in metadata.distribution(name).files or ():
            top = packages / file.parts[0]
            if ".." not in file.parts and not top.exists() and not top.is_symlink():
                top.symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0])
    for name in ("ann", "bob"):
        (tmp_path / "in" / name).mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / "05_vectors_exercises.ipynb", tmp_path / "in" / name)
    command = [str(python), "-I", "-m", "minigrad.course.commands.cli", "grade", "in", "--out", "out", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 notebooks graded" in done.stdout and "What to do next" in (tmp_path / "out" / "report.html").read_text("utf-8")
    bare = subprocess.run([str(python), "-I", "-c", "import playwright"], capture_output=True, check=False)
    assert bare.returncode, "the environment holds more than the extra"
