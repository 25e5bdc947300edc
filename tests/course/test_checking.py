"""check, hint, predict and progress: what a student reads, and that nothing they write harms the kernel."""

import html
import json
import os
import re
import signal
import sys
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

import minigrad as torch
from minigrad.course import check, hint, lessons, notebooks, predict, progress
from minigrad.course.checks import checking, controls, forms, next_step, progress_store
from minigrad.course.checks.card import Card
from minigrad.course.checks.checking import NotPassed
from minigrad.course.exercise import EDITION
from minigrad.course.judge.verdict import judge
from minigrad.course.student import worker
from minigrad.course.student.child import Watched, can_fork, examine
from minigrad.course.student.student import Local
from minigrad.viz import live
from tests.house.test_notebook_style import anchors


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """A fresh course folder, and no setting from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("MINIGRAD_CHECK", "NBGRADER_EXECUTION", "MINIGRAD_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(progress_store, "memory", {})
    monkeypatch.setattr(progress_store, "said", [])
    monkeypatch.setattr(worker, "predictions", {})
    return tmp_path


def right(v, x):
    return 2 * x * v


def wrong(v, x):
    return 2 * x


def checked(vjp_square, capsys):
    """What check("5.1") prints for this function."""
    check("5.1")
    return capsys.readouterr().out


def test_a_pass_is_a_pass(capsys):
    assert checked(right, capsys) == (
        "5.1 the vector-Jacobian product of x squared: passed\n"
        "  All 7 probes agree.\n"
        "  Output i depends only on x[i], with the derivative 2 · x[i], and v[i] multiplies it.\n"
        "  Lesson 05, Vectors: the gradient argument: 1 of 5 exercises solved.\n"
        "  Next: 5.2 a whole Jacobian from backward passes\n"
    )


def test_a_card_that_passes_says_why_and_leads_on(capsys):
    out = checked(right, capsys)
    assert "Output i depends only on x[i]" in out and "Next: 5.2 a whole Jacobian" in out
    records = {}
    *_, last = (exercise for exercise in lessons.all_exercises() if exercise.points)
    for exercise in lessons.all_exercises():
        if exercise.points:
            records[exercise.id] = {"passed": True}
            words, address = next_step.after(records, exercise).link(exercise)
            assert exercise.why.endswith(".") and 5 <= len(exercise.why.split()) <= 30, exercise.id
            assert (words and address) or exercise.id == last.id
            folder = notebooks.course_root() / "exercises"
            home = notebooks.path("exercises", lessons.lesson(exercise.lesson).slug)
            assert address[1:] in anchors(home) if address.startswith("#") else (folder / address).exists(), exercise.id
    for id in ("5.1", "5.2", "5.3", "5.4", "5.5"):
        progress_store.note(id, passed=True)
    card = checking.going_on(checking.Card("5.5", "passed"), lessons.find("5.5"))
    assert "5 of 5 exercises solved." in card.text() and "You can now say what a backward pass starts from" in card.text()
    assert '<a href="../notebooks/06_broadcasting.ipynb">lesson 06, Broadcasting and reductions</a>' in card.html()


def test_the_welcome_page_follows_the_checks(own_folder, capsys):
    from minigrad.course.checks import welcome

    checked(right, capsys)
    assert not (own_folder / welcome.FILE).exists(), "only the lab makes one"
    (own_folder / welcome.FILE).write_text(welcome.page({}), encoding="utf-8")
    checked(right, capsys)
    assert "solved 1 of" in (own_folder / welcome.FILE).read_text(encoding="utf-8")


def test_a_known_mistake_prints_call_got_and_why(capsys):
    out = checked(wrong, capsys)
    assert "called   vjp_square(np.array([1., 0.5, -2.]), np.array([1., 2., 3.]))" in out
    assert "it gave  array([2., 4., 6.])" in out
    assert "does not depend on v" in out and 'hint("5.1") gives hint 1 of 3' in out
    assert "(M26, meaning of the gradient argument)" in " ".join(out.split()), "a number of the catalogue has its words"
    assert "-12" not in out, "the right answer is not shown"


def test_the_number_of_a_misconception_links_to_its_words():
    found = lessons.find("5.1")
    card = checking.card_of(found, judge(found, Local({"vjp_square": wrong})), {})
    address, anchor = re.search(r'href="\.\./(notebooks/reference/[a-z]+\.md)#([^"]+)"[^>]*>M26, ', card.html()).groups()
    page = (notebooks.course_root() / address).read_text(encoding="utf-8")
    assert "#" + anchor in ["#" + line[3:].replace(" ", "-") for line in page.split("\n") if line.startswith("## ")]


def test_a_prediction_names_a_belief_in_its_own_words():
    """It ended "(M44, smaller h is better)", which no student says."""
    found = lessons.find("1.2b")
    said = checking.what_happened(judge(found, Local({found.name: "a"})))
    card = Card("1.2b", paragraphs=(said,), believed="M44")
    words = "The smaller the step of a difference, the better the slope."
    assert said.endswith(f'(common belief M44: "{words}")') and f"{html.escape(words)}&quot;</a>)" in card.html()


def test_the_same_text_every_time(capsys):
    assert checked(wrong, capsys) == checked(wrong, capsys)


def loops(v, x):
    while True:
        pass


def swallows(v, x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def sleeps(v, x):
    time.sleep(1000)


def naps(v, x):
    while True:
        time.sleep(0.01)


def dozes(v, x):
    while True:
        for _ in range(5_000):
            pass
        time.sleep(0.003)


def leaves(v, x):
    sys.exit(f"bye {x} {v}")  # an input that is not used would be worth a word


def leaves_at_once(v, x):
    os._exit(0)


def recurses(v, x):
    return recurses(v, x)


def eats(v, x):
    eaten = []
    while True:
        eaten.append(np.empty(1 << 22))  # asked for, never touched: quick on a busy machine


def kills(v, x):
    os.kill(os.getpid(), 11)


def closes(v, x):
    for descriptor in range(3, 200):
        try:
            os.close(descriptor)
        except OSError:
            continue
    return 2 * x * v


def scribbles(v, x):
    for descriptor in range(3, 200):
        try:
            os.write(descriptor, b"\0" * 64)
        except OSError:
            continue
    return x


def floods(v, x):
    for _ in range(10_000):
        print("noise" * 100)
    os.write(1, b"noise")
    return 2 * x * v


class Sly:
    def __eq__(self, other):
        return True

    def __array__(self, *args, **kwargs):
        return np.array([1.0])


DOES = {
    loops: "may compute for 1 s, and this took longer",
    swallows: "may compute for 1 s, and this took longer",
    sleeps: "waited 2.5 s for an answer",
    naps: "waited 2.5 s for an answer",
    dozes: "waited 2.5 s for an answer",
    leaves: "called sys.exit()",
    leaves_at_once: "ended the whole process",
    recurses: "called itself too often",
    eats: "may use 512 MB of memory",
    kills: "crashed (signal 11)",
    closes: "ended the whole process",
    scribbles: "No plain value came back",
    floods: ": passed",
}


def children() -> set[int]:
    """This process's children, those of other tests among them."""
    return {child.pid for child in psutil.Process().children()}


