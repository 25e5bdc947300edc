"""Short programs for two libraries, by area: their results are recorded from PyTorch, and compared.

A program is statements and a last expression, parted by `;`. It sees `t` (the library), `F`, `nn`, `D` (distributions)
and the tensors x (2, 3) and w (3,), of float64, which want gradients; random numbers start at seed 0.
"""

# ruff: noqa: E501 (programs as they are)

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np

FAMILIES = """
D.Normal(t.tensor([0.5, -1.0]), t.tensor([1.0, 2.5]))
D.Normal(0.0, 1.0)
D.LogNormal(t.tensor([0.5, -1.0]), t.tensor([1.0, 0.5]))
D.Laplace(t.tensor([0.5, -1.0]), t.tensor([1.0, 0.5]))
D.Cauchy(t.tensor([0.5, -1.0]), t.tensor([1.0, 0.5]))
D.Gumbel(t.tensor([0.5, -1.0]), t.tensor([1.0, 0.5]))
D.Uniform(t.tensor([0.0, -1.0]), t.tensor([1.0, 2.0]))
D.Exponential(t.tensor([0.5, 3.0]))
D.HalfNormal(t.tensor([0.5, 3.0]))
D.Gamma(t.tensor([0.5, 3.0]), t.tensor([2.0, 0.7]))
D.Beta(t.tensor([0.5, 3.0]), t.tensor([2.0, 0.7]))
D.Bernoulli(t.tensor([0.3, 0.9, 0.5]))
D.Bernoulli(logits=t.tensor([0.3, -2.0, 0.5]))
D.Geometric(t.tensor([0.3, 0.9]))
D.Binomial(10, t.tensor([0.3, 0.9]))
D.Binomial(100, t.tensor([0.3, 0.9]))
D.Poisson(t.tensor([0.3, 4.0, 30.0]))
D.Categorical(t.tensor([[0.1, 0.2, 0.7], [1.0, 2.0, 3.0]]))
D.Categorical(logits=t.tensor([0.1, 0.2, 0.7]))
D.OneHotCategorical(t.tensor([[0.1, 0.2, 0.7], [1.0, 2.0, 3.0]]))
D.OneHotCategoricalStraightThrough(t.tensor([[0.1, 0.2, 0.7], [1.0, 2.0, 3.0]]))
D.Multinomial(10, t.tensor([0.1, 0.2, 0.7]))
D.Dirichlet(t.tensor([0.5, 3.0, 1.0]))
D.MultivariateNormal(t.tensor([0.5, 3.0]), t.tensor([[2.0, 0.3], [0.3, 1.0]]))
D.MultivariateNormal(t.tensor([[0.5, 3.0], [1.0, 1.0]]), precision_matrix=t.tensor([[2.0, 0.3], [0.3, 1.0]]))
D.MultivariateNormal(t.tensor([0.5, 3.0]), scale_tril=t.tensor([[2.0, 0.0], [0.3, 1.0]]))
D.Independent(D.Normal(t.zeros(3, 2), t.ones(3, 2) * 2), 1)
D.TransformedDistribution(D.Normal(t.zeros(2), t.ones(2)), [D.TanhTransform(cache_size=1)])
D.TransformedDistribution(D.Uniform(t.zeros(2), t.ones(2)), [D.SigmoidTransform().inv, D.AffineTransform(1.0, -2.0)])
D.RelaxedBernoulli(t.tensor(0.7), t.tensor([0.2, 0.6]))
D.RelaxedOneHotCategorical(t.tensor(0.7), t.tensor([0.2, 0.6, 0.2]))
D.MixtureSameFamily(D.Categorical(t.tensor([0.2, 0.8])), D.Normal(t.tensor([-1.0, 1.0]), t.tensor([0.5, 0.5])))
""".strip().splitlines()
ASKED = """
repr(d)
d.batch_shape, d.event_shape, d.support, d.has_enumerate_support
d.mean, d.variance
d.mode
d.entropy(), d.perplexity()
d.sample(), d.sample((2, 3))
d.expand((4, *d.batch_shape)).sample()
d.log_prob(d.sample((3,)))
d.cdf(d.sample((3,)))
d.icdf(t.rand(d.batch_shape))
d.enumerate_support()
d.log_prob(t.full((1, *d.batch_shape, *d.event_shape), -0.5))
""".strip().splitlines()
DISTRIBUTIONS = [f"d = {family}; {asked}" for family in FAMILIES for asked in ASKED if asked[:5] + family[:7] != "d.cdfD.Gamma"]
DISTRIBUTIONS += [
    f"p = {family}; D.kl_divergence(p, p.expand((2, *p.batch_shape))), D.kl_divergence(p, D.Normal(0.0, 1.0))"
    for family in FAMILIES
    if "Bernoulli" not in family  # PyTorch refuses to broadcast these
]
DISTRIBUTIONS += """
D.normal.Normal(0.0, 1.0), D.kl.kl_divergence is D.kl_divergence, D.categorical.Categorical is D.Categorical, issubclass(D.Normal, D.Distribution)
d = D.Normal(w, w**2 + 1); s = d.rsample((4,)); (d.log_prob(s).sum() + D.kl_divergence(d, D.Normal(0.0, 1.0)).sum() + s.sum()).backward(); w.grad
d = D.Categorical(logits=x); a = d.sample(); (-(d.log_prob(a) * t.tensor([1.0, -2.0])).mean() - 0.01 * d.entropy().mean()).backward(); a, x.grad
d = D.Independent(D.TransformedDistribution(D.Normal(x, 1.0), D.TanhTransform()), 1); a = d.rsample(); (d.log_prob(a).sum() + a.sum()).backward(); x.grad
d = D.OneHotCategoricalStraightThrough(logits=x); (d.rsample() * w.detach()).sum().backward(); x.grad
d = D.RelaxedOneHotCategorical(0.5, logits=x); s = d.rsample(); (s * w.detach()).sum().backward(); x.grad
d = D.Bernoulli(logits=w); D.kl_divergence(d, D.Bernoulli(0.5 * t.ones(3).double())).sum().backward(); w.grad
d = D.MultivariateNormal(w, scale_tril=t.eye(3).double() * 2); s = d.rsample(); d.log_prob(s.detach()).backward(); w.grad
D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))
D.kl_divergence(D.Uniform(0.0, 1.0), D.Normal(0.0, 1.0))
D.kl_divergence(D.OneHotCategorical(t.ones(3)), D.Categorical(t.ones(3)))
D.Normal(0.0, -1.0)
D.Normal(t.tensor([1.0, 2.0]), t.tensor([1.0, -2.0]))
D.Normal("a", 1.0)
D.Normal(t.zeros(2), t.ones(3))
D.Normal(0.0, 1.0).log_prob(2.0)
D.Normal(0.0, 1.0).sample(3)
D.Bernoulli(1.5)
D.Bernoulli()
D.Bernoulli(0.5, 0.2)
D.Categorical()
D.Categorical(t.tensor(0.5))
D.Categorical(t.tensor([0.5, -0.1]))
D.Categorical(t.ones(3)).log_prob(t.tensor(3))
D.Categorical(t.ones(2, 3)).log_prob(t.zeros(3))
D.Uniform(1.0, 0.0)
D.Uniform(0.0, 1.0).log_prob(t.tensor(2.0))
D.Exponential(-1.0)
D.MultivariateNormal(t.zeros(2), -t.eye(2))
D.MultivariateNormal(t.zeros(2))
D.MultivariateNormal(t.zeros(2), t.eye(2), t.eye(2))
D.Independent(D.Normal(0.0, 1.0), 1)
D.Dirichlet(t.tensor(1.0))
D.Geometric(t.tensor([0.0, 0.5]))
D.Multinomial(3, t.ones(3)).log_prob(t.tensor([2.0, 2.0, 2.0]))
D.Multinomial(t.tensor(3), t.ones(3))
D.MixtureSameFamily(D.Categorical(t.ones(3)), D.Normal(t.zeros(2), t.ones(2)))
D.constraints.positive, D.constraints.real, D.constraints.simplex, D.constraints.unit_interval
D.Normal(0, 1).sample().dtype, D.Uniform(-1, 1).sample([3]), D.Normal(0.0, 1.0, validate_args=False).log_prob(t.tensor(0.3))
t.poisson(t.tensor([0.0, 0.5, 3.0, 9.9, 10.0, 50.0, 1000.0]).repeat(3))
""".strip().splitlines()

