"""Copies of tensors: `copy.copy`, `copy.deepcopy` and pickles, which also files are made of.

What shares memory goes on sharing it: in one pickle, or one deep copy, the memory of two views is there once.  As in PyTorch
that is all of it, also where a view shows little.  Attributes that were hung on a tensor come along; its hooks do not.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.dtypes import native
from minigrad.tensor import Array, Tensor


def deep(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own, which it shares with the other copies that `memo` knows; its gradient is copied, too."""
    if not tensor.is_leaf:
        raise RuntimeError(errors.DEEPCOPY)
    if id(tensor) not in memo:
        memory, *view = place(tensor)
        memo[id(tensor)] = twin = rebuild(type(tensor), copy.deepcopy(memory, memo), tensor.requires_grad, *view)
        twin.__dict__.update(copy.deepcopy(attributes(tensor), memo))
        twin._grad = copy.deepcopy(tensor._grad, memo)
    return memo[id(tensor)]  # type: ignore[no-any-return]


def shallow(tensor: Tensor) -> Tensor:
    """A leaf that shares the memory."""
    twin = rebuild(type(tensor), tensor._writable(), tensor.requires_grad)
    twin.__dict__.update(attributes(tensor))
    twin._counter = tensor._counter
    return twin


def reduced(tensor: Tensor) -> tuple[Any, ...]:
    """What a pickle says of a tensor: its class, its memory, whether it requires grad, where in the memory it lies."""
    memory, *view = place(tensor)
    return rebuild, (type(tensor), memory, tensor.requires_grad, *view), attributes(tensor) or None


def attributes(tensor: Tensor) -> dict[str, Any]:
    return {name: value for name, value in tensor.__dict__.items() if not name.startswith("_")}


def place(tensor: Tensor) -> tuple[Any, ...]:
    """The array that owns a tensor's memory; unless that is all there is, the tensor's shape, steps and first byte there."""
    array = memory = tensor._writable()
    while type(memory.base) is np.ndarray:
        memory = memory.base
    whole = memory.flags.c_contiguous or memory.flags.f_contiguous
    if not whole or not array.size or type(memory) is not np.ndarray or memory.dtype != array.dtype:
        return (np.array(array),)
    if memory is array:
        return (array,)
    return memory, array.shape, array.strides, array.__array_interface__["data"][0] - memory.__array_interface__["data"][0]


def rebuild(
    cls: type[Tensor],
    memory: Array,
    requires_grad: bool = False,
    shape: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
    offset: int = 0,
) -> Tensor:
    """A leaf at this place of this memory."""
    tensor = object.__new__(cls)
    memory = native(memory)
    ordered = memory if memory.flags.c_contiguous else memory.T
    tensor._data = memory if shape is None else np.ndarray(shape, memory.dtype, ordered, offset, strides)
    tensor._node, tensor._counter = None, [0]
    return tensor.requires_grad_() if requires_grad else tensor
