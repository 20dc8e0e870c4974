"""A classifier of rows of numbers."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, COLUMNS, CLASSES = 6, 32, 24, 7
WIDTHS = (64, 48)


class MLP(nn.Sequential):
    """Linear layers with ReLU between them."""

    def __init__(self, *widths: int) -> None:
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        super().__init__(*layers[:-1])


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = MLP(COLUMNS, *WIDTHS, CLASSES).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    rows = torch.randn(STEPS, BATCH, COLUMNS).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y), clip=1.0)
    return Training(model, optimizer, step, (rows, labels))
