"""Short programs for two libraries, by area: their results are recorded from PyTorch, and compared.

A program is statements and a last expression, parted by `;`. It sees `t` (the library), `F`, `nn`, `D` (distributions)
and the tensors x (2, 3) and w (3,), of float64, which want gradients; random numbers start at seed 0.
"""

# ruff: noqa: E501 (programs as they are)

from __future__ import annotations

import collections
import copy
import importlib
import io
import math
import warnings
from typing import Any

import numpy as np

FAMILIES = """
D.Normal(t.tensor([0.5, -1.0]), t.tensor([1.0, 2.5]))
D.Normal(0.0, 1.0)
D.LogNormal(t.tensor([0.5, -1.0]), t.tensor([1.0, 0.5]))
D.Chi2(t.tensor([0.5, 3.0]))
D.StudentT(t.tensor([0.7, 1.5, 5.0]), t.tensor(1.0), t.tensor(2.0))
D.HalfCauchy(t.tensor([0.5, 3.0]))
D.Pareto(t.tensor([0.5, 1.0]), t.tensor([2.5, 0.7]))
D.Weibull(t.tensor([0.5, 1.0]), t.tensor([2.5, 0.7]))
D.InverseGamma(t.tensor([0.5, 3.0]), t.tensor([2.0, 0.7]))
D.NegativeBinomial(5, t.tensor([0.3, 0.9]))
D.NegativeBinomial(t.tensor([2.0, 7.0]), logits=t.tensor([0.3, -0.9]))
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

SAVING = r"""
net = nn.Sequential(nn.Linear(2,3),nn.ReLU(),nn.Linear(3,1)); net.load_state_dict({})
net = nn.Sequential(nn.Linear(2,3),nn.Linear(3,1)); sd=net.state_dict(); sd['foo']=t.ones(1); net.load_state_dict(sd)
net = nn.Sequential(nn.Linear(2,3),nn.Linear(3,1)); sd=net.state_dict(); sd['foo']=t.ones(1); del sd['0.bias']; r=net.load_state_dict(sd,strict=False); r, r.missing_keys, r.unexpected_keys
net = nn.Sequential(nn.Linear(2,3),nn.Linear(3,1)); sd=net.state_dict(); sd['0.weight']=t.ones(5,2); sd['0.bias']=t.ones(5); net.load_state_dict(sd)
net = nn.Sequential(nn.Linear(2,3),nn.Linear(3,1)); sd=net.state_dict(); sd['0.weight']=t.ones(5,2); del sd['1.bias']; sd['x']=1; net.load_state_dict(sd)
net = nn.Linear(2,3); net.load_state_dict({'weight':np.ones((3,2)),'bias':t.ones(3)})
net = nn.Linear(2,3); net.load_state_dict({'weight':[1,2],'bias':t.ones(3)})
net = nn.Linear(2,3); net.load_state_dict([1,2])
net = nn.Linear(2,3); net.load_state_dict(None)
net = nn.Linear(2,3); net.load_state_dict({'weight':t.ones(3,2).double(),'bias':t.ones(3)}); net.weight.dtype, net.weight.requires_grad, net.weight.is_leaf
net = nn.Linear(2,3); r=net.load_state_dict(net.state_dict()); r
net = nn.BatchNorm1d(3); net.load_state_dict({'weight':t.ones(3)})
net = nn.BatchNorm1d(3); list(net.state_dict()), net.state_dict()['num_batches_tracked'].dtype
net = nn.BatchNorm1d(3); sd=net.state_dict(); sd.pop('num_batches_tracked'); net.load_state_dict(sd)
net = nn.BatchNorm1d(3,affine=False,track_running_stats=False); net.state_dict()
net = nn.Linear(2,3); net.state_dict(prefix='a.')
net = nn.Linear(2,3); list(net.state_dict(keep_vars=True).values())[0].requires_grad
net = nn.Linear(2,3); d={}; list(net.state_dict(destination=collections.OrderedDict(),prefix='m.'))
net = nn.Linear(2,3); net.state_dict()._metadata
net = nn.Sequential(nn.Linear(2,3),nn.BatchNorm1d(3)); net.state_dict()._metadata
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',t.ones(2)); m.register_buffer('b',t.ones(2),persistent=False); list(m.state_dict()), [n for n,_ in m.named_buffers()], m.load_state_dict({'a':t.zeros(2)}), m.a
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',t.ones(2)); m.register_buffer('b',t.ones(2),persistent=False); m.load_state_dict({'a':t.zeros(2),'b':t.zeros(2)})
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',None); m.state_dict(), m.a
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',t.ones(2)); m.register_buffer('a.b',t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('',t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',3)
M=type('M',(nn.Module,),{}); m=M(); m.a=3; m.register_buffer('a',t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer(3,t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.register_buffer('a',t.ones(2)); setattr(m, "a", 3)
M=type('M',(nn.Module,),{}); m=M(); m.register_parameter('a',t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.register_parameter('a',nn.Parameter(t.ones(2))*2)
M=type('M',(nn.Module,),{}); m=M(); m.register_parameter('a.b',nn.Parameter(t.ones(2)))
M=type('M',(nn.Module,),{}); m=M(); m.a=nn.Parameter(t.ones(2)); setattr(m, "a", t.ones(2))
M=type('M',(nn.Module,),{}); m=M(); m.a=nn.Linear(1,1); setattr(m, "a", 3)
M=type('M',(nn.Module,),{}); m=M(); m.add_module('a',3)
M=type('M',(nn.Module,),{}); m=M(); m.add_module('a.b',nn.Linear(1,1))
M=type('M',(nn.Module,),{}); m=M(); m.add_module('train',nn.Linear(1,1))
net=nn.Sequential(nn.Linear(1,1)); net.get_submodule('0'), net.get_submodule('3')
net=nn.Sequential(nn.Linear(1,1)); net.get_parameter('0.weight').shape, net.get_parameter('0.x')
net=nn.Sequential(nn.Linear(1,1)); net.get_buffer('0.weight')
net=nn.Sequential(collections.OrderedDict(a=nn.Linear(2,2),b=nn.Sequential(nn.Linear(2,1)))); sd=net.state_dict(); list(sd), net.load_state_dict({k.replace('b.','c.'):v for k,v in sd.items()})
net=nn.ModuleList([nn.Linear(1,2),nn.ModuleDict({'q':nn.Linear(1,1)})]); list(net.state_dict())
net=nn.ParameterList([nn.Parameter(t.ones(2)),t.ones(3)]); list(net.state_dict()), net.load_state_dict({'0':t.ones(3)},strict=False)
net=nn.Linear(2,2); f=io.BytesIO(); t.save(net.state_dict(),f); f.seek(0); sd=t.load(f); list(sd), type(sd).__name__, net.load_state_dict(sd)
net=nn.Linear(2,2); net2=copy.deepcopy(net); net2.weight.data.fill_(0); (net.weight==0).any()
net=nn.Linear(2,2); sd=net.state_dict(); sd['weight'].zero_(); net.weight
net=nn.Linear(2,2); net.load_state_dict({k:t.ones_like(v) for k,v in net.state_dict().items()},assign=True); net.weight, type(net.weight).__name__
net=nn.Linear(2,2); net.load_state_dict({'weight':t.ones(2,2,dtype=t.int64),'bias':t.ones(2)}); net.weight
net=nn.Linear(2,2,bias=False); net.load_state_dict({'weight':t.ones(2,2),'bias':t.ones(2)})
net=nn.Embedding(3,2); net.load_state_dict({'weight':t.ones(4,2)})
net=nn.LSTM(2,3,num_layers=2,bidirectional=True); list(net.state_dict())
net=nn.MultiheadAttention(4,2); list(net.state_dict())
net=nn.TransformerEncoderLayer(4,2,8); list(net.state_dict())
net=nn.Linear(2,2); net.load_state_dict({'weight':t.ones(4),'bias':t.ones(2)})
net=nn.Linear(2,2); net.load_state_dict({'weight':t.ones(()),'bias':t.ones(2)})
p=[nn.Parameter(t.ones(2)),nn.Parameter(t.ones(3))]; o=optim.Adam(p,lr=.1); o.state_dict()
p=[nn.Parameter(t.ones(2)),nn.Parameter(t.ones(3))]; o=optim.SGD([{'params':[p[0]]},{'params':[p[1]],'lr':1.}],lr=.1,momentum=.9); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Adam(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.AdamW(p,lr=.1,amsgrad=True); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1,momentum=.9); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.RMSprop(p,lr=.1,centered=True,momentum=.5); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Adagrad(p,lr=.1); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Adadelta(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Adamax(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.NAdam(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.RAdam(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Rprop(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.ASGD(p,lr=.1); p[0].grad=t.ones(2); o.step(); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.LBFGS(p,lr=.1); o.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.Adam(p,lr=.1); o.load_state_dict({'state':{},'param_groups':[]})
p=[nn.Parameter(t.ones(2))]; o=optim.Adam(p,lr=.1); o2=optim.Adam([nn.Parameter(t.ones(2)),nn.Parameter(t.ones(2))],lr=.1); o.load_state_dict(o2.state_dict())
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); sd=o.state_dict(); sd['param_groups'][0]['lr']=5.; o.load_state_dict(sd); o.param_groups[0]['lr'], o
p=[nn.Parameter(t.ones(2))]; o=optim.Adam(p,lr=.1); o.load_state_dict({})
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.OneCycleLR(o,.1,total_steps=10); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.StepLR(o,2); o.state_dict(), s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.CosineAnnealingLR(o,2); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.ReduceLROnPlateau(o); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.LambdaLR(o,lambda e:.5); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.MultiStepLR(o,[2,3,3]); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.CyclicLR(o,.1,.2); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.SequentialLR(o,[optim.lr_scheduler.ConstantLR(o),optim.lr_scheduler.ExponentialLR(o,.9)],[2]); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.CosineAnnealingWarmRestarts(o,2); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.LinearLR(o); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); s=optim.lr_scheduler.PolynomialLR(o); s.state_dict()
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); o.add_param_group({'params':p})
p=[nn.Parameter(t.ones(2))]; o=optim.SGD(p,lr=.1); o.add_param_group([1])
net=nn.Linear(2,2); o=optim.SGD(net.named_parameters(),lr=.1); o.state_dict()
net=nn.Linear(2,2); net.load_state_dict({'weight':t.ones(2,2),'bias':t.ones(2)},strict=False,foo=1)
net=nn.Linear(2,2); net.requires_grad_(False); net.load_state_dict({'weight':t.ones(2,2),'bias':t.ones(2)}); net.weight
t.load('/nonexistent/x.pt')
f=io.BytesIO(); t.save({'a':t.arange(3),'b':[t.ones(2),1,'x']},f); f.seek(0); t.load(f)
f=io.BytesIO(); t.save(nn.Linear(1,1),f); f.seek(0); type(t.load(f,weights_only=False)).__name__
f=io.BytesIO(); x=t.ones(2,requires_grad=True); t.save(x,f); f.seek(0); t.load(f)
f=io.BytesIO(); x=t.ones(2); t.save([x,x],f); f.seek(0); y=t.load(f); y[0].add_(1); y[1]
""".strip().splitlines()

GRIDS = [
    f"im = t.tensor(np.random.default_rng(1).standard_normal((2, 3, 4, 5)), requires_grad=True); "
    f"g = t.tensor(np.random.default_rng(2).uniform(-1.7, 1.7, (2, 3, 2, 2)), requires_grad=True); "
    f"o = F.grid_sample(im, g, {mode!r}, {outside!r}, {align}); o, t.autograd.grad((o**2).sum(), (im, g))"
    for mode in ("bilinear", "nearest")
    for outside in ("zeros", "border", "reflection")
    for align in (True, False)
]
GRIDS += """
im = t.arange(48.0).reshape(1, 2, 2, 3, 4); g = t.tensor(np.random.default_rng(2).uniform(-1.2, 1.2, (1, 2, 2, 2, 3)).astype("float32")); F.grid_sample(im, g, align_corners=False), F.grid_sample(im, g, mode="nearest", align_corners=True)
th = t.tensor([[[1.0, 0.2, 0.1], [-0.3, 0.9, 0.0]]], requires_grad=True); o = F.affine_grid(th, (1, 2, 3, 4), align_corners=False); o, t.autograd.grad((o**2).sum(), th)
F.affine_grid(t.eye(2, 3).unsqueeze(0), (1, 1, 3, 1), align_corners=True)
F.affine_grid(t.eye(3, 4).unsqueeze(0), (1, 1, 2, 3, 2), align_corners=False)
F.affine_grid(t.eye(2, 3), (1, 1, 3, 1))
F.affine_grid(t.ones(1, 2, 3).long(), (1, 1, 3, 3))
F.grid_sample(t.ones(1, 1, 2, 2), t.ones(2, 1, 1, 2))
F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 3))
F.grid_sample(t.ones(1, 2, 2), t.ones(1, 1, 1, 2))
F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), mode="cubic")
F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), padding_mode="wrap")
""".strip().splitlines()

REWEIGHTED = """
P = nn.utils.parametrizations; l = P.weight_norm(nn.Linear(3, 2)); o = l(t.ones(1, 3)); o.sum().backward(); repr(l), list(l.state_dict()), o, l.parametrizations.weight.original0.grad, l.parametrizations.weight.original1.grad
P = nn.utils.parametrizations; l = P.weight_norm(nn.Conv2d(2, 3, 3), dim=None); l.weight
P = nn.utils.parametrizations; l = P.spectral_norm(nn.Linear(3, 4)); o = l(t.ones(1, 3)); o.sum().backward(); repr(l), list(l.state_dict()), o, l.parametrizations.weight.original.grad, l.weight
P = nn.utils.parametrizations; l = P.spectral_norm(nn.Conv2d(2, 3, 3)).eval(); l.weight, l.weight
P = nn.utils.parametrizations; l = P.spectral_norm(nn.ConvTranspose2d(2, 3, 3), n_power_iterations=2); l.weight
P = nn.utils.parametrizations; P.spectral_norm(nn.Linear(2, 2), name="foo")
l = nn.utils.weight_norm(nn.Linear(3, 2)); o = l(t.ones(1, 3)); o.sum().backward(); list(l.state_dict()), o, l.weight_g.grad, l.weight_v.grad
l = nn.utils.weight_norm(nn.Linear(3, 2)); l.weight_g.data.mul_(2); l = nn.utils.remove_weight_norm(l); list(l.state_dict()), l.weight
nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(3, 2)))
nn.utils.remove_weight_norm(nn.Linear(3, 2))
l = nn.utils.spectral_norm(nn.Linear(3, 2)); o = l(t.ones(1, 3)); o.sum().backward(); list(l.state_dict()), o, l.weight_orig.grad
l = nn.utils.spectral_norm(nn.Linear(3, 2)); o = l(t.ones(1, 3)); l = nn.utils.remove_spectral_norm(l); list(l.state_dict()), l.weight
nn.utils.remove_spectral_norm(nn.Linear(3, 2))
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v.triu() + v.triu(1).transpose(-1, -2)}); l = nn.Linear(3, 3); r = Z.register_parametrization(l, "weight", S()) is l; r, l.weight, Z.is_parametrized(l), Z.is_parametrized(l, "bias"), repr(l), [n for n, _ in l.named_parameters()]
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v.exp(), "right_inverse": lambda self, v: v.log()}); l = nn.Linear(2, 2); l.weight.data.abs_(); r = Z.register_parametrization(l, "weight", S()); l.weight = t.ones(2, 2) * 2; l.weight, l.parametrizations.weight.original
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v * 2}); l = nn.Linear(2, 2); r = Z.register_parametrization(l, "weight", S()); r = Z.register_parametrization(l, "weight", S()); w1 = l.weight; r = Z.remove_parametrizations(l, "weight"); w1, l.weight, type(l).__name__, list(l.state_dict())
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v * 2}); l = nn.Linear(2, 2); r = Z.register_parametrization(l, "weight", S()); r = Z.remove_parametrizations(l, "weight", leave_parametrized=False); l.weight
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v * 2}); l = nn.Linear(2, 2); Z.register_parametrization(l, "foo", S())
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v.sum()}); l = nn.Linear(2, 2); Z.register_parametrization(l, "weight", S())
Z = nn.utils.parametrize; Z.remove_parametrizations(nn.Linear(2, 2), "weight")
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v * 2}); l = nn.Linear(2, 2); r = Z.register_parametrization(l, "weight", S()); setattr(l, "weight", t.ones(2, 2))
l = nn.Linear(2, 1); del l.weight; l.weight = t.ones(1, 2); l(t.ones(1, 2)), list(l.state_dict())
l = nn.DataParallel(nn.Linear(2, 1)); repr(l), list(l.state_dict()), l(t.ones(1, 2)), l.module.weight
""".strip().splitlines()

CLOSE = """
t.testing.assert_close(t.ones(2), t.ones(2))
t.testing.assert_close(t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 2.5, 3.0]))
t.testing.assert_close(t.tensor([[1.0, 2.0], [3.0, 4.1]]), t.tensor([[1.0, 2.0], [3.0, 4.0]]), rtol=0.01, atol=0.0)
t.testing.assert_close(t.tensor([1, 2]), t.tensor([1, 3]))
t.testing.assert_close(t.tensor(1.0), t.tensor(2.0))
t.testing.assert_close(1.0, 1.5)
t.testing.assert_close(1, 2)
t.testing.assert_close(t.ones(2), t.ones(3))
t.testing.assert_close(t.ones(2), t.ones(2).double())
t.testing.assert_close(t.ones(2), t.ones(2).double(), check_dtype=False)
t.testing.assert_close(t.ones(2).long(), t.ones(2))
t.testing.assert_close(t.ones(2), t.ones(2) * 2, msg="mine")
t.testing.assert_close(t.ones(2), t.ones(2) * 2, msg=lambda m: "before: " + m)
t.testing.assert_close(t.ones(2), t.ones(2) * 2, rtol=0, atol=0)
t.testing.assert_close(t.ones(2), t.ones(2) * 2, rtol=0.1)
t.testing.assert_close(t.tensor([math.nan]), t.tensor([math.nan]))
t.testing.assert_close(t.tensor([math.nan]), t.tensor([math.nan]), equal_nan=True)
t.testing.assert_close([t.ones(2), t.zeros(1)], [t.ones(2), t.ones(1)])
t.testing.assert_close([t.ones(2)], [t.ones(2), t.ones(1)])
t.testing.assert_close({"a": t.ones(1)}, {"a": t.zeros(1)})
t.testing.assert_close({"a": t.ones(1)}, {"b": t.zeros(1)})
t.testing.assert_close("a", "a")
t.testing.assert_close(t.ones(1), 1.0)
t.testing.assert_close(np.ones(2), np.ones(2) * 2)
t.testing.assert_close(t.tensor([True]), t.tensor([False]))
""".strip().splitlines()

CORNERS = """
F.avg_pool2d(t.ones(1, 1, 4, 4), 2, padding=(1, 1, 1))
F.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=(1, 1, 1))
F.max_pool2d(t.ones(1, 1, 4, 4), (2, 2, 2))
F.max_pool2d(t.ones(1, 1, 4, 4), 2, (1, 1, 1))
F.avg_pool3d(t.ones(1, 1, 4, 4, 4), (2, 2))
F.avg_pool3d(t.ones(1, 1, 4, 4, 4), 2, padding=(1, 1))
F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), padding=(1, 1, 1))
F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), stride=(1, 1, 1))
F.conv_transpose2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), padding=(1, 1, 1))
F.conv1d(t.ones(1, 1, 4), t.ones(1, 1, 2), dilation=(1, 2))
t.cummax(t.tensor(1.0), 1)
t.cummin(t.tensor(1.0), -2)
t.einsum("...i...->...", t.ones(2, 3))
t.linspace(0, 1, 3, dtype=t.bool)
t.linspace(4.3, -3, 50, dtype=t.int64), t.linspace(-7, 31, 13, dtype=t.int32)
[v.hex() for v in t.linspace(-8.3, 3.7, 23).tolist() + t.linspace(0.1, 0.7, 20, dtype=t.float64).tolist()], t.linspace(3, 5, 1)
t.gradient(t.arange(5.0) ** 2, edge_order=2)
t.gradient(t.tensor([-8, 6, 9, 0, 0])), t.gradient(t.tensor([-8, 6, 9, 0, 0]), spacing=(t.tensor([0, 1, 3, 4, 9]),), edge_order=2)
t.gradient(x**2, spacing=(t.tensor([0.0, 1.0]).double(), t.tensor([0.0, 1.0, 3.0]).double()))
o = t.gradient(x**2); t.autograd.grad(sum((g**2).sum() for g in o), x)
t.zeros(2, 3, 10).scatter(1, t.zeros(3, 4, 5).long(), t.ones(10, 10, 10))
t.zeros(2, 3).scatter(0, t.zeros(3, 4).long(), t.ones(3, 3))
x.unfold(1, 2, -1)
x.unfold(1, 2, 0)
x.chunk(0)
t.logit(t.tensor([0.2, 0.99]), 0.1)
t.meshgrid(t.ones(2), t.ones(3).long(), indexing="ij")
t.quantile(w, t.ones(2, 2) / 2)
t.inner(t.ones(3), t.ones(3).long())
t.take(w, t.ones(2))
t.cartesian_prod(t.ones(2, 2))
t.combinations(t.ones(2, 2))
t.addr(t.ones(2, 2).bool(), t.ones(2).bool(), t.ones(2).bool()).dtype
t.ones(2, 3).bool().sum_to_size(1, 3).dtype
o = t.cdist(x, x.detach()); t.autograd.grad(o.sum(), x)
o = t.cdist(x, t.ones(0, 3).double()); t.autograd.grad(o.sum(), x, allow_unused=True)
t.nextafter(t.tensor(1.0), t.tensor(2.0))
F.cross_entropy(t.ones(2, 3), t.ones(2, 2))
F.cross_entropy(t.ones(2, 3), t.ones(2, 3, 1))
F.cross_entropy(t.ones(2, 3), t.ones(2))
t.fill(t.ones(2), t.ones(2))
t.cross(t.ones(3), t.ones(2, 3))
t.trapezoid(t.ones(0))
t.result_type(t.ones(1), 1.0)
t.einsum("ij,jk", [x, x.T]).shape
t.gradient(w**2)
t.gradient(x, spacing=2.0, dim=1)
""".strip().splitlines()

STUDENT = """
(x.sum(1, keepdims=True), x.mean(axis=0, keepdims=True), t.sum(x, 0, keepdims=True), x.std(0, keepdims=True), x.max(1, keepdims=True)[0])
(*t.histogram(t.tensor([1.0, 2, 1, 3.5, 4]), 5), *t.histogram(t.tensor([1.0, 2, 1, 3.5, 4]), t.tensor([0.0, 1, 2.5, 4])))
tuple(t.histogram(t.tensor([1.0, 2, 1]), bins=4, range=(0.0, 3.0), weight=t.tensor([1.0, 2, 4]), density=True))
t.histogram(t.tensor([1.0, 1, 1]), 3, density=True)
t.histogram(t.tensor([1, 2]), 3)
tuple(t.histogram(t.arange(7.0), density=True))
t.histogram(t.tensor([1.0, float('nan')]), 3)
(t.strided, x.layout, t.contiguous_format, t.preserve_format, x.is_contiguous(memory_format=t.contiguous_format), x.mT.contiguous(memory_format=t.contiguous_format))
repr(t.Generator()).partition(' at ')[0]
nn.init.xavier_normal(t.empty(2, 3)), nn.init.uniform(t.empty(2)), nn.init.constant(t.empty(2), 3.0)
t.set_default_tensor_type(t.DoubleTensor); a = t.ones(2); t.set_default_tensor_type('torch.FloatTensor'); (a, t.ones(1))
t.set_default_tensor_type('torch.FooTensor')
t.bfloat16, t.complex64, isinstance(t.bfloat16, t.dtype), x.dtype == t.bfloat16, t.bfloat16.is_floating_point, t.bfloat16.is_complex, t.cfloat.is_complex
m = nn.Linear(2, 2); m.share_memory() is m, m.compile(), [p.shape for p in m.to_empty(device='cpu').parameters()]
p, b = t.func.stack_module_state([nn.BatchNorm1d(2), nn.BatchNorm1d(2)]); p, b, [v.is_leaf for v in p.values()]
t.func.stack_module_state([nn.Linear(2, 2), nn.Linear(2, 2).eval()])
t.func.stack_module_state([])
a = nn.Linear(4, 3); b = nn.LazyLinear(3); b.load_state_dict(a.state_dict()); l = b(t.ones(1, 4)) - a(t.ones(1, 4)); l, b, list(nn.LazyLinear(2).state_dict())
a = nn.Conv2d(2, 3, 2); b = nn.LazyConv2d(3, 2); b.load_state_dict(a.state_dict()); b(t.ones(1, 2, 2, 2)) - a(t.ones(1, 2, 2, 2)), b.weight - a.weight
a = nn.BatchNorm1d(2); a(t.tensor([[1.0, 2], [3, 5]])); b = nn.LazyBatchNorm1d(); b.load_state_dict(a.state_dict()); b.eval()(t.ones(1, 2)), b.state_dict()
warnings.simplefilter('error'); nn.LazyLinear(3), nn.LazyConv2d(3, 2), nn.LazyBatchNorm1d()
m = nn.GRU(2, 3, 2, bidirectional=True); m._flat_weights_names, [[tuple(p.shape) for p in l] for l in m.all_weights], [len(l) for l in nn.RNN(2, 3, bias=False).all_weights]
context = t.inference_mode(); context.__enter__(); y = t.arange(80.0); context.__exit__(None, None, None); [len(list(y)) for _ in range(3)], y.is_inference()
context = t.inference_mode(); context.__enter__(); y = t.ones(3); z = y[1:]; context.__exit__(None, None, None); z.add_(1)
context = t.inference_mode(); context.__enter__(); y = t.ones(3); z = [y[1:] for _ in range(70)][-1]; y.add_(1); context.__exit__(None, None, None); z.clone(), y * 2
t.arange(-8.0, 8.0, 0.1), t.arange(0, 3, 0.1, dtype=t.float64), t.arange(1.0, -1, -0.05), t.arange(-8.0, 8.0, 0.1)[80].sign()
c = t.zeros(2, 2); d = t.rand(2, 2, out=c); c, d is c, t.ones(2, out=t.empty(2, dtype=t.int64)), t.arange(3, out=t.empty(3)), t.randn(2, out=t.empty(2))
(t.cat([x, x], axis=1), t.stack([x, x], axis=1))
m = nn.LazyLinear(3); m.weight.data.normal_(0, 0.01); m.bias.data.fill_(0); m(t.ones(1, 2)), m.weight.data, t.rand(1)
nn.LayerNorm(3)(x)
nn.BatchNorm1d(4)(t.ones(2, 3))
F.batch_norm(t.ones(2, 3), None, None, t.ones(4), training=True)
nn.GroupNorm(1, 4)(t.ones(2, 3))
F.layer_norm(t.ones(2, 3), (3,), t.ones(4))
F.layer_norm(t.ones(2, 3), (3,), t.ones(3), t.ones(1, 3))
nn.LayerNorm(3).double()(t.ones(2, 3))
nn.LayerNorm(3)(t.ones(2, 3, dtype=t.int64))
nn.BatchNorm1d(3)(x)
nn.BatchNorm1d(3).double().eval()(t.ones(2, 3))
nn.GroupNorm(1, 3)(x)
nn.PReLU()(x)
nn.GRU(3, 2)(x)
nn.LSTM(3, 2)(t.ones(2, 3, dtype=t.int64))
F.cross_entropy(t.ones(2, 3), t.tensor([0, 1]), weight=w.detach())
F.nll_loss(x, t.tensor([0, 1]), weight=t.ones(3))
t.addmm(x, t.ones(2, 2), t.ones(2, 3))
t.cdist(x, t.ones(2, 3))
t.zeros(3).index_put_((t.tensor([0]),), t.ones(1, dtype=t.float64))
t.zeros(2).masked_scatter(t.tensor([True, False]), t.ones(1, dtype=t.float64))
P = type('P', (nn.Module,), {'forward': lambda s, x: x * 3, 'right_inverse': lambda s, x: x / 3}); m = nn.Linear(2, 2); k = nn.utils.parametrize.register_parametrization; k(m, 'weight', P()); k(m, 'weight', P()); a = m.parametrizations.weight.original.clone(); m.weight = t.ones(2, 2); a, m.weight, m.parametrizations.weight.original
P = type('P', (nn.Module,), {'forward': lambda s, x: x}); Q = type('Q', (nn.Module,), {'forward': lambda s, x: x[:1]}); m = nn.Linear(2, 2); k = nn.utils.parametrize.register_parametrization; k(m, 'weight', P()); k(m, 'weight', Q())
P = type('P', (nn.Module,), {'forward': lambda s, x: x}); Q = type('Q', (nn.Module,), {'forward': lambda s, x: x.double()}); m = nn.Linear(2, 2); k = nn.utils.parametrize.register_parametrization; k(m, 'weight', P()); k(m, 'weight', Q())
l = nn.Conv2d(1, 4, 4, 2, 1); y = l(a := t.ones(2, 1, 6, 6, requires_grad=True)); g, = t.autograd.grad(y.sum(), a, create_graph=True); p = ((g.view(2, -1).norm(2, dim=1) - 1) ** 2).mean(); p.backward(); g.stride(), p, l.weight.grad
y = nn.ConvTranspose2d(2, 3, 4, 2, 1)(t.ones(1, 2, 3, 3)); y.stride(), y.view(1, -1)
optim.lr_scheduler._LRScheduler.__mro__[1].__name__, optim.lr_scheduler._LRScheduler.__name__
""".strip().splitlines()
# `class M(nn.Module)` in one line, and a list that hooks write into
TWO = "calls = []; m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)); "
STEPS = "calls = []; p = t.ones(2, requires_grad=True); o = optim.SGD([p], lr=0.1, momentum=0.9); "
HOOKED = [
    *(TWO + line for line in """
