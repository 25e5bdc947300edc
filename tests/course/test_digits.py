"""The digits and their recorded losses: the file as it was given, the numbers as PyTorch gives them."""

import types

import numpy as np
import pytest

from minigrad.course import lessons
from minigrad.course.exercise import UNKNOWN
from minigrad.course.lessons import l12_digits as lesson


def test_the_file_holds_the_digits_and_says_whose_they_are():
    with np.load(lesson.DIGITS) as file:
        images, labels = file["images"], file["labels"]
    assert images.shape == (1797, 8, 8) and images.dtype == np.uint8 and images.max() == 16
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert "CC BY 4.0" in lesson.DIGITS.with_name("README.md").read_text(encoding="utf-8")


def test_recorded_losses_are_those_of_a_run_by_hand():
    data = lesson.forty()
    ours, _ = lesson.by_hand(data["images"] / 16, data["labels"], 8, 4, 0.1, 0.9, 16, 10)
    assert len(lesson.TWENTY_LOSSES) == 20
    np.testing.assert_allclose(ours, lesson.TWENTY_LOSSES, rtol=1e-9)
    assert all(p.expected is not UNKNOWN for p in lessons.find("12.4").questions(0))


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_recorded_losses_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    train = lessons.find("12.4").alternatives[0]["train"]
    loss = {"cross_entropy": torch.nn.functional.cross_entropy}
    answer = {**loss, "train": types.FunctionType(train.__code__, loss)}
    for program, recorded in ((lesson.TWENTY, lesson.TWENTY_LOSSES), (lesson.FIRST, lesson.FIRST_GRADIENTS)):
        space = {**answer, **lesson.forty()}
        exec(lesson.PRELUDE.replace("minigrad", "torch"), space)
        *lines, last = program.split("\n")
        exec("\n".join(lines), space)
        np.testing.assert_allclose(eval(last, space), recorded, rtol=1e-9)
