"""A small GPT of characters: pre-norm blocks, causal attention, one matrix for characters in and out."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

STEPS, BATCH, LENGTH, CHARACTERS, WIDTH, HEADS, BLOCKS = 6, 3, 12, 31, 32, 4, 2
WARM_UP = 4


class Attention(nn.Module):
    """Each position attends to those before it, [batch, length, width]."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.project = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.parts(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.project(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class CharGpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CHARACTERS, bias=False)
        self.head.weight = self.characters.weight

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(text.shape[1], device=text.device)
        return self.head(self.norm(self.blocks(self.characters(text) + self.positions(positions))))


def loss_of(model: nn.Module, text: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def loss_in_bf16(model: nn.Module, text: torch.Tensor) -> torch.Tensor:
    """In plain ops, as programs have it: PyTorch's fast attention rounds to bf16 in other places."""
    with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
        return loss_of(model, text)


def train(dtype: torch.dtype, loss: Callable[..., torch.Tensor]) -> Training:
    torch.manual_seed(0)
    model = CharGpt().to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    rates = warm_up(optimizer)
    text = torch.randint(0, CHARACTERS, (STEPS, BATCH, LENGTH + 1))
    return Training(model, optimizer, classifier_step(model, optimizer, loss, clip=1.0), (text,), rates)


def warm_up(optimizer: torch.optim.Optimizer) -> torch.Tensor:
    """The learning rates of a schedule that starts at 0, f64 of [steps]; without gradients its steps do nothing."""
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / WARM_UP))
    rates = []
    for _ in range(STEPS):
        rates += schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    optimizer.param_groups[0]["lr"] = rates[0]
    return torch.tensor(rates, dtype=torch.float64)


def make(dtype: torch.dtype) -> Training:
    return train(dtype, loss_of)


def in_bf16(dtype: torch.dtype) -> Training:
    made = train(dtype, loss_in_bf16)
    made.has_f64 = False
    return made
