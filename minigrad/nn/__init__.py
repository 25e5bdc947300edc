"""Neural networks.

module.py says what every layer and network is, layers.py has the layers, the
containers and the losses, functional.py what they compute.  init.py gives
parameters their first values; utils.py clips gradients.
"""

# ruff: noqa: I001
# fmt: off
from minigrad import errors
from minigrad.nn import functional, init, utils
from minigrad.nn.module import Module, Parameter
from minigrad.nn.layers import ModuleDict, ModuleList, ParameterList, Sequential
from minigrad.nn.layers import Embedding, Flatten, Identity, Linear
from minigrad.nn.layers import AvgPool2d, Conv2d, MaxPool2d
from minigrad.nn.layers import BatchNorm1d, BatchNorm2d, Dropout, LayerNorm
from minigrad.nn.layers import GELU, LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Softplus, Tanh
from minigrad.nn.layers import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss
from minigrad.nn.layers import L1Loss, MSELoss, NLLLoss, SmoothL1Loss

__all__ = [
    "GELU", "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Conv2d", "CrossEntropyLoss",
    "Dropout", "Embedding", "Flatten", "HuberLoss", "Identity", "L1Loss", "LayerNorm", "LeakyReLU", "Linear",
    "LogSoftmax", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList", "NLLLoss", "Parameter",
    "ParameterList", "ReLU", "Sequential", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "functional",
    "init", "utils",
]

errors.namespace(__name__)