# m is a matrix of the shape asked for.
MATRICES = [f"m = t.tensor(np.random.default_rng(1).standard_normal({shape}), requires_grad=True); " for shape in (
    (3, 3), (2, 4), (4, 2), (2, 3, 3), (2, 2, 4))]  # fmt: skip
ON_MATRICES = """
o = t.linalg.qr(m); o.R, t.autograd.grad((o.Q**3).sum() + (o.R**3).sum(), m)
o = t.linalg.qr(m, mode="complete"); o.R, t.autograd.grad((o.Q**3).sum() + (o.R**3).sum(), m)
o = t.linalg.qr(m, "r"); o.R, t.autograd.grad((o.R**3).sum(), m)
o = t.linalg.svd(m); o.S, t.autograd.grad((o.U[..., : o.S.shape[-1]] @ t.diag_embed(o.S**2) @ o.Vh[..., : o.S.shape[-1], :]).sum(), m)
o = t.linalg.svd(m, full_matrices=False); o.S, t.autograd.grad((o.U @ t.diag_embed(o.S**2) @ o.Vh).sum(), m)
o = t.svd(m); o.S, o.V.shape, t.autograd.grad((o.U @ t.diag_embed(o.S**2) @ o.V.mT).sum(), m)
o = t.svd(m, some=False); o.U.shape, o.V.shape
o = t.svd(m, compute_uv=False); o.U, o.V, o.S
t.linalg.eigvalsh(m @ m.mT, UPLO="U"), t.linalg.cholesky(m @ m.mT + 5 * t.eye(m.shape[-2]).double(), upper=True)
L = t.linalg.cholesky(m @ m.mT + 5 * t.eye(m.shape[-2]).double()).detach().requires_grad_(); b = t.ones(m.shape[-2], 2).double().requires_grad_(); o = t.cholesky_solve(b, L); o, t.autograd.grad((o**2).sum(), (b, L))
L = t.linalg.cholesky(m @ m.mT + 5 * t.eye(m.shape[-2]).double()).detach().requires_grad_(); o = t.cholesky_inverse(L); o, t.autograd.grad((o**2).sum(), L)
L = t.linalg.cholesky(m @ m.mT + 5 * t.eye(m.shape[-2]).double()).mT; o = t.linalg.solve_triangular(L, t.ones(m.shape[-2], 2).double(), upper=True); o, t.autograd.grad((o**2).sum(), m)
L = t.linalg.cholesky(m @ m.mT + 5 * t.eye(m.shape[-2]).double()); o = t.linalg.solve_triangular(L, t.ones(m.shape[-2], m.shape[-2]).double(), upper=False, left=False); o, t.autograd.grad((o**2).sum(), m)
""".strip().splitlines()
LINALG = [make + asked for make in MATRICES for asked in ON_MATRICES]

