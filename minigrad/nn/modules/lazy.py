"""Layers that learn the size of their input from the first input: LazyLinear(10) is a Linear(?, 10) until it is called.

Until then the parameters hold no numbers.  The first call gives them their shape and their random values, and makes
the layer what it is named after: the same parameter objects, so that an optimiser may have been given them before.
"""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor, set_data


class UninitializedParameter(Parameter):
    """A parameter without shape or numbers.  Asking for either raises; `materialize` gives both."""

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        made = Parameter(mg.empty(0, dtype=dtype), requires_grad)
        made.__class__ = cls
        return made

    @property  # hides the array that is there
    def _data(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or "
            "explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch functions"
        )

    @property
    def data(self) -> Any:
        """No numbers: what is written there is forgotten."""
        return mg.empty(0)

    @data.setter
    def data(self, value: Any) -> None:
        set_data(self, value)

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: the first input decides it."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter of this shape, its numbers still to be set."""
        self.__class__ = Parameter  # type: ignore[assignment]
        set_data(self, mg.empty(tuple(shape), dtype=dtype or self.dtype))

    def detach(self) -> Any:
        """Itself: there is nothing yet to share."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), UninitializedParameter(self.requires_grad))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class _Lazy(Module):
    """What makes a layer lazy; `becomes` is the class it has after the first call."""

    becomes: Any

    def has_uninitialized_params(self) -> bool:
        return any(isinstance(p, UninitializedParameter) for p in self._parameters.values())

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the size from this input, and draw the parameters."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have a size."""
        if not self.has_uninitialized_params() and all(p.numel() for p in self._parameters.values() if p is not None):
            super().reset_parameters()  # type: ignore[misc]

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        waiting = [p for p in self._parameters.values() if isinstance(p, UninitializedParameter)]
        for p in waiting:  # empty parameters, for once
            p.__class__ = Parameter  # type: ignore[assignment]
        super()._apply(fn, recurse)
        for p in waiting:
            p.__class__ = UninitializedParameter
        return self

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """What is loaded decides the sizes, too."""
        for home in (self._parameters, self._buffers):
            for name, own in home.items():
                given = state_dict.get(prefix + name)
                if not isinstance(given, Tensor) or isinstance(given, UninitializedParameter):
                    continue
                if isinstance(own, UninitializedParameter):
                    own.materialize(given.shape)
                elif own is not None and own.ndim and not own.numel():
                    home[name] = mg.empty(given.shape, dtype=own.dtype)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.has_uninitialized_params():
            self.initialize_parameters(*args, **kwargs)
        self.__class__ = self.becomes
        return self(*args, **kwargs)


class LazyLinear(_Lazy, Linear):
    """A Linear whose in_features the first input decides."""

    becomes = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        Linear.__init__(self, 0, 0, False, device, dtype)
        self.out_features = out_features
        self._parameters.clear()
        self.weight = UninitializedParameter(dtype=dtype)
        self.register_parameter("bias", UninitializedParameter(dtype=dtype) if bias else None)

    def __call__(self, input: Tensor) -> Any:
        if not self.has_uninitialized_params():  # it was loaded
            self.in_features = self.weight.shape[-1]
        return super().__call__(input)

    def initialize_parameters(self, input: Tensor) -> None:
        self.in_features = input.shape[-1]
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        self.reset_parameters()


class _LazyConv(_Lazy):
    n: int
    in_channels: int
    out_channels: int

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, bias: bool = True, **settings: Any) -> None:
        self.becomes.__init__(self, 0, 0, kernel_size, *args, bias=False, **settings)
        self.out_channels = out_channels
        self._parameters.clear()
        self.weight = UninitializedParameter(dtype=settings.get("dtype"))
        self.register_parameter("bias", UninitializedParameter(dtype=settings.get("dtype")) if bias else None)

    def initialize_parameters(self, input: Tensor, *rest: Any) -> None:
        if input.ndim not in (self.n + 1, self.n + 2):
            raise RuntimeError(
                f"Expected {self.n + 1}D (unbatched) or {self.n + 2}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {list(input.shape)}"
            )
        self.in_channels = input.shape[-self.n - 1]
        groups: int = self.groups
        if self.in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self._weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNorm(_Lazy):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.becomes.__init__(self, 0, eps, momentum, affine, track_running_stats, device, dtype)
        if affine:
            self._parameters.clear()
            self.weight, self.bias = UninitializedParameter(dtype=dtype), UninitializedParameter(dtype=dtype)

    def has_uninitialized_params(self) -> bool:
        sizes = [x for x in (*self._parameters.values(), *self._buffers.values()) if x is not None]
        return super().has_uninitialized_params() or any(x.ndim and not x.numel() for x in sizes)

    def initialize_parameters(self, input: Tensor) -> None:
        self.num_features = count = input.shape[1]
        for p in (self.weight, self.bias) if self.affine else ():
            p.materialize((count,))
        if self.track_running_stats:
            for name in ("running_mean", "running_var"):
                self._buffers[name] = mg.zeros(count, dtype=getattr(self, name).dtype)
        self.reset_parameters()


def _lazy(layer: Any, base: type[_Lazy], what: str) -> Any:
    name = f"Lazy{layer.__name__}"
    words = f"{'An' if name[4] in 'AEIO' else 'A'} {layer.__name__} whose {what} the first input decides."
    return type(name, (base, layer), {"becomes": layer, "__doc__": words, "__module__": __name__})


_channels, _features = "in_channels", "num_features"
LazyConv1d, LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(layer, _LazyConv, _channels)
    for layer in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(layer, _LazyNorm, _features)
    for layer in (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
