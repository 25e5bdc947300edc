"""The heavy functions of neural networks: convolution, pooling, windows, padding, resizing; loaded on first use.

Inputs have shape (batch, channels, *sizes) or, without a batch, (channels, *sizes). Where there is one number per
spatial dimension (stride, padding, ...), a single number stands for all of them. `minigrad.nn.functional` offers all
of these; those that PyTorch has at top level too are registered there.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, windows
from minigrad import more_derivatives as more
from minigrad.public import as_one_node, function, index_array, register
from minigrad.tensor import Tensor, wrap
from minigrad.versions import noticing

Shape = tuple[int, ...]

# ------------------------------------------------------------------------------------------- arguments


def _each(name: str, value: Any, n: int, what: str) -> Shape:
    """One number per spatial dimension."""
    numbers = value if isinstance(value, (tuple, list)) else (value,)
    if builtins.any(isinstance(v, (bool, float)) for v in numbers):
        raise TypeError(f"{name}(): argument '{what or 'kernel_size'}' must be tuple of ints, not {errors.type_name(value)}")
    if isinstance(value, (tuple, list)):
        if len(value) == 1:
            return (int(value[0]),) * n
        if len(value) != n and "pool" in name:
            count = ("one int", "two ints", "three ints")[n - 1]
            either = "" if n == 3 else "either "
            omitted = "be omitted, a single int" if what == "stride" else "be a single int"
            raise RuntimeError(f"{name}: {what} must {either}{omitted}, or a tuple of {count}")
        if len(value) != n:
            raise RuntimeError(
                f"expected {what} to be a single integer value or a list of {n} values to match the "
                f"convolution dimensions, but got {what}={list(value)}"
            )
        return tuple(int(v) for v in value)
    return (int(value),) * n


def _batched(name: str, x: Tensor, n: int) -> tuple[Tensor, bool]:
    """The input with a batch dimension, and whether it had one."""
    if x._data.ndim == n + 2:
        return x, True
    if x._data.ndim == n + 1:
        return table.unsqueeze(x, (1, *x._data.shape)), False
    raise RuntimeError(
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
        f"{list(x._data.shape)}"
    )


def _unbatched(x: Tensor, had: bool) -> Tensor:
    return x if had else table.squeeze_dim(x, x._data.shape[1:])


# ------------------------------------------------------------------------------------------- convolution


def _convolve(n: int) -> Any:
    name = f"conv{n}d"

    def call(
        input: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if groups <= 0:
            raise RuntimeError("non-positive groups is not supported")
        if weight._data.ndim >= 3 and weight._data.ndim != n + 2:
            k = weight._data
            raise RuntimeError(
                f"Expected {k.ndim}-dimensional input for {k.ndim}-dimensional weight{list(k.shape)}, but got "
                f"{input._data.ndim}-dimensional input of size {list(input._data.shape)} instead"
            )
        x, had = _batched(name, input, n)
        steps, gaps = _each(name, stride, n, "stride"), _each(name, dilation, n, "dilation")
        if min(steps) <= 0:
            raise RuntimeError("non-positive stride is not supported")
        if min(gaps) <= 0:
            raise RuntimeError(f"dilation should be greater than zero, but got {list(gaps)}")
        kernel = tuple(weight._data.shape[2:])
        if isinstance(padding, str):
            x, edges = _named_padding(x, padding, kernel, steps, gaps)
        else:
            edges = _each(name, padding, n, "padding")
            if min(edges) < 0:
                raise RuntimeError("negative padding is not supported")
        _check_conv(x, weight, bias, edges, gaps, groups)
        return _unbatched(more.conv(x, weight, bias, steps, edges, gaps, groups), had)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{n}-d convolution (cross-correlation): input (N, C, *sizes) with weight (O, C / groups, *kernel)."
    register(call, name, method=False)
    return call


def _named_padding(x: Tensor, padding: str, kernel: Shape, stride: Shape, dilation: Shape) -> tuple[Tensor, Shape]:
    if padding == "valid":
        return x, (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError("Invalid padding string: '" + padding + "'")
    if builtins.any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if builtins.all(t % 2 == 0 for t in total):
        return x, tuple(t // 2 for t in total)
    return more.pad(x, ((0, 0), (0, 0), *((t // 2, t - t // 2) for t in total)), 0.0), (0,) * len(kernel)


def _check_conv(x: Tensor, w: Tensor, b: Any, padding: Shape, dilation: Shape, groups: int) -> None:
    a, k = x._data, w._data
    if a.dtype != k.dtype:
        raise RuntimeError(
            f"Input type ({x.dtype.c_name}) and bias type ({w.dtype.c_name}) should be the same"
            if b is not None
            else f"expected scalar type {x.dtype.tensor_name} but found {w.dtype.tensor_name}"
        )
    if k.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if b is not None and b._data.dtype != a.dtype:
        raise RuntimeError(f"Input type ({x.dtype.c_name}) and bias type ({b.dtype.c_name}) should be the same")
    if k.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(k.shape)} instead"
        )
    if k.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{list(k.shape)}] instead"
        )
    if a.shape[1] != k.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(k.shape)}, expected input{list(a.shape)} to have "
            f"{k.shape[1] * groups} channels, but got {a.shape[1]} channels instead"
        )
    if b is not None and tuple(b._data.shape) != (k.shape[0],):
        raise RuntimeError(
            f"Given weight of size {list(k.shape)}, expected bias to be 1-dimensional with {k.shape[0]} elements, but got "
            f"bias of size {list(b._data.shape)} instead"
        )
    padded = [s + 2 * p for s, p in zip(a.shape[2:], padding)]
    reach = [d * (s - 1) + 1 for d, s in zip(dilation, k.shape[2:])]
    if builtins.any(p < r for p, r in zip(padded, reach)):
        shown = " x ".join(map(str, padded))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({shown}). Kernel size: ({' x '.join(map(str, reach))}). Kernel "
            "size can't be greater than actual input size"
        )


conv1d, conv2d, conv3d = map(_convolve, (1, 2, 3))


def _convolve_back(n: int) -> Any:
    name = f"conv_transpose{n}d"

    def call(
        input: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        x, had = _batched(name, input, n)
        steps, edges = _each(name, stride, n, "stride"), _each(name, padding, n, "padding")
        gaps, extra = _each(name, dilation, n, "dilation"), _each(name, output_padding, n, "output_padding")
        if x._data.shape[1] != weight._data.shape[0]:
            raise RuntimeError(
                f"Given transposed=1, weight of size {list(weight._data.shape)}, expected input"
                f"{list(x._data.shape)} to have {weight._data.shape[0]} channels, but got {x._data.shape[1]} channels "
                "instead"
            )
        if weight._data.dtype != x._data.dtype:
            raise RuntimeError(f"expected scalar type {x.dtype.tensor_name} but found {weight.dtype.tensor_name}")
        if bias is not None and bias._data.shape != (weight._data.shape[1] * groups,):
            raise RuntimeError(
                f"Given transposed=1, weight of size {list(weight._data.shape)}, expected bias to be 1-dimensional with "
                f"{weight._data.shape[1] * groups} elements, but got bias of size {list(bias._data.shape)} instead"
            )
        sizes = tuple(
            (s - 1) * t - 2 * p + d * (k - 1) + e + 1
            for s, t, p, d, k, e in zip(x._data.shape[2:], steps, edges, gaps, weight._data.shape[2:], extra)
        )
        if builtins.any(e >= t and e >= d for e, t, d in zip(extra, steps, gaps)):
            given = (("output_padding", extra, 0), ("stride", steps, 1), ("dilation", gaps, 1))
            words = " ".join(  # one dimension counts as two
                f"{what}_{axis}: {each}"
                for what, sides, alone in given
                for axis, each in zip(("depth", "height", "width")[-max(n, 2) :], (alone, *sides) if n == 1 else sides)
            )
            raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {words}")
        out = more.conv_input(x, weight, sizes, steps, edges, gaps, groups)
        if bias is not None:
            out = noticing(out + bias.to(x.dtype).reshape((-1,) + (1,) * n), x, weight)
        return _unbatched(as_one_node(out, "ConvolutionBackward0"), had)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The transpose of {n}-d convolution: weight (C, O / groups, *kernel)."
    register(call, name, method=False)
    return call


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_convolve_back, (1, 2, 3))

# ------------------------------------------------------------------------------------------- pooling


def _pool_arguments(name: str, n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Shape, ...]:
    kernel = _each(name, kernel_size, n, "kernel_size")
    steps = kernel if stride is None or stride in ([], ()) else _each(name, stride, n, "stride")
    edges, gaps = _each(name, padding, n, "padding"), _each(name, dilation, n, "dilation")
    if builtins.any(s == 0 for s in steps):
        raise RuntimeError("stride should not be zero")
    if min(gaps) <= 0:
        if n == 1:
            raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {gaps[0]}")
        each = " ".join(f"dilation{letter}: {gap}" for letter, gap in zip("THW"[-n:], gaps))
        raise RuntimeError(f"dilation should be greater than zero, but got {each}")
    for k, p in zip(kernel, edges):
        if p < 0 or 2 * p > k:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1"
                if p >= 0
                else f"pad must be non-negative, but got pad: {p}"
            )
    return kernel, steps, edges, gaps


def _pool_input(name: str, x: Tensor, n: int) -> None:
    """RuntimeError unless the input has n dimensions besides its channels and perhaps its batch."""
    given, shape = x._data.ndim, list(x._data.shape)
    if given in (n + 1, n + 2):
        return
    either = f"{n + 1}D or {n + 2}D"
    if n == 1 and name != "max_pool1d":
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {given}-dimensional tensor for argument #1 'self' (while checking arguments "
            f"for {name})"
        )
    if name.startswith("adaptive"):
        raise RuntimeError(f"{name}(): Expected {either} tensor, but got{':' * ('max' in name)} {shape}")
    if name == "avg_pool2d" and given < 3:
        errors.sized_dim(-3, given)
    if name in ("max_pool1d", "avg_pool2d"):
        start = "max_pool1d: " if n == 1 else ""
        raise RuntimeError(
            f"{start}Expected {either} (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}"
        )
    raise RuntimeError(f"non-empty {either} (batch mode) tensor expected for input")


def _not_empty(name: str, x: Tensor, dims: int) -> None:
    """The last `dims` dimensions hold something; the batch may be empty."""
    sizes = list(x._data.shape)
    empty = [i for i in range(len(sizes) - dims, len(sizes)) if sizes[i] == 0]
    if empty and name.startswith("adaptive"):
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {sizes} with "
            f"dimension {empty[0]} being empty"
        )
    if empty:
        n = int(name[-2])
        raise RuntimeError(
            f"{name + ': ' if n == 1 else ''}Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got:{sizes}"
        )


def _check_windows(x: Tensor, counts: Sequence[int]) -> None:
    if builtins.any(c < 1 for c in counts):
        sizes = "x".join(map(str, x._data.shape[-len(counts) :]))
        raise RuntimeError(
            f"Given input size: ({x._data.shape[-len(counts) - 1]}x{sizes}). Calculated output size: "
            f"({x._data.shape[-len(counts) - 1]}x{'x'.join(map(str, counts))}). Output size is too small"
        )


def _max_pool(n: int) -> tuple[Any, Any]:
    name = f"max_pool{n}d"
    recorded = (more.max_pool1d, more.max_pool2d, more.max_pool3d)[n - 1]

    def call(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        _pool_input(name, input, n)
        _not_empty(name, input, n + 1)
        kernel, steps, edges, gaps = _pool_arguments(name, n, kernel_size, stride, padding, dilation)
        sizes = input._data.shape[-n:]
        counts = [windows.window_count(*numbers, ceil_mode) for numbers in zip(sizes, kernel, steps, edges, gaps)]
        _check_windows(input, counts)
        if input._data.dtype.kind == "b" and n > 1:
            raise errors.not_implemented(name, "Bool")
        if n == 1 and input._data.dtype.kind != "f":
            raise errors.not_implemented("max_pool1d_impl", input.dtype.tensor_name)
        index = windows.max_pool_indices(input._data, kernel, steps, edges, gaps, ceil_mode)
        out = recorded(input, index, n)
        return (noticing(out, indices := wrap(index)), indices) if return_indices else out

    def both(*args: Any, **keywords: Any) -> Any:
        return call(*args, **{**keywords, "return_indices": True})

    call.__name__, both.__name__ = name, f"{name}_with_indices"
    call.__doc__ = f"The largest element of each {n}-d window; with `return_indices` also where it stood."
    both.__doc__ = f"The largest element of each {n}-d window, and where it stood in the flattened dimensions."
    register(call, name, method=False)
    register(both, f"{name}_with_indices", method=False)
    return call, both


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _pooled(out: Tensor, kind: str, n: int) -> Tensor:
    """The result under PyTorch's name; it pools one dimension as two."""
    return as_one_node(out, "SqueezeBackward1" if n == 1 else f"{kind}Pool{n}DBackward0")


