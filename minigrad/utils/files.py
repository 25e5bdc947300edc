"""`save` and `load`: tensors and state dicts in a file.

A file is a pickle that `load` reads with a short list of what may be in it: tensors, parameters, numbers, strings and
containers of them. Anything else, a whole module too, is refused unless `weights_only=False` says that the file can
be trusted: a pickle from a stranger can run code.
"""

from __future__ import annotations

import io
import pickle
from os import PathLike
from pathlib import Path
from typing import IO, Any

from ..dtypes import ALL, check_device
from ..errors import check
from ..operation import public

ALLOWED = {
    ("builtins", "set"),
    ("collections", "OrderedDict"),
    ("minigrad", "Tensor"),
    ("minigrad", "Size"),
    ("minigrad", "device"),
    ("minigrad.ops.creation", "rebuild"),
    ("minigrad.nn.module", "Parameter"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    *(("minigrad", kind.name) for kind in ALL),
}
FROM_PYTORCH = (
    "this file was written by PyTorch's torch.save, which minigrad does not read: "
    "load it with PyTorch, and save the tensors' .numpy() arrays with numpy.savez"
)


@public
def save(obj: Any, f: str | PathLike[str] | IO[bytes]) -> None:
    """Write a tensor, or containers of tensors and numbers, to a file. Graphs are not saved; requires_grad is.

    RuntimeError if the file's folder does not exist.
    """
    if isinstance(f, (str, PathLike)):
        folder = Path(f).parent
        check(folder.exists(), f"Parent directory {folder} does not exist.")
        Path(f).write_bytes(pickle.dumps(obj))
    else:
        pickle.dump(obj, f)


@public
def load(f: str | PathLike[str] | IO[bytes], map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read what `save` wrote. UnpicklingError for a file that holds anything but data, if `weights_only`.

    NotImplementedError for a `map_location` that is not the CPU.
    """
    check_device(map_location)
    if isinstance(f, (str, PathLike)):
        return load(io.BytesIO(Path(f).read_bytes()), weights_only=weights_only)
    start = f.read(4)
    f.seek(-len(start), io.SEEK_CUR)
    if start == b"PK\x03\x04":
        raise pickle.UnpicklingError(FROM_PYTORCH)
    return (_Reader if weights_only else pickle.Unpickler)(f).load()


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"this file wants to load {module}.{name}: minigrad.load reads tensors, numbers and containers only "
            "(weights_only=False reads everything: only for a file that you trust)"
        )
