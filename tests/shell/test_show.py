"""`minigrad show`: its pages in a browser without a network, and what it says to bad points, photos and engines."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from minigrad.course.checks.own_engine import FILE, reference
from minigrad.course.commands import cli, show

from ..browser.fixtures import axe, chromium

__all__ = ["axe", "chromium"]
POINTS = "x,y,class\n1,2,a\n2,1,b\n3,4,a\n4,3,b\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a student's whole engine; also the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE).write_text(reference(17).replace(" (from the reference, not yours)", ""), encoding="utf-8")
    return tmp_path


def run(*arguments: str | Path) -> int:
    return cli.main(["show", *map(str, arguments)])


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence with which the command ends; no page is there."""
    assert run(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert not list(Path.cwd().glob("*.html"))
    return line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the first line of points.csv has to be x,y,class"),
        ("a,b\n1,2\n", "has to be x,y,class"),
        ("height,width,kind\n1,2,a\n", "has to be x,y,class"),
        ("x,y,class\n1,2,a\ntall,1,b\n", "line 3 of points.csv has to be two numbers and a class"),
        ("x,y,class\n1,2\n", "line 2 of points.csv has to be two numbers and a class"),
        ("x,y,class\n1,2,a\n", "has 1 points; from 4 to 200 can be shown"),
        ("x,y,class\n" + "1,2,a\n" * 5, "belong to 1 class; the net tells 2 apart"),
        (POINTS + "5,5,c\n", "belong to 3 classes"),
        (POINTS + "inf,5,a\n", "no number below a thousand million"),
        (POINTS + "nan,5,a\n", "no number below a thousand million"),
        ("x,y,class\n" + "1,2,a\n" * 10**6, "more than 200 points"),
        ("x,y,class\n" + "1" * 200_000, "is no table"),
        ("x,y,class\n1,\udcff,a\n", "is no table"),
    ],
)
def test_bad_points_are_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str], text: str, says: str) -> None:
    Path("points.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert says in refused(capsys, "03", "--data", "points.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has 0 different names; from 20 to 5,000 can be learned"),
        ("vega\n" * 900, "has 1 different names"),
        ("vega\nsirius\n" + "x" * 16, "the name in line 3 of names.txt has 16 letters; 15 are the most"),
        ("vega\nst. ives\n", "the name in line 2 of names.txt has a dot"),
        ("vega\na\0b\n", "the name in line 2 of names.txt has a dot, or a character that cannot be shown"),
        ("\udcff", "is no text in UTF-8 with a name in each line"),
        ("\n".join(map(str, range(10**4))), "has 10000 different names"),
    ],
)
def test_a_bad_list_of_names_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str], text: str, says: str) -> None:
    Path("names.txt").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert says in refused(capsys, "16", "--data", "names.txt")


def huge(file: Path) -> None:
    Image.new("1", (10_000, 9_000)).save(file)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda file: file.write_bytes(b""), "is no picture that can be read"),
        (lambda file: file.write_text("I am a photo"), "is no picture that can be read"),
        (lambda file: file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50)), "is no picture that can be read"),
        (lambda file: Image.new("L", (20, 900)).save(file), "is too small"),
        (lambda file: Image.new("L", (90, 90), 200).save(file), "the photo shows no writing"),
        (huge, "is too large: 89 million pixels are the most"),
        (lambda file: None, "No such file"),
        (lambda file: file.mkdir(), "Is a directory"),
    ],
)
def test_a_bad_photo_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None], says: str
) -> None:
    make(Path("page.png"))
    assert says in refused(capsys, "06", "--photo", "page.png")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: "def f(:\n", "is no Python in line 1"),
        (lambda text: re.sub(r"\bmul\b", "times", text), "lacks 3.2. Solve and keep this, or get it from"),
        (lambda text: "print(1)\n", "lacks 3.0, 3.1, 3.2, 3.3, 3.4, 3.5 and 3.6. Solve"),
        (lambda text: "raise SystemExit\n" + text, f"{FILE} fails in line 1 (SystemExit: )"),
        (lambda text: text + "def descend(parameters, rate):\n    1 / 0\n", "(ZeroDivisionError: division by zero)"),
        (lambda text: text + "def descend(parameters):\n    pass\n", "fails (TypeError: descend() takes 1"),
        (lambda text: text.replace("rate * p.grad", "1e999"), "the loss of step 2 is nan, so there is nothing to show"),
        (lambda text: "\ud800", "is no text in UTF-8"),
    ],
)
def test_an_engine_that_does_not_run_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Callable[[str], str], says: str
) -> None:
    file = folder / FILE
    file.write_bytes(change(file.read_text(encoding="utf-8")).encode("utf-8", "surrogatepass"))
    assert says in refused(capsys, "03")


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_leaves_no_half_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        assert "minigrad-12.html cannot be written (File too large); nothing of it is there" in refused(capsys, "12")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [file.name for file in folder.iterdir()] == [FILE]


