"""A node of PyTorch as a row of the derivative table: which row, and what the rules are given.

PyTorch names most nodes as the table does and saves the same values under
other names (`_saved_self` for x); DIFFERENT says where that is not enough.
A node that no row fits is shown without a rule.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.kernels import Windows
from minigrad.operation import Operation
from minigrad.record.numbers import Extent
from minigrad.tape import TABLE

# what a rule takes, and under which names PyTorch saves it
SAVED = {
    "x": ("self", "input"),
    "y": ("other", "mat2", "target", "indices", "index", "vec", "tensor", "exponent", "weight"),
    "z": ("mask", "weight"),
    "u": ("pos_weight",),
    "out": ("result",),
    "dims": ("dim", "dims"),
    "low": ("min",),
    "high": ("max",),
    "slope": ("negative_slope",),
    "i": ("dim0", "dim1"),
    "j": ("dim1", "dim2"),
    "offset": ("diagonal", "offset"),
    "padding": ("padding_idx",),
}
REDUCTIONS = ("none", "mean", "sum")
# names of nodes that several rows have: the row whose rule fits what PyTorch does
CHOSEN = {
    "AddmmBackward0": "addmm",
    "ViewBackward0": "reshape",
    "ReshapeAliasBackward0": "reshape",
    "UnsafeViewBackward0": "unsafe_view",
    "PowBackward0": "power",
    "LinalgVectorNormBackward0": "vector_norm",
    "LogsumexpBackward0": "logsumexp",
    "SqueezeBackward2": "squeeze_dim",
    "IndexBackward0": "pick",
    "BernoulliBackward0": "",
    "NormalBackward3": "",
    # by a number
    "MulBackward1": "mul",
    "DivBackward1": "div",
    "AddBackward1": "add",
    "SubBackward1": "sub",
}


class Attributes:
    """What a node of PyTorch saves, by name, as numbers and arrays."""

    def __init__(self, node: Any, shapes: list[Any], arrays: Callable[[Any], Any]) -> None:
        self.node, self.shapes, self.arrays = node, shapes, arrays

    def __getattr__(self, name: str) -> Any:
        """None for what it has not saved."""
        return self.plain(getattr(self.node, f"_saved_{name}", None))

    def plain(self, value: Any) -> Any:
        """A value without PyTorch; it saves negative numbers as large ones."""
        if isinstance(value, (tuple, list)):
            return tuple(self.plain(each) for each in value)
        if type(value) is int:
            return value - 2**64 if value >= 2**63 else value
        return self.arrays(value) if hasattr(value, "data_ptr") else value

    @property
    def rank(self) -> int:
        """How many dimensions the first input has."""
        return len(self.shapes[0] or ())

    def axes(self, dims: Any) -> tuple[int, ...]:
        """Dimensions from 0 on; all of them for none."""
        dims = (dims,) if isinstance(dims, int) else dims or range(self.rank)
        return tuple(d % (self.rank or 1) for d in dims)


def row_of(
    node: Any, shapes: list[Any], arrays: Callable[[Any], Any], turned: bool = False
) -> tuple[Operation, dict[str, Any]] | None:
    """The row of a node and what its rules may take; None for one that the table lacks.

    shapes: of its inputs.  arrays: makes an array of a tensor.  turned: a product
    with the transpose of its weight, which is `linear`.
    """
    name, saved = node.name(), Attributes(node, shapes, arrays)
    row = TABLE.get(CHOSEN[name]) if name in CHOSEN else first_row(name)
    if row is None or saved.alpha not in (None, 1) or (saved.beta not in (None, 1, 1.0) and name == "AddmmBackward0"):
        return None
    known: dict[str, Any] = {f"{x}_shape": tuple(s) for x, s in zip(row.inputs, shapes, strict=False) if s is not None}
    for word in {w for rule in row.arguments for w in rule} | {*row.statics}:
        for theirs in (word, *SAVED.get(word, ())):
            if hasattr(node, f"_saved_{theirs}") and word not in known:
                known[word] = getattr(saved, theirs)
    if "dims" in known:
        known["dims"] = saved.axes(known["dims"])
    if isinstance(known.get("dim"), int):
        known["dim"] = known["dim"] % (saved.rank or 1)
    if isinstance(known.get("reduction"), int):
        known["reduction"] = REDUCTIONS[known["reduction"]]
    more = DIFFERENT.get(name, no_more)(saved)
    if more is None:
        return None
    known |= more
    if turned:
        weight = node._saved_mat2
        known |= {"row": "linear", "z": None if weight is None else arrays(weight.t())}
    return TABLE[known.pop("row", row.name)], known


def first_row(name: str) -> Operation | None:
    """The row of the table whose nodes have this name."""
    found: Operation | None = next((row for row in TABLE.values() if row.node_name == name), None)
    return found


Further = dict[str, Any] | None


def no_more(saved: Attributes) -> Further:
    return {}


def either(value: Any, default: Any) -> Any:
    return default if value is None else value


def nll(saved: Attributes) -> Further:
    ignored = np.any(np.asarray(saved.target) == saved.ignore_index)
    mean = saved.reduction == 1
    total = float(saved.total_weight) if mean else None if saved.reduction == 0 else 1.0
    return None if ignored else {"y": saved.target, "z": saved.weight, "total": total}


def chosen(saved: Attributes) -> Further:
    """The index of the chosen elements, with the dimension that was reduced."""
    index, dim = saved.indices, saved.dim % (saved.rank or 1)
    same_rank = saved.keepdim is not False
    return {"y": index if same_rank or not saved.rank else np.expand_dims(index, dim), "keepdim": same_rank}


def indexed(saved: Attributes) -> Further:
    """An index by arrays, at dimensions that follow one another."""
    parts = [(i, part) for i, part in enumerate(saved.indices) if part is not None]
    dims = tuple(i for i, _ in parts)
    if dims != tuple(range(dims[0], dims[-1] + 1)) or any(isinstance(p, Extent) for _, p in parts):
        return None
    index = parts[0][1] if len(parts) == 1 else np.array(np.broadcast_arrays(*(p for _, p in parts)))
    masks = index.dtype.kind == "b" and (len(parts) > 1 or index.ndim > 1)
    return None if masks else {"y": index, "dims": dims}


def pair(value: Any, default: Any = ()) -> tuple[int, int]:
    both = value or default
    return (both[0], both[-1])


def pooled(saved: Attributes) -> Further:
    plain = saved.rank == 4 and not saved.ceil_mode and saved.divisor_override is None
    if not plain or not (saved.count_include_pad or not any(saved.padding)):
        return None
    size = pair(saved.kernel_size)
    return {"windows": Windows(size, pair(saved.stride, size), pair(saved.padding), (1, 1))}


def convolved(saved: Attributes) -> Further:
    if saved.transposed or saved.node._saved_weight.ndim != 4:
        return None
    size = pair(tuple(saved.node._saved_weight.shape[2:]))
    return {
        "x": saved.input, "y": saved.weight, "groups": saved.groups,
        "windows": Windows(size, pair(saved.stride), pair(saved.padding), pair(saved.dilation)),
    }  # fmt: skip


def layer_normed(saved: Attributes) -> Further:
    dims = tuple(range(saved.rank - len(saved.normalized_shape), saved.rank))
    weight = np.float32(1) if saved.weight is None else saved.weight
    return {"y": weight, "stats": (dims, 0.0, saved.result1, saved.result2)}


def batch_normed(saved: Attributes) -> Further:
    if not saved.training:
        return None
    along = (1, -1, *(1,) * (saved.rank - 2))
    dims = (0, *range(2, saved.rank))
    y = np.float32(1) if saved.weight is None else saved.weight.reshape(along)
    return {"y": y, "stats": (dims, saved.eps, saved.result1.reshape(along), saved.result2.reshape(along))}


def padded(saved: Attributes) -> Further:
    widths = list(zip(saved.pad[::2], saved.pad[1::2], strict=True))
    widths += [(0, 0)] * (saved.rank - len(widths))
    return {"widths": tuple(reversed(widths)), "value": 0.0}


def sliced(saved: Attributes) -> Further:
    end = saved.end if saved.end < 2**62 else None
    step = None if saved.step == 1 else saved.step
    return {"key": (slice(None),) * (saved.dim % saved.rank) + (slice(saved.start, end, step),)}


DIFFERENT: dict[str, Callable[[Attributes], Further]] = {
    "PowBackward0": lambda saved: {"row": "power" if saved.exponent else "power_zero"},
    "PowBackward2": lambda saved: {"x": np.float32(saved.self), "y": saved.exponent},
    "AddmmBackward0": lambda saved: {"y": saved.mat1, "z": saved.mat2},
    "TBackward0": lambda saved: {"i": 0, "j": 1},
    "ClampBackward1": lambda saved: {"low": either(saved.min, -math.inf), "high": either(saved.max, math.inf)},
    "VarBackward0": lambda saved: {"correction": either(saved.correction, 1)},
    "StdBackward0": lambda saved: {"correction": either(saved.correction, 1)},
    "LinalgVectorNormBackward0": lambda saved: {} if saved.ord == 2 else None,
    "WhereBackward0": lambda saved: {"x": saved.condition},
    "MaskedFillBackward0": lambda saved: {"z": saved.mask},
    "MaskedFillBackward1": lambda saved: {"z": saved.mask},
    "BinaryCrossEntropyBackward0": lambda saved: {"z": saved.weight},
    "BinaryCrossEntropyWithLogitsBackward0": lambda saved: {"z": saved.weight, "u": saved.pos_weight},
    "NllLossBackward0": nll,
    "NllLoss2DBackward0": nll,
    "MaxBackward0": chosen,
    "MinBackward0": chosen,
    "MedianBackward1": chosen,
    "SortBackward0": chosen,
    "TopkBackward0": chosen,
    "IndexBackward0": indexed,
    "AvgPool2DBackward0": pooled,
    "IndexSelectBackward0": lambda saved: {"y": saved.index, "dims": saved.axes(saved.dim)},
    "EmbeddingBackward0": lambda saved: None if saved.sparse or saved.scale_grad_by_freq else {},
    "ConvolutionBackward0": convolved,
    "NativeLayerNormBackward0": layer_normed,
    "NativeBatchNormBackward0": batch_normed,
    "ConstantPadNdBackward0": padded,
    "SliceBackward0": sliced,
    "SelectBackward0": lambda saved: {"key": (slice(None),) * (saved.dim % saved.rank) + (saved.index,)},
    "DiagonalBackward0": lambda saved: {"i": saved.dim1, "j": saved.dim2},
    "SplitBackward0": lambda saved: None,
    "UnbindBackward0": lambda saved: None,
    "SplitWithSizesBackward0": lambda saved: None,
    "MaxPool2DWithIndicesBackward0": lambda saved: None,
}
