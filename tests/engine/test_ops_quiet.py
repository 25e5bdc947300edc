"""Infinities and nans are computed in silence, as in PyTorch: no numpy warning reaches the user."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import minigrad as m
x = m.tensor([0.0, 3e38, -1.0, float("nan"), float("inf")], requires_grad=True)
for y in (x * 10, x / 0, 1 / x, x.log(), x.sqrt(), x.exp(), x.sigmoid(), x**3, x % 0, x.softmax(0), x.logsumexp(0), x.norm(),
          x.pow(x), x.var(), x.prod(), x.cumprod(0), x.atan2(x), x.rsqrt(), m.tensor(0.0) / 0, x.sum() - x.sum(), x.log1p()):
    if y.requires_grad:
        y.sum().backward()
print("done")
"""


def test_no_warning_reaches_the_user() -> None:
    ran = subprocess.run([sys.executable, "-W", "default", "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ran.stdout == "done\n"
    assert ran.stderr == ""