WAIT = (naps, dozes, sleeps, loops, swallows)  # until a limit


@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize(
    "does", [pytest.param(f, marks=[pytest.mark.slow] * (f in WAIT)) for f in DOES], ids=lambda f: f.__name__
)
def test_whatever_the_code_does_the_kernel_lives(does, capfd):
    before, start = children(), time.monotonic()
    out = checked(does, capfd)
    assert DOES[does] in out.replace("\n  ", " "), out
    assert "noise" not in out
    assert time.monotonic() - start < 20
    assert children() <= before, "a child is left behind"


@pytest.mark.skipif(not can_fork(), reason="no fork here")
def test_the_childs_code_cannot_write_where_the_kernel_reads(capfd):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    checked(scribbles, capfd)
    with pytest.raises(BlockingIOError):
        os.read(reading, 64)
    os.close(reading)
    os.close(writing)


def test_no_descriptor_is_left_open(capsys):
    before = len(os.listdir("/proc/self/fd"))
    for f in (right, wrong, leaves_at_once):
        checked(f, capsys)
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_object_that_equals_everything_is_no_value(capsys):
    assert "a Sly, which is no plain value" in checked(lambda v, x: Sly(), capsys)


def test_the_students_objects_stay_as_they_were(capsys):
    log = []

    def notes(v, x):
        log.append(1)
        return 2 * x * v

    assert ": passed" in checked(notes, capsys)
    assert log == []


def test_wrong_name_and_cell_not_run(capsys):
    vjp_sqare = right  # noqa: F841
    check("5.1")
    out = capsys.readouterr().out
    assert "I cannot find `vjp_square`." in out and "There is `vjp_sqare`" in out


def test_found_by_name_too(capsys):
    vjp_square = right
    check("vjp_square")
    check(vjp_square.__name__.replace("right", "vjp_square"))
    assert capsys.readouterr().out.count(": passed") == 2
    with pytest.raises(KeyError, match=r"no exercise asks for"):
        check("nonsense")
    with pytest.raises(KeyError, match=r"there is no exercise 5.99"):
        check("5.99")


def test_only_a_test_run_raises(monkeypatch, capsys):
    checked(wrong, capsys)
    monkeypatch.setenv("MINIGRAD_CHECK", "raise")
    with pytest.raises(NotPassed, match=r"5.1: not yet"):
        checked(wrong, capsys)
    assert "does not depend on v" in capsys.readouterr().out, "the card is shown first"
    checked(right, capsys)
    with pytest.raises(NotPassed, match=r"5.1: not attempted"):
        checked(lambda v, x: ..., capsys)