m[0].register_state_dict_pre_hook(lambda *a: calls.append(a[1:])); m.state_dict(); calls
m[0].register_state_dict_post_hook(lambda m, s, p, l: calls.append((list(s), p, dict(l)))); m.state_dict(); calls
m[0].register_state_dict_post_hook(lambda m, s, p, l: s); m.state_dict()
m._register_state_dict_hook(lambda m, s, p, l: {'only': 1}); m.state_dict()
m[1].register_load_state_dict_pre_hook(lambda m, s, p, l, *rest: calls.append((type(m).__name__, sorted(s), p, l, rest))); m.load_state_dict(m.state_dict()); calls
m[1]._register_load_state_dict_pre_hook(lambda s, p, *rest: s.__setitem__('1.bias', s.pop('1.shift'))); s = m.state_dict(); s['1.shift'] = s.pop('1.bias') + 5; m.load_state_dict(s); m[1].bias, '1.shift' in s
m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear()); m.load_state_dict(m[:1].state_dict())
m.register_load_state_dict_post_hook(lambda m, keys: keys); m.load_state_dict(m.state_dict())
h = m[1].register_load_state_dict_pre_hook(lambda *a: calls.append(1)); c = copy.deepcopy(m); h.remove(); m.load_state_dict(m.state_dict()); n = len(calls); c.load_state_dict(m.state_dict()); n, len(calls)
m.scale = nn.Parameter(t.tensor(2.0)); s = m.state_dict(); s['scale'] = t.tensor([3.0]); m.load_state_dict(s), m.scale
""".strip().splitlines()),
    *(STEPS + line for line in """
