"""PyTorch's sentences, each written once, and those for what minigrad leaves out.

A function here checks something and returns quietly, or raises PyTorch's exception with PyTorch's words; one whose
name is that of an error returns it for its caller to raise. Shapes are tuples of integers; `dim` counts from the left
or, negative, from the right.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

Shape = tuple[int, ...]
Call = tuple[tuple[Any, ...], dict[str, Any]]

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
    "Its .grad attribute won't be populated during autograd.backward(). "
    "If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. "
    "If you access the non-leaf Tensor by mistake, "
    "make sure you access the leaf Tensor instead. "
    "See github.com/pytorch/pytorch/pull/30531 for more information."
)
FREED = (
    "Trying to backward through the graph a second time "
    "(or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph "
    "a second time or if you need to access saved tensors after calling backward."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. "
    "Please do not use Tensors created in inference mode "
    "in computation tracked by autograd. "
    "To work around this, you can make a clone to get a normal tensor "
    "and use it in autograd, "
    "or use `torch.no_grad()` instead of `torch.inference_mode()`."
)
CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle "
    "between the parameter and its gradient which can cause a memory leak. "
    "We recommend using autograd.grad when creating the graph to avoid this. "
    "If you have to use this function, make sure to reset the .grad fields "
    "of your parameters to None after use to break the cycle and avoid the leak."
)
DIRTY_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method "
    "were not returned as output. "
    "The inputs that are modified inplace must all be outputs of the Function."
)
USE_NOT = (
    "is not supported. If you are trying to invert a mask, "
    "use the `~` or `logical_not()` operator instead."
)
TWO_BOOLEANS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead."
)

# ------------------------------------------------------------------ arguments


def type_name(value: Any) -> str:
    """What PyTorch calls the type of a value: int, numpy.ndarray, torch.dtype."""
    kind = type(value)
    if kind.__module__ == "minigrad" and kind.__name__ != "Tensor":
        return f"torch.{kind.__qualname__}"
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def must_be_tensor(function: str, argument: str, place: int, value: Any) -> TypeError:
    return must_be("Tensor", function, argument, place, value)


def must_be(wanted: str, function: str, argument: str, place: int, value: Any) -> TypeError:
    """The error for an argument of a wrong type; its place is 0 if it is given by name only."""
    where = f" (position {place})" * (place > 0)
    return TypeError(f"{function}(): argument {argument!r}{where} must be {wanted}, not {type_name(value)}")


def no_form(function: str, *given: Any) -> TypeError:
    """The error for a call that fits none of the forms of a function."""
    kinds = ", ".join(map(type_name, given))
    return TypeError(f"{function}() received an invalid combination of arguments - got ({kinds})")


def check(holds: Any, words: str) -> None:
    """RuntimeError with these words unless something holds."""
    if not holds:
        raise RuntimeError(words)


def at_least(least: float, number: Any, words: str) -> Any:
    """The number; RuntimeError with these words, in which {} is the number, if it is smaller."""
    if not number >= least:
        raise RuntimeError(words.format(number))
    return number


def not_implemented(kernel: str, type_name: str) -> NotImplementedError:
    """A function that does not take this number type."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{type_name}'")


def floats_only(kernel: str, dtype: Any) -> None:
    """NotImplementedError where a function of floats is given another number type."""
    if not dtype.is_floating_point:
        raise not_implemented(kernel, dtype.tensor_name)


def linalg_floats(function: str, dtype: Any) -> None:
    """RuntimeError where a function of linalg is given another number type."""
    wanted = "Expected a floating point or complex tensor as input"
    check(dtype.is_floating_point, f"linalg.{function}: {wanted}. Got {dtype.tensor_name}")


def numbers_only(kernel: str, dtype: Any) -> None:
    """NotImplementedError where a function of numbers is given booleans."""
    if not dtype.category:
        raise not_implemented(kernel, dtype.tensor_name)


# ------------------------------------------------------------------ dimensions and shapes


