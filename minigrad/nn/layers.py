"""Layers, containers and losses as modules.

A layer holds its parameters and settings; what it computes is the function of
the same name in functional.py.  With the same `manual_seed` the parameters
begin with PyTorch's numbers.
"""

# mypy: disable-error-code="no-any-return"
# (operations of the table are typed Any)

from __future__ import annotations

import math
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Self

from ..kernels import pair
from ..ops.creation import empty, ones, tensor, zeros
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module, Parameter, bracketed, indented

__all__ = [
    "GELU", "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d",
    "BatchNorm2d", "Conv2d", "CrossEntropyLoss", "Dropout", "Embedding",
    "Flatten", "HuberLoss", "Identity", "L1Loss", "LayerNorm", "LeakyReLU",
    "Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "ModuleDict", "ModuleList",
    "NLLLoss", "ParameterList", "ReLU", "Sequential", "Sigmoid",
    "SmoothL1Loss", "Softmax", "Softplus", "Tanh",
]

# ------------------------------------------------------------------------------------ containers


class _Row(Module):
    """What Sequential, ModuleList and ParameterList share: members in a row, named 0, 1, ..."""

    home = "_modules"

    def _row(self) -> dict[str, Any]:
        return self.__dict__[self.home]

    def _key(self, index: Any) -> str:
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return list(self._row())[place]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(list(self._row().items())[index])
        return self._row()[self._key(index)]

    def _part(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)([member for _, member in items])  # type: ignore[call-arg]

    def __setitem__(self, index: int, member: Any) -> None:
        setattr(self, self._key(index), member)

    def __len__(self) -> int:
        return len(self._row())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row().values())

    def append(self, member: Any) -> Self:
        """Add one at the end."""
        self.add_module(str(len(self)), member)
        return self

    def extend(self, members: Iterable[Any]) -> Self:
        """Add several at the end."""
        for member in members:
            self.append(member)
        return self


class Sequential(_Row):
    """Modules applied one after the other; given as arguments or in an OrderedDict of names.

    >>> torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU())
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def _part(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(OrderedDict(items))


class ModuleList(_Row):
    """A list of modules that registers them: the parameters in a plain list are not found."""

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def __repr__(self) -> str:
        """Neighbours that print alike are counted: `(0-2): 3 x ReLU()`."""
        parts, first = [], 0
        for text, same in groupby(map(indented, self)):
            last = first + len(list(same)) - 1
            if first != last:
                text = f"{last - first + 1} x {text}"
            place = first if first == last else f"{first}-{last}"
            parts.append(f"({place}): {text}")
            first = last + 1
        return bracketed(self._get_name(), [], parts)


class ParameterList(_Row):
    """A list of parameters that registers them; tensors become parameters."""

    home = "_parameters"

    def __init__(self, values: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self.extend(values)

    def append(self, member: Tensor) -> Self:
        """Add a parameter at the end."""
        parameter = member if isinstance(member, Parameter) else Parameter(member)
        self.register_parameter(str(len(self)), parameter)
        return self

    def extra_repr(self) -> str:
        lines = []
        for i, p in enumerate(self):
            sizes = "x".join(map(str, p.shape))
            lines.append(f"  ({i}): Parameter containing: [{p.dtype} of size {sizes}]")
        return "\n".join(lines)


class ModuleDict(Module):
    """A dictionary of modules that registers them."""

    def __init__(self, modules: Any = ()) -> None:
        super().__init__()
        self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Pairs of name and module."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of pairs of name and module."""
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module


# ------------------------------------------------------------------------- linear, and of shapes


class _Layer(Module):
    """A layer that prints its settings by name."""

    settings: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.settings)


