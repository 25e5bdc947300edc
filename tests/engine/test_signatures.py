"""What a call with wrong arguments is told: recorded from PyTorch; and, slow, thousands of calls beside the real one."""

# ruff: noqa: E501 (messages as they are)
# fmt: off

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import pytest

import minigrad as mg
import minigrad.nn.functional
from minigrad import refusals
from tests.together import together

REFUSED = [
    ("t.sum(x, 'a')",
     "sum() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
     " * (Tensor input, *, torch.dtype dtype = None)\n"
     " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)\n"),
    ("t.sum(x, 'a', True)", "sum(): argument 'dim' (position 2) must be tuple of ints, not str"),
    ("x.sum('a', True)", "sum(): argument 'dim' (position 1) must be tuple of ints, not str"),
    ("x.sum(0, 0)", "sum(): argument 'keepdim' (position 2) must be bool, not int"),
    ("x.sum((0, 'a'))",
     "sum(): argument 'dim' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got str\""),
    ("x.mean(dim=0, keep=True)", "mean() got an unexpected keyword argument 'keep'"),
    ("t.max(x, None)",
     "max() received an invalid combination of arguments - got (Tensor, NoneType), but expected one of:\n"
     " * (Tensor input, *, Tensor out = None)\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n"),
    ("x.max('a')",
     "max() received an invalid combination of arguments - got (str), but expected one of:\n"
     " * ()\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"
     " * (Tensor other)\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"
     " * (int dim, bool keepdim = False)\n"),
    ("t.max(x, dim=[1], foo=3)",
     "max() received an invalid combination of arguments - got (Tensor, foo=int, dim=list), but expected one of:\n"
     " * (Tensor input, *, Tensor out = None)\n"
     "      didn't match because some of the keywords were incorrect: foo, dim\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n"),
    ("t.max(x, [1], True)",
     "max() received an invalid combination of arguments - got (Tensor, list, bool), but expected one of:\n"
     " * (Tensor input, *, Tensor out = None)\n"
     "      didn't match because some of the arguments have invalid types: (Tensor, !list of [int]!, !bool!)\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n"),
    ("x.clamp('a')",
     "clamp() received an invalid combination of arguments - got (str), but expected one of:\n"
     " * (Tensor min = None, Tensor max = None)\n"
     " * (Number min = None, Number max = None)\n"),
    ("t.add(x)",
     "add() received an invalid combination of arguments - got (Tensor), but expected (Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"),
    ("t.add(x, x, beta=2)", "add() got an unexpected keyword argument 'beta'"),
    ("x.add_('a')", "add_(): argument 'other' (position 1) must be Tensor, not str"),
    ("x.add_(x, x, x)",
     "add_() received an invalid combination of arguments - got (Tensor, !Tensor!, !Tensor!), but expected (Tensor other, *, Number alpha = 1)"),
    ("t.std(x, 'a')",
     "std() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
     " * (Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False, *, Tensor out = None)\n"
     " * (Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out = None)\n"
     " * (Tensor input, bool unbiased = True)\n"
     "      didn't match because some of the arguments have invalid types: (Tensor, !str!)\n"),
    ("t.cat([x, 1])", "expected Tensor as element 1 in argument 0, but got int"),
    ("t.cat(x)", "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"),
    ("t.cat([x, x], 1.5)", "cat(): argument 'dim' (position 2) must be int, not float"),
    ("t.cat([x, x], dim='a')", "cat(): argument 'dim' must be int, not str"),
    ("t.softmax(x, 'a')", "softmax(): argument 'dim' (position 2) must be int, not str"),
    ("x.softmax('a')", "softmax(): argument 'dim' (position 1) must be int, not str"),
    ("x.softmax()", "softmax() missing 1 required positional arguments: \"dim\""),
    ("t.tile(x, 3)", "tile(): argument 'dims' (position 2) must be tuple of ints, not int"),
    ("x.view('a')",
     "view() received an invalid combination of arguments - got (str), but expected one of:\n"
     " * (torch.dtype dtype)\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"
     " * (tuple of ints size)\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"),
    ("x.view(2, 3.0)",
     "view(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got float\""),
    ("x.view(True, 6)",
     "view() received an invalid combination of arguments - got (bool, int), but expected one of:\n"
     " * (torch.dtype dtype)\n"
     " * (tuple of ints size)\n"),
    ("x.expand('a', 1)", "expand() takes 1 positional argument but 2 were given"),
    ("x.permute(0, 'a')",
     "permute(): argument 'dims' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got str\""),
    ("x.scatter(0, x, 'a')",
     "scatter() received an invalid combination of arguments - got (int, Tensor, str), but expected one of:\n"
     " * (int dim, Tensor index, Tensor src)\n"
     "      didn't match because some of the arguments have invalid types: (int, Tensor, !str!)\n"
     " * (int dim, Tensor index, Tensor src, *, str reduce)\n"
     " * (int dim, Tensor index, Number value)\n"
     "      didn't match because some of the arguments have invalid types: (int, Tensor, !str!)\n"
     " * (int dim, Tensor index, Number value, *, str reduce)\n"),
    ("x.where(1, 2)",
     "where() received an invalid combination of arguments - got (int, int), but expected one of:\n"
     " * (Tensor condition, Tensor other)\n"
     "      didn't match because some of the arguments have invalid types: (!int!, !int!)\n"
     " * (Tensor condition, Number other)\n"
     "      didn't match because some of the arguments have invalid types: (!int!, !int!)\n"),
    ("x.addmm('a', x)", "addmm(): argument 'mat1' (position 1) must be Tensor, not str"),
    ("t.bmm(x)",
     "bmm() received an invalid combination of arguments - got (Tensor), but expected one of:\n"
     " * (Tensor input, Tensor mat2, *, Tensor out = None)\n"
     " * (Tensor input, Tensor mat2, torch.dtype out_dtype, *, Tensor out = None)\n"),
    ("x.fill_('a')",
     "fill_() received an invalid combination of arguments - got (str), but expected one of:\n"
     " * (Tensor value)\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"
     " * (Number value)\n"
     "      didn't match because some of the arguments have invalid types: (!str!)\n"),
    ("x.fill_()",
     "fill_() received an invalid combination of arguments - got (), but expected one of:\n"
     " * (Tensor value)\n"
     " * (Number value)\n"),
    ("t.zeros('a')", "zeros(): argument 'size' (position 1) must be tuple of ints, not str"),
    ("t.zeros(2, layout='a')", "zeros(): argument 'layout' must be torch.layout, not str"),
    ("t.zeros(2, dtype=3)", "zeros(): argument 'dtype' must be torch.dtype, not int"),
    ("t.arange()",
     "arange() received an invalid combination of arguments - got (), but expected one of:\n"
     " * (Number end, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"
     " * (Number start, Number end, *, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"
     " * (Number start, Number end, Number step = 1, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"),
    ("t.full((2,))", "full() missing 1 required positional arguments: \"fill_value\""),
    ("t.linspace(1)",
     "linspace() received an invalid combination of arguments - got (int), but expected one of:\n"
     " * (Tensor start, Tensor end, int steps, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"
     " * (Number start, Tensor end, int steps, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"
     " * (Tensor start, Number end, int steps, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"
     " * (Number start, Number end, int steps, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool requires_grad = False)\n"),
    ("t.mul(x, x, x)", "mul() takes 2 positional arguments but 3 were given"),
    ("t.cumsum(x, t.tensor(1.0))", "cumsum(): argument 'dim' (position 2) must be int, not Tensor"),
    ("t.narrow(x, 0, 0, True)",
     "narrow() received an invalid combination of arguments - got (Tensor, int, int, bool), but expected one of:\n"
     " * (Tensor input, int dim, Tensor start, int length)\n"
     "      didn't match because some of the arguments have invalid types: (Tensor, int, !int!, !bool!)\n"
     " * (Tensor input, int dim, int start, int length)\n"
     "      didn't match because some of the arguments have invalid types: (Tensor, int, int, !bool!)\n"),
    ("t.isclose(x, x, 'a')", "isclose(): argument 'rtol' (position 3) must be float, not str"),
    ("t.div(x, x, 'floor')",
     "div() received an invalid combination of arguments - got (Tensor, Tensor, str), but expected one of:\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, Tensor other, *, str rounding_mode, Tensor out = None)\n"
     " * (Tensor input, Number other, *, str rounding_mode)\n"),
    ("t.logsumexp(x)", "logsumexp() missing 1 required positional arguments: \"dim\""),
    ("t.multiply(x, 'a')",
     "multiply() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, Number other)\n"
     "      didn't match because some of the arguments have invalid types: (Tensor, !str!)\n"),
    ("t.linalg.det(1)", "linalg_det(): argument 'A' (position 1) must be Tensor, not int"),
    ("t.linalg.norm(x, ord=[1])",
     "linalg_norm() received an invalid combination of arguments - got (Tensor, ord=list), but expected one of:\n"
     " * (Tensor input, Number ord = None, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)\n"
     " * (Tensor input, str ord, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)\n"),
    ("t.xlogy(1, 2)",
     "xlogy() received an invalid combination of arguments - got (int, int), but expected one of:\n"
     " * (Tensor input, Tensor other, *, Tensor out = None)\n"
     " * (Number self, Tensor other, *, Tensor out = None)\n"
     " * (Tensor input, Number other, *, Tensor out = None)\n"),
    ("F.linear(b'x', x)", "linear(): argument 'input' (position 1) must be Tensor, not bytes"),
    ("F.linear(x)", "linear() missing 1 required positional arguments: \"weight\""),
    ("F.gelu(x, 'tanh')", "gelu() takes 1 positional argument but 2 were given"),
    ("F.softplus(x, 'a')", "softplus(): argument 'beta' (position 2) must be Number, not str"),
    ("F.conv2d(x, 1)",
     "conv2d() received an invalid combination of arguments - got (Tensor, int), but expected one of:\n"
     " * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding = 0, tuple of ints dilation = 1, int groups = 1)\n"
     " * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = \"valid\", tuple of ints dilation = 1, int groups = 1)\n"),
    ("x.bitwise_or(other='a')",
     "bitwise_or() received an invalid combination of arguments - got (other=str, ), but expected one of:\n"
     " * (Tensor other)\n"
     "      didn't match because some of the arguments have invalid types: (!other=str!, )\n"
     " * (Number other)\n"
     "      didn't match because some of the arguments have invalid types: (!other=str!, )\n"),
    ("x.repeat([2], 'a')", "repeat() takes 1 positional argument but 2 were given"),
    ("x.sum(dim=0, axis=1)", "sum() got an unexpected keyword argument 'axis'"),
]