def check_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the left; IndexError when out of range. A 0-d tensor counts as 1-d."""
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    dim = dim.__index__()
    count = ndim or 1
    if not -count <= dim < count:
        allowed = f"[{-count}, {count - 1}]"
        words = f"expected to be in range of {allowed}, but got {dim}"
        raise IndexError(f"Dimension out of range ({words})")
    return dim % count


def sized_dim(dim: int, ndim: int) -> int:
    """The dimension whose size is asked for."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return check_dim(dim, ndim)


def reduced_dims(dims: int | Sequence[int] | None, ndim: int) -> Shape:
    """The dimensions that a reduction takes: those given; None and () mean all of them."""
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return tuple(range(ndim))
    return check_dims(dims, ndim)


def check_dims(dims: int | Sequence[int], ndim: int) -> Shape:
    """Dimensions counted from the left and without repeats; a single number has none."""
    several: Any = dims if isinstance(dims, (tuple, list)) else [dims]
    found = [check_dim(dim, ndim) for dim in several]
    for dim in found:
        if found.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return tuple(found) if ndim else ()


def check_sizes(sizes: Sequence[int]) -> None:
    """RuntimeError for a negative size of a new tensor."""
    for n in sizes:
        check(n >= 0, f"Trying to create tensor with negative dimension {n}: {list(sizes)}")


def broadcast_mismatch(a: Shape, b: Shape) -> RuntimeError | None:
    """What to raise when these shapes do not broadcast, or None when they do."""
    longest = max(len(a), len(b))
    for back in range(1, min(len(a), len(b)) + 1):
        m, n = a[-back], b[-back]
        if m != n and 1 not in (m, n):
            return RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) "
                f"at non-singleton dimension {longest - back}"
            )
    return None


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The common shape of shapes that broadcast; else RuntimeError."""
    result: Shape = ()
    for shape in shapes:
        problem = broadcast_mismatch(result, shape)
        if problem is not None:
            raise problem
        result = np.broadcast_shapes(result, shape)
    return result


def refused(error: Exception, a: Shape, b: Shape) -> Exception:
    """PyTorch's words for what numpy refused to do with two operands."""
    if "boolean subtract" in str(error):
        return RuntimeError(TWO_BOOLEANS)
    return broadcast_mismatch(a, b) or error


# ------------------------------------------------------------------ wrong calls of public functions

# functions of two tensors, the first of which may be a number
NUMBER_FIRST = ("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder")
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}


def _parameters(function: Any) -> tuple[str, ...]:
    code = getattr(function, "__wrapped__", function).__code__
    names: tuple[str, ...] = code.co_varnames
    return names[: code.co_argcount + code.co_kwonlyargcount]


def first_tensor(function: Callable[..., Any], tensor: type, call: Call) -> Call:
    """The call with its first tensor, given by name, in front; TypeError where that is no tensor."""
    name = function.__name__
    args, rest = call[0], dict(call[1])
    if args:
        if name in NUMBER_FIRST and isinstance(args[0], (int, float)) and isinstance(args[-1], tensor):
            return call
        raise must_be_tensor(name, "input", 1, args[0])
    for known in (_parameters(function)[0], "input", "self", "x", "a"):
        if isinstance(rest.get(known), tensor):
            return (rest.pop(known),), rest
    raise TypeError(f'{name}() missing 1 required positional arguments: "input"')


