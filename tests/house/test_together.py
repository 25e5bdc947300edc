"""Cases that share a test: none is missed, and the report names each that fails."""

from pathlib import Path

import pytest

from tests.together import together


def test_all_cases_run_and_each_failure_is_told(tmp_path: Path) -> None:
    met = []

    @together("n, square", [(1, 1), (2, 5), (3, 9), (4, 0), (5, 25)])
    def check(n: int, square: int, tmp_path: Path) -> None:
        met.append((n, tmp_path))
        if n == 4:
            pytest.fail("four")
        assert n * n == square

    with pytest.raises(BaseExceptionGroup, match="2 of 5 cases") as told:
        check(tmp_path=tmp_path)
    assert met == [(n, tmp_path) for n in (1, 2, 3, 4, 5)]
    assert [error.__notes__ for error in told.value.exceptions] == [
        ["in the case n = 2, square = 5"],
        ["in the case n = 4, square = 0"],
    ]


def test_a_skip_is_no_pass_and_no_case_is_a_failure() -> None:
    @together("n", [1])
    def skips(n: int) -> None:
        pytest.skip("not today")

    with pytest.raises(pytest.skip.Exception):
        skips()
    with pytest.raises(AssertionError, match="no case"):
        together("n", [])(lambda n: None)()