@together("program, message", REFUSED)
def test_wrong_arguments_are_refused_in_the_words_of_pytorch(program: str, message: str) -> None:
    i = mg.arange(6).reshape(2, 3)
    with pytest.raises(TypeError) as caught:
        eval(program, {"t": mg, "F": mg.nn.functional, "x": i.float(), "i": i, "b": i > 2})
    assert type(caught.value) is TypeError
    assert str(caught.value) == message


HERE = object()  # stands for a tensor
VALUES = [HERE, HERE, HERE, 1, "a", None, [1], ["a"], (1, "b"), 1.5, True, 0]
# Where PyTorch would write into the tensor, read far outside it, or ask Python first (see test_corners for the last two).
LEFT_OUT = {"resize_", "as_strided", "empty", "randperm", "renorm", "nan_to_num", "pinverse", "logit", "pdist", "normal",
            "unique", "unique_consecutive"}  # fmt: skip


def rooms(name: str, as_method: bool) -> tuple[list[Any], str]:
    """Where PyTorch keeps the function, and under which name."""
    import torch

    if as_method:
        return [torch.Tensor], name
    for start, room in (("linalg_", torch.linalg), ("special_", torch.special)):
        if name.startswith(start):
            return [room], name.removeprefix(start)
    return [torch._C._VariableFunctions, torch._C._nn], name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of what PyTorch calls deprecated