AREAS: dict[str, list[str]] = {"distributions": DISTRIBUTIONS, "linalg": LINALG}


def space(library: str) -> dict[str, Any]:
    """What a program sees."""
    t = importlib.import_module(library)
    nn = importlib.import_module(f"{library}.nn")
    if "distributions" not in t.__dict__:
        importlib.import_module(f"{library}.distributions")
    t.manual_seed(0)
    numbers = np.random.default_rng(0).standard_normal(9)
    x = t.tensor(numbers[:6].reshape(2, 3), requires_grad=True)
    w = t.tensor(numbers[6:], requires_grad=True)
    return {"t": t, "F": nn.functional, "nn": nn, "D": t.distributions, "x": x, "w": w, "np": np, "math": math}


def plain(value: Any) -> Any:
    """A result as data: tensors as shape, type and numbers; other things as their text."""
    if hasattr(value, "detach"):
        array = value.detach().numpy()
        kind = str(value.dtype).rpartition(".")[2]
        return [kind, list(array.shape), [float(v) for v in np.asarray(array, np.float64).ravel()], value.requires_grad]
    if isinstance(value, (tuple, list)) and type(value).__name__ != "Size":
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return {"text": repr(value).replace("minigrad", "torch")}


def run(library: str, program: str) -> Any:
    """The result of a program as data; of one that raises, the error's type and text."""
    names = space(library)
    *statements, last = program.split("; ")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(statements), names)
            return plain(eval(last, names))
    except Exception as error:  # whatever it is, it is the result
        return {"error": f"{type(error).__name__}: {error}".replace("minigrad.", "torch.")}
