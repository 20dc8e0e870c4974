"""ResNet-50, and a training step of it on one image of 224x224, as programs for `ingot compile`: resnet50.py FOLDER.

The network of He et al., "Deep residual learning for image recognition", with the stride in the 3x3 convolutions:
25,557,032 parameters.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1] / "aot/frontend/python"))

import ingot.torch


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.reduce = convolution(inputs, width, 1)
        self.filter = convolution(width, width, 3, stride)
        self.expand = convolution(width, outputs, 1)
        is_same = stride == 1 and inputs == outputs
        self.shortcut = (
            nn.Identity() if is_same else convolution(inputs, outputs, 1, stride)
        )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.filter(F.relu(self.reduce(x))))
        return F.relu(self.expand(y) + self.shortcut(x))


def resnet50() -> nn.Module:
    layers: list[nn.Module] = [
        convolution(3, 64, 7, 2),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    inputs = 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, 2 if i == 0 and width > 64 else 1))
            inputs = 4 * width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)
    )


def main(folder: str) -> None:
    torch.manual_seed(1)
    model = resnet50()
    assert sum(p.numel() for p in model.parameters()) == 25_557_032
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def train_step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add(
        "train_step", train_step, (torch.randn(1, 3, 224, 224), torch.tensor([7]))
    )
    program.save(folder)


if __name__ == "__main__":
    main(sys.argv[1])
