"""`save` and `load`: tensors and state dicts in a file.

A file is a pickle that `load` reads with a short list of what may be in it: tensors, parameters, numbers, strings and
containers of them.  Anything else, a whole module too, is refused unless `weights_only=False` says that the file can be
trusted: a pickle from a stranger can run code.
"""

from __future__ import annotations

import io
import pickle
from os import PathLike
from typing import IO, Any

ALLOWED = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("builtins", "complex"),
    ("builtins", "slice"),
    ("collections", "OrderedDict"),
    ("minigrad.tensor", "_rebuild"),
    ("minigrad.tensor", "Tensor"),
    ("minigrad.nn.parameter", "Parameter"),
    ("minigrad.nn.parameter", "_rebuild_parameter"),
    ("minigrad.dtypes", "by_name"),
    ("minigrad.size", "Size"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


def save(obj: Any, f: str | PathLike[str] | IO[bytes]) -> None:
    """Write a tensor, or containers of tensors and numbers, to a file.  Graphs are not saved; requires_grad is."""
    if not isinstance(f, (str, PathLike)):
        pickle.dump(obj, f, protocol=4)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file, protocol=4)


def load(
    f: str | PathLike[str] | IO[bytes], map_location: Any = None, weights_only: bool = True, mmap: bool | None = None
) -> Any:
    """Read what `save` wrote.  UnpicklingError for a file that holds anything but data, if `weights_only`."""
    reader = _Reader if weights_only else pickle.Unpickler
    if not isinstance(f, (str, PathLike)):
        return reader(f).load()
    with open(f, "rb") as file:
        return reader(io.BytesIO(file.read())).load()


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(
                f"this file wants to load {module}.{name}: minigrad.load reads tensors, numbers and containers only "
                "(weights_only=False reads everything: only for a file that you trust)"
            )
        return super().find_class(module, name)