def test_what_never_ends_is_not_read_to_its_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "line 1 of /dev/zero" in refused(capsys, "16", "--data", "/dev/zero")
    assert "/dev/zero is no table" in refused(capsys, "03", "--data", "/dev/zero")


def test_an_option_of_another_lesson_and_a_lesson_without_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--photo belongs to lesson 06, not to 03" in refused(capsys, "03", "--photo", "x.jpg")
    assert "lesson 05 has nothing to show" in refused(capsys, "05")
    assert "No such file" in refused(capsys, "03", "--data", "nowhere.csv")


@pytest.mark.slow
def test_a_page_never_takes_the_place_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A training ends when its time is over, and its page is there all the same."""
    monkeypatch.setattr(show, "SECONDS", 0)
    Path("points.csv").write_text(POINTS.replace("a\n", '"</script><b>"\n'), encoding="utf-8")
    Path("minigrad-03.html").write_text("mine", encoding="utf-8")
    assert run("03") == run("3", "--data", "points.csv") == 0
    assert Path("minigrad-03.html").read_text(encoding="utf-8") == "mine"
    assert "an engine that I wrote myself computed" in Path("minigrad-03-2.html").read_text(encoding="utf-8")
    assert "</script><b>" not in Path("minigrad-03-3.html").read_text(encoding="utf-8")
    Path(FILE).write_text(reference(4), encoding="utf-8")
    assert run("03") == 0
    Path(FILE).unlink()
    assert run("03") == 0 and "there is no" in capsys.readouterr().out
    for file in ("minigrad-03-4.html", "minigrad-03-5.html"):
        assert "boundary is: the engine of the course minigrad computed" in Path(file).read_text(encoding="utf-8")


STARTS = ("löwe", "bär", "o'cat", "dog", "emu", "<b>", "fox")  # a list of 49 names, in which one has to be escaped


# In a browser --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The five pages, and those of a photo and of a list, trained by a whole engine."""
    place = tmp_path_factory.mktemp("show")
    (place / FILE).write_text(reference(17).replace(" (from the reference, not yours)", ""), encoding="utf-8")
    down, across = np.mgrid[0:600, 0:400]
    writing = np.where((down // 20 % 2 == 0) & (across // 9 % 2 == 0) & (across > 60), 0.4, 1.0)
    Image.fromarray(np.uint8(writing * (60 + 0.3 * down))).convert("RGB").save(place / "page.jpg")
    (place / "own.txt").write_text("".join(f"{a}{b}\n" for a in STARTS for b in STARTS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show, "SECONDS", 100)  # on a busy machine, too, all steps are made
        patch.chdir(place)
        own = (["06", "--photo", "page.jpg"], ["16", "--data", "own.txt"])
        assert [run(*words) for words in (["03"], ["06"], ["12"], ["14"], ["16"], *own)] == [0] * 7
        yield place


@pytest.fixture
def opened(chromium: Any, pages: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page without a network; at the end there was no error, no warning and no request."""
    wrong: list[str] = []
    context = chromium.new_context(offline=True, reduced_motion="reduce", accept_downloads=True)

    def opened(name: str, width: int = 390, scheme: str = "light") -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:", "about:")) or wrong.append(asked.url))
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto((pages / name).as_uri())
        return page

    yield opened
    context.close()
    assert not wrong


FILES = ["minigrad-03.html", "minigrad-06.html", "minigrad-06-2.html", "minigrad-12.html", "minigrad-14.html",
         "minigrad-16.html", "minigrad-16-2.html"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", FILES)
def test_a_page_is_small_and_axe_finds_nothing(pages: Path, opened: Callable[..., Any], axe: Any, name: str) -> None:
    """On a phone and on a wide screen, in both themes; nothing in it evaluates text or comes from elsewhere."""
    text = (pages / name).read_text(encoding="utf-8")
    assert len(text.encode()) < 2_000_000
    assert not re.search(r"\beval\(|new Function|<link|src=\"http|@import", text)
    for width, scheme in ((390, "light"), (390, "dark"), (1400, "light")):
        page = opened(name, width, scheme)
        assert axe(page, "html", exclude=["iframe"]) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("[...document.images].every((image) => image.alt && (!image.src || image.naturalWidth))")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", ["minigrad-12.html", "minigrad-14.html"])
def test_the_net_reads_a_digit_that_is_drawn(opened: Callable[..., Any], name: str) -> None:
    page = opened(name)
    for digit, corners in {"1": [(0.5, 0.2), (0.5, 0.8)], "7": [(0.3, 0.2), (0.7, 0.2), (0.45, 0.8)]}.items():
        page.get_by_role("button", name="Clear").click()
        assert "Draw a digit" in page.inner_text("#read")
        box = page.locator("#draw").bounding_box()
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=8)
        page.mouse.up()
        assert page.inner_text("#read").startswith(f"I read a {digit}, and I am ")
    shares = [int(share) for share in re.findall(r"(\d+) %", page.inner_text("#bars"))]
    assert len(shares) == 10 and 98 <= sum(shares) <= 102
    said = []
    for _ in range(40):
        page.get_by_role("button", name="A digit from the test").click()
        said.append(re.fullmatch(r"I read a (\d), .* It was written as a (\d)\.", page.inner_text("#read")))
    assert sum(words[1] == words[2] for words in said if words) >= 37


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_points_that_are_clicked_make_the_next_page(
    pages: Path, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("minigrad-03.html")
    assert "After step 100" in page.inner_text("#said") and "40 of 40 points" in page.inner_text("#said")
    page.locator("#film").fill("0")
    assert page.inner_text("#said").startswith("Before the first step")
    frame = page.frame_locator("iframe")
    frame.get_by_text("answer", exact=True).first.wait_for()
    box = page.locator("#place").bounding_box()
    page.locator("#place").scroll_into_view_if_needed()
    for kind, spots in {"blue": [(40, 40), (60, 80), (90, 50)], "orange": [(250, 180), (280, 200), (230, 210)]}.items():
        page.get_by_label(kind).check()
        for x, y in spots:
            page.locator("#place").click(position={"x": x, "y": y})
    assert box and page.input_value("#csv").count("\n") == 7
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as points.csv").click()
    download.value.save_as(pages / "points.csv")
    monkeypatch.setattr(show, "SECONDS", 1)
    assert run("03", "--data", "points.csv") == 0
    again = opened("minigrad-03-2.html")
    assert "6 of 6 points" in again.inner_text("#said") and "two classes of points" in again.inner_text("h1")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_a_photo_becomes_black_on_white(opened: Callable[..., Any]) -> None:
    """Ink at the bottom of the photo was brighter than paper at its top."""
    page = opened("minigrad-06-2.html")
    assert "mended" in page.inner_text("main") and "After step 1024" in page.inner_text("#said")
    ink, paper = [
        page.evaluate(
            """([id, y, x]) => {
                const image = document.getElementById(id), pen = document.createElement("canvas").getContext("2d");
                pen.canvas.width = 400; pen.canvas.height = 600; pen.drawImage(image, 0, 0, 400, 600);
                return pen.getImageData(x, y, 1, 1).data[0];
            }""",
            [id, y, x],
        )
        for id, y, x in (("after", 570, 112), ("after", 30, 112))
    ]
    assert ink < 80 and paper > 200


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_names_are_invented_and_a_letter_shows_where_the_model_looks(pages: Path, opened: Callable[..., Any]) -> None:
    page = opened("minigrad-16.html")
    known = set((show.DATA / "names.txt").read_text(encoding="utf-8").split())
    invented = page.locator(".names > span:not(.known)").all_inner_texts()
    assert len(invented) >= 20 and not known & set(invented)
    name = page.locator(".mg-look").first
    words, colour = name.locator("small").nth(3), name.locator("i.f3").first
    assert not words.is_visible() and not colour.is_visible()
    name.locator("span").nth(3).focus()
    assert words.is_visible() and colour.is_visible()
    assert words.inner_text().startswith("To guess what follows ○")
    own = opened("minigrad-16-2.html")
    assert own.inner_text("h1") == "My model invents names like mine" and own.locator(".names b").count() == 0


@pytest.mark.slow
@pytest.mark.alone
def test_a_list_of_a_thousand_names_is_learned_in_ninety_seconds(folder: Path) -> None:
    """On one core, with the student's engine, and more steps than the notebook makes."""
    ends = ("a", "ar", "el", "in", "on", "us", "ova", "ipe", "eto", "andi")
    names = [f"{a}{b}{c}\n" for a in "bdfgklmnps" for b in ends[1:] + ("ull",) for c in ends]
    Path("names.txt").write_text("".join(names), encoding="utf-8")
    began = time.process_time()
    assert run("16", "--data", "names.txt") == 0
    assert time.process_time() - began < 90
    assert "read 1,000 names" in Path("minigrad-16.html").read_text(encoding="utf-8")
