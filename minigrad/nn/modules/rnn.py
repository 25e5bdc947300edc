"""Recurrent layers, one step at a time in Python: RNN, LSTM, GRU and their cells.

Each is a stack of layers, each layer one or two directions; weights have PyTorch's names and order (`weight_ih_l0`,
`weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, `..._reverse`), so that state dicts fit.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import minigrad as mg
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.nn.utils.rnn import PackedSequence
from minigrad.tensor import Tensor


def _rnn_step(gates: Tensor, from_hidden: Tensor, state: tuple[Tensor, ...], nonlinearity: str) -> Any:
    h = gates + from_hidden
    return (h.tanh() if nonlinearity == "tanh" else h.relu(),)


def _lstm_step(gates: Tensor, from_hidden: Tensor, state: tuple[Tensor, ...], _: str) -> Any:
    i, f, g, o = (gates + from_hidden).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru_step(gates: Tensor, from_hidden: Tensor, state: tuple[Tensor, ...], _: str) -> Any:
    reset, update, new = gates.chunk(3, -1)
    h_reset, h_update, h_new = from_hidden.chunk(3, -1)
    r, z = (reset + h_reset).sigmoid(), (update + h_update).sigmoid()
    n = (new + r * h_new).tanh()
    return ((state[0] - n) * z + n,)


_STEPS = {
    "RNN": (_rnn_step, 1, 1),
    "LSTM": (_lstm_step, 4, 2),
    "GRU": (_gru_step, 3, 1),
}  # step, gates, states


def _uniform(module: Module, hidden_size: int) -> None:
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


class RNNBase(Module):
    """What RNN, LSTM and GRU share."""

    kind = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._check(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.proj_size, out_size = proj_size, proj_size or hidden_size
        self.bias, self.batch_first, self.dropout, self.bidirectional = (
            bias,
            batch_first,
            dropout,
            bidirectional,
        )
        rows = _STEPS[self.kind][1] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else out_size * (2 if bidirectional else 1)
            for suffix in self._suffixes(layer):
                shapes = {"weight_ih": (rows, width), "weight_hh": (rows, out_size)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(mg.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _check(
        self, input_size: Any, hidden_size: Any, layers: Any, bias: Any, batch_first: Any, dropout: Any, proj_size: int
    ) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={layers}",
                stacklevel=4,
            )
        flags, sizes = {"bias": bias, "batch_first": batch_first}, {"input_size": input_size, "hidden_size": hidden_size}
        for kind, given in ((bool, flags), (int, sizes)):
            for name, value in given.items():
                if not isinstance(value, kind):
                    raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        for name, value in {**sizes, "num_layers": layers}.items():
            if value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size and self.kind != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform in ± 1 / sqrt(hidden_size)."""
        _uniform(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Does nothing here."""

    @property
    def _flat_weights_names(self) -> list[str]:
        return list(self._parameters)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        names, each = self._flat_weights_names, 4 if self.bias else 2
        return [[getattr(self, n) for n in names[i : i + each]] for i in range(0, len(names), each)]

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """(length, batch, input) (or batch first, unbatched or packed) to the hidden states, and the last state."""
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            what = "D tensor" if self.kind == "RNN" else "D"
            raise ValueError(f"{self.kind}: Expected input to be 2D or 3D, got {input.ndim}{what} instead")
        if input.dtype is not self._parameters["weight_ih_l0"].dtype:  # type: ignore[union-attr]
            kind = self._parameters["weight_ih_l0"].dtype  # type: ignore[union-attr]
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({kind}). Convert input: input.to({kind}), or "
                f"convert model: model.to({input.dtype})"
            )
        unbatched = input.ndim == 2
        self._check_dimensions(hx, "unbatched 2-D" if unbatched else "batched 3-D", input.ndim)
        if unbatched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        if not len(input):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        states = self._first_states(input.shape[1], input.dtype, hx, unbatched)
        input, ends = self._layers(input, states, None)
        if unbatched:
            input, ends = input.squeeze(1), tuple(end.squeeze(1) for end in ends)
        elif self.batch_first:
            input = input.transpose(0, 1) if self.kind == "LSTM" else input.transpose_(0, 1)  # PyTorch's names of nodes
        return input, ends if len(ends) > 1 else ends[0]

    def _check_dimensions(self, hx: Any, what: str, n: int) -> None:
        several = self.kind == "LSTM"
        if hx is None or all(h.ndim == n for h in (hx if several else (hx,))):
            return
        found = ", ".join(f"{h.ndim}-D" for h in hx) if several else f"{hx.ndim}-D"
        names, found = ("hx and cx", f"({found}) tensors") if several else ("hx", f"{found} tensor")
        raise RuntimeError(f"For {what} input, {names} should also be {n}-D but got {found}")

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        """The same for sequences of different lengths: at each step only those go on that have not ended."""
        running = input.batch_sizes.tolist()
        if hx is not None and input.sorted_indices is not None:
            several = isinstance(hx, (tuple, list))
            hx = tuple(h.index_select(1, input.sorted_indices) for h in (hx if several else (hx,)))
            hx = hx if several else hx[0]
        states = self._first_states(running[0], input.data.dtype, hx, False)
        data, ends = self._layers(input.data, states, running)
        if input.unsorted_indices is not None:
            ends = tuple(end.index_select(1, input.unsorted_indices) for end in ends)
        return input._replace(data=data), ends if len(ends) > 1 else ends[0]

    def _layers(self, input: Tensor, states: tuple[Tensor, ...], running: list[int] | None) -> Any:
        """All layers, one after the other: the outputs, and the last states."""
        last: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                index = len(last)
                start = tuple(s[index] for s in states)
                steps, end = self._run(input, start, suffix, direction == 1, running)
                outputs.append(mg.stack(steps) if running is None else mg.cat(steps))
                last.append(list(end))
            input = outputs[0] if len(outputs) == 1 else mg.cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        return input, tuple(mg.stack([end[i] for end in last]) for i in range(len(states)))

    def _first_states(self, batch: int, dtype: Any, hx: Any, unbatched: bool) -> tuple[Tensor, ...]:
        count = _STEPS[self.kind][2]
        layers = self.num_layers * (2 if self.bidirectional else 1)
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)[:count]
        if hx is None:
            return tuple(mg.zeros((layers, batch, size), dtype=dtype) for size in sizes)
        states = tuple(hx) if count > 1 else (hx,)
        if len(states) != count:
            raise RuntimeError("lstm expects two hidden states")
        states = tuple(s.unsqueeze(1) if unbatched else s for s in states)
        for i, (s, size) in enumerate(zip(states, sizes, strict=True)):
            shape, name = (layers, batch, size), f"hidden[{i}]" if count > 1 else "hidden"
            if tuple(s.shape) != shape:
                raise RuntimeError(f"Expected {name} size {shape}, got {list(s.shape)}")
        return states

    def _run(
        self, input: Tensor, state: tuple[Tensor, ...], suffix: str, reverse: bool, running: list[int] | None
    ) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        own = self._parameters
        step = _STEPS[self.kind][0]
        weight_ih, weight_hh = own["weight_ih" + suffix], own["weight_hh" + suffix]
        bias_ih, bias_hh = own.get("bias_ih" + suffix), own.get("bias_hh" + suffix)
        projected = F.linear(input, weight_ih, bias_ih)  # type: ignore[arg-type]
        gates = projected.unbind(0) if running is None else projected.split(running)
        outputs = []
        for gate in reversed(gates) if reverse else gates:
            n = gate.shape[0]
            resting = None  # what has ended (or, backwards, not begun) keeps its state
            if running is not None and n < running[0]:
                state, resting = tuple(s[:n] for s in state), tuple(s[n:] for s in state)
            from_hidden = F.linear(state[0], weight_hh, bias_hh)  # type: ignore[arg-type]
            state = step(gate, from_hidden, state, self._nonlinearity())
            if self.proj_size:
                state = (F.linear(state[0], own["weight_hr" + suffix]), *state[1:])  # type: ignore[arg-type]
            outputs.append(state[0])
            if resting is not None:
                state = tuple(mg.cat([s, r]) for s, r in zip(state, resting, strict=True))
        return (outputs[::-1] if reverse else outputs), state

    def _nonlinearity(self) -> str:
        return "tanh"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        for name, usual in (("bias", True), ("batch_first", False), ("dropout", 0), ("bidirectional", False)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu."""

    kind = "RNN"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kw: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(input_size, hidden_size, num_layers, *args, **kw)
        self.nonlinearity = nonlinearity

    def _nonlinearity(self) -> str:
        return self.nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, g, o; the state is the pair (h, c)."""

    kind = "LSTM"


class GRU(RNNBase):
    """Gated recurrent unit: gates r, z, n."""

    kind = "GRU"


class RNNCellBase(Module):
    """What RNNCell, LSTMCell and GRUCell share."""

    kind = ""
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _STEPS[self.kind][1] * hidden_size
        self.weight_ih = Parameter(mg.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(mg.empty((rows, hidden_size), dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(mg.empty(rows, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform in ± 1 / sqrt(hidden_size)."""
        _uniform(self, self.hidden_size)

    def _nonlinearity(self) -> str:
        return "tanh"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """One step: (batch, input) and the state to the new state (for LSTM a pair)."""
        step, _, count = _STEPS[self.kind]
        if input.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if hx is None:
            hx = (mg.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype),) * count
        state = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        for i, h in enumerate(state):
            if h.ndim not in (1, 2):
                name = f"hx[{i}]" if count > 1 else "hidden"
                raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {h.ndim}D instead")
        self._check_sizes(input, state)
        gates = F.linear(input, self.weight_ih, self.bias_ih)
        new = step(gates, F.linear(state[0], self.weight_hh, self.bias_hh), state, self._nonlinearity())
        return new if count > 1 else new[0]

    def _check_sizes(self, input: Tensor, state: tuple[Tensor, ...]) -> None:
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}")
        for i, h in enumerate(state):  # without a batch there is one of 1 in both, whatever the state has already
            batch, given = (input.shape[0], h.shape) if input.ndim == 2 else (1, (1, *h.shape))
            if given[0] != batch:
                raise RuntimeError(f"Input batch size {batch} doesn't match hidden{i} batch size {given[0]}")
            if given[1:] != (self.hidden_size,):
                raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {given[1]}, expected {self.hidden_size}")

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        return text if self._nonlinearity() == "tanh" else text + f", nonlinearity={self._nonlinearity()}"


class RNNCell(RNNCellBase):
    """One step of RNN."""

    kind = "RNN"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", **kw: Any
    ) -> None:
        super().__init__(input_size, hidden_size, bias, **kw)
        self.nonlinearity = nonlinearity

    def _nonlinearity(self) -> str:
        return self.nonlinearity

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """One step: (batch, input) and the state to the new state."""
        if self.nonlinearity not in ("tanh", "relu"):  # asked here, for the attribute may be set
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return super().forward(input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM."""

    kind = "LSTM"


class GRUCell(RNNCellBase):
    """One step of GRU."""

    kind = "GRU"
