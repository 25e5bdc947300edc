"""All layers, one file a family; `minigrad.nn` has them all under one name."""

from minigrad.nn.modules.activation import GELU, LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Softplus, Tanh
from minigrad.nn.modules.container import ModuleDict, ModuleList, ParameterList, Sequential
from minigrad.nn.modules.conv import Conv2d
from minigrad.nn.modules.dropout import Dropout
from minigrad.nn.modules.linear import Embedding, Flatten, Identity, Linear
from minigrad.nn.modules.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import BatchNorm1d, BatchNorm2d, LayerNorm
from minigrad.nn.modules.pooling import AvgPool2d, MaxPool2d

__all__ = [
    "GELU",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
]
