"""A small ViT: Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021; AdamW with warm-up and cosine decay."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, SIZE, CLASSES = 6, 4, 28, 10
WARM_UP, PEAK_RATE = 2, 1e-3


class Attention(nn.Module):
    """Self-attention of several heads; without biases, of which softmax would ignore the keys'."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    """Attention and two dense layers, each added to what it read through LayerNorm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.dense(self.norm2(x))


class ViT(nn.Module):
    """Scores [batch, classes] of images [batch, channels, size, size]."""

    def __init__(
        self,
        *,
        size: int = SIZE,
        patch: int = 7,
        channels: int = 1,
        width: int = 32,
        depth: int = 2,
        heads: int = 4,
        classes: int = CLASSES,
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(channels, width, patch, stride=patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(images), -1, -1), tokens], dim=1) + self.positions
        return self.head(self.norm(self.blocks(tokens)[:, 0]))


def warm_up_cosine(steps: int, warm_up: int, peak: float) -> torch.Tensor:
    """Learning rates of all steps, f64: up to the peak in equal parts, then down half a cosine towards zero."""

    def rate(step: int) -> float:
        if step < warm_up:
            return peak * (step + 1) / warm_up
        return peak * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))

    return torch.tensor([rate(step) for step in range(steps)], dtype=torch.float64)


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = ViT().to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.05)
    images = torch.randn(STEPS, BATCH, 1, SIZE, SIZE).to(dtype)
    labels = torch.randint(0, CLASSES, (STEPS, BATCH))
    step = classifier_step(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y), clip=1.0)
    return Training(model, optimizer, step, (images, labels), rates=warm_up_cosine(STEPS, WARM_UP, PEAK_RATE))


def make_autocast(dtype: torch.dtype) -> Training:
    """The same with matrix products and convolutions in bf16."""
    training = make(dtype)

    def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(x), y)

    training.step = classifier_step(training.model, training.optimizer, loss_of, clip=1.0)
    training.has_f64 = False
    return training
