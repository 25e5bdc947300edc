"""A softmax over very many classes, the frequent ones first."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import minigrad as mg
from minigrad.nn import functional as F
from minigrad.nn.modules.container import ModuleList, Sequential
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

_Output = namedtuple("_Output", "output loss")
_Output.__name__ = _Output.__qualname__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of `n_classes` sorted by frequency: the head has those below cutoffs[0], and a place for each cluster.

    A cluster (classes from one cutoff to the next) is computed only for the rows whose target lies in it, from
    `div_value` times fewer features than the one before. Called with input (N, in_features) and target (N), or without
    N, it gives (log-probability of each target, their negative mean). ValueError for cutoffs that do not increase
    from 1 to n_classes - 1; RuntimeError for a target that is no class.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        whole = all(int(c) == c for c in cutoffs)
        if not whole or cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where "
                "each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device=device, dtype=dtype)
        self.tail: Any = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            narrow = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, narrow, False, device=device, dtype=dtype),
                    Linear(narrow, high - low, False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for layer in (self.head, *(layer for cluster in self.tail for layer in cluster)):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.dim() == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(
                f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input tensors, "
                f"but found inputs with size {input_.size()}"
            )
        batched = target_.dim() == 1
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if target.numel() and not bool(((target >= 0) & (target < self.n_classes)).all()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        output = input.new_zeros(target.size(0))
        in_head = target.clone()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel():
                log_prob = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                output.index_copy_(0, rows, log_prob.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1))
                in_head.index_fill_(0, rows, self.shortlist_size + i)
        output = output + F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _Output(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        first = self.shortlist_size
        rest = [F.log_softmax(cluster(input), dim=1) + head[:, first + i, None] for i, cluster in enumerate(self.tail)]
        every: Tensor = mg.cat([head[:, :first], *rest], 1)
        return every

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; clusters are computed for the rows that need them."""
        best: Tensor = self.head(input).argmax(1)
        rare = best >= self.shortlist_size
        if bool(rare.any()):
            best[rare] = self.log_prob(input[rare]).argmax(1)
        return best