def other_names(
    function: Callable[..., Any], tensor: type, call: Call, error: Exception
) -> Call:
    """The call in minigrad's words: numpy's names as PyTorch's, without arguments whose values change nothing.

    Raises the error itself, or a clearer one, where that is not what was wrong.
    """
    (args, keywords), known = call, _parameters(function)
    own = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    code, more, every = getattr(function, "__wrapped__", function).__code__, usual(own), usual("")
    # 4: it has *args
    taken = len(args) if code.co_flags & 4 else code.co_argcount
    if len(args) > taken + len(more):
        raise error
    given = dict(zip(more, args[taken:]))
    more = every | more
    given |= {k: v for k, v in keywords.items() if k in more and k not in known}
    for name, value in given.items():
        if repr(value) not in more[name]:
            raise TypeError(f"{own}(): minigrad leaves out the argument {name!r}") from None
    rest = {k if k in known else NUMPY_NAMES.get(k, k): v for k, v in keywords.items() if k not in given}
    changed = given or rest.keys() != keywords.keys()
    if changed and rest.keys() <= set(known):
        return args[:taken], rest
    named = dict(zip(known, args)) | keywords
    kinds = {"Tensor": ("Tensor", tensor), **KINDS}
    for place, name in enumerate(known, 1):
        wanted, kind = kinds.get(function.__annotations__.get(name), ("", object))
        if name in named and not isinstance(named[name], kind):
            raise must_be(wanted, own, name, place * (place <= code.co_argcount), named[name]) from None
    for name in keywords:
        if "unexpected keyword" in str(error) and not close_matches(name, known):
            raise TypeError(f"{own}(): minigrad leaves out the argument {name!r}") from None
    raise error


KINDS: Any = {"int": ("int", SupportsIndex), "float": ("Number", SupportsFloat), "bool": ("bool", bool)}

# Arguments that PyTorch has and minigrad has not: for each function, in PyTorch's order, the values (as they print) that
# ask for what minigrad does anyway.
USUAL = """
: out=None device=None|'cpu'|device(type='cpu') pin_memory=False size_average=None reduce=None
: foreach=None|False fused=None|False differentiable=False
max_pool2d: ceil_mode=False return_indices=False
MaxPool2d: return_indices=False ceil_mode=False
avg_pool2d AvgPool2d: ceil_mode=False count_include_pad=True divisor_override=None
embedding Embedding: max_norm=None norm_type=2.0|2 scale_grad_by_freq=False sparse=False
Conv2d: padding_mode='zeros'
scaled_dot_product_attention: enable_gqa=False
repeat_interleave: output_size=None
clip_grad_norm_: error_if_nonfinite=False
Adam AdamW: amsgrad=False capturable=False
RMSprop: centered=False capturable=False
DataLoader: num_workers=0 timeout=0 worker_init_fn=None persistent_workers=False sampler=None
gradcheck gradgradcheck: nondet_tol=0.0 check_undefined_grad=True fast_mode=False masked=None
grad: only_inputs=True is_grads_batched=False
hessian vjp jvp vhp hvp: strict=False
solve: left=True
load_state_dict: assign=False
"""


def usual(function: str) -> dict[str, list[str]]:
    """The arguments that only PyTorch's function has, each with the values that change nothing."""
    rows = (row.partition(": ") for row in USUAL.splitlines())
    named = (rest.split() for names, _, rest in rows if function in names.split(" "))
    words = (word.partition("=") for row in named for word in row)
    return {name: values.split("|") for name, _, values in words}


# ------------------------------------------------------------------ names that are not there

LEFT_OUT = "minigrad leaves out what its course does not use"


def close_matches(name: str, known: Iterable[str]) -> list[str]:
    """The name that comes nearest, if one comes near."""
    # seldom needed
    import difflib

    return difflib.get_close_matches(name, known, 1, 0.8)


def no_attribute(owner: str, name: str, namespace: Any) -> AttributeError:
    """The error for a name that `owner` has not, with the nearest name in the namespace (a module, a class)."""
    text = f"{owner} has no attribute {name!r}"
    # those are asked for by the dozen, with hasattr
    if not name.startswith("_"):
        known = {n.lower(): n for n in dir(namespace) if n[0] != "_"}
        low = name.lower()
        near = close_matches(low, known) or [n for n in known if sorted(n) == sorted(low)]
        hint = f", did you mean {known[near[0]]!r}?" if near else ""
        text += f"{hint} ({LEFT_OUT})"
    # without obj, Python adds no second hint
    return AttributeError(text, name=name, obj=None)


