"""A node of PyTorch as a row of the derivative table: which row, and what the rules are given.

PyTorch names most nodes as the table does and saves the same values under
other names (`_saved_self` for x); DIFFERENT says where that is not enough.
A node that no row fits is shown without a rule.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import Windows
from ..operation import Operation
from ..tape import TABLE

# what a rule takes, and under which names PyTorch saves it
SAVED = {
    "x": ("self", "input", "condition"),
    "y": ("other", "mat2", "target", "indices", "index", "vec", "tensor", "exponent", "weight"),
    "z": ("mask", "weight"),
    "u": ("pos_weight",),
    "out": ("result",),
    "dims": ("dim", "dims"),
    "low": ("min",),
    "high": ("max",),
    "slope": ("negative_slope",),
    "i": ("dim0", "dim1"),
    "j": ("dim2", "dim1"),
    "offset": ("diagonal",),
    "padding": ("padding_idx",),
}
# where PyTorch saves None
UNSAID = {"low": -math.inf, "high": math.inf, "correction": 1}
REDUCTIONS = ("none", "mean", "sum")
# rows whose rules are given what PyTorch does not save
OTHER_FORM = ("Split", "Unbind", "MaxPool2D", "AvgPool2D", "ConstantPadNd", "NativeBatchNorm")
OTHER_VALUES = "PyTorch saves other values here than minigrad's rule takes"
# names of nodes that several rows have: the row whose rule fits what PyTorch does
CHOSEN = {
    "AddmmBackward0": "addmm",
    "ViewBackward0": "reshape",
    "ReshapeAliasBackward0": "reshape",
    "UnsafeViewBackward0": "unsafe_view",
    "PowBackward0": "power",
    "SqueezeBackward2": "squeeze_dim",
}


class Attributes:
    """What a node of PyTorch has saved, by name, as numbers and arrays; rank: the dimensions of its first input."""

    def __init__(self, node: Any, shapes: list[Any], arrays: Callable[[Any], Any]) -> None:
        self.node, self.arrays, self.rank = node, arrays, len(shapes[0] or ())

    def __getattr__(self, name: str) -> Any:
        """None for what it has not saved."""
        return self.plain(getattr(self.node, f"_saved_{name}", None))

    def plain(self, value: Any) -> Any:
        """A value without PyTorch; it stores negative numbers as large ones."""
        if isinstance(value, (tuple, list)):
            return tuple(self.plain(each) for each in value)
        if type(value) is int:
            return value - 2**64 if value >= 2**63 else value
        return self.arrays(value) if hasattr(value, "data_ptr") else value

    def axes(self, dims: Any) -> tuple[int, ...]:
        """Dimensions from 0 on; all of them for none."""
        dims = (dims,) if isinstance(dims, int) else dims or range(self.rank)
        return tuple(d % self.rank for d in dims) if self.rank else ()


def row_of(
    node: Any, shapes: list[Any], arrays: Callable[[Any], Any], turned: bool = False
) -> tuple[Operation, dict[str, Any]] | None:
    """The row of a node and what its rules may take; None for one that the table lacks.

    shapes: of its inputs.  arrays: makes an array of a tensor.  turned: a product
    with the transpose of its weight, which is `linear`.
    """
    name, saved = node.name(), Attributes(node, shapes, arrays)
    kind = name.removesuffix("Backward0").removesuffix("Backward1").lower()
    first = next((row for row in TABLE.values() if row.node_name == name), None)
    row = TABLE.get(CHOSEN.get(name, ""), first or TABLE.get(kind))
    scaled = saved.alpha not in (None, 1) or (kind == "addmm" and saved.beta != 1)
    if row is None or scaled or name.startswith(OTHER_FORM):
        return None
    known: dict[str, Any] = {f"{x}_shape": tuple(s) for x, s in zip(row.inputs, shapes) if s is not None}
    for word in {w for rule in row.arguments for w in rule} | {*row.statics}:
        for theirs in (word, *SAVED.get(word, ())):
            if hasattr(node, f"_saved_{theirs}") and word not in known:
                value = getattr(saved, theirs)
                known[word] = UNSAID.get(word) if value is None else value
    if "dims" in known:
        known["dims"] = saved.axes(known["dims"])
    if isinstance(known.get("dim"), int):
        known["dim"] = known["dim"] % (saved.rank or 1)
    if isinstance(known.get("reduction"), int):
        known["reduction"] = REDUCTIONS[known["reduction"]]
    more = DIFFERENT[name](saved) if name in DIFFERENT else {}
    known |= more or {}
    if turned:
        weight = node._saved_mat2
        known |= {"row": "linear", "z": None if weight is None else arrays(weight.t())}
    return None if more is None else (TABLE[known.pop("row", row.name)], known)


Further = dict[str, Any] | None


def nll(saved: Attributes) -> Further:
    ignored = np.any(np.asarray(saved.target) == saved.ignore_index)
    totals = (None, float(saved.total_weight), 1.0)
    return None if ignored else {"z": saved.weight, "total": totals[saved.reduction]}


def chosen(saved: Attributes) -> Further:
    """The index of the chosen elements, with the dimension that was reduced."""
    index, dim = saved.indices, saved.dim % (saved.rank or 1)
    same_rank = saved.keepdim is not False
    return {"y": index if same_rank or not saved.rank else np.expand_dims(index, dim), "keepdim": same_rank}


def indexed(saved: Attributes) -> Further:
    """One index by an array."""
    parts = [(i, part) for i, part in enumerate(saved.indices) if part is not None]
    mask = len(parts) == 1 and parts[0][1].dtype.kind == "b" and parts[0][1].ndim > 1
    return None if len(parts) > 1 or mask else {"y": parts[0][1], "dims": (parts[0][0],)}


def convolved(saved: Attributes) -> Further:
    if saved.transposed or saved.node._saved_weight.ndim != 4:
        return None
    size = tuple(saved.node._saved_weight.shape[2:])
    windows = Windows(size, saved.stride, saved.padding, saved.dilation)
    return {"y": saved.weight, "windows": windows}


def layer_normed(saved: Attributes) -> Further:
    dims = tuple(range(saved.rank - len(saved.normalized_shape), saved.rank))
    weight = np.float32(1) if saved.weight is None else saved.weight
    return {"y": weight, "stats": (dims, 0.0, saved.result1, saved.result2)}


def sliced(saved: Attributes) -> Further:
    end = saved.end if saved.end < 2**62 else None
    step = None if saved.step == 1 else saved.step
    return {"key": at_dim(saved, slice(saved.start, end, step))}


def at_dim(saved: Attributes, part: Any) -> Any:
    """The key that takes this part along the dimension."""
    dim = saved.dim % saved.rank
    return (*[slice(None)] * dim, part) if dim else part


DIFFERENT: dict[str, Callable[[Attributes], Further]] = {
    "PowBackward0": lambda saved: {"row": "power" if saved.exponent else "power_zero"},
    "PowBackward2": lambda saved: {"x": np.float32(saved.self), "y": saved.exponent},
    "AddmmBackward0": lambda saved: {"y": saved.mat1, "z": saved.mat2},
    "TBackward0": lambda saved: {"i": 0, "j": min(1, saved.rank - 1)},
    "LinalgVectorNormBackward0": lambda saved: {} if saved.ord == 2 else None,
    "NllLossBackward0": nll,
    "NllLoss2DBackward0": nll,
    "MaxBackward0": chosen,
    "MinBackward0": chosen,
    "SortBackward0": chosen,
    "TopkBackward0": chosen,
    "IndexBackward0": indexed,
    "ConvolutionBackward0": convolved,
    "NativeLayerNormBackward0": layer_normed,
    "SliceBackward0": sliced,
    "SelectBackward0": lambda saved: {"key": at_dim(saved, saved.index)},
}
