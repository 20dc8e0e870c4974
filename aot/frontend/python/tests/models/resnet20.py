"""ResNet-20 of small images: He, Zhang, Ren, Sun, "Deep residual learning for image recognition", CVPR 2016, 4.2."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, SIZE, CLASSES = 5, 4, 16, 10
BLOCKS, WIDTHS = 3, (16, 32, 64)


class Block(nn.Module):
    """Two convolutions and a shortcut, which averages and pads with zero channels where the block narrows."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.added = stride, outputs - inputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        shortcut = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
        return F.relu(y + shortcut)


class ResNet20(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, WIDTHS[0], 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(WIDTHS[0])
        blocks, width = [], WIDTHS[0]
        for stage, outputs in enumerate(WIDTHS):
            for i in range(BLOCKS):
                blocks.append(Block(width, outputs, 2 if stage and not i else 1))
                width = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(F.relu(self.bn(self.conv(x)))).mean((2, 3)))


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = ResNet20().to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    images = torch.randn(STEPS, BATCH, 3, SIZE, SIZE).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y))
    return Training(model, optimizer, step, (images, labels))
