"""More of the same code for two libraries: optimisers, schedulers, random numbers, printed forms and messages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

# -------------------------------------------------------------------------------------------------- optimisers

OPTIMISERS: dict[str, tuple[str, dict[str, Any]]] = {}
for name, variants in {
    "SGD": [
        {"lr": 0.05},
        {"lr": 0.05, "momentum": 0.9},
        {"lr": 0.05, "momentum": 0.9, "nesterov": True},
        {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1},
        {"lr": 0.005, "weight_decay": 0.1, "maximize": True},
    ],
    "Adam": [
        {"lr": 0.05},
        {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1},
        {"lr": 0.05, "amsgrad": True},
        {"lr": 0.05, "maximize": True},
        {"lr": 0.05, "decoupled_weight_decay": True, "weight_decay": 0.2},
    ],
    "AdamW": [{"lr": 0.05}, {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True, "maximize": True}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True}, {"alpha": 0.9, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}],
    "Adadelta": [{}, {"rho": 0.8, "weight_decay": 0.1}],
    "Adamax": [{}, {"betas": (0.8, 0.9), "weight_decay": 0.1}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{"betas": (0.8, 0.9)}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "Rprop": [{}, {"lr": 0.3, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.4), "maximize": True}],
    "ASGD": [{"lr": 0.05}, {"lr": 0.05, "lambd": 0.01, "t0": 3, "weight_decay": 0.1}],
    "Adafactor": [{}, {"lr": 0.3, "weight_decay": 0.1, "maximize": True}, {"eps": (1e-4, 1e-2), "d": 2.0, "beta2_decay": -0.5}],
    "LBFGS": [
        {"max_iter": 3, "history_size": 2, "lr": 0.1},
        {"max_iter": 2, "history_size": 2, "line_search_fn": "strong_wolfe"},
        {"max_iter": 4, "max_eval": 6, "line_search_fn": "strong_wolfe"},
    ],
}.items():
    for settings in variants:
        OPTIMISERS[f"{name} {settings}"] = name, settings


def descend(t: Any, name: str) -> list[list[float]]:
    """Where each of eight steps in float64 on a small curved problem leads, with one gradient missing at first."""
    kind, settings = OPTIMISERS[name]
    w = t.tensor([1.0, -2.0, 0.5], dtype=t.float64, requires_grad=True)
    b = t.tensor([[0.3], [-0.7]], dtype=t.float64, requires_grad=True)
    optimiser = getattr(t.optim, kind)([w, b], **settings)
    path = []
    for step in range(8):

        def closure(step: int = step) -> Any:
            optimiser.zero_grad()
            loss = (w.exp() * t.tensor([1.0, 2.0, -1.0], dtype=t.float64)).sum() + (w * w).sum()
            if step > 1:
                loss = loss + ((b * w) ** 2).sum() + b.sum()
            if kind == "LBFGS":
                loss = loss + (w**4).sum() + (b**4).sum()  # it goes far at once, and has to find an end
            loss.backward()
            return loss

        optimiser.step(closure)
        path.append(w.tolist() + b.reshape(-1).tolist())
    return path


# -------------------------------------------------------------------------------------------------- schedulers

SCHEDULERS: dict[str, Callable[[Any, Any], Any]] = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.3),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "LambdaLR": lambda s, o: s.LambdaLR(o, [lambda e: 1 / (e + 1), lambda e: 0.9**e]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 0.9, 6),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.4, 4),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=14),
    "OneCycleLR three": lambda s, o: s.OneCycleLR(
        o, [1.0, 0.5], epochs=7, steps_per_epoch=2, three_phase=True, anneal_strategy="linear"
    ),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=2, factor=0.3, cooldown=1),
    "CyclicLR": lambda s, o: s.CyclicLR(o, [0.01, 0.02], 0.3, 3, 2),
    "CyclicLR triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.3, 2, mode="triangular2", cycle_momentum=False),
    "CyclicLR exp_range": lambda s, o: s.CyclicLR(o, 0.01, [0.3, 0.4], 3, mode="exp_range", gamma=0.9),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.8)]),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.8)], [4]),
    "OneCycleLR momenta": lambda s, o: s.OneCycleLR(o, 0.5, 14, base_momentum=[0.6, 0.7], max_momentum=(0.8, 0.9)),
    "CyclicLR momenta": lambda s, o: s.CyclicLR(o, 0.01, 0.5, 3, base_momentum=[0.6, 0.7], max_momentum=[0.8, 0.9]),
    "SequentialLR restarts": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 3), s.CosineAnnealingWarmRestarts(o, 3, 2)], [4]
    ),
    "SequentialLR restarts first": lambda s, o: s.SequentialLR(
        o, [s.CosineAnnealingWarmRestarts(o, 3), s.MultiplicativeLR(o, lambda e: 0.9)], [4]
    ),
    "SequentialLR nested": lambda s, o: s.SequentialLR(
        o, [s.SequentialLR(o, [s.StepLR(o, 2, 0.5), s.ExponentialLR(o, 0.9)], [2]), s.ConstantLR(o, 0.5, 3)], [5]
    ),
    "MultiplicativeLR again": lambda s, o: again(o, lambda e: s.MultiplicativeLR(o, lambda n: 0.95, last_epoch=e)),
    "ExponentialLR again": lambda s, o: again(o, lambda e: s.ExponentialLR(o, 0.9, last_epoch=e)),
    "LinearLR again": lambda s, o: again(o, lambda e: s.LinearLR(o, 0.2, 0.9, 9, last_epoch=e)),
    "PolynomialLR again": lambda s, o: again(o, lambda e: s.PolynomialLR(o, 9, 2.0, last_epoch=e)),
    "CosineAnnealingLR again": lambda s, o: again(o, lambda e: s.CosineAnnealingLR(o, 5, 0.01, last_epoch=e)),
    "StepLR again": lambda s, o: again(o, lambda e: s.StepLR(o, 2, 0.5, last_epoch=e)),
}


def again(optimiser: Any, make: Callable[[int], Any]) -> Any:
    """A scheduler made anew after three epochs, as training that is taken up again makes it."""
    scheduler = make(-1)
    for _ in range(3):
        optimiser.step()
        scheduler.step()
    return make(scheduler.last_epoch)


METRICS = [1.0, 0.9, 0.95, 0.93, 0.92, 0.91, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85]


def rates(t: Any, name: str) -> list[list[float]]:
    """The learning rates of two groups, and the first group's momentum, over twelve epochs."""
    p, q = t.zeros(1, requires_grad=True), t.zeros(1, requires_grad=True)
    optimiser = t.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.1, momentum=0.9)
    scheduler = SCHEDULERS[name](t.optim.lr_scheduler, optimiser)
    path = []
    for metric in METRICS:
        path.append([g["lr"] for g in optimiser.param_groups] + [optimiser.param_groups[0]["momentum"]])
        assert scheduler.get_last_lr() == path[-1][:2]
        optimiser.step()
        scheduler.step(*([metric] if name == "ReduceLROnPlateau" else []))
    return path


