"""`save` and `load`: tensors and state dicts in a file.

A file is a pickle that `load` reads with a short list of what may be in it: tensors, parameters, numbers, strings and
containers of them.  Anything else, a whole module too, is refused unless `weights_only=False` says that the file can be
trusted: a pickle from a stranger can run code.
"""

from __future__ import annotations

import io
import pickle
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import IO, Any

from minigrad.devices import Device, check_device

PYTORCH_MARK = 0x1950A86A20F9469CFC6C  # what older files of PyTorch's begin with; newer ones are zip files
NO_CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)

ALLOWED = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("builtins", "complex"),
    ("builtins", "slice"),
    ("collections", "OrderedDict"),
    ("minigrad.copying", "rebuild"),
    *(("minigrad", name) for name in ("Tensor", "Size", "device")),
    ("minigrad.tensor", "Tensor"),  # as older files name these
    ("minigrad.nn.module", "Parameter"),
    ("minigrad.size", "Size"),
    ("minigrad.devices", "Device"),
    ("collections", "Counter"),
    ("minigrad.dtypes", "by_name"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


def save(obj: Any, f: str | PathLike[str] | IO[bytes], pickle_module: Any = pickle, pickle_protocol: int = 4) -> None:
    """Write a tensor, or containers of tensors and numbers, to a file.  Graphs are not saved; requires_grad is.

    RuntimeError if the file's folder does not exist.
    """
    if isinstance(f, (str, PathLike)):
        folder = Path(f).parent
        if not folder.exists():
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        with open(f, "wb") as file:
            pickle_module.dump(obj, file, protocol=pickle_protocol)
        return
    if not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    pickle_module.dump(obj, f, protocol=pickle_protocol)


def load(
    f: str | PathLike[str] | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
) -> Any:
    """Read what `save` wrote, to the CPU.  UnpicklingError for a file that holds anything but data, if `weights_only`.

    RuntimeError for a `map_location` that is no CPU.
    """
    if isinstance(map_location, (str, Device)) and Device(str(map_location)).type == "cuda":
        raise RuntimeError(NO_CUDA)
    if not isinstance(map_location, (str, Device, dict, NoneType)) and not callable(map_location):
        raise TypeError(f"'{type(map_location).__name__}' object is not callable")
    if map_location is not None and isinstance(map_location, (str, Device)):
        check_device(map_location)
    if isinstance(f, (str, PathLike)):
        with open(f, "rb") as file:
            return load(io.BytesIO(file.read()), weights_only=weights_only)
    if not hasattr(f, "seek"):
        kind = type(f).__name__
        raise AttributeError(
            f"'{kind}' object has no attribute 'seek'. You can only torch.load from a file that is seekable. Please pre-load "
            "the data into a buffer like io.BytesIO and try to load from it instead."
        )
    start = f.read(4)
    f.seek(-len(start), io.SEEK_CUR)
    found = None if start == b"PK\x03\x04" else (pickle.Unpickler if weights_only is False else _Reader)(f).load()
    if (type(found) is int and found == PYTORCH_MARK) or start == b"PK\x03\x04":
        raise pickle.UnpicklingError(
            "this file was written by PyTorch's torch.save, which minigrad does not read: load it with PyTorch, and save the "
            "tensors' .numpy() arrays with numpy.savez"
        )
    return found


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(
                f"this file wants to load {module}.{name}: minigrad.load reads tensors, numbers and containers only "
                "(weights_only=False reads everything: only for a file that you trust)"
            )
        return super().find_class(module, name)
