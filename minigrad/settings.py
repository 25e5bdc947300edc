"""Questions and switches about how PyTorch runs.  Here everything runs in one way: on the CPU, exactly, in order.

A switch that cannot change a result is accepted, so that programs written for other machines run unchanged; one that
would is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from minigrad import dtypes
from minigrad.devices import CPU, Device, check_device

__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "contiguous_format", "get_default_device",
    "get_float32_matmul_precision", "get_num_threads", "is_deterministic_algorithms_warn_only_enabled", "layout",
    "memory_format", "preserve_format", "set_default_device",
    "set_default_tensor_type", "set_float32_matmul_precision", "set_num_threads", "strided",
    "use_deterministic_algorithms",
]  # fmt: skip

_COMPLEX = "complex numbers are left out of minigrad"
_SPARSE = "sparse tensors are left out of minigrad"
_ONE_MACHINE = "minigrad runs in one process, on the CPU"
_PYTHON = "minigrad runs Python as it stands: it neither traces nor exports programs"
LEFT_OUT = {
    **dict.fromkeys(("complex", "fft", "polar", "stft", "istft", "view_as_complex", "view_as_real"), _COMPLEX),
    **dict.fromkeys(("sparse", "sparse_coo", "sparse_coo_tensor", "sparse_csr_tensor", "spmm", "hspmm", "smm"), _SPARSE),
    **dict.fromkeys(("distributed", "multiprocessing"), _ONE_MACHINE),
    **dict.fromkeys(("cond", "export", "fx", "jit", "onnx", "package"), _PYTHON),
    **dict.fromkeys(("ao", "quantization", "quantize_per_tensor"), "quantized numbers are left out of minigrad"),
    **dict.fromkeys(("jagged", "nested"), "nested tensors are left out of minigrad: pad instead (nn.utils.rnn)"),
    **dict.fromkeys(("channels_last", "channels_last_3d"), "tensors made here lie in memory in the order of their dimensions"),
    **dict.fromkeys(("eig", "eigvals"), "the eigenvalues of any matrix are complex; of a symmetric one: linalg.eigh"),
    "profiler": "minigrad has no profiler: `record` shows what a program does",
}


class LeftOut(AttributeError, NotImplementedError):
    """PyTorch has this name, and minigrad leaves it out."""


def missing(name: str, room: str = "minigrad") -> AttributeError:
    """The error for a name that is not there; it says why if PyTorch has it."""
    if name in LEFT_OUT:
        return LeftOut(f"no {name!r} here: {LEFT_OUT[name]}")
    return AttributeError(f"module '{room}' has no attribute '{name}'")


class memory_format:
    """How a tensor lies in memory, as an argument: here always in the order of its dimensions."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class layout(memory_format):
    """Whether every element is stored: here always."""


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
strided = layout("strided")

_now: dict[str, Any] = {"deterministic": False, "warn_only": False, "precision": "highest", "threads": 1}


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself: PyTorch's compiled one computes the same, and nothing is compiled here."""
    if model is not None:
        return model

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return decorate


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: every operation gives the same result each time anyway."""
    _now["deterministic"], _now["warn_only"] = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was last told."""
    return bool(_now["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was last told `warn_only`."""
    return bool(_now["warn_only"])


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted ("highest", "high" or "medium"): matrices are multiplied in full precision whatever it says."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'; the current matmul precision stays")
    _now["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was last told, "highest" at first."""
    return str(_now["precision"])


def set_num_threads(num: int) -> None:
    """Accepted: numpy decides by itself how many threads it uses."""
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _now["threads"] = num


def get_num_threads() -> int:
    """What `set_num_threads` was last told, 1 at first."""
    return int(_now["threads"])


def set_default_device(device: Any) -> None:
    """The CPU only; NotImplementedError for another device."""
    check_device(device)


def set_default_tensor_type(t: Any) -> None:
    """The old way to say `set_default_dtype`: with `torch.DoubleTensor`, or its name."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    name = t if isinstance(t, str) else f"torch.{t.__name__}"
    found = [d for d in dtypes.NAMES.values() if name == f"torch.{d.tensor_name}Tensor"]
    if not found:
        raise AttributeError(f"module 'torch' has no attribute '{name.removeprefix('torch.')}'")
    dtypes.set_default_dtype(found[0])


def get_default_device() -> Device:
    """Where new tensors live: the CPU."""
    return CPU