o.register_state_dict_pre_hook(lambda o: calls.append('before')); o.register_state_dict_post_hook(lambda o, s: {**s, 'more': 1}); o.state_dict(), calls
o.register_state_dict_post_hook(lambda o, s: calls.append(1)); o.register_state_dict_post_hook(lambda o, s: calls.append(0), prepend=True); o.state_dict(), calls
o.register_load_state_dict_pre_hook(lambda o, s: s['param_groups'][0].update(lr=0.5)); s = o.state_dict(); o.load_state_dict(s); o.param_groups[0]['lr'], s['param_groups'][0]['lr']
o.register_load_state_dict_pre_hook(lambda o, s: {**s, 'param_groups': []}); o.load_state_dict(o.state_dict())
h = o.register_load_state_dict_post_hook(lambda o: calls.append('after')); o.load_state_dict(o.state_dict()); h.remove(); o.load_state_dict(o.state_dict()); calls
s = o.state_dict(); s['param_groups'][0].pop('maximize'); s['param_groups'][0].pop('nesterov'); o.load_state_dict(s); p.sum().backward(); o.step(); p
a = optim.AdamW([p]); s = a.state_dict(); k = s['param_groups'][0].pop('decoupled_weight_decay'); a.load_state_dict(s); p.sum().backward(); a.step(); p, k
""".strip().splitlines()),
    *"""
