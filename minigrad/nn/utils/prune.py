"""Pruning: parameters whose least important entries are held at zero by a mask.

    l1_unstructured(layer, "weight", amount=0.3)     # layer.weight = layer.weight_orig * layer.weight_mask

What is trained is `weight_orig`; a hook multiplies it by the mask before each forward.  Pruning again narrows the mask;
`remove` makes the pruned tensor the parameter again.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import minigrad as mg
from minigrad.nn.modules.module import Module
from minigrad.nn.utils import parameters_to_vector
from minigrad.tensor import Tensor


def _same_shape(scores: Tensor | None, t: Tensor, what: str) -> Tensor:
    """The scores that say how important each entry is: by default the entries themselves."""
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(f"importance_scores should have the same shape as {what}, got {scores.shape} vs {t.shape}")
    return t if scores is None else scores


class BasePruningMethod(ABC):
    """A way of pruning; a subclass sets PRUNING_TYPE ("unstructured", "structured" or "global") and defines `compute_mask`."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The new mask of zeros and ones, from the entries (or their scores) `t` and the mask so far."""

    def apply_mask(self, module: Module) -> Tensor:
        """The masked tensor, through which the gradient flows to the original."""
        orig = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prune the module's parameter `name`, on top of what has pruned it before; returns the method in charge of it."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        for key, hook in earlier:
            del module._forward_pre_hooks[key]
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            container.add_pruning_method(method)
            method = container
        orig = getattr(module, name)
        scores = _same_shape(importance_scores, orig, f"parameter {name} of {module}")
        if earlier:
            mask = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            mask = mg.ones_like(orig)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not earlier:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor times the mask that this method finds for it."""
        scores = _same_shape(importance_scores, t, "tensor t")
        return t * self.compute_mask(scores, default_mask=mg.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the masked tensor the parameter again (the hook is left to `prune.remove`)."""
        weight = self.apply_mask(module)
        delattr(module, self._tensor_name)
        orig: Any = module._parameters.pop(self._tensor_name + "_orig")
        orig.data = weight.data
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, orig)


class PruningContainer(BasePruningMethod):
    """Several methods that have pruned the same tensor one after the other."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """TypeError for what is no method, ValueError for one that prunes another tensor."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far, narrowed by the last method, which sees only what is left of the tensor."""
        method = self._pruning_methods[-1]
        left = _left(method, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: BasePruningMethod, mask: Tensor) -> Any:
    """An index of the entries that this method may still prune."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
        dim = method.dim if method.dim >= 0 else method.dim + mask.dim()
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {mask.dim()}")
        return _channels(mask, dim, mask.sum([d for d in range(mask.dim()) if d != dim]) != 0)
    if method.PRUNING_TYPE == "global":
        return _channels(mask, 0, slice(None))
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


def _channels(t: Tensor, dim: int, chosen: Any) -> tuple[Any, ...]:
    """An index of the chosen places along `dim`, and of everything along the others."""
    index: list[Any] = [slice(None)] * t.dim()
    index[dim] = chosen
    return tuple(index)


class Identity(BasePruningMethod):
    """Prunes nothing: the mask of ones, so that a mask is there to be changed by hand."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    """Prunes so many entries (an integer), or such a share of them (a float from 0 to 1)."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        size: Any = amount
        if size < 0 or (not isinstance(amount, numbers.Integral) and size > 1):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = size

    def _how_many(self, size: int) -> int:
        count: Any = self.amount if isinstance(self.amount, numbers.Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


class _Unstructured(_ByAmount):
    PRUNING_TYPE = "unstructured"

    def _least(self, t: Tensor, count: int) -> Tensor:
        """The places of the entries to prune, in the flattened tensor."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._how_many(t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._least(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes entries at random."""

    def _least(self, t: Tensor, count: int) -> Tensor:
        return mg.topk(mg.rand_like(t).view(-1), count).indices


class L1Unstructured(_Unstructured):
    """Prunes the entries with the smallest absolute value."""

    def _least(self, t: Tensor, count: int) -> Tensor:
        return mg.topk(t.abs().reshape(-1), count, largest=False).indices


class _Structured(_ByAmount):
    """Prunes whole channels: all entries at one place of dimension `dim`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, count: int) -> Any:
        """The channels that stay, all but `count`."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = self._how_many(t.shape[self.dim])
        if not count:
            return default_mask
        mask = mg.zeros_like(t)
        mask[_channels(t, self.dim, self._kept(t, count))] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def _kept(self, t: Tensor, count: int) -> Any:
        chance = mg.rand(t.shape[self.dim])
        return chance > mg.kthvalue(chance, count).values


class LnStructured(_Structured):
    """Prunes the channels with the smallest norm of order `n`."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Tensor, count: int) -> Any:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return mg.topk(mg.norm(t, p=self.n, dim=others), t.shape[self.dim] - count).indices


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Give the parameter `name` a mask of ones; returns the module, as all functions here do."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune `amount` entries (or such a share of them) of the parameter `name`, chosen at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune the `amount` entries (or such a share of them) of the parameter `name` that are nearest to zero.

    >>> layer = torch.nn.Linear(2, 2)
    >>> _ = torch.nn.init.constant_(layer.weight, 2.0)
    >>> layer.weight.data[0, 1] = 0.5
    >>> torch.nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight_mask
    tensor([[1., 0.],
            [1., 1.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune `amount` channels (or such a share of them) along `dim`, chosen at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the `amount` channels (or such a share of them) along `dim` that have the smallest norm of order `n`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: type[BasePruningMethod], importance_scores: dict[Any, Tensor] | None = None, **kwargs: Any
) -> None:
    """Prune several parameters, given as pairs (module, name), as if they were one long tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    masks = [getattr(module, name + "_mask", mg.ones_like(t)) for (module, name), t in zip(pairs, tensors, strict=True)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    important = parameters_to_vector([scores.get(pair, t) for pair, t in zip(pairs, tensors, strict=True)])
    mask = PruningContainer(method).compute_mask(important, parameters_to_vector(masks))
    for (module, name), t, part in zip(pairs, tensors, mask.split([t.numel() for t in tensors]), strict=True):
        custom_from_mask(module, name, part.view_as(t))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the entries of the parameter `name` where `mask` is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make the pruned tensor the parameter `name` again.  ValueError if it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether the module, or one inside it, has a pruned parameter."""
    hooks = (hook for each in module.modules() for hook in each._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