def test_wrong_calls_of_every_function_are_told_what_pytorch_tells() -> None:
    """Random arguments: where PyTorch says what is wrong with them, `refusals.why` says the same."""
    import torch

    source, asked, differ = random.Random(0), 0, []
    theirs, ours = torch.ones(2, 3), mg.ones(2, 3)
    for name, as_method in itertools.product(refusals.functions(), (False, True)):
        found, short = rooms(name, as_method)
        function = next((getattr(room, short) for room in found if hasattr(room, short)), None)
        known = refusals.forms(name, as_method)
        if function is None or not known or name in LEFT_OUT or name.endswith("_") or "scatter" in name:
            continue
        named = [p.name for form in known for p in form.parameters] + ["foo"]
        for _ in range(12):
            args = [HERE, *source.choices(VALUES, k=source.randrange(5))]
            keywords = {source.choice(named): source.choice(VALUES) for _ in range(source.choice([0, 0, 0, 1, 2]))}
            told = []
            for x, call in ((theirs, function), (ours, functools.partial(_check, name, as_method))):
                try:
                    given = [x if v is HERE else v for v in args]
                    call(*given, **{n: x if v is HERE else v for n, v in keywords.items()})
                    told.append("")
                except Exception as error:
                    told.append(str(error) if isinstance(error, TypeError) else "")
            asked += told[0] != ""
            if told[0] != told[1]:
                differ.append((name, as_method, args, keywords, *told))
    assert asked > 4000
    assert len(differ) < asked / 200, differ  # PyTorch reads a few functions' arguments in Python, or refuses them later


def _check(name: str, as_method: bool, *args: Any, **keywords: Any) -> None:
    reason = refusals.why(name, args, keywords, as_method)
    if reason is not None:
        raise reason
