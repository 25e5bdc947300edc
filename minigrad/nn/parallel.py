"""torch.nn.parallel: `DataParallel` runs the module itself, as PyTorch's does where there is no GPU."""

from __future__ import annotations

from typing import Any

from minigrad.nn.modules.module import Module


class DataParallel(Module):
    """The module, under the name `module` (so its parameters are called `module.weight`, ...)."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids = module, list[int]()

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        return self.module(*inputs, **keywords)