def _avg_pool(n: int) -> Any:
    name = f"avg_pool{n}d"

    def call(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        _pool_input(name, input, n)
        _not_empty(name, input, n + 1) if n > 1 else None
        kernel, steps, edges, _ = _pool_arguments(name, n, kernel_size, stride, padding, 1)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        sizes = input._data.shape[-n:]
        counts = [windows.window_count(s, k, t, p, 1, ceil_mode) for s, k, t, p in zip(sizes, kernel, steps, edges)]
        _check_windows(input, counts)
        if input._data.dtype.kind in "bu" or (n == 3 and input._data.dtype.char == "e"):
            raise errors.not_implemented("avg_pool3d_out_frame" if n == 3 else "avg_pool2d", input.dtype.tensor_name)
        out = more.avg_pool(input, kernel, steps, edges, ceil_mode, count_include_pad, divisor_override)
        return _pooled(out, "Avg", n)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The mean of each {n}-d window."
    register(call, name, method=False) if n == 1 else None
    return call


avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool, (1, 2, 3))


def _target_size(name: str, x: Tensor, output_size: Any, n: int) -> Shape:
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if n > 1 and wanted is output_size and x._data.ndim <= n:
        raise ValueError(f"Input dimension should be at least {n + 1}")
    if builtins.any(isinstance(w, (bool, float)) for w in wanted):
        kind = errors.type_name(output_size)
        raise TypeError(f"{name}(): argument 'output_size' (position 2) must be tuple of ints, not {kind}")
    if len(wanted) != n:
        if n == 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(wanted)})")
        raise RuntimeError(f"{name}: output_size must be {n}")
    found = tuple(s if w is None else int(w) for w, s in zip(wanted, x._data.shape[-n:]))
    if builtins.any(size < 0 for size in found):
        two = (1, *found) if n == 1 else found  # PyTorch pools one dimension as two
        if "max" in name:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {min(found)}: {[*x._data.shape[:-n], *two]}"
            )
        shown = ", ".join(map(str, two)) if len(two) == 2 else f"{two[0]}, {two[1]},{two[2]}"
        raise RuntimeError(
            f"adaptive_avg_pool{max(n, 2)}d: elements of output_size must be greater than or equal to 0 but received "
            f"{{{shown}}}"
        )
    return found