def namespace(module: str, *also: str) -> None:
    """Let a module show what its `__all__` names, or else what it defines and `also`, and say what it leaves out."""
    names = vars(sys.modules[module])
    defined = [n for n, x in names.items() if n[0] != "_" and getattr(x, "__module__", "") == module]
    known = names.get("__all__") or [*defined, *also]

    def __getattr__(name: str) -> Any:
        raise no_attribute(f"module {module!r}", name, sys.modules[module])

    # in this way, so that editors do not see a __getattr__: they report missing names too
    names.update(__getattr__=__getattr__, __dir__=lambda: known)


# ------------------------------------------------------------------ sentences of the core

ONLY_FLOATS = "Only Tensors of floating point and complex dtype can require gradients"
ONLY_LEAVES = "you can only change requires_grad flags of leaf variables."
USE_DETACH = (
    " If you want to use a computed variable in a subgraph "
    "that doesn't require differentiation use var_no_grad = var.detach()."
)
TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar "
    "may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
HINT = (
    "enable anomaly detection to find the operation that failed to compute "
    "its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
OVERWRITTEN = (
    "one of the variables needed for gradient computation has been modified "
    "by an inplace operation: [{} {}]{} is at version {}; "
    "expected version {} instead. Hint: " + HINT
)
INVALID_GRADIENT = (
    "Function {} returned an invalid gradient at index {} - "
    "got {} but expected shape compatible with {}"
)
HOOK_COUNT = "hook '{}' has returned an incorrect number of values (got {}, but expected {})"
WRONG_START = (
    "Mismatch in shape: grad_output[{0}] has a shape of {1} "
    "and output[{0}] has a shape of {2}."
)
UNUSED = (
    "The differentiated Tensor at index {} appears "
    "to not have been used in the graph. "
    "Set allow_unused=True if this is the desired behavior."
)
MATERIALIZED = "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused={}."
OUTPUT_SHAPE = "output with shape {} doesn't match the broadcast shape {}"
OUTPUT_DTYPE = "result type {} can't be cast to the desired output type {}"
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)
INFERENCE_REQUIRES = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
SHARED = (
    "unsupported operation: {} to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
OVERLAP = SHARED.format("more than one element of the written-to tensor refers")
PARTIAL_OVERLAP = SHARED.format("some elements of the input tensor and the written-to tensor refer")
MADE_IN_MODE = {
    mode: f"A view was created in {mode} mode and is being modified inplace {now}. "
    "Given that this use case is ambiguous and error-prone, it is forbidden. "
    "You can clarify your code by moving both the view and the inplace "
    f"either both inside the {block} block "
    "(if you don't want the inplace to be tracked) "
    "or both outside (if you want the inplace to be tracked)."
    for mode, now, block in (
        ("no_grad", "with grad mode enabled", "no_grad"),
        ("inference", "in normal mode", "inference_mode"),
    )
}
ONE_OF_SEVERAL = (
    "Output {} of {} is a view and is being modified inplace. "
    "This view is the output of a function that returns multiple views. "
    "Such functions do not allow the output views to be modified inplace. "
    "You should replace the inplace operation by an out-of-place one."
)
FUNCTION_VIEW = (
    "Output {} of {} is a view and is being modified inplace. "
    "This view was created inside a custom Function "
    "(or because an input was returned as-is) and the autograd logic "
    "to handle view+inplace would override the custom backward "
    "associated with the custom Function, leading to incorrect gradients. "
    "This behavior is forbidden. "
    "You can fix this by cloning the output of the custom Function."
)
DETACH_VIEW = "Can't detach views in-place. Use detach() instead. "
DATA_DTYPE = "data set to a tensor that requires gradients must be floating point or complex dtype"
GRADIENT_COUNT = "function {} returned an incorrect number of gradients (expected {}, got {})"
NOT_A_VARIABLE = (
    "function {} returned a gradient different than None at position {}, "
    "but the corresponding forward input was not a Variable"
)
LEGACY_FUNCTION = (
    "Legacy autograd function with non-static forward method is deprecated. "
    "Please use new-style autograd function with static forward method."
)
NO_BACKWARD = (
    "You must implement either the backward or vjp method "
    "for your custom autograd.Function to use it with backward mode AD."
)
GRAD_TYPE = "assigned grad expected to be a Tensor or None but got grad of type {}"
GRAD_SHAPE = (
    "attempting to assign a gradient of size '{}' "
    "to a tensor of size '{}'. "
    "Please ensure that the gradient and the tensor are the same size"
)
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{.c_name}' "
    "to a tensor with grad_dtype '{.tensor_name}'. "
    "The gradient must match the tensor's grad_dtype "
    "(defaults to the tensor's dtype). You can set the tensor's grad_dtype "
    "attribute with a specific dtype, or None to allow any dtype. "
    "Set grad_dtype with caution. Diverging the dtypes of a tensor "
    "and its gradient may break downstream systems that assume they match."
)