# ---------------------------------------------------------------------------------------------- random numbers

DRAWS: dict[str, Callable[[Any], Any]] = {}
for n in (0, 1, 3, 15, 16, 17, 40, 100, 1000):
    for dtype in ("float32", "float64", "float16"):
        DRAWS[f"rand {n} {dtype}"] = lambda t, n=n, d=dtype: t.rand(n, dtype=getattr(t, d))
        DRAWS[f"randn {n} {dtype}"] = lambda t, n=n, d=dtype: t.randn(n, dtype=getattr(t, d))
    for dtype in ("float32", "float64"):
        DRAWS[f"uniform_ {n} {dtype}"] = lambda t, n=n, d=dtype: t.empty(n, dtype=getattr(t, d)).uniform_(-0.3, 0.7)
        DRAWS[f"bernoulli_ {n} {dtype}"] = lambda t, n=n, d=dtype: t.empty(n, dtype=getattr(t, d)).bernoulli_(0.3)
        DRAWS[f"bernoulli {n} {dtype}"] = lambda t, n=n, d=dtype: t.bernoulli(t.full((n,), 0.3, dtype=getattr(t, d)))
    DRAWS[f"normal_ {n}"] = lambda t, n=n: t.empty(n).normal_(2.0, 3.0)
    DRAWS[f"randint {n}"] = lambda t, n=n: t.randint(-5, 17, (n,))
    DRAWS[f"randint wide {n}"] = lambda t, n=n: t.randint(0, 2**40, (n,))
    DRAWS[f"randperm {n}"] = lambda t, n=n: t.randperm(n)
    DRAWS[f"dropout {n}"] = lambda t, n=n: t.nn.functional.dropout(t.ones(n), 0.3)
    DRAWS[f"mixed {n}"] = lambda t, n=n: t.cat([t.randn(3), t.rand(n), t.randn(2), t.randperm(n).float(), t.randn(20)])
