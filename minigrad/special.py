"""Special functions (`torch.special`), and other names for what stands at top level.

Their derivatives are in special_derivatives.py. Loaded when one of them is first called.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import more_derivatives as more
from minigrad import special_derivatives as rows
from minigrad.public import FUNCTIONS, accepting_out, as_float_like, floating_input, function, return_type, told
from minigrad.tensor import Tensor, wrap

# How PyTorch calls them here, and what they are: names of this file's rows, or of functions at top level.
HERE = ("erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtri", "entr", "xlog1py", "zeta")
ELSEWHERE = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expit": "sigmoid",
    "expm1": "expm1", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p",
    "log_softmax": "log_softmax", "logit": "logit", "logsumexp": "logsumexp", "multigammaln": "mvlgamma",
    "polygamma": "polygamma", "psi": "digamma", "round": "round", "sinc": "sinc", "softmax": "softmax", "xlogy": "xlogy",
}  # fmt: skip
__all__ = [*HERE, *ELSEWHERE, "ndtr"]


def _public(name: str, recorded: Any, doc: str = "", *, top: bool = False) -> Any:
    """The function under PyTorch's name, of a tensor or of two operands, one of which may be a number."""
    both = len(recorded.operation.rules) == 2

    def of_one(input: Tensor) -> Tensor:
        return recorded(input)

    def of_two(input: Any, other: Any) -> Tensor:
        if name in ("igamma", "igammac"):
            floating_input(f"{name}_cpu", input)
        like = input if isinstance(input, Tensor) else other
        return recorded(as_float_like(input, like), as_float_like(other, like))

    of_one.__doc__ = of_two.__doc__ = doc or f"`torch.special.{name}`, elementwise."
    made = function(of_two if both else of_one, name=name if top else f"special_{name}", method=top, inplace=top)
    return made if top else FUNCTIONS.pop(made.__name__)


def ndtr(input: Tensor) -> Tensor:
    """The share of the normal distribution below x."""
    return (1 + more.erf(input * math.sqrt(0.5))) * 0.5


@function(name="mvlgamma", inplace=True)
def _public_mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of p dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if np.any(input._data <= (p - 1) / 2):
        raise RuntimeError("All elements must be greater than (p-1)/2")
    return rows.mvlgamma(input, p)


@function
def frexp(input: Tensor) -> Any:
    """Mantissa (between 1/2 and 1) and exponent (int32) of mantissa * 2 ** exponent."""
    if input._data.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return return_type("frexp")(rows.mantissa(input), wrap(np.frexp(input._data)[1]))


_public("i0", rows.i0, "The modified Bessel function of order 0.", top=True)
_public("igamma", rows.igamma, "The share of the gamma function of `input` that lies below `other`, from 0 to 1.", top=True)
_public("igammac", rows.igammac, "The share of the gamma function of `input` that lies above `other`, from 0 to 1.", top=True)
globals().update({name: _public(name, getattr(rows, name)) for name in HERE})
ndtr = told(accepting_out(ndtr), "special_ndtr")
globals().update({name: FUNCTIONS[known] for name, known in ELSEWHERE.items()})
