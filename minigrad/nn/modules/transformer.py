"""Attention and the transformer: MultiheadAttention, encoder and decoder layers and stacks.

Composed of linear layers, softmax and layer norm; parameter names are PyTorch's, so that state dicts fit.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.modules.dropout import Dropout
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import LayerNorm
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor, wrap


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear: PyTorch prints this name inside MultiheadAttention."""


def _additive(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A boolean mask (True: do not look) as numbers to add to the scores."""
    if mask is None or mask.dtype is not mg.bool:
        return mask
    return wrap(np.where(mask._data, -np.inf, 0).astype(like._data.dtype))


def _widened(mask: Tensor | None, width: int) -> Tensor | None:
    """The mask, which hides none of the places that were added behind."""
    return mask if mask is None else F.pad(mask, (0, width - mask.shape[-1]))


def _check_dimensions(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None) -> bool:
    """Whether the query is a batch: then everything else has to be one, too."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    n, many = query.ndim, "batched" if query.ndim == 3 else "unbatched"
    asked = f"For {many} ({n}-D) `query`, expected"
    if not key.ndim == value.ndim == n:
        raise AssertionError(
            f"{asked} `key` and `value` to be {n}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != n - 1:
        raise AssertionError(
            f"{asked} `key_padding_mask` to be `None` or {n - 1}-D but found {padding.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(f"{asked} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead")
    for name, given in (("key_padding_mask", padding), ("attn_mask", mask)):
        if given is not None and given.dtype is not mg.bool and not given.dtype.is_floating_point:
            raise AssertionError(f"only bool and floating types of {name} are supported")
    return n == 3


def _check_sizes(
    embed_dim: int, heads: int, query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None
) -> None:
    length, batch, width = query.shape
    source = key.shape[0]
    if width != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {width}")
    if embed_dim % heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {heads}")
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]!r} do not match value's {value.shape[:2]!r}"
        )
    if mask is not None:
        wanted = (length, source) if mask.ndim == 2 else (batch * heads, length, source)
        if mask.shape != wanted:
            raise RuntimeError(
                f"The shape of the {mask.ndim}D attn_mask is {mask.shape!r}, but should be {wanted}."
            )
    if key.shape[1] != batch:
        shape = [source, batch * heads, embed_dim // heads]
        raise RuntimeError(f"shape '{shape}' is invalid for input of size {source * key.shape[1] * embed_dim}")
    for d, size in enumerate((batch, source) if padding is not None else ()):
        if padding is not None and padding.shape[d] != size:
            raise AssertionError(f"Expected key_padded_mask.shape[{d}] to be {size}, but got {padding.shape[d]}")


def _projected(inputs: tuple[Tensor, ...], weight: Tensor | None, apart: Any, bias: Tensor | None) -> tuple[Tensor, ...]:
    query, key, value = inputs
    if weight is not None and query is key and key is value:
        return tuple(F.linear(query, weight, bias).chunk(3, -1))
    weights = apart if weight is None else weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(F.linear(t, w, b) for t, w, b in zip(inputs, weights, biases, strict=True))


def _in_heads(t: Tensor, heads: int, added: Tensor | None = None) -> Tensor:
    """(length, batch, embed) to (batch, heads, length, head_dim), with one more place to look at, learnt (`add_bias_kv`)."""
    if added is not None:
        t = mg.cat([t, added.repeat(1, t.shape[1], 1)])
    length, batch, width = t.shape
    return t.reshape((length, batch, heads, width // heads)).permute(1, 2, 0, 3)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What `nn.MultiheadAttention` computes, with its weights as arguments: query (L, N, E), key and value (S, N, E).

    Without N too. Gives (L, N, E) and, with `need_weights`, the attention weights (N, L, S), or of each head (N, heads, L, S).
    `static_k`, `static_v` (N * heads, S, E / heads) stand for the projected key and value.
    """
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    batched = _check_dimensions(query, key, value, key_padding_mask, attn_mask)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, _ = query.shape
    if not use_separate_proj_weight and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape!r} does not match value shape {value.shape!r}")
    _check_sizes(embed_dim_to_check, num_heads, query, key, value, key_padding_mask, attn_mask)

    whole = None if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected((query, key, value), whole, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    q, k, v = _in_heads(q, num_heads), _in_heads(k, num_heads, bias_k), _in_heads(v, num_heads, bias_v)
    if static_k is not None:
        k = static_k.reshape((batch, num_heads, -1, q.shape[-1]))
    if static_v is not None:
        v = static_v.reshape((batch, num_heads, -1, q.shape[-1]))
    if add_zero_attn:
        k, v = (mg.cat([t, t.new_zeros((batch, num_heads, 1, t.shape[-1]))], 2) for t in (k, v))
    source = k.shape[2]
    attn_mask, key_padding_mask = (_widened(mask, source) for mask in (attn_mask, key_padding_mask))
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1)
    attn_mask, padding = _additive(attn_mask, query), _additive(key_padding_mask, query)
    if attn_mask is not None:
        if attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape((batch, num_heads, length, source))
        scores = scores + attn_mask
    if padding is not None:
        scores = scores + padding.reshape((batch, 1, 1, source))
    masked = attn_mask is not None or padding is not None
    weights = F.masked_softmax(scores) if masked and not need_weights else mg.softmax(scores, -1)
    if dropout_p and training:
        weights = F.dropout(weights, dropout_p)
    mixed = (weights @ v).permute(2, 0, 1, 3).reshape((length, batch, embed_dim_to_check))
    out = F.linear(mixed, out_proj_weight, out_proj_bias)
    if not batched:
        out = out.squeeze(1)
    if not need_weights:
        return out, None
    shown = weights.mean(1) if average_attn_weights else weights
    return out, shown if batched else shown.squeeze(0)


class MultiheadAttention(Module):
    """Attention in several heads: query (L, N, E), key and value (S, N, E), or batch first, or unbatched."""

    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        self.kdim, self.vdim, self.add_zero_attn = kdim or embed_dim, vdim or embed_dim, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        widths = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        shape = 3 * embed_dim, embed_dim
        whole = Parameter(mg.empty(shape, device=device, dtype=dtype)) if self._qkv_same_embed_dim else None
        if whole is not None:
            self.in_proj_weight: Parameter | None = whole
        for name, width in widths.items():
            self.register_parameter(
                name, Parameter(mg.empty((embed_dim, width), device=device, dtype=dtype)) if whole is None else None
            )
        if whole is None:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(mg.empty(3 * embed_dim, dtype=dtype)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            extra = Parameter(mg.empty((1, 1, embed_dim), device=device, dtype=dtype)) if add_bias_kv else None
            self.register_parameter(name, extra)
        for weight in [self._parameters[name] for name in widths] if whole is None else [whole]:
            init.xavier_uniform_(weight)  # type: ignore[arg-type]
        if bias:
            init.zeros_(self.in_proj_bias)  # type: ignore[arg-type]
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attended values and (unless `need_weights` is False) the attention weights."""
        turned = self.batch_first and query.ndim == 3
        if turned:  # what is the same tensor stays the same
            of = {id(t): t.transpose(0, 1) for t in (query, key, value)}
            query, key, value = of[id(query)], of[id(key)], of[id(value)]
        out, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return out.transpose(0, 1) if turned else out, weights


def _activation(activation: Any) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network, each with a residual connection and a layer norm."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        x = src
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + self._attend(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._feed(x))

    def _attend(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, causal: bool) -> Tensor:
        masks: dict[str, Any] = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": causal}
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **masks)[0])

    def _feed(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's output and a feed-forward network, each with residual and norm."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kind: dict[str, Any] = {"batch_first": batch_first, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, **kind)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, **kind)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        for number in (1, 2, 3):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for number in (1, 2, 3):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            out = self.self_attn(
                x,
                x,
                x,
                attn_mask=tgt_mask,
                key_padding_mask=tgt_key_padding_mask,
                is_causal=tgt_is_causal,
                need_weights=False,
            )[0]
            return self.dropout1(out)

        def look(x: Tensor) -> Tensor:
            out = self.multihead_attn(
                x,
                memory,
                memory,
                attn_mask=memory_mask,
                key_padding_mask=memory_key_padding_mask,
                is_causal=memory_is_causal,
                need_weights=False,
            )[0]
            return self.dropout2(out)

        def feed(x: Tensor) -> Tensor:
            return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        x = tgt
        for part, norm in ((attend, self.norm1), (look, self.norm2), (feed, self.norm3)):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


def _why_slow(layer: Module) -> str:
    """What keeps PyTorch from its fast path for such layers; nothing if it is not kept."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    if not layer.self_attn.batch_first:
        return (
            "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)"
        )
    return "encoder_layer.self_attn.num_heads is odd" if layer.self_attn.num_heads % 2 else ""


class TransformerEncoder(Module):
    """Several copies of an encoder layer, and a norm at the end if given."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm
        slow = _why_slow(encoder_layer)
        if enable_nested_tensor and slow:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {slow}", stacklevel=2
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=bool(is_causal), src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Several copies of a decoder layer, and a norm at the end if given."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder: from (source, target so far) to what comes next at each position of the target."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        for name, given, layer, stack, count in (
            ("encoder", custom_encoder, TransformerEncoderLayer, TransformerEncoder, num_encoder_layers),
            ("decoder", custom_decoder, TransformerDecoderLayer, TransformerDecoder, num_decoder_layers),
        ):
            if given is None:
                one = layer(*sizes, dtype=dtype)
                given = stack(one, count, LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
            setattr(self, name, given)
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batched = src.ndim == 3
        if batched and src.shape[1 - self.batch_first] != tgt.shape[1 - self.batch_first]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The mask (sz, sz) to add to scores: 0 where position i may look (0 ... i), minus infinity elsewhere."""
        return mg.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)