DRAWS["randint 2**28 - 1"] = lambda t: t.randint(0, 2**28 - 1, (5,))
DRAWS["randint 2**28"] = lambda t: t.randint(0, 2**28, (5,))
DRAWS["multinomial 1"] = lambda t: t.multinomial(t.tensor([0.1, 0.2, 0.3, 0.4]), 1)
DRAWS["multinomial 3"] = lambda t: t.multinomial(t.tensor([[0.1, 0.2, 0.3, 0.4], [1.0, 1.0, 1.0, 1.0]]), 3)
DRAWS["multinomial again"] = lambda t: t.multinomial(t.tensor([0.1, 0.2, 0.3, 0.4]), 20, replacement=True)
DRAWS["state"] = lambda t: (t.randn(3), t.rand(700), t.get_rng_state())[-1]
for dtype in ("int64", "int32", "int8", "uint8", "bool", "float32", "float64", "float16"):
    DRAWS[f"random_ {dtype}"] = lambda t, d=dtype: t.zeros(7, dtype=getattr(t, d)).random_()
for name, settings in (("log_normal_", ()), ("cauchy_", ()), ("geometric_", (0.3,)), ("exponential_", ())):
    DRAWS[name] = lambda t, n=name, s=settings: getattr(t.zeros(20), n)(*s)
DRAWS["rrelu"] = lambda t: t.nn.functional.rrelu(t.tensor([-1.0, 2.0, -3.0, 0.0, -0.5]), training=True)


def loaded(t: Any, **settings: Any) -> Any:
    """Two rounds through a loader: the order of a shuffle, and the generator afterwards."""
    loader = t.utils.data.DataLoader(t.utils.data.TensorDataset(t.arange(10)), batch_size=4, **settings)
    return t.cat([batch for _ in range(2) for (batch,) in loader] + [t.rand(2)])


DRAWS["loader"] = lambda t: loaded(t)
DRAWS["loader shuffled"] = lambda t: loaded(t, shuffle=True, drop_last=True)
DRAWS["loader generator"] = lambda t: loaded(t, shuffle=True, generator=t.Generator().manual_seed(5))
DRAWS["RandomSampler"] = lambda t: loaded(t, sampler=t.utils.data.RandomSampler(range(10), True, 40))
DRAWS["SubsetRandomSampler"] = lambda t: loaded(t, sampler=t.utils.data.SubsetRandomSampler([3, 5, 7, 9, 1]))
DRAWS["WeightedRandomSampler"] = lambda t: loaded(t, sampler=t.utils.data.WeightedRandomSampler(range(10), 7))
DRAWS["random_split"] = lambda t: t.tensor(
    [i for part in t.utils.data.random_split(range(13), [0.3, 0.3, 0.4]) for i in part.indices]
)
for layer, make in {
    "Linear": lambda nn: nn.Linear(10, 7),
    "Conv2d": lambda nn: nn.Conv2d(3, 4, 5),
    "Embedding": lambda nn: nn.Embedding(9, 5, padding_idx=2),
    "LSTM": lambda nn: nn.LSTM(3, 4),
    "MultiheadAttention": lambda nn: nn.MultiheadAttention(8, 2),
    "Bilinear": lambda nn: nn.Bilinear(2, 3, 4),
}.items():
    DRAWS[f"layer {layer}"] = lambda t, m=make: t.cat([p.detach().reshape(-1) for p in m(t.nn).parameters()])