def _adaptive_avg(n: int) -> Any:
    def call(input: Tensor, output_size: Any) -> Tensor:
        counts = _target_size(f"adaptive_avg_pool{n}d", input, output_size, n)
        _pool_input(f"adaptive_avg_pool{n}d", input, n)
        _not_empty(f"adaptive_avg_pool{n}d", input, n)
        if counts == (1,) * n:
            return input.mean(tuple(range(-n, 0)), keepdim=True)
        sizes = input._data.shape[-n:]
        averages = tuple(windows.adaptive_average(s, c, input._data.dtype) for s, c in zip(sizes, counts))
        return _pooled(more.adaptive_avg_pool(input, averages), "AdaptiveAvg", n)

    call.__name__ = call.__qualname__ = f"adaptive_avg_pool{n}d"
    call.__doc__ = f"{n}-d mean over windows chosen so that the result has `output_size`."
    register(call, call.__name__, method=False) if n == 1 else None
    return call


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg, (1, 2, 3))


def _adaptive_max(n: int) -> Any:
    def call(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        counts = _target_size(f"adaptive_max_pool{n}d", input, output_size, n)
        _pool_input(f"adaptive_max_pool{n}d", input, n)
        _not_empty(f"adaptive_max_pool{n}d", input, n + 1)
        index = windows.adaptive_max_indices(input._data, counts)
        out = _pooled(more.adaptive_max_pool2d(input, index, n), "AdaptiveMax", n)
        return (noticing(out, indices := wrap(index)), indices) if return_indices else out

    call.__name__ = call.__qualname__ = f"adaptive_max_pool{n}d"
    call.__doc__ = f"{n}-d maximum over windows chosen so that the result has `output_size`."
    if n == 1:  # at top level PyTorch gives the indices too
        both: Any = lambda *a, **k: call(*a, **{**k, "return_indices": True})
        both.__doc__ = "1-d maximum over windows chosen so that the result has `output_size`, and where each stood."
        register(both, call.__name__, method=False)
    return call


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))