# ------------------------------------------------------------------ the user's line
#
# A node holds two small things of its call site: the caller's code object, and the instruction it was at.  Only when an
# error, `explain` or the stepper asks are they turned into a line of source; notebook cells work too, through linecache.

PACKAGE = os.path.dirname(__file__)


def line_number(code: CodeType, at: int) -> int:
    """The line of the instruction at offset `at` of `code`."""
    line = list(code.co_positions())[at // 2][0]
    return line or code.co_firstlineno


def source_line(code: CodeType | None, at: int) -> str | None:
    """The line of source, stripped; None where the source cannot be read (typed at a prompt, say)."""
    return (code and linecache.getline(code.co_filename, line_number(code, at)).strip()) or None


def quoted(code: CodeType | None, at: int) -> str:
    """` in "z = y.exp()"`, or nothing where there is no source to quote."""
    line = source_line(code, at)
    return f' in "{line}"' if line else ""


# ------------------------------------------------------------------ in a backward pass; a node is a Node of tensor.py


def noted(error: RuntimeError, node: Any, what: str) -> RuntimeError:
    """The error with a note that quotes the line of the user's code that it is about."""
    where = quoted(node.code, node.at)
    if where:
        error.add_note(f"minigrad: {node.owner.name()} was recorded{where}; {what}.")
    return error


def freed(node: Any) -> RuntimeError:
    """The error for a node whose saved values an earlier backward pass has freed."""
    return noted(RuntimeError(FREED), node, "its saved values were freed by an earlier backward pass")


def misfit(have: Shape, node: Any, child: Any) -> RuntimeError:
    """The error for a contribution to `node`, made by `child`, that has another shape than the node's output."""
    index = child.parents.index(node) if child is not None and node in child.parents else 0
    name = "" if child is None else child.owner.name()
    error = RuntimeError(INVALID_GRADIENT.format(name, index, list(have), list(node.shape or ())))
    return error if child is None else noted(error, child, "a gradient has the shape of its input")


def modified(dtype: Any, shape: Shape, maker: Any, now: int, expected: int) -> RuntimeError:
    """The error for a saved tensor that was changed in place; `maker` is the node that computed it."""
    kind = "CPUBoolType" if dtype.tensor_name == "Bool" else f"torch.{dtype.tensor_name}Tensor"
    made = ""
    if maker is not None and maker.parents:
        made = f", which is output {maker.output_nr} of {short_name(maker)},"
    return RuntimeError(OVERWRITTEN.format(kind, list(shape), made, now, expected))


def is_view(node: Any) -> bool:
    """Whether it is the node of an operation whose result shares its input's memory."""
    return node is not None and node.operation is not None and node.operation.view


def short_name(node: Any) -> str:
    """A node's name in PyTorch's message: Add, not AddBackward0; AsStrided for a view of written memory."""
    name = "AsStrided" if is_view(node) else node.owner.name()
    return name if "::" in name else name.replace("Backward0", "").replace("Backward", "")
