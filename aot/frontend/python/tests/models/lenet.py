"""LeNet-5: LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition", 1998."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, SIZE, CLASSES = 6, 8, 28, 10


class LeNet5(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(16 * 5 * 5, 120)
        self.dense2 = nn.Linear(120, 84)
        self.head = nn.Linear(84, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2)
        return self.head(torch.tanh(self.dense2(torch.tanh(self.dense1(x.flatten(1))))))


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = LeNet5().to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(STEPS, BATCH, 1, SIZE, SIZE).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y))
    return Training(model, optimizer, step, (images, labels))