def _lp_pool(n: int) -> Any:
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1]
    maximum = (max_pool1d, max_pool2d, max_pool3d)[n - 1]

    def call(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
        kernel = _each(f"lp_pool{n}d", kernel_size, n, "kernel_size")
        if math.isinf(norm_type):
            sign = 1 if norm_type > 0 else -1
            return maximum(input.abs() * sign, kernel_size, stride, 0, 1, ceil_mode) * sign
        sums = average(input**norm_type, kernel_size, stride, 0, ceil_mode) * math.prod(kernel)
        return (sums.sign() * sums.abs().relu()) ** (1 / norm_type)

    call.__name__ = call.__qualname__ = f"lp_pool{n}d"
    call.__doc__ = "The p-norm of each window."
    return call


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))


def _unpooled_size(usual: Shape, steps: Shape, given: Shape) -> Shape:
    """The `output_size` asked for: less than a stride away from the usual one."""
    n = len(usual)
    if len(given) not in (n, n + 2):
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(given)}'"
        )
    wanted = given[-n:]
    for d, (size, step) in enumerate(zip(usual, steps)):
        if not size - step < wanted[d] < size + step:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {d} must be between {size - step} and {size + step})'
            )
    return wanted


def _max_unpool(n: int) -> Any:
    def call(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        kernel, steps, edges, _ = _pool_arguments("max_unpool", n, kernel_size, stride, padding, 1)
        sizes = tuple((c - 1) * t - 2 * p + k for c, t, p, k in zip(input._data.shape[-n:], steps, edges, kernel))
        wanted = sizes if output_size is None else _unpooled_size(sizes, steps, tuple(output_size))
        if indices.dtype is not dtypes.int64:
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.tensor_name}")
        shown = [list(t._data.shape) + [1] * (n == 1) for t in (input, indices)]  # PyTorch pools one dimension as two
        if len(shown[0]) not in (max(n, 2) + 1, max(n, 2) + 2):
            dims = max(n, 2)
            raise RuntimeError(
                f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
                f"{len(shown[0])} dimensions."
            )
        if shown[0] != shown[1]:
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({shown[0]}) but got indices tensor "
                f"with shape: {shown[1]}"
            )
        index = index_array(indices)
        wrong = index[(index < 0) | (index >= math.prod(wanted))]
        if wrong.size:
            volume = "x".join(map(str, (*wanted, 1)[: max(n, 2)]))
            raise RuntimeError(f"Found an invalid max index: {wrong[0]} (output volumes are of size {volume})")
        lead = input._data.shape[:-n]
        flat = table.reshape(input, (*lead, math.prod(input._data.shape[-n:])))
        zeros = wrap(np.zeros((*lead, math.prod(wanted)), input._data.dtype))
        out = more.scatter(zeros, flat, len(lead), index.reshape(flat._data.shape))
        out = as_one_node(table.reshape(out, (*lead, *wanted)), f"MaxUnpool{3 if n == 3 else 2}DBackward0")
        return noticing(out, indices)

    call.__name__ = call.__qualname__ = f"max_unpool{n}d"
    call.__doc__ = "Put the elements back where max pooling took them from, among zeros."
    return call


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))