F = type('F', (t.autograd.Function,), {'forward': staticmethod(lambda c, a, b: (c.mark_non_differentiable(b), (a, b))[1]), 'backward': staticmethod(lambda c, g, h: (g, None))}); a, b = F.apply(x * 1, w.detach()); b.add_(1)
F = type('F', (t.autograd.Function,), {'forward': staticmethod(lambda c, a, b: (c.mark_non_differentiable(b), (a, b))[1]), 'backward': staticmethod(lambda c, g, h: (g, None))}); a, b = F.apply(x * 1, w.detach()); a.add_(1)
F = type('F', (t.autograd.Function,), {'forward': staticmethod(lambda c, a: (a,)), 'backward': staticmethod(lambda c, g: g)}); a, = F.apply(x * 1); a.add_(1)
M = type('M', (nn.Module,), {'forward': lambda m, a, b: (m.seen.append(b.requires_grad), a * b)[1]}); m = M(); m.seen = []; m.register_full_backward_hook(lambda m, i, o: m.seen.append((i, o))); m(x, w.detach()).sum().backward(); m.seen
M = type('M', (nn.Module,), {'forward': lambda m, a: a.add_(1)}); m = M(); m.register_full_backward_hook(lambda *a: None); m(x * 1)
P = collections.namedtuple('P', 'a b'); M = type('M', (nn.Module,), {'forward': lambda m, a: P(a, a * 2)}); m = M(); m.register_full_backward_hook(lambda *a: None); y = m(x); y._fields, y.b
""".strip().splitlines(),
]
LOADED = ["U = t.utils.data; " + line for line in """
D = U.StackDataset(range(4), U.TensorDataset(t.arange(4))); len(D), D[1], D.__getitems__([2, 0]), list(U.DataLoader(D, 3))
D = U.StackDataset(a=range(4), b='abcd'); D[3], list(U.DataLoader(D, 3))
U.StackDataset(range(4), range(3))
U.StackDataset(range(4), a=range(4))
U.StackDataset()
I = type('I', (U.IterableDataset,), {'__iter__': lambda s: iter(range(3)), '__len__': lambda s: 3}); c = I() + I(); type(c).__name__, len(c), list(U.DataLoader(c, 4))
I = type('I', (U.IterableDataset,), {'__iter__': lambda s: iter(range(3))}); U.ConcatDataset([range(3), I()])
I = type('I', (U.IterableDataset,), {'__iter__': lambda s: iter(range(3))}); U.DataLoader(I(), sampler=[2, 1])
I = type('I', (U.IterableDataset,), {'__iter__': lambda s: iter(range(3))}); U.DataLoader(I(), batch_sampler=[[2, 1]])
list(U.ChainDataset([range(3)]))
L = U.DataLoader(range(3)); setattr(L, "batch_size", 2)
L = U.DataLoader(range(3)); setattr(L, "dataset", 2)
B = type('B', (U.Dataset,), {'__len__': lambda s: 4, '__getitems__': lambda s, i: [10 * k for k in i]}); list(U.DataLoader(B(), 3))
B = type('B', (U.Dataset,), {'__len__': lambda s: 4, '__getitems__': lambda s, i: [10 * k for k in i]}); list(U.DataLoader(U.Subset(B(), [3, 1, 0]), 2))
s = U.WeightedRandomSampler([0.1, 0.9, 0.5], 5); i = iter(s); t.manual_seed(3); list(i)
d = collections.OrderedDict(a=t.tensor(1), b=2.0); c = U.default_collate([d, d]); type(c).__name__, c
C = type('C', (list,), {}); c = U.default_collate([C([1, 2.0]), C([3, 4.0])]); type(c).__name__, c
U.default_collate([(1, 'a'), (2, 'b')])
P = collections.namedtuple('P', 'x y'); c = U.default_collate([P(1, 2.0), P(3, 4.0)]); c._fields, c.x, c.y
U.default_collate([np.array(['a', 'b']), np.array(['c', 'd'])])
U.default_collate([np.array([object()]), np.array([object()])])
U.default_collate([range(3), range(3)])
U.default_collate([[1, 2], [3]])
U.default_collate([None, None])
U.default_collate([np.float32(1.5), np.float32(2.5)])
U.default_collate([np.bool_(True), np.bool_(False)])
U.default_convert({'a': np.ones(2), 'b': [np.float64(2.0), 'x', (np.int32(3), None)]})
P = collections.namedtuple('P', 'x y'); U.default_convert(P(np.ones(1), 3)).x
U.default_convert(np.array(['a', 'b'])).tolist()
list(U.DataLoader([np.ones(1), np.zeros(1)], batch_size=None))
""".strip().splitlines()]

ASIDE = """
str([type(x), type(x.shape), type(x.dtype), type(x.device), type(x.register_hook(print))])
x.T.reshape(-1).grad_fn.name(), x.T.reshape(-1)._base is None
x[:, 1].reshape(-1).grad_fn.name(), x.T.flatten().grad_fn.name(), x.flatten().grad_fn.name(), x.T.reshape(3, 2)._base is x
t.autograd.grad((x.T.reshape(3, 2, 1) * w.reshape(3, 1, 1)).sum() + (x.T.reshape(-1) ** 2).sum(), x)
t.relu(t.tensor([-0.0, 0.0, -1.0])).signbit(), t.relu(t.tensor([-0.0, -1.0]).double()).signbit()
with t.autograd.detect_anomaly(): (lambda y: (y.add_(1), y.sum().backward()))(x.exp()); 0
c = warnings.catch_warnings(record=True); ws = c.__enter__(); warnings.simplefilter('always'); d = t.autograd.detect_anomaly(); d.__enter__(); y = t.zeros(1, requires_grad=True).sqrt() * 0; e = __import__('contextlib').suppress(RuntimeError); exec('with e: y.backward()'); d.__exit__(None, None, None); c.__exit__(); [str(w.message).partition('.')[0] for w in ws]
c = warnings.catch_warnings(record=True); ws = c.__enter__(); warnings.simplefilter('always'); t.autograd.set_detect_anomaly(True); y = (w.detach() * 0).requires_grad_().sqrt() * 0; e = __import__('contextlib').suppress(RuntimeError); exec('with e: y.sum().backward()'); t.autograd.set_detect_anomaly(False); c.__exit__(); [str(w.message).partition('.')[0] for w in ws]
c = warnings.catch_warnings(record=True); ws = c.__enter__(); warnings.simplefilter('always'); t.autograd.set_detect_anomaly(True); B = type('B', (t.autograd.Function,), {'forward': staticmethod(lambda ctx, a: a * 2), 'backward': staticmethod(lambda ctx, g: 1 / 0)}); e = __import__('contextlib').suppress(ZeroDivisionError); exec('with e: B.apply(w).sum().backward()'); t.autograd.set_detect_anomaly(False); c.__exit__(); [str(w.message).partition('.')[0] for w in ws]
c = warnings.catch_warnings(record=True); ws = c.__enter__(); warnings.simplefilter('always'); t.autograd.set_detect_anomaly(True); y = w.exp().sum(); y.backward(); e = __import__('contextlib').suppress(RuntimeError); exec('with e: y.backward()'); t.autograd.set_detect_anomaly(False); c.__exit__(); [str(w.message).partition('.')[0] for w in ws]
F_ = t.autograd.functional; F_.jacobian(t.sin, w, strategy='forward-mode')
F_ = t.autograd.functional; F_.jacobian(t.sin, w, strategy='sideways')
F_ = t.autograd.functional; F_.hessian(t.sum, w, outer_jacobian_strategy='sideways')
F_ = t.autograd.functional; F_.jacobian(t.sin, w, create_graph=True, vectorize=True, strategy='forward-mode')
F_ = t.autograd.functional; F_.jvp(t.sin, w)
F_ = t.autograd.functional; F_.jvp(lambda a, b: a * 2, (w, w), (w, w), strict=True)
t.autograd.gradcheck(t.sin, 3.0)
B = type('B', (t.autograd.Function,), {'forward': staticmethod(lambda ctx, a, b: a * 2 + b * 3), 'backward': staticmethod(lambda ctx, g: (g, g))}); t.autograd.gradcheck(B.apply, (w.detach(), w))
t.autograd.gradcheck(lambda a: a.float() * 2, t.tensor([0.5, 1.5], dtype=t.float64, requires_grad=True))
log = []; h = t.autograd.graph.saved_tensors_hooks(lambda v: (log.append(str(v)), v)[1], lambda v: v); h.__enter__(); y = w.exp() * w; y = t.where(w > 0, w, 0.0), w.sort()[0]; h.__exit__(); log
y = w * 2; y.grad_fn._saved_self, y.grad_fn._saved_other, (w * 2.5).grad_fn._saved_other, hasattr(y.grad_fn, '_saved_self')
y = w * w; y.sum().backward(); y.grad_fn._saved_self
seen = []; o = optim.SGD([w], lr=0.1); o.register_step_pre_hook(lambda o, a, k: seen.append((len(a), a[0] is o, k))); o.register_step_post_hook(lambda o, a, k: seen.append((len(a), k))); o.step(); o.step(lambda: 3); seen
o = optim.SGD([w], lr=0.1); o.register_step_pre_hook(lambda o, a, k: (a[:1], {'closure': lambda: 7})); o.step(), o.step(lambda: 3)
o = optim.SGD([w], lr=0.1); o.register_step_pre_hook(lambda o, a, k: 3); exec('try: o.step()\\nexcept RuntimeError as e: said = str(e).partition(" must")[2]', globals()); said
optim.Adam([w], foreach=True, fused=True)
optim.AdamW([w], betas=(0.9, 2))
s = optim.lr_scheduler.StepLR(optim.SGD([w]), 2); str(s.state_dict()), str(optim.lr_scheduler.LambdaLR(optim.SGD([w]), lambda e: 1.0).state_dict())
optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([w]), min_lr=[0.1, 0.2])
optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([w])).step()
m = nn.Sequential(nn.Linear(1, 1)); m.set_submodule('0', nn.Tanh()); m.set_submodule('new', nn.ReLU()); m
nn.Sequential(nn.Linear(1, 1)).set_submodule('', nn.Tanh())
nn.Sequential(nn.Linear(1, 1)).set_submodule('1', nn.Tanh(), strict=True)
nn.Sequential(nn.Linear(1, 1)).set_submodule('0.weight', nn.Tanh())
nn.Linear(1, 1).set_submodule('a', 3)
m = nn.Linear(1, 1); m.register_forward_pre_hook(lambda m, a, k: a, with_kwargs=True); m(t.zeros(1))
nn.Linear(2, 3)(t.tensor(1.0))
t.testing.assert_close(1, 1.0)
t.testing.assert_close(True, False)
t.testing.assert_close(t.ones(2), None)
t.testing.assert_close([None, True, 1], [None, True, 1]), t.testing.assert_close(1, 1.0, check_dtype=False)
f'{nn.Parameter(t.tensor(2.5))}', f'{nn.Parameter(t.ones(2))}', f'{t.tensor(2.5, requires_grad=True):.2f}'
f'{nn.Parameter(t.tensor(2.5)):.2f}'
m = nn.Linear(3, 1).double(); m.register_full_backward_hook(lambda m, gi, go: gi + gi); m(x).sum().backward()
t.func.grad(lambda a: (a.sum(), {'k': a, 'n': 3}), has_aux=True)(w)
t.func.functional_call(nn.Linear(3, 1), ({'weight': t.ones(1, 3)}, {'weight': t.ones(1, 3)}), w)
t.func.functional_call(nn.Linear(3, 1), 3, w)
t.func.functional_call(nn.Linear(3, 1), {'weight': t.zeros(1, 3), 'wieght': t.zeros(1)}, w, strict=True)
nn.Hardswish(True), nn.Hardsigmoid(True), nn.Embedding(3, 2, scale_grad_by_freq=True, sparse=False)
q = nn.ParameterDict({'a': t.ones(2), 'b': t.zeros(1)}); r = q | nn.ParameterDict({'c': t.ones(1)}); q |= r; s = q.copy(); (r, list(reversed(q)), q.popitem()[0], q.setdefault('a').tolist(), q.setdefault('z', t.ones(1)), list(q), q.fromkeys(['u'], t.ones(1)), q.clear(), len(q), list(s))
U = t.utils.data; ds = U.TensorDataset(t.arange(2), t.ones(2)); (list(U.DataLoader(ds, batch_size=None)), U.default_convert([(1, np.ones(2)), {'a': 's'}]))
U = t.utils.data; d = U.DataLoader([1, 2]); d.batch_size = 3; 0
U = t.utils.data; It = type('It', (U.IterableDataset,), {'__iter__': lambda s: iter([1, 2])}); (list(U.ChainDataset([It(), It()])), U.StackDataset(t.arange(3), [4, 5, 6])[1], U.StackDataset(a=t.arange(3), b=[4, 5, 6])[1])
U = t.utils.data; It = type('It', (U.IterableDataset,), {'__iter__': lambda s: iter([1, 2])}); U.ConcatDataset([It()])
t.utils.data.StackDataset(t.ones(2), t.ones(3))
w.grad = t.tensor([3.0, 4.0, 0.0], dtype=t.float64); nn.utils.clip_grad_norm_([w], max_norm=t.tensor(2.0)), w.grad
w.grad = t.ones(3, dtype=t.float64); nn.utils.clip_grad_norm_([w], 'x')
t.autograd.graph.get_gradient_edge(x * 2)._fields, t.autograd.graph.increment_version([x, w]), x._version
""".strip().splitlines()
POOLED = """
F.max_pool2d(t.zeros(0, 4, 8, 8), 2, 2, 1)
F.max_pool1d(t.zeros(0, 4, 8, requires_grad=True), 2).sum().backward()
F.adaptive_max_pool2d(t.zeros(0, 4, 8, 8), 2)
F.max_pool2d(t.zeros(4, 0, 8, 8), 2)
F.avg_pool2d(t.zeros(4, 3, 0, 8), 2)
F.adaptive_max_pool2d(t.zeros(4, 0, 8, 8), 2)
F.adaptive_avg_pool2d(t.zeros(2, 4, 0, 8), 2)
F.adaptive_avg_pool2d(t.zeros(1, 2, 2), -1)
F.max_pool2d(t.ones(1, 2, 2, dtype=t.bool), 1)
nn.AdaptiveMaxPool1d(2, return_indices=True)(t.arange(6.).reshape(1, 6))
nn.AdaptiveMaxPool3d((None, 1, 2), True)(t.arange(16.).reshape(1, 4, 2, 2))
F.max_unpool1d(t.ones(1, 2), t.tensor([[0, 9]]), 2)
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[[0, 1], [2, -1]]]), 2)
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[[0, 1], [2, 3]]]), 2, output_size=(9, 9))
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[[0, 1], [2, 3]]]), 2, output_size=(1, 1, 5, 3))
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[[0, 1], [2, 3]]]), 2, output_size=(9,))
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[0, 1]]), 2)
F.max_unpool2d(t.ones(1, 2, 2), t.tensor([[[0., 1.], [2., 3.]]]), 2)
F.embedding_bag(t.tensor([1, 2, 4, 5]), t.arange(12.).reshape(6, 2), t.tensor([0, 3, 3]), include_last_offset=True, mode='sum')
F.embedding_bag(t.tensor([1, 2, 4, 5]), t.arange(12.).reshape(6, 2), t.tensor([0, 9]), mode='sum')
F.embedding_bag(t.tensor([1, 2, 4, 9]), t.arange(12.).reshape(6, 2), t.tensor([0, 2]), mode='max')
F.embedding_bag(t.tensor([[1, 2]]), t.arange(12.).reshape(6, 2), padding_idx=-7)
F.embedding_bag(t.tensor([1, 2]), t.arange(12.).reshape(6, 2), t.tensor([[0, 1]]))
F.embedding_bag(t.tensor([1, 2]), t.arange(12.), t.tensor([0, 1]))
F.embedding_bag(t.tensor([1, 2]), t.arange(12.).reshape(6, 2), t.tensor([0, 1]), per_sample_weights=t.ones(3), mode='sum')
F.embedding_bag(t.tensor([1, 2]), t.arange(12.).reshape(6, 2), t.tensor([0, 1]), per_sample_weights=t.ones(2).double(), mode='sum')
e = nn.EmbeddingBag.from_pretrained(t.arange(12.).reshape(6, 2), mode='sum', padding_idx=2, freeze=False); e(t.tensor([[1, 2]])), repr(e), e.weight.requires_grad
e = nn.EmbeddingBag.from_pretrained(t.arange(12.).reshape(6, 2), max_norm=1.0, mode='sum', include_last_offset=True); e(t.tensor([1, 2]), t.tensor([0, 2])), e.weight
nn.EmbeddingBag(6, 2, _weight=t.ones(2, 2))
""".strip().splitlines()
LAYERED = """
m = nn.MultiheadAttention(4, 2); m(t.ones(4, 4), t.ones(3, 3, 4), t.ones(3, 3, 4))
m = nn.MultiheadAttention(4, 2); m(t.ones(4, 4), t.ones(3, 4), t.ones(3, 3, 4))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 4), t.ones(3, 4))
m = nn.MultiheadAttention(4, 2); m(t.ones(4), t.ones(4), t.ones(4))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(5, 2, 4), t.ones(6, 2, 4))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(5, 1, 4), t.ones(5, 1, 4))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 5), t.ones(3, 2, 5), t.ones(3, 2, 5))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), attn_mask=t.zeros(2, 3))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), attn_mask=t.zeros(2, 3, 3))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), attn_mask=t.zeros(3))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), attn_mask=t.zeros(3, 3, dtype=t.int64))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), key_padding_mask=t.zeros(3, 2, dtype=t.bool))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), key_padding_mask=t.zeros(3, dtype=t.bool))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 4), t.ones(3, 4), t.ones(3, 4), key_padding_mask=t.zeros(1, 3, dtype=t.bool))
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), is_causal=True)
m = nn.MultiheadAttention(4, 2); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), is_causal=True, attn_mask=nn.Transformer.generate_square_subsequent_mask(3))
m = nn.MultiheadAttention(4, 2).eval(); m(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4), is_causal=True, attn_mask=t.zeros(3, 3), need_weights=False)
m = nn.MultiheadAttention(4, 2); m.half()(t.ones(3, 2, 4), t.ones(3, 2, 4), t.ones(3, 2, 4))
nn.MultiheadAttention(4, 0)
nn.TransformerEncoderLayer(4, 2, 8)(t.ones(3, 2, 5))
nn.TransformerEncoderLayer(4, 2, 8)(t.ones(3, 2, 4), src_key_padding_mask=t.zeros(2, 3))[0, 0]
nn.TransformerEncoderLayer(4, 2, 8)(t.ones(4))
nn.Transformer(4, 2, 1, 1, 8)(t.ones(3, 2, 4), t.ones(3, 1, 4))
nn.Transformer(4, 2, 1, 1, 8)(t.ones(3, 2, 4), t.ones(3, 2, 5))
nn.Transformer(4, 2, 1, 1, 8)(t.ones(3, 2, 4), t.ones(3, 4))
nn.TransformerEncoderLayer(4, 2, 8, activation='tanh')
import pickle; m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)); pickle.dumps(m)
m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)); io.BytesIO, t.save(m, io.BytesIO())
m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)); copy.deepcopy(m)(t.ones(1, 2)), type(copy.deepcopy(m)).__name__
K = nn.utils.parametrize; m = nn.Linear(2, 2); w = m.weight; K.register_parametrization(m, 'weight', nn.Identity()); K.remove_parametrizations(m, 'weight', leave_parametrized=False); m.weight is w
K = nn.utils.parametrize; m = nn.Linear(2, 2); w = m.weight; K.register_parametrization(m, 'weight', nn.Identity()); K.remove_parametrizations(m, 'weight'); m.weight is w
K = nn.utils.parametrize; m = nn.Linear(2, 2).eval(); p = nn.Identity(); K.register_parametrization(m, 'weight', p); p.training, m.parametrizations.weight.training
K = nn.utils.parametrize; m = nn.Linear(2, 2); K.type_before_parametrizations(m).__name__; K.register_parametrization(m, 'weight', nn.Identity()); K.type_before_parametrizations(m).__name__
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: x, 'right_inverse': lambda s, x: None}); K.register_parametrization(m, 'weight', P())
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: x.int(), 'right_inverse': lambda s, x: x}); K.register_parametrization(m, 'weight', P())
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: None}); K.register_parametrization(m, 'weight', P())
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: x, 'right_inverse': lambda s, x: x.int()}); K.register_parametrization(m, 'weight', P())
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: x, 'right_inverse': lambda s, x: (x, 3)}); K.register_parametrization(m, 'weight', P())
K = nn.utils.parametrize; m = nn.Linear(2, 2); P = type('P', (nn.Module,), {'forward': lambda s, x: (x, x)}); Q = nn.Identity(); K.register_parametrization(m, 'weight', Q); K.register_parametrization(m, 'weight', P())
R = nn.utils.rnn; R.pad_sequence(5)
R = nn.utils.rnn; R.pack_padded_sequence(t.zeros(0, 0), [])
R = nn.utils.rnn; R.pack_padded_sequence(t.zeros(3, 2), [3, 0])
R = nn.utils.rnn; R.pack_padded_sequence(t.zeros(3, 2, 1), [2, 3])
R = nn.utils.rnn; p = R.pack_padded_sequence(t.ones(3, 2, 1), [3, 2]); p.double().data, p.int().data, p.half().data, p.float().data, p.long().data
R = nn.utils.rnn; p = R.pack_padded_sequence(t.ones(3, 2, 1), [3, 2]); p.to(t.float64).data, p.is_cuda, p.cpu().data, p.to('cpu') is p, p.to(t.float32) is p
R = nn.utils.rnn; p = R.pack_sequence([t.ones(2), t.ones(3)], enforce_sorted=False); p.sorted_indices, p.unsorted_indices, p.batch_sizes, p.short().data
R = nn.utils.rnn; R.unpad_sequence(t.ones(3, 2), t.tensor([3, 2])), R.unpack_sequence(R.pack_sequence([t.ones(2), t.ones(1)]))
R = nn.utils.rnn; R.pad_packed_sequence(R.pack_sequence([t.ones(2), t.ones(1)]), total_length=1)
R = nn.utils.rnn; R.pad_sequence([t.ones(2), t.ones(3)], padding_side='left', padding_value=7.)
R = nn.utils.rnn; R.pad_sequence([t.ones(2), t.ones(3)], padding_side='up')
F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), t.ones(3))
F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), t.ones(3, 3))
F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), t.ones(3, 1)), F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), 2.0), F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), t.ones(3, 5) * -1)
F.gaussian_nll_loss(t.ones(3, 5), t.ones(3, 5), -1.0)
F.cosine_embedding_loss(t.ones(3, 2), t.ones(3, 2), t.ones(2))
F.cosine_embedding_loss(t.ones(3), t.ones(3), t.ones(3))
F.cosine_embedding_loss(t.ones(3, 2), t.ones(3, 2), t.tensor(1))
F.cosine_embedding_loss(t.ones(3), t.ones(3), t.tensor(1))
F.cosine_similarity(t.ones(2), t.ones(2), eps=-1.0)
F.cross_entropy(t.zeros(0, 3, 0), t.zeros(0, 0, dtype=t.int64))
F.cross_entropy(t.zeros(0, 3), t.zeros(0, dtype=t.int64))
F.cross_entropy(t.zeros(0, 0), t.zeros(0, 0))
F.affine_grid(t.ones(2, 2, 3).int(), [2, 1, 3, 3])
F.affine_grid(t.ones(2, 3), [2, 1, 3, 3])
nn.Fold((4, 5), (2, 2))(t.ones(1, 5, 12))
F.grid_sample(t.zeros(1, 1, 2, 2), t.zeros(2, 1, 1, 2), align_corners=False)
F.grid_sample(t.zeros(1, 1, 2, 2), t.zeros(1, 1, 1, 3), align_corners=False)
F.interpolate(t.ones(1, 1, 2, 2), scale_factor=(2., 2., 2.))
""".strip().splitlines()
ALIGNED = """
F.l1_loss(x, x * 2, weight=x.detach().abs()), F.l1_loss(x, x * 2, weight=x.detach().abs(), reduction='sum'), F.l1_loss(x, x * 2, weight=x.detach().abs(), reduction='none')
F.l1_loss(x, x * 2, weight=w.detach())
F.mse_loss(x, x * 2, weight=w.detach())
F.mse_loss(x, x * 2, weight=x.detach().abs()), F.mse_loss(x, x * 2, weight=x.detach().abs(), reduction='sum')
F.huber_loss(x, x * 2, weight=x.detach().abs()), F.huber_loss(x, x * 2, 'sum', 0.3, x.detach().abs()), F.huber_loss(x, x * 2, weight=x.detach().abs(), reduction='none', delta=0.5)
F.huber_loss(x, x * 2, weight=w.detach())
F.pad(t.ones(1, 1, 4), (-3, -2), mode='circular')
F.pad(t.arange(4.)[None, None], (-1, 2), mode='circular')
nn.Unflatten(1, ('a', 'b'))
nn.Unflatten(1, 6)
nn.Unflatten(1, (('C', 2), ('H', 3)))
F.pad(t.ones(1, 1, 4), (-2, -2), mode='circular')
import pickle; m = pickle.loads(pickle.dumps(nn.Linear(2, 2).double())); m(t.ones(1, 2).double())
import pickle; m = pickle.loads(pickle.dumps(nn.Linear(2, 2))); m(t.ones(1, 2))
import pickle; m = nn.Linear(2, 2); m(pickle.loads(pickle.dumps(t.ones(1, 2))))
m = nn.Module(); m.x = 1; m.register_buffer('x', t.ones(1))
m = nn.Module(); m.register_parameter('x', nn.Parameter(t.ones(1))); m.register_buffer('x', t.ones(1))
m = nn.Module(); m.add_module('x', nn.Module()); m.register_buffer('x', t.ones(1))
m = nn.Module(); m.register_buffer('x', t.ones(1)); m.register_buffer('x', t.zeros(1)); m.x
m = nn.Module(); m.register_buffer('forward', t.ones(1))
m = nn.Sequential(nn.Linear(1, 1)); m.set_submodule('0', nn.ReLU()); m
m = nn.Sequential(nn.Sequential(nn.Linear(1, 1))); m.set_submodule('0.0', nn.ReLU()); m
m = nn.Module(); m.set_submodule('a.b', nn.ReLU())
m = nn.Module(); m.set_submodule('', nn.ReLU())
m = nn.Module(); m.set_submodule('x', nn.ReLU()); m
m = nn.Module(); m.set_submodule('x', nn.ReLU(), strict=True); m
m = nn.Module(); m.x = nn.ReLU(); m.set_submodule('x', 3)
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5, 6]), t.tensor([2, 2]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5, 5]), t.tensor([2, 3]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5, 5]), t.tensor([2, -1]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([1, 2, 1]), t.tensor([5, 5]), t.tensor([2, 2]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5]), t.tensor([2, 2]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5., 5.]), t.tensor([2, 2]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1., 2], [1, 3]]), t.tensor([5, 5]), t.tensor([2, 2]))
F.ctc_loss(t.zeros(5, 2, 4).log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([5, 5]), t.tensor([2, 2]), blank=4)
a = t.zeros(5, 2, 4, requires_grad=True); l = F.ctc_loss(a.log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([3, 5]), t.tensor([0, 2]), reduction='none'); l.sum().backward(); l, a.grad
a = t.zeros(5, 2, 4, requires_grad=True); l = F.ctc_loss(a.log_softmax(2), t.zeros(2, 0, dtype=t.int64), t.tensor([3, 5]), t.tensor([0, 0]), reduction='sum'); l.backward(); l, a.grad
a = t.zeros(5, 2, 4, requires_grad=True); l = F.ctc_loss(a.log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([1, 5]), t.tensor([2, 2]), reduction='none'); l.sum().backward(); l, a.grad
a = t.zeros(5, 2, 4, requires_grad=True); l = F.ctc_loss(a.log_softmax(2), t.tensor([[1, 2], [1, 3]]), t.tensor([1, 5]), t.tensor([2, 2]), reduction='mean', zero_infinity=True); l.backward(); l, a.grad
F.pixel_shuffle(t.randn(2, 16, 9, 8), 0)
F.pixel_unshuffle(t.randn(2, 16, 9, 8), -1)
l = nn.ModuleList([nn.ReLU()]); l2 = l + nn.ModuleList([nn.Tanh()]); l += [nn.Tanh()]; l, l2, type(l2).__name__
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); l.insert(1, nn.Sigmoid()); l.pop(0), l, l[:1], l[-1]
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); del l[0]; l.extend(nn.Sequential(nn.SELU())); l
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); del l[-1:]; l.extend(3)
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); l[5]
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); l[0] = nn.SELU(); l[-1] = nn.ELU(); l, nn.ReLU() in l
""".strip().splitlines()

RARER = """
m = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 9, 14], div_value=2., head_bias=True); i = t.randn(6, 8, requires_grad=True); o = m(i, t.tensor([0, 19, 6, 3, 10, 11])); o.loss.backward(); o, i.grad, [p.grad for p in m.parameters()], m.log_prob(i), m.predict(i), repr(m)
m = nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2, 5]); o = m(t.randn(4), t.tensor(7)); o.output, o.loss, o.output.grad_fn.name()
nn.AdaptiveLogSoftmaxWithLoss(4, 9, [5, 2])
nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2])(t.randn(1, 4), t.tensor([9]))
nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2])(t.randn(2, 4), t.tensor([[1], [2]]))
p = t.rand(2, 2, 2); i = t.randn(2, 2, 7, 6, requires_grad=True); o, k = F.fractional_max_pool2d(i, (2, 3), output_size=(4, 3), return_indices=True, _random_samples=p); (o * o).sum().backward(); o, k, i.grad, o.grad_fn.name()
p = t.rand(1, 2, 3).double(); i = t.randn(2, 7, 6, 5).double().requires_grad_(); o = nn.FractionalMaxPool3d(2, output_ratio=0.5, _random_samples=p)(i); (o * o).sum().backward(); o, i.grad
nn.FractionalMaxPool2d(3, output_size=2)(t.randn(2, 1, 8, 8))
F.fractional_max_pool2d(t.rand(1, 5, 5), 2, 6)
F.fractional_max_pool2d(t.rand(2, 1, 4, 4), 2, 2, _random_samples=t.ones(2, 1, 3))
F.fractional_max_pool2d(t.rand(2, 1, 4, 4), 2, 2, _random_samples=t.ones(1, 1, 2))
F.fractional_max_pool2d(t.rand(2, 1, 4, 4), 2, 2, _random_samples=t.ones(2, 3, 2))
F.fractional_max_pool2d(t.rand(2, 1, 4, 4), 2, 2, _random_samples=t.ones(2, 2))
F.fractional_max_pool2d(t.rand(2, 1, 4, 4), 2, 2, _random_samples=t.ones(2, 1, 2).double())
i = t.arange(32.).reshape(2, 1, 4, 4); F.fractional_max_pool2d(i, 2, 2, _random_samples=t.ones(3, 1, 2) / 2), F.fractional_max_pool2d(i, 2, 0).shape
F.fractional_max_pool3d(t.rand(1, 5, 5, 5), 1, 5)
F.fractional_max_pool2d(t.rand(1, 5, 5), 2)
nn.FractionalMaxPool2d(2, output_ratio=2)
m = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1); m(t.ones(1, 2, 5, 5), output_size=(10, 9)), m(t.ones(2, 5, 5), output_size=[3, 10, 10]).shape
nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)(t.ones(1, 2, 5, 5), output_size=(11, 10))
nn.ConvTranspose1d(2, 3, 3)(t.ones(1, 2, 5), output_size=(1, 2, 3, 4))
G = nn.grad; k = t.randn(4, 2, 3, 3); g = t.randn(2, 4, 4, 3); i = t.randn(2, 4, 7, 6); G.conv2d_input(i.shape, k, g, stride=2, padding=1, groups=2), G.conv2d_weight(i, k.shape, g, stride=2, padding=1, groups=2)
G = nn.grad; k = t.randn(4, 2, 3); g = t.randn(2, 4, 5); i = t.randn(2, 2, 7); G.conv1d_input(i.shape, k, g), G.conv1d_weight(i, k.shape, g)
c, b = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3); b(c(t.randn(4, 2, 6, 6))); f = nn.utils.fusion.fuse_conv_bn_eval(c.eval(), b.eval()); f.weight, f.bias
c, b = nn.Linear(2, 3, bias=False), nn.BatchNorm1d(3); b(c(t.randn(4, 2))); f = nn.utils.fuse_linear_bn_eval(c.eval(), b.eval()); f.weight, f.bias
nn.utils.fusion.fuse_conv_bn_eval(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3))
l = nn.utils.skip_init(nn.Linear, 3, 2, bias=False); l, l.weight.shape
a = [t.randn(3, 2, 8, requires_grad=True), t.randn(24, 8), t.randn(24), t.randn(8, 8), t.randn(8)]; o, k = F.multi_head_attention_forward(a[0], a[0], a[0], 8, 2, a[1], a[2], None, None, True, 0.0, a[3], a[4], static_k=t.randn(4, 5, 4), static_v=t.randn(4, 5, 4)); o.sum().backward(); o, k, a[0].grad
F.embedding_bag(t.tensor([], dtype=t.int64), t.ones(3, 2, requires_grad=True), t.tensor([0, 0]), mode='max')
e = nn.EmbeddingBag(4, 2, mode='sum'); e(t.tensor([1, 2, 2]), t.tensor([0, 2])).grad_fn.name()
R = nn.utils.prune; m = nn.Linear(3, 2); r = R.l1_unstructured(m, 'weight', 0.5) is m; m(t.ones(1, 3)).sum().backward(); r, m.weight, m.weight_orig.grad, m.bias, list(m.state_dict()), [n for n, p in m.named_parameters()], R.is_pruned(m)
R = nn.utils.prune; m = nn.Linear(4, 3); R.l1_unstructured(m, 'weight', 3); R.ln_structured(m, 'weight', 1, n=2, dim=0); R.random_unstructured(m, 'weight', 0); h = list(m._forward_pre_hooks.values()); m.weight_mask, len(h), len(h[0]), type(h[0]).__name__, type(h[0][1]).__name__
R = nn.utils.prune; m = nn.Conv2d(2, 4, 3); R.ln_structured(m, 'weight', 0.5, n=float('-inf'), dim=1); R.remove(m, 'weight'); m.weight, [n for n, p in m.named_parameters()], R.is_pruned(m), m._forward_pre_hooks
R = nn.utils.prune; m = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2)); R.l1_unstructured(m[0], 'weight', 1); R.global_unstructured([(m[0], 'weight'), (m[2], 'weight'), (m[0], 'bias')], R.L1Unstructured, amount=5); m[0].weight_mask, m[2].weight_mask, m[0].bias_mask, R.is_pruned(m)
R = nn.utils.prune; m = nn.Linear(3, 2); k = t.tensor([[1, 0, 1], [0, 1, 1]]); R.custom_from_mask(m, 'weight', k); R.identity(m, 'bias'); m.weight, m.weight_mask, m.bias_mask
R = nn.utils.prune; m = nn.Linear(6, 4); R.random_structured(m, 'weight', 2, dim=1); (m.weight_mask.sum(0) == 0).sum(), m.weight_mask.sum()
R = nn.utils.prune; m = nn.Linear(6, 4); R.random_unstructured(m, 'weight', 0.25); m.weight_mask.sum(), (m.weight == 0).sum()
R = nn.utils.prune; m = nn.Linear(3, 2); R.l1_unstructured(m, 'weight', 2, importance_scores=t.arange(6.).reshape(2, 3)); m.weight_mask, R.L1Unstructured(2).prune(t.arange(6.) - 2)
R = nn.utils.prune; m = nn.Linear(3, 2); R.l1_unstructured(m, 'weight', 0.5); s = copy.deepcopy(m); o = optim.SGD(m.parameters(), 0.5); s(t.ones(1, 3)).sum().backward(); m(t.ones(1, 3)).sum().backward(); o.step(); m(t.ones(1, 3)), s(t.ones(1, 3)), m.weight
R = nn.utils.prune; R.l1_unstructured(nn.Linear(3, 2), 'weight', 7)
R = nn.utils.prune; R.l1_unstructured(nn.Linear(3, 2), 'weight', 1.5)
R = nn.utils.prune; R.l1_unstructured(nn.Linear(3, 2), 'weight', 'a')
R = nn.utils.prune; R.ln_structured(nn.Linear(3, 2), 'bias', 1, n=2, dim=0)
R = nn.utils.prune; R.ln_structured(nn.Linear(3, 2), 'weight', 1, n=2, dim=2)
R = nn.utils.prune; R.remove(nn.Linear(3, 2), 'weight')
R = nn.utils.prune; R.global_unstructured([(nn.Linear(3, 2), 'weight')], R.LnStructured, amount=1, n=2)
R = nn.utils.prune; m = nn.Linear(3, 2); R.custom_from_mask(m, 'weight', t.ones(2))
R = nn.utils.prune; m = nn.Linear(3, 2); R.l1_unstructured(m, 'nothing', 1)
v = t.ones(3, 2, 4).permute(2, 0, 1); F.dropout(v, 0.5), t.rand_like(v), t.randn_like(v), t.randint_like(v, 100), t.empty_like(v).uniform_(), t.empty_like(v).bernoulli_(0.3), t.empty_like(v).random_(9), t.empty_like(v).exponential_()
v = t.ones(8, 5).T; v.normal_(), v.clone().normal_(1, 2), t.ones(12, 9)[::2, 1:6].normal_(), F.dropout2d(t.ones(4, 5).T, 0.5), t.rand(3), t.randn(20)[:3]
m = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True); l = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True); v = t.randn(3, 5, 8); a = l(v); a.sum().backward(); a, m(v, v, v)[0], l.linear1.weight.grad.abs().sum()
P = nn.utils.parametrizations; m = P.orthogonal(nn.Linear(3, 3)); m(t.ones(2, 3)).pow(3).sum().backward(); m, m.weight, m.parametrizations.weight.original.grad, list(m.state_dict())
P = nn.utils.parametrizations; m = P.orthogonal(nn.Linear(3, 5)); o = optim.SGD(m.parameters(), 0.1); m(t.ones(2, 3)).pow(3).sum().backward(); o.step(); m.weight, m.weight.T @ m.weight, m.parametrizations.weight.original.grad
P = nn.utils.parametrizations; m = P.orthogonal(nn.Linear(5, 3), orthogonal_map='cayley'); o = optim.SGD(m.parameters(), 0.1); m(t.ones(2, 5)).pow(3).sum().backward(); o.step(); m.weight, m.weight @ m.weight.T
P = nn.utils.parametrizations; m = P.orthogonal(nn.Linear(3, 4), use_trivialization=False); o = optim.SGD(m.parameters(), 0.1); m(t.ones(2, 3)).pow(3).sum().backward(); o.step(); m.weight, m.parametrizations.weight.original
P = nn.utils.parametrizations; m = P.orthogonal(nn.Linear(3, 3)); q = t.linalg.qr(t.randn(3, 3)).Q; m.weight = q; (m.weight - q).abs().max() < 1e-6
P = nn.utils.parametrizations; P.orthogonal(nn.Linear(3, 3), 'bias')
P = nn.utils.parametrizations; P.orthogonal(nn.Linear(3, 3), orthogonal_map='foo')
P = nn.utils.parametrizations; P.orthogonal(nn.Linear(3, 3), use_trivialization=False)
u, s, v = t.svd_lowrank(t.randn(8, 5).double() @ t.randn(5, 6).double(), q=5); s, (u * s) @ v.T, (u.T @ u).diagonal()
t.pca_lowrank(t.randn(4, 9).double(), center=False)[1], t.pca_lowrank(t.randn(2, 7, 5), q=2, niter=1)[1].shape
t.pca_lowrank(t.randn(4, 9), q=5)
m = t.randn(5, 3).double().requires_grad_(); u, s, v = t.svd_lowrank(m, q=3); s.sum().backward(); ((u * s) @ v.T - m).abs().max() < 1e-9, m.grad
a, k = t.geqrf(t.randn(5, 3).double()); a, k, t.linalg.householder_product(a, k)
t.hann_window(5), t.hamming_window(6, False), t.blackman_window(4, dtype=t.float64), t.bartlett_window(5, requires_grad=True), t.kaiser_window(5, True, 3.)
import importlib; W = importlib.import_module(t.__name__ + '.signal.windows'); W.gaussian(6, std=1.5), W.kaiser(5, sym=False), W.exponential(4, tau=2.), W.cosine(5), W.nuttall(5, sym=False), W.general_cosine(6, a=[0.5, 0.3, 0.2]), W.general_hamming(4), W.hann(1), W.hamming(0)
t.hann_window(-1)
p = [t.randn(4, 3).double().requires_grad_(), t.randn(3, 5).requires_grad_()]; o = optim.Muon(p, lr=0.05); [(o.zero_grad(), sum(((q - 0.5) ** 3).sum() for q in p).backward(), o.step()) for i in range(6)]; p, repr(o)
p = [t.randn(4, 6).requires_grad_()]; o = optim.Muon(p, lr=0.1, nesterov=False, adjust_lr_fn='match_rms_adamw'); [(o.zero_grad(), ((p[0] - 0.5) ** 3).sum().backward(), o.step()) for i in range(3)]; p
optim.Muon([t.ones(3, requires_grad=True)])
optim.Muon([t.ones(3, 2, requires_grad=True)], adjust_lr_fn='other')
optim.Adafactor([t.ones(3, requires_grad=True)], d=0.5)
s = t.amp.GradScaler('cpu', init_scale=4.0, growth_interval=2); p = t.ones(3, requires_grad=True); o = optim.SGD([p], 0.1); r = [(o.zero_grad(), s.scale((p * c).sum()).backward(), p.grad.clone(), s.unscale_(o), p.grad.clone(), s.step(o), s.update(), s.get_scale(), p.detach().clone())[2::2] for c in (1., 2., float('inf'), 3.)]; r, s.state_dict()
s = t.amp.GradScaler('cpu'); p = t.ones(3, requires_grad=True); s.step(optim.SGD([p], 0.1))
nn.grad.conv2d_input((1, 2, 5, 5), t.ones(3, 2, 3, 3), t.ones(1, 3, 4, 4))
nn.grad.conv2d_input((1, 4, 5, 5), t.ones(3, 2, 3, 3), t.ones(1, 3, 3, 3))
nn.grad.conv2d_input((1, 2, 5, 5), t.ones(3, 2, 3, 3), t.ones(3, 3, 3))
nn.grad.conv2d_input((2, 5, 5), t.ones(3, 2, 3, 3), t.ones(3, 3, 3))
nn.grad.conv2d_weight(t.ones(1, 2, 5, 5), (3, 2, 3, 3), t.ones(1, 2, 3, 3))
nn.grad.conv1d_weight(t.ones(1, 2, 5), (3, 2, 3), t.ones(1, 3, 3).double())
s = t.amp.GradScaler('cpu'); p = t.ones(3, requires_grad=True); o = optim.SGD([p], 0.1); s.scale(p.sum()).backward(); s.unscale_(o); s.unscale_(o)
s = t.amp.GradScaler('cpu'); p = t.ones(3, requires_grad=True); o = optim.SGD([p], 0.1); s.scale(p.sum()).backward(); s.step(o); s.step(o)
s = t.amp.GradScaler('cpu'); s.is_enabled(), s.get_scale(), s.get_growth_factor(), s.get_backoff_factor(), s.get_growth_interval(), [v.item() for v in s.scale([t.ones(()), t.ones(())])], t.amp.GradScaler().is_enabled(), t.amp.GradScaler(enabled=False).state_dict()
N = nn.modules; [isinstance(m, k) for m in (nn.BatchNorm2d(2), nn.Conv2d(1, 1, 1), nn.ConvTranspose1d(1, 1, 1), nn.Dropout()) for k in (N.batchnorm._BatchNorm, N.conv._ConvNd, N.conv._ConvTransposeNd, N.dropout._DropoutNd)], [k.__name__ for k in (N.padding.ZeroPad2d, N.sparse.Embedding, N.flatten.Flatten, N.upsampling.Upsample)]
e = t.empty_strided((2, 3), (1, 2)); e.fill_(3.), e.stride(), e.is_contiguous(), t.empty_strided((2, 2), (0, 0), dtype=t.int64).zero_(), t.typename(e), t.is_autocast_enabled()
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.Chi2(q).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.StudentT(q, q, 2 * q).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.HalfCauchy(q).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.Weibull(q, q * 2).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.InverseGamma(q, q * 2).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.NegativeBinomial(5, q / 5).log_prob(t.tensor([2.0, 3.0])); v.sum().backward(); v, q.grad
D.HalfCauchy(1.0, validate_args=True).log_prob(2.0)
D.HalfCauchy(2.0, validate_args=False).log_prob(3)
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.HalfCauchy(q).rsample((2,)); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.Pareto(q, q * 2).rsample((2,)); v.sum().backward(); v, q.grad
q = t.tensor([2.5, 0.7], requires_grad=True); v = D.Weibull(q, q * 2).rsample((2,)); v.sum().backward(); v, q.grad
D.NegativeBinomial(3)
nn.RNNCell(2, 3, nonlinearity="foo")(t.ones(1, 2))
nn.GRUCell(2, 3)(t.ones(2), t.ones(1, 3))
nn.LSTMCell(2, 3)(t.ones(2, 2), (t.ones(3), t.ones(3)))
nn.GRU(2, 3)(t.ones(4, 1, 2), t.ones(1, 3))
nn.RNN(2, 3)(t.ones(4, 2), t.ones(1, 1, 3))
nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 3), t.ones(1, 3)))
nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 3), t.ones(1, 1, 2)))
nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 3),) * 3)
nn.GRU(2, 3)(t.ones(0, 1, 2))
nn.GRU(2, 3, proj_size=3)
nn.TransformerEncoderLayer(2, 1, 4)(t.ones(1, 3, 2), is_causal=True)
nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, 4), 1)(t.ones(1, 3, 2), is_causal=True)
nn.TransformerDecoderLayer(2, 1, 4)(t.ones(1, 3, 2), t.ones(1, 3, 2), tgt_is_causal=True)
nn.TransformerDecoder(nn.TransformerDecoderLayer(2, 1, 4), 1)(t.ones(1, 3, 2), t.ones(1, 3, 2), memory_is_causal=True)
nn.Transformer(2, 1, 1, 1, 4)(t.ones(1, 3, 2), t.ones(1, 3, 2), tgt_is_causal=True)
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v, "right_inverse": lambda self, v: v[0]}); Z.register_parametrization(nn.Linear(2, 2), "weight", S())
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v}); R = type("R", (nn.Module,), {"forward": lambda self, v: v, "right_inverse": lambda self, v: v[0]}); l = Z.register_parametrization(nn.Linear(2, 2), "weight", S()); Z.register_parametrization(l, "weight", R())
Z = nn.utils.parametrize; S = type("S", (nn.Module,), {"forward": lambda self, v: v}); R = type("R", (nn.Module,), {"forward": lambda self, v: v, "right_inverse": lambda self, v: 3}); l = Z.register_parametrization(nn.Linear(2, 2), "weight", S()); Z.register_parametrization(l, "weight", R())
L = t.utils.data.DataLoader(t.utils.data.TensorDataset(t.ones(2))); str((L.prefetch_factor, L.persistent_workers, L.worker_init_fn, L.in_order, L.multiprocessing_context))
""".strip().splitlines()

AREAS: dict[str, list[str]] = {
    "distributions": DISTRIBUTIONS, "linalg": LINALG, "saving": SAVING,
    "grids": GRIDS, "reweighted": REWEIGHTED, "close": CLOSE, "corners": CORNERS,
    "student": STUDENT, "hooked": HOOKED, "aside": ASIDE, "loaded": LOADED, "pooled": POOLED, "layered": LAYERED, "aligned": ALIGNED,
    "rarer": RARER,
}  # fmt: skip


def space(library: str) -> dict[str, Any]:
    """What a program sees."""
    t = importlib.import_module(library)
    nn = importlib.import_module(f"{library}.nn")
    for room in ("distributions", "testing", "nn.utils.prune"):
        importlib.import_module(f"{library}.{room}")
    t.manual_seed(0)
    t.distributions.Distribution.set_default_validate_args(True)  # PyTorch's compiler, where a test used it, turns it off
    numbers = np.random.default_rng(0).standard_normal(9)
    x = t.tensor(numbers[:6].reshape(2, 3), requires_grad=True)
    w = t.tensor(numbers[6:], requires_grad=True)
    return {"t": t, "F": nn.functional, "nn": nn, "optim": importlib.import_module(f"{library}.optim"), "D": t.distributions, "x": x, "w": w, "np": np, "math": math,
            "io": io, "copy": copy, "collections": collections, "warnings": warnings}  # fmt: skip


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