for init, keywords in (
    ("uniform_", {}),
    ("normal_", {"std": 0.02}),
    ("xavier_uniform_", {"gain": 2.0}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {"nonlinearity": "relu"}),
    ("kaiming_normal_", {"mode": "fan_out"}),
    ("trunc_normal_", {"std": 1.5}),
    ("trunc_normal_", {"a": 1.5, "b": 4.0}),
    ("orthogonal_", {}),
    ("sparse_", {"sparsity": 0.4}),
    ("eye_", {}),
):
    DRAWS[f"init {init} {keywords}"] = lambda t, i=init, k=keywords: getattr(t.nn.init, i)(t.empty(6, 9), **k)
DRAWS["init dirac_"] = lambda t: t.nn.init.dirac_(t.empty(4, 2, 3, 3), groups=2)


def draw(t: Any, name: str) -> Any:
    """What a random function gives after manual_seed(11)."""
    t.manual_seed(11)
    return DRAWS[name](t)


# ---------------------------------------------------------------------------------- printed forms and messages

TEXTS: dict[str, Callable[[Any], Any]] = {}
_LAYERS = """
nn.Linear(2, 3, bias=False); nn.Bilinear(1, 2, 3); nn.Conv1d(1, 1, 3, padding="same"); nn.Conv2d(1, 2, 3)
nn.Conv2d(2, 4, 3, padding=1, stride=2, groups=2, bias=False, dilation=2, padding_mode="reflect")
nn.ConvTranspose2d(1, 2, 3, output_padding=1, stride=2); nn.BatchNorm1d(3); nn.BatchNorm2d(3, affine=False)
nn.LayerNorm([2, 3]); nn.GroupNorm(2, 4); nn.InstanceNorm2d(3); nn.RMSNorm(4); nn.LocalResponseNorm(2)
nn.Dropout(0.3); nn.Dropout(0.3, True); nn.Dropout2d(); nn.AlphaDropout(); nn.Embedding(3, 4)
nn.Embedding(3, 4, padding_idx=0, max_norm=1.0); nn.Flatten(); nn.Unflatten(1, (2, 3)); nn.Identity()
nn.MaxPool2d(2); nn.MaxPool1d(2, stride=3, ceil_mode=True); nn.AvgPool2d(2); nn.AvgPool1d(2)
nn.AdaptiveAvgPool2d((1, None)); nn.AdaptiveMaxPool2d(2); nn.ReLU(); nn.ReLU(True); nn.LeakyReLU(); nn.ELU()
nn.SELU(); nn.CELU(); nn.GELU(); nn.GELU("tanh"); nn.SiLU(); nn.Mish(); nn.Hardswish(); nn.Hardsigmoid()
nn.Hardtanh(); nn.ReLU6(); nn.Softplus(); nn.Softsign(); nn.Softshrink(); nn.Hardshrink(); nn.Tanhshrink()
nn.Threshold(1.0, 2.0); nn.PReLU(); nn.RReLU(); nn.Sigmoid(); nn.LogSigmoid(); nn.Tanh(); nn.Softmax(1)
nn.Softmax(); nn.LogSoftmax(dim=-1); nn.Softmin(1); nn.Softmax2d(); nn.GLU(); nn.MSELoss(); nn.NLLLoss()
nn.CrossEntropyLoss(label_smoothing=0.1); nn.Upsample(scale_factor=2); nn.PixelShuffle(2); nn.ZeroPad2d(1)
nn.ConstantPad1d(1, 2.0); nn.ReflectionPad2d(1); nn.CosineSimilarity(); nn.RNN(2, 3); nn.GRUCell(2, 3)
nn.LSTM(2, 3, num_layers=2, batch_first=True); nn.MultiheadAttention(4, 2); nn.Fold(2, 3); nn.Unfold(2)
nn.TransformerEncoderLayer(4, 2, 8); nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.Sequential(nn.ReLU())])
nn.ModuleDict({"a": nn.Tanh()}); nn.Sequential(); nn.ModuleList()
nn.ParameterList([t.ones(2, 3), t.ones(1)]); nn.ParameterDict({"a": t.ones(2)})
nn.Linear(2, 2).weight.shape; nn.Parameter(t.ones(2)); nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
"""
for _line in map(str.strip, _LAYERS.replace("\n", ";").split(";")):
    if _line:
        TEXTS[_line] = lambda t, code=_line: eval(code, {"nn": t.nn, "t": t})
