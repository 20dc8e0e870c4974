"""U-Net: Ronneberger, Fischer, Brox, "U-Net: convolutional networks for biomedical image segmentation", MICCAI 2015.

It is narrower, pads, and has BatchNorm; one way up is a transposed convolution, the other bilinear upsampling.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, SIZE, CLASSES = 5, 2, 32, 4
WIDTHS = (8, 16, 32)


def twice_convolved(inputs: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in (inputs, outputs):
        layers += [nn.Conv2d(width, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


def upsampled(inputs: int, outputs: int, is_learned: bool) -> nn.Module:
    if is_learned:
        return nn.ConvTranspose2d(inputs, outputs, 2, stride=2)
    return nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(inputs, outputs, 1))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        small, middle, wide = WIDTHS
        self.down1 = twice_convolved(1, small)
        self.down2 = twice_convolved(small, middle)
        self.bottom = twice_convolved(middle, wide)
        self.rise2 = upsampled(wide, middle, is_learned=True)
        self.up2 = twice_convolved(2 * middle, middle)
        self.rise1 = upsampled(middle, small, is_learned=False)
        self.up1 = twice_convolved(2 * small, small)
        self.head = nn.Conv2d(small, CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        bottom = self.bottom(F.max_pool2d(second, 2))
        second = self.up2(torch.cat([second, self.rise2(bottom)], 1))
        first = self.up1(torch.cat([first, self.rise1(second)], 1))
        return self.head(first)


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = UNet().to(dtype)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9)
    images = torch.randn(STEPS, BATCH, 1, SIZE, SIZE).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH, SIZE, SIZE))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y))
    return Training(model, optimizer, step, (images, labels))