class Identity(Module):
    """Gives back its input, whatever it was made with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Flatten(_Layer):
    """Several dimensions to one, by default all but the first."""

    settings = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class _Weighted(Module):
    """What Linear and Conv2d share: a weight, perhaps a bias, and how they begin."""

    weight: Parameter
    bias: Parameter | None

    def _begin(self, shape: tuple[int, ...], bias: bool, dtype: Any) -> None:
        self.weight = Parameter(empty(shape, dtype=dtype))
        made = Parameter(empty(shape[0], dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform in ± 1 / sqrt(inputs of each output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)


class Linear(_Weighted):
    """x @ weight.T + bias: (..., in_features) to (..., out_features).

    >>> torch.nn.Linear(3, 2)(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._begin((out_features, in_features), bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        # a lookup is faster than self.weight
        own: Any = self._parameters
        return F.linear(input, own["weight"], own["bias"])

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Embedding(Module):
    """A table of vectors: integers (...) to vectors (..., embedding_dim)."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = Parameter(empty((num_embeddings, embedding_dim), dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors anew, normal with standard deviation 1; the one of `padding_idx` is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


# ---------------------------------------------------------------------------------------- images


class Conv2d(_Weighted):
    """(batch, in, height, width) to (batch, out, height', width'); weight (out, in / groups, kh, kw)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True, *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = map(pair, (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else pair(padding)
        shape = out_channels, in_channels // groups, *self.kernel_size
        self._begin(shape, bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        others = (
            ("padding", self.padding, (0, 0)),
            ("dilation", self.dilation, (1, 1)),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
        )
        return text + "".join(f", {name}={now}" for name, now, usual in others if now != usual)


class MaxPool2d(_Layer):
    """The largest number of each window of (batch, channels, height, width)."""

    settings = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    ceil_mode = False

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation)


class AvgPool2d(_Layer):
    """The mean of each window of (batch, channels, height, width)."""

    settings = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding)


# ------------------------------------------------------------------- normalisation and dropout


def _begin_affine(layer: Module, shape: Any, affine: bool, bias: bool, dtype: Any) -> None:
    """Weights of 1 and biases of 0, which change nothing until they are trained."""
    layer.register_parameter("weight", Parameter(ones(shape, dtype=dtype)) if affine else None)
    layer.register_parameter("bias", Parameter(zeros(shape, dtype=dtype)) if affine and bias else None)


class LayerNorm(_Layer):
    """(x - mean) / std over the last dimensions, times weight, plus bias."""

    settings = ("eps", "elementwise_affine")

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        _begin_affine(self, shape, elementwise_affine, bias, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {super().extra_repr()}, bias={self.bias is not None}"


class _BatchNorm(Module):
    """Each channel with mean 0 and variance 1 over the batch, times weight, plus bias."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _begin_affine(self, num_features, affine, True, dtype)
        track = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if track else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", tensor(0) if track else None)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")
        if self.training and self.track_running_stats:
            self.num_batches_tracked += 1
        batch = self.training or not self.track_running_stats
        running = self.running_mean, self.running_var
        return F.batch_norm(input, *running, self.weight, self.bias, batch, self.momentum, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (batch, channels) or (batch, channels, length)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (batch, channels, height, width)."""

    ranks = (4,)


class Dropout(_Layer):
    """In training zeros with probability p, the others divided by 1 - p; in evaluation its input."""

    settings = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


# ----------------------------------------------------------------------------------- activations


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where it is positive, negative_slope * x elsewhere."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class GELU(_Layer):
    """x times the probability that a normal number is below x."""

    settings = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Softplus(_Layer):
    """log(1 + exp(beta * x)) / beta."""

    settings = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Softmax(_Layer):
    """exp(x) / sum(exp(x)) along a dimension."""

    settings = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(Softmax):
    """log(softmax(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


# ---------------------------------------------------------------------------------------- losses


class _Loss(Module):
    """A loss with a reduction: "mean", "sum" or "none" (one loss for each element)."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight for each class, or each element; it is a buffer."""

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """(input - target)²."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """|input - target|."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """d² / (2 beta) where |d| < beta, else |d| - beta / 2, for d = input - target."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """d² / 2 where |d| <= delta, else delta * (|d| - delta / 2), for d = input - target."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the target class."""

    def __init__(self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Minus the logarithm of the softmax of the target class: logits (batch, classes, ...), targets (batch, ...)."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """Binary cross-entropy of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """Binary cross-entropy of sigmoid(input), without overflow."""

    def __init__(
        self, weight: Tensor | None = None, *, reduction: str = "mean", pos_weight: Tensor | None = None
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        settings = {"reduction": self.reduction, "pos_weight": self.pos_weight}
        return F.binary_cross_entropy_with_logits(input, target, self.weight, **settings)
