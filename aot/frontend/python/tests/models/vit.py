"""The vision transformer of the application in apps/fashion; AdamW with warm-up and cosine decay."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn
from vit import CLASSES, SIZE, ViT

STEPS, BATCH = 6, 4
WARM_UP, PEAK_RATE = 2, 1e-3


def warm_up_cosine(steps: int, warm_up: int, peak: float) -> torch.Tensor:
    """Learning rates of all steps, f64: up to the peak in equal parts, then down half a cosine towards zero."""

    def rate(step: int) -> float:
        if step < warm_up:
            return peak * (step + 1) / warm_up
        return peak * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))

    return torch.tensor([rate(step) for step in range(steps)], dtype=torch.float64)


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = ViT(width=32, depth=2).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.05)
    images = torch.randn(STEPS, BATCH, 1, SIZE, SIZE).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y), clip=1.0)
    return Training(model, optimizer, step, (images, labels), rates=warm_up_cosine(STEPS, WARM_UP, PEAK_RATE))


def make_in_bf16(dtype: torch.dtype) -> Training:
    """The same with matrix products and convolutions in bf16."""
    training = make(dtype)

    def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(x), y)

    training.step = classifier_step(training.model, training.optimizer, loss_of, clip=1.0)
    training.has_f64 = False
    return training
