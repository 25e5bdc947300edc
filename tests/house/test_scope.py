"""The public names: exactly those of scope.txt, in every namespace, and a sentence for those that are not there."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import minigrad as mg

LEFT_OUT = "minigrad leaves out what its course does not use"
PACKAGES = {"autograd", "course", "cuda", "linalg", "nn", "optim", "utils", "viz"}
PARTS = {
    "autograd": {"function", "functional", "graph"},
    "autograd.function": {"Function"},
    "nn": {"functional", "init", "utils"},
    "optim": {"lr_scheduler"},
    "utils": {"data"},
}
MISSPELLED = {
    "": ("relUU", "relu"),
    "nn": ("Linaer", "Linear"),
    "nn.functional": ("crossentropy", "cross_entropy"),
    "nn.init": ("xavier_unifrom_", "xavier_uniform_"),
    "nn.utils": ("clip_grad_norm", "clip_grad_norm_"),
    "optim": ("SDG", "SGD"),
    "optim.lr_scheduler": ("StepLr", "StepLR"),
    "linalg": ("nrom", "norm"),
    "autograd": ("gard", "grad"),
    "autograd.functional": ("jacobain", "jacobian"),
    "utils.data": ("Dataloader", "DataLoader"),
}


def listed() -> dict[str, list[str]]:
    """The names of scope.txt by namespace; in-place twins as `exp_` of the namespace Tensor."""
    found: dict[str, list[str]] = {"Tensor": []}
    for line in (Path(__file__).parent / "scope.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        namespace, names = line.split(": ", 1)
        space = {"torch": "", "minigrad (ours)": ""}.get(namespace, namespace)
        for name in names.replace("(all of the above that PyTorch has as methods)", "").split():
            where, _, own = f"{space}.{name}".strip(".").rpartition(".")
            found.setdefault(where, []).append(own.removesuffix("*"))
            if name.endswith("*"):
                found["Tensor"].append(name.replace("*", "_"))
    return found


SCOPE = listed()


def space(namespace: str) -> ModuleType:
    return importlib.import_module(f"minigrad.{namespace}".strip("."))


@pytest.mark.parametrize("namespace", sorted(SCOPE.keys() - {"Tensor"}))
def test_the_public_names_are_those_of_the_scope(namespace: str) -> None:
    wanted = set(SCOPE[namespace]) | (PARTS.get(namespace, set()) if namespace else PACKAGES)
    assert {name for name in dir(space(namespace)) if name != "__version__"} == wanted - {"__version__"}


def test_every_name_of_the_scope_is_there() -> None:
    spaces = {where: mg.Tensor if where == "Tensor" else space(where) for where in SCOPE}
    assert [f"{where}.{name}" for where in SCOPE for name in SCOPE[where] if not hasattr(spaces[where], name)] == []


# Functions of PyTorch that are methods as well; what PyTorch itself says is asked below.
NO_METHODS = """
    Generator Size Tensor arange as_tensor bartlett_window broadcast_shapes broadcast_tensors broken can_cast cat concat
    check_graph device dtype e einsum empty empty_like enable_grad explain eye finfo from_numpy full full_like
    get_default_dtype get_num_threads get_rng_state iinfo inf inference_mode is_grad_enabled
    is_inference_mode_enabled is_tensor linspace load manual_seed meshgrid nan no_grad ones ones_like pi
    promote_types rand rand_like randint randn randn_like randperm record replace result_type save
    set_default_dtype set_grad_enabled set_num_threads set_printoptions set_rng_state stack tensor tensordot
    float16 float32 float64 int8 int16 int32 int64 uint8 where zeros zeros_like Recording normal __version__
""".split()  # noqa: SIM905


def methods() -> set[str]:
    return set(SCOPE["Tensor"]) | (set(SCOPE[""]) - set(NO_METHODS)) | {"where"}


def test_the_methods_are_those_of_the_scope() -> None:
    assert {name for name in dir(mg.Tensor) if not name.startswith("_")} == methods() - {"_version"}


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_functions_are_methods_where_pytorch_has_them_as_methods() -> None:
    torch = pytest.importorskip("torch")
    functions = set(SCOPE[""]) - {"record", "explain", "replace", "broken", "Recording"}
    assert {name for name in functions if hasattr(torch.Tensor, name)} == methods() & functions


@pytest.mark.parametrize("namespace", MISSPELLED)
def test_a_missing_name_is_explained_and_a_near_miss_is_guessed(namespace: str) -> None:
    wrong, meant = MISSPELLED[namespace]
    start = f"module '{space(namespace).__name__}' has no attribute "
    with pytest.raises(AttributeError) as caught:
        getattr(space(namespace), wrong)
    assert str(caught.value) == f"{start}'{wrong}', did you mean '{meant}'? ({LEFT_OUT})"
    with pytest.raises(AttributeError) as caught:
        space(namespace).quantize_dynamic  # noqa: B018
    assert str(caught.value) == f"{start}'quantize_dynamic' ({LEFT_OUT})"


@pytest.mark.parametrize("thing", [mg.ones(2), mg.nn.Parameter(mg.ones(2))])
def test_a_missing_method_too(thing: Any) -> None:
    kind = type(thing).__name__
    with pytest.raises(AttributeError) as caught:
        thing.sume()
    assert str(caught.value) == f"'{kind}' object has no attribute 'sume', did you mean 'sum'? ({LEFT_OUT})"
    assert not hasattr(thing, "svd") and not hasattr(thing, "__array_interface__")


def test_a_missing_module_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'minigrad\.distributions'$"):
        importlib.import_module("minigrad.distributions")


def test_the_traceback_says_it_once() -> None:
    shown = subprocess.run([sys.executable, "-c", "import minigrad; minigrad.relUU"], capture_output=True, text=True)
    assert shown.stderr.count("relu'") == 1 and "Did you mean" not in shown.stderr


@pytest.mark.parametrize(
    "call", [lambda: mg.add(mg.ones(2), mg.ones(2), out=mg.ones(2)), lambda: mg.ones(2).sum(0, out=mg.ones(2)),
             lambda: mg.zeros(2, out=mg.ones(2)), lambda: mg.rand(2, out=mg.ones(2))],
)  # fmt: skip
def test_an_argument_that_is_left_out_is_named(call: Any) -> None:
    with pytest.raises(TypeError, match=r"minigrad leaves out the argument 'out'"):
        call()
