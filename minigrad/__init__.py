"""minigrad: an autograd engine small enough to read, with the semantics of PyTorch.

Read it in this order: tensor.py (what a tensor is), tape.py (how operations are recorded, and walked back), operation.py
(how a line of the table becomes a function), derivatives.py (the table), views.py (views and in-place writes),
function.py (operations of your own). What users call stands in ops/, nn/, optim/, autograd/, utils/ and linalg.py, and
what PyTorch lacks in record/: record, explain, replace, broken.

`import minigrad` loads numpy and the standard library only; nn, optim and the rest are loaded on first use.
"""

# isort: off
# ruff: noqa: F401 (what is imported here is what `minigrad.` offers)
import importlib as _importlib
import sys as _sys
import warnings as _warnings
from math import e, inf, nan, pi
from types import ModuleType as _ModuleType
from typing import Any as _Any

from . import errors as _errors
from .dtypes import (
    DType as dtype, Device as device, Size, bool_ as bool,
    float16, float16 as half, float32, float32 as float,
    float64, float64 as double, int8, int16, int16 as short,
    int32, int32 as int, int64, int64 as long, uint8,
    can_cast, get_default_dtype, promote_types,
    set_default_dtype,
)
from .ops.creation import (
    arange, as_tensor, empty, empty_like, eye, finfo,
    from_numpy, full, full_like, iinfo, is_floating_point,
    is_tensor, linspace,
    numel, ones, ones_like, result_type, tensor, zeros,
    zeros_like,
)
from .ops.elementwise import (
    abs, acos, add, allclose, asin, atan, atan2, ceil, clamp,
    clamp_max, clamp_min, cos, cosh, div, eq, equal, erf,
    exp, expm1, floor, floor_divide, fmod, ge, gt, isclose,
    isfinite, isinf, isnan, le, lerp, log, log1p, log2,
    log10, logical_and, logical_not, logical_or,
    logical_xor, lt, maximum, minimum, mul, nan_to_num, ne,
    neg, pow, reciprocal, relu, remainder, round, rsqrt,
    sigmoid, sign, sin, sinh, sqrt, square, sub, tan, tanh,
    true_divide, trunc, where,
)
from .ops.indexing import (
    gather, index_add, index_select, masked_fill,
    masked_select, nonzero, scatter, scatter_add,
    take_along_dim,
)
from .ops.matmul import (
    addmm, bmm, dot, einsum, inner, matmul, mm, mv, outer,
    tensordot, trace,
)
from .ops.random import (
    Generator, bernoulli, get_rng_state, manual_seed, normal,
    rand, rand_like, randint, randn, randn_like, randperm,
    set_rng_state,
)
from .ops.reductions import (
    all, amax, amin, any, argmax, argmin, argsort, bincount,
    count_nonzero, cumprod, cumsum, diff, log_softmax,
    logsumexp, max, mean, median, min, norm, prod, softmax,
    sort, std, sum, topk, unique, var,
)
from .ops.shapes import (
    broadcast_shapes, broadcast_tensors, broadcast_to, cat,
    chunk, clone, concat, detach, diag, diagonal, flatten,
    flip, meshgrid, movedim, permute, ravel,
    repeat_interleave, reshape, roll, split, squeeze, stack,
    swapaxes, t, tile, transpose, tril, triu, unbind,
    unsqueeze,
)
from .printing import set_printoptions
from .tape import (
    enable_grad, inference_mode, is_grad_enabled,
    is_inference_mode_enabled, no_grad, set_grad_enabled,
)
from .tensor import Tensor

__version__ = "1.0.0"

# PyTorch computes with infinities and nans in silence: so do our own calls of numpy (nobody else's are touched).
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")


def get_num_threads() -> _Any:
    """How many threads compute: numpy decides, and this says 1."""
    return 1


def set_num_threads(num: _Any) -> None:
    """Accepted: numpy decides by itself how many threads it uses."""


# Loaded on first use: packages, and names that stand in one of them.
_PACKAGES = ("autograd", "course", "cuda", "linalg", "nn", "optim", "utils", "viz")
_LATER = {
    "Recording": "minigrad.record",
    "broken": "minigrad.record",
    "explain": "minigrad.record",
    "load": "minigrad.utils.files",
    "replace": "minigrad.record",
    "save": "minigrad.utils.files",
}
_HERE = [n for n, x in globals().items() if n[0] != "_" and not isinstance(x, _ModuleType)]


class _Package(_ModuleType):
    """The type of this module.  `minigrad.record` is the function, also after minigrad/record/ was imported."""

    @property
    def record(self) -> _Any:
        return _importlib.import_module("minigrad.record").record

    # importing minigrad.record sets this name: the setter ignores it, so that `record` stays the function
    @record.setter
    def record(self, package: object) -> None:
        pass


_sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> _Any:
    if name in _PACKAGES:
        return _importlib.import_module(f"minigrad.{name}")
    if name in _LATER:
        return getattr(_importlib.import_module(_LATER[name]), name)
    raise _errors.no_attribute("module 'minigrad'", name, _sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted([*_HERE, *_PACKAGES, *_LATER, "record"])