# ------------------------------------------------------------------------------------------- windows


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Every window as a column: (N, C, H, W) to (N, C * kernel elements, windows)."""
    kernel, gaps, edges, steps = (_each("unfold", v, 2, "") for v in (kernel_size, dilation, padding, stride))
    if input._data.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input._data.shape)}"
        )
    x, had = _batched("unfold", input, 2)
    counts = [windows.window_count(*numbers) for numbers in zip(x._data.shape[2:], kernel, steps, edges, gaps)]
    if builtins.any(c < 1 for c in counts):
        raise RuntimeError(
            f"Given input with spatial size {tuple(x._data.shape[2:])}, kernel_size={kernel}, dilation={gaps}, "
            f"padding={edges}, calculated shape of the array of sliding blocks as {tuple(counts)}, but its components "
            "must be at least one."
        )
    return _unbatched(more.im2col(x, kernel, gaps, edges, steps), had)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The transpose of `unfold`: columns back to an image, overlaps added."""
    sizes, kernel = _each("fold", output_size, 2, ""), _each("fold", kernel_size, 2, "")
    gaps, edges, steps = (_each("fold", v, 2, "") for v in (dilation, padding, stride))
    had = input._data.ndim == 3
    x = input if had else table.unsqueeze(input, (1, *input._data.shape))
    blocks = math.prod(windows.window_count(*numbers) for numbers in zip(sizes, kernel, steps, edges, gaps))
    if x._data.shape[1] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={x._data.shape[1]} and kernel_size={kernel}."
        )
    if x._data.shape[2] != blocks:
        raise RuntimeError(
            f"Given output_size={sizes}, kernel_size={kernel}, dilation={gaps}, padding={edges}, stride={steps}, expected "
            f"size of input's dimension 2 to match the calculated number of sliding blocks {blocks}, but got "
            f"input.size(2)={x._data.shape[2]}."
        )
    return _unbatched(more.col2im(x, sizes, kernel, gaps, edges, steps), had)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Add elements around the last dimensions: (before, after) for the last one, then the one before it, ..."""
    for at, p in enumerate(pad):
        if isinstance(p, (str, float)):
            kind = errors.type_name(p)
            raise TypeError(
                f"pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type {kind} at pos {at}"
            )
    amounts = [int(p) for p in pad]
    n = len(amounts) // 2
    if len(amounts) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if n > input._data.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(amounts)} and input of dimension {input._data.ndim}"
        )
    pairs = [(amounts[2 * i], amounts[2 * i + 1]) for i in range(n)][::-1]
    if mode == "constant":
        widths = ((0, 0),) * (input._data.ndim - n) + tuple(pairs)
        if builtins.any(s + a + b < 0 for s, (a, b) in zip(input._data.shape, widths)):
            raise RuntimeError("narrow(): length must be non-negative.")
        return more.pad(input, widths, 0.0 if value is None else dtypes.fitting(value, input.dtype))
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value not in (None, 0.0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if not n or input._data.ndim not in (n + 1, n + 2):
        raise NotImplementedError(
            f"Padding size {len(amounts)} is not supported for {input._data.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if input._data.dtype.kind == "b" and mode != "circular":
        raise errors.not_implemented(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{n}d", "Bool")
    given = input
    for i, (before, after) in enumerate(pairs):
        dim = input._data.ndim - n + i
        size = input._data.shape[dim]
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {dim} of input {list(input._data.shape)}"
            )
        if mode == "circular" and (before > size or after > size):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if mode == "circular" and size + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        if mode == "circular":
            rest = size + min(before, 0) + min(after, 0)
            places = np.arange(-max(before, 0), rest + max(after, 0)) % rest + max(-before, 0)
        else:
            places = np.arange(-before, size + after)
        if mode == "replicate":
            places = np.clip(places, 0, size - 1)
        elif mode == "reflect":
            places = np.absolute(places)
            places = np.where(places >= size, 2 * (size - 1) - places, places)
        input = more.index_select(input, wrap(places), (dim,))
    if mode == "circular":
        return input
    return noticing(as_one_node(input, f"{'Reflection' if mode == 'reflect' else 'Replication'}Pad{n}DBackward0"), given)


@function(method=False)
def constant_pad_nd(input: Tensor, widths: Sequence[int], value: float = 0) -> Tensor:
    """As `pad` with a constant."""
    return pad(input, widths, "constant", value)


# ------------------------------------------------------------------------------------------- resizing


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions: by repetition ("nearest"), or linearly ("linear", "bilinear", "trilinear")."""
    n = input._data.ndim - 2
    if n not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input._data.ndim}D) for the modes: nearest | "
            f"linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    sizes = input._data.shape[2:]
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size is not None
            else "either size or scale_factor should be defined"
        )
    if antialias:
        raise NotImplementedError("interpolate: minigrad leaves out antialias")
    scales: Any = None
    if size is not None:
        counts = tuple(size) if isinstance(size, (tuple, list)) else (size,) * n
        if len(counts) != n:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(sizes)} and output size of {list(counts)}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
                "format and output size in (o1, o2, ...,oK) format."
            )
        if builtins.any(isinstance(c, (bool, float)) for c in counts):
            raise TypeError(f"interpolate(): argument 'size' must be tuple of ints, not {errors.type_name(size)}")
        if builtins.any(c <= 0 for c in counts):
            axes = "DHW"[3 - n :] if n > 1 else "W"
            had, wanted = (", ".join(f"{a}: {c}" for a, c in zip(axes, each)) for each in (sizes, counts))
            raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({had}) output ({wanted})")
    else:
        scales = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
        if len(scales) != n:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(sizes)} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, "
                "d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
            )
        counts = tuple(math.floor(s * f) for s, f in zip(sizes, scales))
    if mode in ("nearest", "nearest-exact", "area") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if input._data.dtype.kind != "f" and not mode.startswith("nearest"):
        if input._data.dtype != np.uint8:
            raise errors.not_implemented(f"upsample_{mode}", input.dtype.tensor_name)
        resized = interpolate(input.float(), size, scale_factor, mode, align_corners, recompute_scale_factor)
        return resized.round().to(input.dtype)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, counts)
    if mode in ("nearest", "nearest-exact"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        for i, (s, c) in enumerate(zip(sizes, counts)):
            step = 1 / scales[i] if scales is not None and not recompute_scale_factor else s / c
            places = np.minimum(np.floor((np.arange(c) + shift) * np.float32(step)).astype(np.int64), s - 1)
            input = more.enlarge(input, (slice(None),) * (2 + i) + (places,))
        return as_one_node(input, f"Upsample{'NearestExact' if shift else 'Nearest'}{n}DBackward0")
    cubic = mode == "bicubic" and n == 2
    if not cubic and mode != {1: "linear", 2: "bilinear", 3: "trilinear"}.get(n):
        raise NotImplementedError(f"interpolate: minigrad leaves out mode={mode!r} for {n + 2}-d input")
    matrices = []
    for i, (s, c) in enumerate(zip(sizes, counts)):
        step = 1 / scales[i] if scales is not None and not recompute_scale_factor else s / c
        weights = _cubic_weights if cubic else _linear_weights
        matrices.append(weights(s, c, step, bool(align_corners), input._data.dtype))
    return as_one_node(more.resample(input, tuple(matrices)), f"Upsample{mode.capitalize()}{n}DBackward0")


def _linear_weights(size: int, count: int, step: float, align_corners: bool, dtype: Any) -> Any:
    """The matrix (count, size) of linear interpolation."""
    if align_corners:
        place = np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0.0)
    else:
        place = np.maximum((np.arange(count) + 0.5) * step - 0.5, 0)
    low = np.minimum(np.floor(place).astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    weight = place - low
    matrix = np.zeros((count, size), dtype)
    np.add.at(matrix, (np.arange(count), low), 1 - weight)
    np.add.at(matrix, (np.arange(count), high), weight)
    return matrix


def _cubic_weights(size: int, count: int, step: float, align_corners: bool, dtype: Any) -> Any:
    """The matrix (count, size) of cubic convolution (a = -0.75); beyond the edge the edge is repeated."""
    if align_corners:
        place = np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0.0)
    else:
        place = (np.arange(count) + 0.5) * step - 0.5
    low = np.floor(place).astype(np.int64)
    t, a = place - low, -0.75
    matrix = np.zeros((count, size), dtype)
    for k in range(-1, 3):
        d = np.absolute(t - k)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        np.add.at(matrix, (np.arange(count), np.clip(low + k, 0, size - 1)), np.where(d <= 1, near, far))
    return matrix


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The old name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


@function(method=False)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C * r * r, H, W) to (*, C, H * r, W * r)."""
    *lead, c, h, w = input._data.shape
    r = upscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    x = input.reshape((*lead, c // (r * r), r, r, h, w))
    k = len(lead)
    turned = x.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return as_one_node(turned.reshape((*lead, c // (r * r), h * r, w * r)), "PixelShuffleBackward0")


@function(method=False)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`."""
    *lead, c, h, w = input._data.shape
    r = downscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    x = input.reshape((*lead, c, h // r, r, w // r, r))
    k = len(lead)
    turned = x.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return as_one_node(turned.reshape((*lead, c * r * r, h // r, w // r)), "PixelUnshuffleBackward0")


@function(method=False)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of each group interleaved."""
    n, c, *sizes = input._data.shape
    turned = input.reshape((n, groups, c // groups, *sizes)).transpose(1, 2)
    return as_one_node(turned.reshape((n, c, *sizes)), "ChannelShuffleBackward0")


def embedding(weight: Tensor, indices: Tensor) -> Tensor:
    """The rows of `weight` that `indices` name."""
    return more.embedding(weight, indices, (0,))


register(embedding, "embedding", method=False)
