"""minigrad: an autograd engine small enough to read, with the semantics of PyTorch.

Read it in this order: tensor.py (what a tensor is), tape.py (how operations are recorded, and walked back),
derivatives.py (the table: one line an operation), function.py (operations of your own).  What is called stands around
them: composed.py and comparisons.py (of each number), reductions.py, ordering.py, counting.py and differences.py (of
many), shapes.py, joining.py, splitting.py, rearranging.py, diagonals.py, grids.py, picking.py, products.py, creation.py,
conversions.py, random.py; its long forward code in kernels.py, layout.py.  Below:
inplace.py, indexing.py, dtypes.py, printing.py, errors.py.  Above: nn, optim, autograd, and what PyTorch lacks: record,
explain, replace, broken.

`import minigrad` loads numpy and the standard library only; nn, optim and the rest are loaded on first use.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
import warnings as _warnings
from types import ModuleType as _ModuleType
from typing import Any as _Any

# ruff: noqa: E402, F401 (what is imported here is what `minigrad.` offers)
# PyTorch computes with infinities and nans in silence: so do our own calls of numpy (nobody else's are touched).
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

# The files of operations hang up their functions and methods when they are loaded (those of public.LATER: later).
from minigrad import conversions
from minigrad import creation as _creation
from minigrad import dtypes as _dtypes
from minigrad import nodes as _nodes
from minigrad import public as _public
from minigrad import sampling as _sampling
from minigrad.creation import tensor as tensor
from minigrad.devices import Device as device
from minigrad.dtypes import DType as dtype
from minigrad.dtypes import (
    can_cast,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
)
from minigrad.operations import replace
from minigrad.printing import set_printoptions
from minigrad.random import (
    Generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from minigrad.size import Size
from minigrad.tape import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_grad_enabled,
)
from minigrad.tape import (
    no_grad as no_grad,
)
from minigrad.tensor import Tensor

__version__ = "0.1.0"
newaxis = None

from minigrad.ops.elementwise import (
    abs,
    acos,
    add,
    allclose,
    asin,
    atan,
    atan2,
    ceil,
    clamp,
    clamp_max,
    clamp_min,
    cos,
    cosh,
    div,
    eq,
    equal,
    erf,
    exp,
    expm1,
    floor,
    floor_divide,
    fmod,
    ge,
    gt,
    isclose,
    isfinite,
    isinf,
    isnan,
    le,
    lerp,
    log,
    log1p,
    log2,
    log10,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    maximum,
    minimum,
    mul,
    nan_to_num,
    ne,
    neg,
    pow,
    reciprocal,
    relu,
    remainder,
    round,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    sub,
    tan,
    tanh,
    true_divide,
    trunc,
    where,
)  # fmt: skip
from minigrad.ops.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    argsort,
    bincount,
    count_nonzero,
    cumprod,
    cumsum,
    diff,
    log_softmax,
    logsumexp,
    max,
    mean,
    median,
    min,
    norm,
    prod,
    softmax,
    sort,
    std,
    sum,
    topk,
    unique,
    var,
)  # fmt: skip

globals().update(_public.FUNCTIONS)
globals().update(_dtypes.NAMES)
from minigrad.ops.indexing import (
    gather,
    index_add,
    index_select,
    masked_fill,
    masked_select,
    nonzero,
    scatter,
    scatter_add,
    take_along_dim,
)
from minigrad.ops.matmul import addmm, bmm, dot, einsum, inner, matmul, mm, mv, outer, tensordot, trace
from minigrad.ops.shapes import (
    broadcast_shapes,
    broadcast_tensors,
    broadcast_to,
    cat,
    chunk,
    clone,
    concat,
    detach,
    diag,
    diagonal,
    flatten,
    flip,
    meshgrid,
    movedim,
    permute,
    ravel,
    repeat_interleave,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    t,
    tile,
    transpose,
    tril,
    triu,
    unbind,
    unsqueeze,
)

globals().update({name: getattr(room, name) for room in (_creation, _sampling) for name in room.__all__})

from math import e, inf, nan, pi

# Loaded on first use: the rooms above the engine, and single names that live in one of them.
_ROOMS = (
    "autograd", "cuda", "linalg", "nn", "optim", "utils", "viz", "course",
)
_LAZY = {
    "explain": "record",
    "Recording": "record",
    "broken": "record",
    "check_graph": "autograd",
    **dict.fromkeys(
        ("are_deterministic_algorithms_enabled", "compile", "get_default_device",
         "is_deterministic_algorithms_warn_only_enabled",
         "contiguous_format", "get_float32_matmul_precision", "get_num_threads", "layout", "memory_format",
         "preserve_format", "set_default_device", "set_default_tensor_type", "set_float32_matmul_precision",
         "set_num_threads", "strided", "use_deterministic_algorithms"),
        "settings",
    ),
    "default_generator": "random",
    "is_anomaly_enabled": "anomaly",
    "is_anomaly_check_nan_enabled": "anomaly",
    "save": "files",
    "load": "files",
}


# Methods that PyTorch offers as functions too.
_WRITING = (
    "addmv_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "detach_", "fill_", "gcd_", "index_put_", "lcm_", "ldexp_",
    "logit_", "nan_to_num_", "resize_as_", "round_", "xlogy_", "zero_",
)  # fmt: skip


class _Package(_ModuleType):
    """The type of this module.  `minigrad.record` is the function, also after minigrad/record/ was imported."""

    @property
    def record(self) -> _Any:
        return _importlib.import_module("minigrad.record").record

    @record.setter
    def record(self, package: object) -> None:  # an import would bind the package to its name
        pass


_sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> _Any:
    if name in _WRITING:
        return getattr(Tensor, name)
    if name in _ROOMS:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    if name in _public.LATER:
        return _public.load(name)
    if name in _dtypes.LIMITS:
        return _dtypes.left_out(name)
    from minigrad.settings import missing

    raise missing(name)


def __dir__() -> list[str]:
    known = {n for n in globals() if not n.startswith("_")}
    return sorted(known.union(_ROOMS, _LAZY, _WRITING, _public.LATER, ("record",)))
