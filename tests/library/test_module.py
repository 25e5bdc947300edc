"""Modules: registration, containers, state dicts, number types, hooks, copies, printed forms and messages."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import minigrad as mg
from minigrad import nn
from tests import recorded


def test_printed_forms_and_messages() -> None:
    assert recorded.differing(mg, "modules") == []


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.scale = nn.Parameter(mg.ones(3))
        self.register_buffer("seen", mg.zeros(1))
        self.register_buffer("scratch", mg.zeros(1), persistent=False)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(3, 1))

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x) * self.scale)


# ------------------------------------------------------------------------------------------------ registration


def test_assignment_registers_and_deletion_forgets() -> None:
    net = Net()
    names = ["scale", "first.weight", "first.bias", "second.1.weight", "second.1.bias"]
    assert [n for n, _ in net.named_parameters()] == names
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "second", "second.0", "second.1"]
    del net.first
    assert "first.weight" not in dict(net.named_parameters()) and not hasattr(net, "first")


def test_an_attribute_lives_in_one_place() -> None:
    net = Net()
    net.thing = 3
    net.thing = nn.Parameter(mg.ones(1))
    assert "thing" in net._parameters and "thing" not in net.__dict__
    net.thing = None
    assert net.thing is None and "thing" in net._parameters
    net.first = None
    assert net.first is None and "first" in net._modules
    net.seen = mg.ones(1)
    assert net._buffers["seen"].item() == 1.0
    with pytest.raises(TypeError, match=r"cannot assign 'torch\.FloatTensor' as parameter 'scale'"):
        net.scale = mg.ones(3)


def test_before_init_nothing_can_be_registered() -> None:
    class Forgot(nn.Module):
        def __init__(self, kind: str) -> None:
            if kind == "parameter":
                self.w = nn.Parameter(mg.ones(1))
            elif kind == "module":
                self.m = nn.ReLU()
            else:
                self.register_buffer("b", mg.ones(1))

    for kind, word in (("parameter", "parameters"), ("module", "module"), ("buffer", "buffer")):
        with pytest.raises(AttributeError, match=rf"cannot assign {word} before Module\.__init__"):
            Forgot(kind)


def test_shared_parameters_are_listed_once() -> None:
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, nn.ReLU(), shared)
    assert len(list(net.parameters())) == 2
    assert len(list(net.children())) == 2
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    assert [n for n, _ in tied.named_parameters()] == ["0.weight", "0.bias", "1.bias"]


# -------------------------------------------------------------------------------------------------- containers


def test_sequential_edits() -> None:
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net.append(nn.Sigmoid())
    assert type(net[1:3]) is nn.Sequential and [type(m).__name__ for m in net[1:3]] == ["Tanh", "Sigmoid"]
    net[-1] = nn.GELU()
    assert [type(m).__name__ for m in net] == ["ReLU", "Tanh", "GELU"]
    assert len(net) == 3
    with pytest.raises(IndexError, match="out of range"):
        net[3]


def test_lists_and_dicts() -> None:
    layers = nn.ModuleList([nn.ReLU()])
    layers.append(nn.Tanh()).extend([nn.Sigmoid()])
    layers.append(nn.GELU())
    assert [type(m).__name__ for m in layers] == ["ReLU", "Tanh", "Sigmoid", "GELU"]
    assert type(layers[1:]) is nn.ModuleList and type(layers[-1]) is nn.GELU
    with pytest.raises(NotImplementedError, match=r'Module \[ModuleList\] is missing the required "forward"'):
        layers(1)
    named = nn.ModuleDict({"a": nn.ReLU()})
    named.update([("b", nn.Tanh())])
    assert list(named) == ["a", "b"] and "a" in named and len(named) == 2
    del named["a"]
    assert list(named.keys()) == ["b"]
    weights = nn.ParameterList([mg.ones(1), nn.Parameter(mg.zeros(2))])
    weights.append(mg.ones(3))
    assert [tuple(p.shape) for p in weights] == [(1,), (2,), (3,)] and len(list(weights.parameters())) == 3


# ------------------------------------------------------------------------------------------------- state dicts


def test_state_dict_names_and_memory() -> None:
    net = Net()
    state = net.state_dict()
    assert list(state) == ["scale", "seen", "first.weight", "first.bias", "second.1.weight", "second.1.bias"]
    assert state["scale"]._data is net.scale._data and not state["scale"].requires_grad
    assert next(iter(net.state_dict(prefix="net."))) == "net.scale"


def test_loading_copies_into_the_same_parameters() -> None:
    one, two = Net(), Net()
    before = two.first.weight
    assert repr(two.load_state_dict(one.state_dict())) == "<All keys matched successfully>"
    assert two.first.weight is before and two.first.weight.tolist() == one.first.weight.tolist()
    x = mg.randn(4, 2)
    assert one(x).tolist() == two(x).tolist()
    with mg.no_grad():
        one.first.weight.zero_()
    assert two.first.weight.abs().sum().item() > 0


def test_pickle_and_deepcopy() -> None:
    net = Net()
    net(mg.ones(1, 2)).sum().backward()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(twin.state_dict()) == list(net.state_dict())
        assert twin.first.weight.tolist() == net.first.weight.tolist()
        assert twin.first.weight is not net.first.weight and twin.first.weight.requires_grad
        assert isinstance(twin.first.weight, nn.Parameter)
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    assert copy.deepcopy(tied)[1].weight is not tied[1].weight
    twin = copy.deepcopy(tied)
    assert twin[1].weight is twin[0].weight


# --------------------------------------------------------------------------------------------- modes and types


def test_train_and_eval_reach_everything() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    assert net.eval() is net and not net[1][0].training
    x = mg.ones(3)
    assert net(x) is x
    net.train()
    assert net[1][0].training


def test_freezing_and_zeroing() -> None:
    net = Net().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.requires_grad_(True)
    net(mg.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad is not None and not p.grad.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_changing_the_number_type_keeps_the_parameters() -> None:
    net = Net()
    before = list(net.parameters())
    net(mg.ones(1, 2)).sum().backward()
    assert net.double() is net
    assert all(p.dtype is mg.float64 and p.grad.dtype is mg.float64 for p in net.parameters())
    assert [a is b for a, b in zip(before, net.parameters())] == [True] * 5
    assert net.seen.dtype is mg.float64
    net.zero_grad()
    net(mg.ones(1, 2, dtype=mg.float64)).sum().backward()
    assert all(p.grad.dtype is mg.float64 for p in net.parameters())
    assert net.to(mg.float32).first.weight.dtype is mg.float32
    assert net.to("cpu") is net and net.float() is net
    with pytest.raises(NotImplementedError, match="CPU only"):
        net.to("cuda")
    with pytest.raises(NotImplementedError, match="CPU only"):
        net.cuda()


def test_apply_visits_children_first() -> None:
    order: list[str] = []
    net = Net()
    assert net.apply(lambda m: order.append(type(m).__name__)) is net
    assert order == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


# ------------------------------------------------------------------------------------------------------- hooks


def test_forward_hooks() -> None:
    layer = nn.Linear(1, 1)
    calls: list[Any] = []
    pre = layer.register_forward_pre_hook(lambda m, args: calls.append("pre") or (args[0] * 0,))
    post = layer.register_forward_hook(lambda m, args, out: calls.append(args[0].item()) or out + 1)
    out = layer(mg.tensor([[5.0]]))
    assert calls == ["pre", 0.0] and out.item() == pytest.approx(layer.bias.item() + 1)
    pre.remove()
    post.remove()
    layer(mg.tensor([[5.0]]))
    assert len(calls) == 2


def test_what_is_left_out_says_so() -> None:
    with pytest.raises(TypeError, match=r"^Conv2d\(\): minigrad leaves out the argument 'padding_mode'$"):
        nn.Conv2d(1, 1, 3, padding_mode="reflect")
    with pytest.raises(TypeError, match=r"^SGD\(\): minigrad leaves out the argument 'fused'$"):
        mg.optim.SGD([mg.ones(1)], fused=True)
    with pytest.raises(TypeError, match="leaves out the argument 'with_kwargs'"):
        nn.ReLU().register_forward_hook(print, with_kwargs=True)
    with pytest.raises(TypeError, match=r"^Linear\.__init__\(\) got an unexpected keyword argument 'biass'"):
        nn.Linear(2, 2, biass=False)
    for namespace in (nn, nn.functional, nn.init, nn.utils, mg.optim, mg.optim.lr_scheduler, mg.utils, mg.utils.data):
        with pytest.raises(AttributeError, match="minigrad leaves out what its course does not use"):
            _ = namespace.nothing
    with pytest.raises(AttributeError, match="did you mean 'Linear'"):
        _ = nn.Linaer
    with pytest.raises(AttributeError, match="minigrad leaves out what its course does not use"):
        _ = nn.ReLU().register_full_backward_pre_hook
    with pytest.raises(AttributeError, match="did you mean 'weight'"):
        _ = nn.Linear(1, 1).wieght

    class Net(nn.Module):
        pass

    with pytest.raises(AttributeError, match=r"^'Net' object has no attribute 'layer'$"):  # it is the student's own
        _ = Net().layer


# ------------------------------------------------------------------------------------- parameters, odds and ends


def test_parameter_shares_memory_and_subclasses() -> None:
    data = mg.zeros(2)
    p = nn.Parameter(data)
    data.fill_(5.0)
    assert p.tolist() == [5.0, 5.0] and isinstance(p, mg.Tensor) and p.is_leaf and p.requires_grad
    assert not nn.Parameter(mg.tensor([1]), requires_grad=False).requires_grad
    assert not isinstance(p * 2, nn.Parameter)


def test_a_module_that_forgot_its_init_is_refused_when_called() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.factor = 2

        def forward(self, x: Any) -> Any:
            return x * self.factor

    with pytest.raises(AttributeError, match=r"^'Forgetful' object has no attribute '_backward_hooks'$"):
        Forgetful()(mg.ones(2))
    for members in (Forgetful().parameters, Forgetful().zero_grad, lambda: Forgetful().named_parameters(recurse=False)):
        with pytest.raises(AttributeError, match=r"^'Forgetful' object has no attribute '_parameters'$"):
            list(members())


def test_a_module_of_ones_own_says_which_method_of_pytorch_is_left_out() -> None:
    class Own(nn.Module):
        pass

    with pytest.raises(AttributeError, match=r"register_full_backward_hook' \(minigrad leaves out"):
        Own().register_full_backward_hook(print)
    with pytest.raises(AttributeError, match=r"'Own' object has no attribute 'layer'$"):
        Own().layer  # noqa: B018