for _name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam"):
    TEXTS[f"{_name} printed"] = lambda t, n=_name: getattr(t.optim, n)([t.ones(1, requires_grad=True)], lr=0.1)
    TEXTS[f"{_name} negative lr"] = lambda t, n=_name: getattr(t.optim, n)([t.ones(1, requires_grad=True)], lr=-0.1)


def message(name: str) -> Callable[[Callable[[Any], Any]], None]:
    def add(function: Callable[[Any], Any]) -> None:
        TEXTS[name] = function

    return add


_MESSAGES = {
    "register_buffer twice": "m.register_buffer('weight', None)",
    "register_parameter dot": "m.register_parameter('a.b', None)",
    "register_parameter empty": "m.register_parameter('', None)",
    "register_parameter tensor": "m.register_parameter('a', t.ones(1))",
    "register_parameter number name": "m.register_parameter(3, None)",
    "register_parameter non-leaf": "m.register_parameter('a', m.weight * 1)",
    "add_module wrong": "m.add_module('a', 3)",
    "add_module exists": "m.add_module('weight', t.nn.ReLU())",
    "assign parameter number": "setattr(m, 'weight', 3)",
    "assign child tensor": "setattr(t.nn.Sequential(t.nn.ReLU()), '0', t.ones(1))",
    "assign buffer number": "setattr(t.nn.BatchNorm1d(1), 'running_mean', 3)",
    "train with int": "m.train(1)",
    "to int": "m.to(t.int64)",
    "load a list": "m.load_state_dict([1])",
    "load shapes": "m.load_state_dict({'weight': t.ones(3), 'bias': 5})",
    "load nested": "t.nn.Sequential(m, t.nn.ReLU()).load_state_dict({'0.weight': t.ones(1, 2), '1.x': t.ones(1), 'y': 1})",
    "get_parameter missing": "m.get_parameter('wieght')",
    "get_submodule parameter": "m.get_submodule('weight')",
    "sequential index": "t.nn.Sequential(m)[3]",
    "sequential add": "t.nn.Sequential(m) + [m]",
    "sequential times": "t.nn.Sequential(m) * 0",
    "modulelist index": "t.nn.ModuleList([m])[-2]",
    "modulelist extend": "t.nn.ModuleList().extend(3)",
    "parameterlist called": "t.nn.ParameterList()(1)",
    "parameter of int": "t.nn.Parameter(t.tensor([1]))",
    "groups": "t.nn.GroupNorm(3, 4)",
    "conv groups": "t.nn.Conv2d(3, 4, 1, groups=2)",
    "conv same stride": "t.nn.Conv2d(3, 4, 3, padding='same', stride=2)",
    "conv padding word": "t.nn.Conv2d(3, 4, 3, padding='sane')",
    "batchnorm rank": "t.nn.BatchNorm2d(2)(t.ones(2, 2))",
    "batchnorm one value": "t.nn.BatchNorm1d(2)(t.ones(1, 2))",
    "instancenorm one value": "t.nn.InstanceNorm1d(2)(t.ones(1, 2, 1))",
    "layernorm shape": "t.nn.LayerNorm(3)(t.ones(2, 4))",
    "groupnorm channels": "t.nn.functional.group_norm(t.ones(2, 3), 2)",
    "dropout range": "t.nn.Dropout(1.5)",
    "F.dropout range": "t.nn.functional.dropout(t.ones(2), -0.5)",
    "embedding range": "t.nn.Embedding(3, 2)(t.tensor([3]))",
    "embedding dtype": "t.nn.Embedding(3, 2)(t.ones(1))",
    "linear 3d": "m(t.ones(2, 3, 4))",
    "linear 1d": "m(t.ones(3))",
    "ce batch": "t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1, 2]))",
    "ce out of range": "t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, -1]))",
    "nll weight": "t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([0, 1]), t.ones(2))",
    "ce smoothing": "t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1]), label_smoothing=2.0)",
    "bce size": "t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(3))",
    "bce logits size": "t.nn.functional.binary_cross_entropy_with_logits(t.ones(2), t.ones(3))",
    "bce dtype": "t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(2, dtype=t.float64))",
    "huber delta": "t.nn.functional.huber_loss(t.ones(2), t.ones(2), delta=0)",
    "smooth_l1 beta": "t.nn.functional.smooth_l1_loss(t.ones(2), t.ones(2), beta=-1.0)",
    "kl reduction": "t.nn.functional.kl_div(t.ones(2), t.ones(2), reduction='batch')",
    "triplet margin": "t.nn.functional.triplet_margin_loss(t.ones(2), t.ones(2), t.ones(2), margin=0)",
    "margin ranking ranks": "t.nn.functional.margin_ranking_loss(t.ones(2), t.ones(2, 1), t.ones(2))",
    "gelu word": "t.nn.functional.gelu(t.ones(2), approximate='exact')",
    "glu odd": "t.nn.functional.glu(t.ones(3))",
    "prelu channels": "t.nn.functional.prelu(t.ones(2, 3), t.ones(2))",
    "one_hot negative": "t.nn.functional.one_hot(t.tensor([-1]))",
    "one_hot small": "t.nn.functional.one_hot(t.tensor([3]), 2)",
    "one_hot float": "t.nn.functional.one_hot(t.ones(1))",
    "gain": "t.nn.init.calculate_gain('swish')",
    "gain slope": "t.nn.init.calculate_gain('leaky_relu', 'a')",
    "fan": "t.nn.init.xavier_uniform_(t.ones(3))",
    "fan mode": "t.nn.init.kaiming_uniform_(t.ones(3, 3), mode='fan')",
    "eye": "t.nn.init.eye_(t.ones(3))",
    "clip nonfinite": "t.nn.utils.clip_grad_norm_([w_nan], 1.0, error_if_nonfinite=True)",
    "optim empty": "t.optim.SGD([], lr=0.1)",
    "optim set": "t.optim.SGD([{'params': {w}}], lr=0.1)",
    "optim two groups": "t.optim.SGD([{'params': [w]}, {'params': [w]}], lr=0.1)",
    "sgd momentum": "t.optim.SGD([w], momentum=-1)",
    "sgd nesterov": "t.optim.SGD([w], nesterov=True)",
    "adam eps": "t.optim.Adam([w], eps=-1)",
    "adam beta 2": "t.optim.Adam([w], betas=(0.9, 1.5))",
    "adam weight decay": "t.optim.Adam([w], weight_decay=-1)",
    "rmsprop alpha": "t.optim.RMSprop([w], alpha=-1)",
    "adagrad lr decay": "t.optim.Adagrad([w], lr_decay=-1)",
    "adadelta rho": "t.optim.Adadelta([w], rho=2)",
    "group not a dict": "t.optim.SGD([w]).add_param_group([w])",
    "load groups": "t.optim.SGD([w]).load_state_dict({'state': {}, 'param_groups': []})",
    "load group sizes": "t.optim.SGD([w]).load_state_dict({'state': {}, 'param_groups': [{'params': [0, 1]}]})",
    "scheduler of no optimizer": "t.optim.lr_scheduler.StepLR(3, 1)",
    "linear lr start": "t.optim.lr_scheduler.LinearLR(t.optim.SGD([w]), 2.0)",
    "constant lr factor": "t.optim.lr_scheduler.ConstantLR(t.optim.SGD([w]), 2.0)",
    "plateau factor": "t.optim.lr_scheduler.ReduceLROnPlateau(t.optim.SGD([w]), factor=1.0)",
    "plateau mode": "t.optim.lr_scheduler.ReduceLROnPlateau(t.optim.SGD([w]), 'mean')",
    "size of strings": "t.Size(['a'])",
    "rnn rank": "t.nn.RNN(2, 3)(t.ones(2, 2, 2, 2))",
    "rnn size": "t.nn.RNN(2, 3)(t.ones(2, 2, 3))",
    "attention heads": "t.nn.MultiheadAttention(5, 2)",
}
for _name, _code in _MESSAGES.items():

    @message(_name)
    def _evaluate(t: Any, code: str = _code) -> Any:
        w = t.ones(1, requires_grad=True)
        w_nan = t.ones(1, requires_grad=True)
        w_nan.grad = t.tensor([float("nan")])
        return eval(code, {"t": t, "m": t.nn.Linear(2, 1), "w": w, "w_nan": w_nan})


def text(t: Any, name: str) -> str:
    """What is printed, or the error."""
    with contextlib.suppress(AttributeError):
        t.set_printoptions(profile="default")
    try:
        return repr(TEXTS[name](t))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
