"""The recorded product with a Hessian: as the engine of the course measures it, and as PyTorch differentiates twice."""

import numpy as np
import pytest

from minigrad.course.checks import own_engine
from minigrad.course.lessons import l15_step_length as lesson


def test_two_passes_of_ones_own_engine_agree_with_the_recorded_product() -> None:
    engine: dict[str, object] = {"__name__": "my_engine"}
    exec(own_engine.reference(15), engine)
    space = {**engine, "__name__": "net"}
    exec(lesson.NET.replace("from my_engine import Tensor, cross_entropy_loss", ""), space)
    found = lesson.hvp(space["net_gradient"], lesson.NET_W, lesson.NET_V, 1e-5)
    np.testing.assert_allclose(found, lesson.RECORDED, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_recorded_product_is_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(np.sin(1.0 + np.arange(24)).reshape(6, 4))

    def loss(w):
        hidden = torch.tanh(x @ w[:20].reshape(4, 5))
        return torch.nn.functional.cross_entropy(hidden @ w[20:].reshape(5, 3), torch.tensor([2, 0, 1, 1, 2, 0]))

    w = torch.tensor(lesson.NET_W, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(w), w, create_graph=True)
    (product,) = torch.autograd.grad(gradient @ torch.tensor(lesson.NET_V), w)
    np.testing.assert_allclose(product.numpy(), lesson.RECORDED, rtol=1e-7)