def test_nbgrader_counts_as_a_test_run(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(NotPassed):
        checked(wrong, capsys)


def test_test_runs_see_no_progress_and_leave_none(own_folder, monkeypatch, capsys):
    checked(wrong, capsys)
    kept = (own_folder / progress_store.FILE).read_bytes()
    monkeypatch.setenv("MINIGRAD_CHECK", "1")
    progress()
    assert "not yet" not in capsys.readouterr().out
    checked(right, capsys)
    assert (own_folder / progress_store.FILE).read_bytes() == kept


def test_progress_is_one_file_beside_the_notebooks(own_folder, monkeypatch, capsys):
    (own_folder / "exercises").mkdir()
    monkeypatch.chdir(own_folder / "exercises")
    checked(wrong, capsys)
    checked(right, capsys)
    checked(wrong, capsys)
    assert os.listdir(own_folder / "exercises") == []
    record = json.loads((own_folder / progress_store.FILE).read_text())["exercises"]["5.1"]
    assert (record["passed"], record["state"], record["tries"]) == (True, "not yet", 3)
    progress()
    out = capsys.readouterr().out
    assert "solved 1 of" in out and "Next: 5.2" in out
    (own_folder / progress_store.FILE).unlink()
    checked(right, capsys)
    progress()
    assert "solved 1 of" in capsys.readouterr().out


def test_a_damaged_progress_file_is_kept_aside(own_folder, capsys):
    (own_folder / progress_store.FILE).write_text("{ not json")
    checked(right, capsys)
    (kept,) = own_folder.glob("minigrad-progress.2*.json")
    assert kept.read_text() == "{ not json"
    assert json.loads((own_folder / progress_store.FILE).read_text())["exercises"]["5.1"]["passed"]


ODD_FILES = {
    "empty": "", "a list": "[]", "no exercises": '{"minigrad": 1}',
    "a number for a record": f'{{"edition": {EDITION}, "exercises": {{"5.1": 3}}}}',
    "half of it": '{"exercises": {"5.1": {"tri',
    "another edition": '{"minigrad": 1, "exercises": {"5.1": {"passed": true}}}',
    "a deep well": "[" * 100_000, "not UTF-8": b"\xff\xfe\x00",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("content", ODD_FILES.values(), ids=ODD_FILES.keys())
def test_what_cannot_be_read_is_kept_and_told(content, own_folder, capsys):
    content = content if isinstance(content, bytes) else content.encode()
    file = own_folder / progress_store.FILE
    for _ in range(2):
        file.write_bytes(content)
        out = " ".join(checked(right, capsys).split())
        (kept,) = re.findall(r"The file is (minigrad-progress\.[-\d]{17,19}\.json) now\.", out)
        assert "is not used" in out and ("another edition" in out) == (b"true" in content)
        assert (own_folder / kept).read_bytes() == content
    assert len(os.listdir(own_folder)) == 3 and "is not used" not in checked(right, capsys)


def test_numbers_of_another_edition_are_not_read(own_folder, capsys):
    """In another edition 11.1 was a patient of the clinic; today it is the log-softmax."""
    file = own_folder / progress_store.FILE
    file.write_text('{"minigrad": 1, "exercises": {"11.1": {"passed": true, "answer": 3}}}', encoding="utf-8")
    assert progress_store.load() == {} and "exercises asked for something else" in progress_store.news()
    progress()
    assert "0 of" in capsys.readouterr().out and "11.1" in file.read_text(encoding="utf-8")
    progress_store.note("11.1", tries=1)
    (kept,) = own_folder.glob("minigrad-progress.2*.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["exercises"]["11.1"]["passed"]
    assert progress_store.load() == {"11.1": {"tries": 1}}
    assert json.loads(file.read_text(encoding="utf-8"))["edition"] == EDITION


def test_old_and_edited_files_are_read(own_folder, capsys):
    record = {"passed": True, "tries": "3", "hints": None, "rung": -1, "tries_at_rung": 1.5, "misconception": 7, "new": [1]}
    written = json.dumps({"edition": EDITION, "exercises": {"5.1": record, "99.9": {"passed": True}}})
    (own_folder / progress_store.FILE).write_text("\ufeff" + written, encoding="utf-8")
    assert "is not used" not in checked(wrong, capsys)
    hint("5.1")
    progress()
    now = json.loads((own_folder / progress_store.FILE).read_text())["exercises"]
    assert now["5.1"]["passed"] and now["5.1"]["new"] == [1] and now["99.9"] == {"passed": True}
    assert (now["5.1"]["tries"], now["5.1"]["hints"]) == (1, 1)


def test_half_a_letter_is_kept(own_folder):
    progress_store.note("4.4a", answer="\ud83d")
    assert progress_store.load()["4.4a"] == {"answer": "\ud83d"} and progress_store.news() == ""
    assert os.listdir(own_folder) == [progress_store.FILE]


def test_a_full_disk_costs_nothing_and_is_told(own_folder, monkeypatch, capsys):
    checked(wrong, capsys)
    before = (own_folder / progress_store.FILE).read_bytes()
    with monkeypatch.context() as full:
        full.setattr(progress_store.os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        out = " ".join(checked(right, capsys).split())
        assert "cannot be saved (No space left on device): it lasts as long as this kernel" in out
    assert (own_folder / progress_store.FILE).read_bytes() == before and os.listdir(own_folder) == [progress_store.FILE]
    assert "cannot be saved" not in checked(wrong, capsys)  # there is room again
    assert json.loads((own_folder / progress_store.FILE).read_text())["exercises"]["5.1"]["passed"]
    assert progress_store.memory == {}


def test_a_folder_that_is_gone_costs_nothing(own_folder, capsys):
    os.rmdir(own_folder)
    assert "passed" in checked(right, capsys)
    predict("4.4a", 9)
    hint("5.1")
    progress()
    assert "cannot be saved" in capsys.readouterr().out


def test_a_kernel_killed_while_writing_leaves_a_whole_file(own_folder):
    progress_store.note("0.1", passed=True)
    for wait in (0.002, 0.004, 0.008, 0.012):
        pid = os.fork()
        if pid == 0:
            while True:
                progress_store.note("5.1", answer="x" * 100_000)
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        assert progress_store.read(own_folder / progress_store.FILE)["0.1"] == {"passed": True}
    progress_store.note("0.2", passed=True)
    assert progress_store.load()["0.2"] == {"passed": True} and progress_store.news() == ""


def test_a_folder_of_any_name(own_folder, monkeypatch, capsys):
    odd = own_folder / "Übung \N{SNAKE} 'x' \n %s" / "exercises"
    odd.mkdir(parents=True)
    monkeypatch.chdir(odd)
    checked(right, capsys)
    assert (odd.parent / progress_store.FILE).exists() and progress_store.load()["5.1"]["passed"]


def test_a_folder_that_cannot_be_written_costs_nothing(own_folder, monkeypatch, capsys):
    def refused(*args, **kwargs):
        raise PermissionError("read-only")

    monkeypatch.setattr(progress_store.tempfile, "mkstemp", refused)
    checked(right, capsys)
    progress()
    assert "solved 1 of" in capsys.readouterr().out
    assert os.listdir(own_folder) == []


@pytest.mark.slow
def test_hints_climb_the_ladder_of_the_last_mistake(capsys):
    hint("5.1")
    assert "hint 1 of 3" in capsys.readouterr().out
    checked(wrong, capsys)
    hint("5.1")
    first = capsys.readouterr().out
    assert "hint 1 of 3" in first and "shape of the output, not of the input" in first
    hint("5.1")
    hint("5.1")
    assert "hint 3 of 3" in capsys.readouterr().out
    hint("5.1")
    assert "opens after two more tries" in capsys.readouterr().out
    checked(wrong, capsys)
    checked(wrong, capsys)
    hint("5.1")
    assert "worked solution" in capsys.readouterr().out
    hint("5.1")
    assert "all hints" in capsys.readouterr().out
    checked(lambda v, x: x * v, capsys)
    hint("5.1")
    assert "all hints" in capsys.readouterr().out, "the same misconception has the same ladder"
    checked(lambda v, x: np.sum(2 * x * v), capsys)
    hint("5.1")
    assert "hint 1 of 3" in capsys.readouterr().out, "another misconception starts its own"


UNANSWERED = (
    "Your turn, 5.0a: the gradient of a sum of squares\n"
    "  Put a list of numbers in the place of the dots, and run this cell again."
)


def test_an_open_prediction_never_stops_a_reading_notebook(monkeypatch, capsys):
    for setting in ("", "raise"):
        monkeypatch.setenv("MINIGRAD_CHECK", setting)
        for answer in (..., [..., ...], [4, ...]):
            predict("5.0a", answer)
        predict("5.0a")
    assert capsys.readouterr().out.count(UNANSWERED) == 8


def test_a_prediction_that_is_run_again_shows_its_state(capsys):
    """Open, locked with what happened and why, passed: the first answer decides, today and from the file tomorrow."""
    for answer, state, happened in ([4, 9], "locked", "These are the squares themselves"), ([4, 6], "passed", "That is what"):
        progress_store.note("5.0a", answer=None)
        (progress_store.folder() / progress_store.FILE).unlink()
        predict("5.0a", answer)
        now = capsys.readouterr().out
        assert f"squares: {state}\n  Locked in: {answer}.\n  {happened}" in now
        predict("5.0a", ...)
        assert capsys.readouterr().out == now, "run again, it is the same"
        predict("5.0a", "no number")
        slip = capsys.readouterr().out
        assert f"squares: {state}" in slip and f"stays locked in: {answer}." in slip and "Nothing is locked" not in slip


def test_a_prediction_is_locked_by_the_first_answer(capsys):
    predict("5.0a", [4, 9])
    assert "These are the squares themselves" in capsys.readouterr().out
    predict("5.0a", [4, 6])
    out = capsys.readouterr().out
    assert "Your first answer stays locked in: [4, 9]. This one: [4, 6]." in out and "passed" in out
    record = progress_store.load()["5.0a"]
    assert (record["answer"], record["right_at_first"], record["passed"]) == ("[4, 9]", False, True)
    predict("5.0a", [1, 2])
    assert "Something else happens. Run on and compare." in capsys.readouterr().out
    predict("5.0a", object())
    assert "no plain value" in capsys.readouterr().out


def test_what_is_no_answer_is_not_locked_in(capsys):
    slips = {"4.6a": ("x", "", ["b"], 2, object()), "4.1a": ("none none", ["None", "None"], None, [None], [None, True]),
             "4.5a": ("nothing", [None], [0]), "5.0a": ("[4, 6]", 7, [[4, 6]], {}), "4.3b": (["4", "4"],), "3.1a": (True,),
             "1.0": ("7", [7, 7], None, True, {"x": 7})}  # fmt: skip
    for id, answers in slips.items():
        for slip in answers:
            predict(id, slip)
            out = capsys.readouterr().out
            assert "Nothing is locked in yet." in out and ": open" in out, (id, slip)
            assert f"The answer is {forms.asked(lessons.find(id))}." in " ".join(out.split())
    assert progress_store.load() == {}
    predict("5.0a", [1, 2, 3])
    assert "Locked in" in capsys.readouterr().out, "three numbers may be believed in where the number is not told"
    predict("4.6a", "B")
    assert "Locked in: 'B'." in capsys.readouterr().out


def tensors(right):
    """A list of tensors, which is right, or one number in a tensor."""
    return [tensors(each) for each in right] if type(right) is list else right if right is None else torch.tensor(right)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [str, np.array, tuple, tensors, lambda right: [right], lambda right: f"({right})."])
def test_a_right_prediction_in_another_form_is_right_or_asked_again(kind):
    for exercise in lessons.all_exercises():
        fits = type(exercise.right) is list if kind is tuple else kind is not tensors or not exercise.options
        if exercise.kind == "prediction" and fits:
            answer = exercise.right if exercise.right is None else kind(exercise.right)
            worker.predictions[exercise.id] = answer
            verdict = judge(exercise, Local({}))
            slip = "" if verdict.passed else checking.slipped(exercise, answer, verdict)
            assert verdict.passed or "The answer is" in slip, (exercise.id, answer, verdict)


@pytest.fixture
def painted(monkeypatch):
    """The controls of an exercise and all that a front end is told of them, without a front end: `painted[-1]` is there now."""
    shown = []
    monkeypatch.setattr(live, "channel", lambda: SimpleNamespace(model_id="channel"))
    for name in ("display", "update_display"):
        monkeypatch.setattr(controls, name, lambda bundle, raw, display_id: shown.append(bundle["text/html"]))
    return shown


def question(id, namespace=None):
    """The controls of an exercise after a check of a blank."""
    found = lessons.find(id)
    judged = (lambda a: checking.lock(found, a, isinstance(a, str))[1]) if found.kind == "prediction" else (
        lambda a: checking.answered(found, namespace, a))  # fmt: skip
    state = "open" if found.kind == "prediction" else "not attempted"
    made = controls.Question(found, checking.Card(id, state), judged, lambda: checking.hint_card(found), field=True)
    made.show()
    return made


def test_controls_do_what_the_code_does(own_folder, painted):
    namespace = {}
    asking = question("5.3", namespace)
    assert painted[-1].count('type="radio"') == 4 and "Your answer, one letter: a, b, c or d" in painted[-1]
    assert "Choose one letter" in asking.on_action("answer", {})["said"] and namespace == {}, "nothing was chosen"
    asking.on_action("answer", {"answer": "a"})
    assert painted[-1].count('role="group"') == 1 and "not yet" in painted[-1] and "Hint for 5.3" in painted[-1]
    assert "To keep" not in painted[-1], "a wrong answer is not worth it"
    asking.on_action("hint", {})
    assert "hint 1 of" in painted[-1] and progress_store.load()["5.3"]["hints"] == 1
    asking.on_action("answer", {"answer": "b"})
    assert namespace == {"same_when": "b"} and "passed" in painted[-1] and "<button" not in painted[-1]
    assert "write <code>same_when = &#x27;b&#x27;</code> in its cell" in painted[-1]


def test_letters_in_a_field_are_a_slip_of_the_form(own_folder, painted):
    namespace = {}
    asking = question("0.1", namespace)
    asking.on_action("answer", {"answer": "abc"})
    assert "That is a string ('abc'). The answer is a number." in html.unescape(painted[-1])
    assert "uotation" not in painted[-1] and "<input" in painted[-1]
    assert namespace == {} and not progress_store.load(), "it is no try"
    asking.on_action("answer", {"answer": "'42'"})
    assert "Because of the quotation marks" in painted[-1] and namespace == {"answer": "42"}


def test_a_field_locks_a_prediction_once(own_folder, painted):
    asking = question("5.0a")
    assert "Write a list of numbers." in asking.on_action("answer", {"answer": " "})["said"]
    asking.on_action("answer", {"answer": "abc"})
    assert "Nothing is locked in yet" in painted[-1] and "quotation marks" not in painted[-1] and "<input" in painted[-1]
    asking.on_action("answer", {"answer": "4, 9"})
    assert "Locked in: [4, 9]" in painted[-1] and ": <span style='font-weight:normal'>locked" in painted[-1]
    assert "<input" not in painted[-1] and "<button" not in painted[-1], "what is locked asks nothing"
    asking = question("4.5a")
    asking.on_action("answer", {"answer": "None"})
    assert "passed" in painted[-1], "None is an answer"


def test_controls_say_what_to_do_where_they_are_dead(painted):
    """A page without a kernel shows the card with its words, and nothing that can only be pressed in vain."""
    made = question("5.0a")
    page = painted[-1]
    assert page.index("data-awake style=\"display:none") < page.index("<input") and made.text() == made.card.text()


@pytest.mark.slow
def test_every_question_says_what_it_takes_and_nothing_else():
    """The form comes from all declared answers: each of them has it, and no sentence about it tells the right one."""
    for exercise in lessons.all_exercises():
        if exercise.kind in ("value", "choice", "prediction"):
            for wrong in exercise.wrong:
                verdict = judge(exercise, Local({exercise.name: wrong.answer}))
                assert checking.slipped(exercise, wrong.answer, verdict) == "", (exercise.id, wrong.answer)
            if len(repr(exercise.right)) > 3 and type(exercise.right) is not bool and exercise.right is not None:
                for odd in ("odd", 0.123, [0.123], [None], True, object()):
                    assert repr(exercise.right) not in forms.slip(exercise, odd) + forms.asked(exercise), exercise.id


def test_an_error_about_the_kind_of_a_value_does_not_tell_the_value():
    from minigrad.course.judge.shown import sort_of

    assert [sort_of(truth) for truth in (False, "error", [None, 2])] == ["True or False", "a string", "a list"]


@pytest.fixture
def page(own_folder, monkeypatch):
    """A notebook page in small: `page(code)` runs a cell as a front end does; gives what it shows."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    monkeypatch.setattr(live, "channel", lambda: SimpleNamespace(model_id="channel"))
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.run_cell("from minigrad.course import predict")

    def run(code, cell_id="a cell"):
        with capture_output() as shown:
            assert shell.run_cell(code, cell_id=cell_id).success
        updates = [o.data["text/plain"] for o in shown.outputs if o.update]
        return shown.stdout + "".join(o.data["text/plain"] for o in shown.outputs if not o.update), updates

    yield run
    InteractiveShell.clear_instance()


def test_a_program_is_locked_until_its_prediction(page):
    assert "Your turn, 4.3a" in page('predict("4.3a", ...)')[0]
    assert page("y = 3") == ("", []), "a cell that shows nothing passes the lock on"
    out, _ = page("print(y); y = 4")
    assert "stays locked until you answer 4.3a above" in out and "3" not in out.replace("4.3a", "")
    assert page("print(y)") == ("4\n", []), "it ran, and one program is locked, not all"
    out, updates = page('predict("4.3a", "b")')
    assert "passed" in out and updates == ["3"], "the answer opens it"
    page('predict("4.3a", ...)')
    assert page("print(y)") == ("4\n", []), "what was answered once is not locked again"


def test_a_slip_opens_no_lock(page):
    page('predict("4.3a", "z")')
    assert "stays locked until you answer 4.3a" in page("print(1)")[0]
    assert page('predict("4.3a", "b")')[1] == ["1"]


def test_an_answer_given_in_time_locks_nothing(page):
    page('predict("4.3a", ...)')
    page('predict("4.3a", "a")')
    assert page("print(1)") == ("1\n", [])


def test_only_the_prediction_lesson_with_a_student_before_it_is_locked(page, monkeypatch):
    page('predict("5.0a", ...)')
    assert page("print(1)") == ("1\n", [])
    page('predict("4.3a", ...)')
    assert page("print(2)", cell_id=None) == ("2\n", []), "a run without a page"
    monkeypatch.setenv("MINIGRAD_DISPLAY", "static")
    page('predict("4.2a", ...)')
    assert page("print(3)") != ("3\n", []), "4.3a is still open"
    page('predict("4.3a", "b")')
    page('predict("4.2a", ...)')
    assert page("print(4)") == ("4\n", []), "stored outputs"


def test_a_path_in_a_card_is_on_one_line():
    path = "`/courses/of-this-year/minigrad-course-of-the-second-half/my-engine-and-notes/my_engine.py`"
    assert path in Card("kept", paragraphs=(f"Your engine is {path}, as before.",)).text()


def test_the_card_is_accessible_and_safe(capsys):
    from minigrad.course.checks.card import verdict_card
    from minigrad.course.judge.verdict import Verdict

    verdict = Verdict("5.1", "wrong", 0, 1, ("<b>says</b>",), "f('<script>')", "<img>", "", "M26", "", 0)
    card = verdict_card("title", verdict, "hint")
    page = card.html()
    assert "<script" not in page and "<img" not in page and "<style" not in page and "http" not in page
    assert 'role="group"' in page and 'aria-label="5.1 title: not yet"' in page
    assert "color:" not in page.replace("border", ""), "text keeps the colours of the page"
    assert "not yet" in page and card.text().startswith("5.1 title: not yet")


def test_without_fork_a_watchdog_ends_a_loop():
    started = time.process_time()
    student = Watched({"vjp_square": loops}, 0.3)
    assert student.call("vjp_square", 1, 2).kind == "timeout"
    assert student.call("vjp_square", 1, 2).kind == "timeout"
    assert time.process_time() - started < 2
    assert Watched({"f": lambda x: x + 1}, 5).call("f", 1) == 2


def test_nothing_is_asked_when_the_time_is_up():
    asked = []
    assert Watched({"f": asked.append}, 0).call("f", 1).kind == "timeout" and not asked


def test_without_fork_a_watchdog_counts_the_memory():
    def grows():
        kept = []
        while True:
            kept.append(bytearray(1 << 22))

    student = Watched({"grows": grows}, 20, memory=200)
    assert student.call("grows").kind == "memory"
    assert student.call("grows").kind == "memory"


@pytest.mark.skipif(not can_fork(), reason="no fork here")
def test_the_oracle_is_no_answer():
    """As at hand-in, where the course is not at hand: nobody may copy the answer from its declaration."""
    exercise = lessons.find("5.1")
    space = {}
    exec("import minigrad.course.lessons.l05_vectors as declared\n"
         "def early(v, x):\n    return declared.vjp_by_nudging(v, x)\n"
         "def late(v, x):\n    from minigrad.course.lessons import find\n    return find('5.1').oracle(v, x)\n"
         "def around(v, x):\n    import minigrad.course as course\n    return course.lessons.find('5.1').oracle(v, x)\n",
         space)  # fmt: skip
    for name in ("early", "late", "around"):
        space["vjp_square"] = space[name]
        assert examine(exercise, space).status == "error", name
    assert lessons.find("5.1") is exercise and space["declared"] is not None  # only in the child


LIBRARIES = """
import sys
import minigrad as engine
make, backward = engine.tensor, engine.Tensor.backward
def slope(torch, x, v):
    t = torch.tensor(x, requires_grad=True)
    (t**2).backward(torch.tensor(v))
    return t.grad.numpy()
def imports_minigrad(v, x):
    import minigrad as torch
    return slope(torch, x, v)
def imports_torch(v, x):
    import torch
    return slope(torch, x, v)
def imports_a_name(v, x):
    from torch.nn.functional import relu
    return 2 * x * v
def finds_torch(v, x):
    return slope(sys.modules["torch"], x, v)
def finds_minigrad(v, x):
    return slope(sys.modules["minigrad"], x, v)
def held(v, x):
    return slope(engine, x, v)
def held_inside(x, v, make=make, backward=backward):
    t = make(x, requires_grad=True)
    backward(t**2, make(v))
    return t.grad.numpy()
def forward_only(x, v, make=make):
    return 2 * make(x) * make(v)
def forgets(v, x):
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Refusal" not in type(finder).__name__]
    for name in [name for name in sys.modules if name.partition(".")[0] == "minigrad"]:
        del sys.modules[name]
    import minigrad as torch
    return slope(torch, x, v)
"""
ROUND = """
import os, subprocess, sys
from minigrad.course import lessons
TEXT = lessons.__file__.replace("__init__.py", "05_vectors.md")
def imports_it(v, x):
    from minigrad.course.lessons import l05_vectors
def asks_for_it(v, x):
    return lessons.find("5.1").oracle(v, x)
def in_a_frame(v, x):
    frame = sys._getframe()
    while "exercise" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["exercise"].oracle(v, x)
def reads_the_text(v, x):
    with open(TEXT) as text:
        return text.read()
def reads_an_engine(v, x):
    with open(TEXT.replace("05_vectors.md", "14_own_engine.py")) as engine:
        return engine.read()
def reads_kept_lines(v, x):
    import linecache
    kept = [name for name in linecache.cache if "05_vectors.md" in name]
    if not kept:
        raise RuntimeError("The answers of the course are not kept")
    return 2 * x * v
def starts_python(v, x):
    subprocess.run([sys.executable, "-c", "import time; time.sleep(9)"])
def forks(v, x):
    os.fork()
"""


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
def test_a_lesson_that_asks_for_a_piece_of_engine_is_checked_without_one():
    space, exercise = {}, lessons.find("5.1")
    exec(LIBRARIES, space)
    ready = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for name in re.findall(r"def (?!slope)(\w+)", LIBRARIES):
        space["vjp_square"] = space[name]
        found = examine(exercise, space)
        assert not found.passed and "PyTorch and minigrad are switched off" in found.lines[0], (name, found)
    exec(ROUND, space)
    for name in re.findall(r"def (\w+)", ROUND):
        space["vjp_square"] = space[name]
        found = examine(exercise, space)
        words = "No other program can be started" if name in ("forks", "starts_python") else "The answers of the course are not"
        assert not found.passed and words in found.lines[0], (name, found)
    # what is imported and not used is no reason to refuse an answer
    exec("def vjp_square(v, x):\n    import torch, minigrad.nn as nn\n    return 2 * x * v", space)
    assert examine(exercise, space).passed
    # nor is what the notebook itself has imported
    exec("import minigrad.nn as nn, minigrad.nn.functional as F, minigrad.optim as optim", space)
    assert examine(exercise, space).passed
    (ready**2).sum().backward()  # the kernel's own engine is as it was
    assert ready.grad.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.slow
def test_without_fork_the_same_verdicts(monkeypatch):
    from minigrad.course.student import child

    exercise = lessons.find("5.1")
    forked = [examine(exercise, {"vjp_square": f}) for f in (right, wrong, leaves)]
    monkeypatch.setattr(child, "can_fork", lambda: False)
    assert [examine(exercise, {"vjp_square": f}) for f in (right, wrong, leaves)] == forked


def test_two_kernels_do_not_undo_each_other(own_folder):
    children = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                for i in range(20):
                    progress_store.note(f"{number}.{i}", tries=1)
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    assert len(progress_store.load()) == 80
    assert os.listdir(own_folder) == [progress_store.FILE]


def test_the_ladder_of_each_exercise_has_rungs():
    for exercise in lessons.all_exercises():
        if exercise.points:
            assert checking.ladder(exercise, {}), f"{exercise.id} has no hint at all"


def test_the_table_names_its_rows_and_what_is_open(capsys):
    checked(right, capsys)
    card = checking.progress_card(progress_store.load() | {"0.1": {"passed": True}})
    rows = [(row[0], *row[2:]) for row in card.table]
    assert rows == [("lesson", "solved", "open"), ("00", "1 of 3", "0.2, 0.3"), ("05", "1 of 5", "5.2, 5.3, 5.4, 5.5")]
    asked = sum(exercise.points > 0 for exercise in lessons.all_exercises())
    assert card.paragraphs[0] == f"You have solved 2 of {asked} exercises." and card.link[0] == "0.2 reading a card"
    card = checking.progress_card(progress_store.load(), every=True)
    assert len([row for row in card.table if row[3:] == ("1", "-")]) == 1 and len(card.table) == asked + 1
    assert f"You have solved 1 of {asked}" in card.text().split("\n")[-3], "what is done and what is next come last"
    shown = card.html()
    assert shown.count('<th scope="row"') == len(card.table) - 1 and "white-space:nowrap\">passed</td>" in shown


def test_all_hints_are_numbered(capsys):
    exercise = lessons.find("5.1")
    progress_store.note("5.1", rung=len(checking.ladder(exercise, {})), ladder="exercise")
    hint("5.1")
    out = capsys.readouterr().out
    assert "all hints\n  1. " in out and f"\n  {len(checking.ladder(exercise, {}))}. " in out


def test_a_misconception_is_named_where_its_lesson_has_been_met():
    swapped = lessons.find("2.3")
    card = checking.card_of(swapped, judge(swapped, Local({"by_hand": [44, 66]})), {})
    assert "you swapped them" in card.text() and "transposes" not in card.text() + card.html()
    record = {"misconception": "M29"}
    assert checking.ladder_key(swapped, record) == "exercise" and checking.ladder_key(lessons.find("7.3"), record) == "M29"


def test_code_is_not_broken_inside_a_word():
    """JupyterLab lets a `pre` break between any two letters, and a narrow window makes use of it."""
    (style,) = re.findall('<pre style="([^"]*)">', checking.Card("0.1", code=(("called", "vjp_square(v, x)"),)).html())
    assert {"white-space:pre-wrap", "word-break:normal"} <= {*style.split(";")}


def test_what_can_only_be_code_is_set_as_code():
    page = checking.Card("0.1", paragraphs=("I cannot find `answer`. Is x.grad set by f(x - h)?", 'Next: hint("0.1").')).html()
    assert "find <code>answer</code>." in page and "Is <code>x.grad</code> set by <code>f(x - h)</code>?" in page
    assert "<code>hint(&quot;0.1&quot;)</code>" in page
