"""What a release says about itself is said once: its version, its addresses, whose work it holds."""

import re
import tomllib

import minigrad

from .test_hygiene import ROOT, texts

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY, MAIL = PROJECT["urls"]["Repository"], PROJECT["authors"][0]["email"]


def test_one_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited and newest and cited[1] == newest[1] == minigrad.__version__
    assert "version" in PROJECT["dynamic"], "pyproject.toml takes it from the package"


def test_every_address_is_the_one_of_pyproject() -> None:
    name = REPOSITORY.rsplit("/", 1)[1]
    found = 0
    for file, text in texts().items():
        if file == "CONTRIBUTING.md":  # shows how to replace them
            continue
        for address in re.findall(rf"https?://[^\s)\"'>]+/{name}\b[^\s)\"'>]*", text):
            assert address.startswith(REPOSITORY), f"{file}: {address}"
            found += 1
        for mail in re.findall(r"[\w.]+@example\.\w+", text):
            assert mail == MAIL, f"{file}: {mail}"
    for file in ("CITATION.cff", ".github/SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"):
        assert REPOSITORY in (ROOT / file).read_text(encoding="utf-8"), file
    for file in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        assert f"<{MAIL}>" in (ROOT / ".github" / file).read_text(encoding="utf-8"), file
    assert found >= 5


def test_the_work_of_others_is_named() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert "NOTICE" in PROJECT["license-files"]
    for words in ("E. Alpaydin and C. Kaynak", "CC BY 4.0", "minigrad/course/data/digits.npz", "PyTorch", "Redistribution"):
        assert words in notice
    assert (ROOT / "minigrad" / "course" / "data" / "digits.npz").exists()
