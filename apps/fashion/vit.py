"""A small vision transformer in PyTorch for the application that model.cpp is for.

    vit.py save FOLDER             traces the training step and predict, and saves them as a program
    vit.py check STATE [FOLDER]    loads a state that the application saved, and reports its accuracy in PyTorch; FOLDER
                                   has the images

Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from fashion_images import CLASSES, FOLDER, SIZE, read
from torch import nn

import ingot.torch

BATCH = 64


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
        width: int = 64,
        depth: int = 3,
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


def make() -> tuple[ViT, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = ViT()
    return model, torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=1e-2)


def save(folder: Path) -> None:
    """Traces what was written for PyTorch, without running it."""
    model, optimizer = make()

    def train_step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels.long())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    def predict(images: torch.Tensor) -> torch.Tensor:
        return model(images).argmax(1).int()

    images, labels = torch.zeros(BATCH, 1, SIZE, SIZE), torch.zeros(BATCH, dtype=torch.int32)
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", train_step, (images, labels))
    program.add("predict", predict, (images,), training=False)
    program.save(folder)


def check(state: Path, data: Path) -> None:
    """Prints the accuracy on the test images of whole batches, as the application does."""
    model, optimizer = make()
    ingot.torch.load_state(model, optimizer, state)
    pixels, labels = read("t10k", data)
    count = len(labels) // BATCH * BATCH
    images = torch.from_numpy(pixels[:count])
    with torch.no_grad():
        classes = torch.cat([model(part).argmax(1) for part in images.split(BATCH)])
    right = (classes == torch.from_numpy(labels[:count])).sum().item()
    print(f"PyTorch, with the state that was trained without it: test accuracy {100 * right / count:.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    saving = commands.add_parser("save", help="trace the training step and predict")
    saving.add_argument("folder", type=Path)
    checking = commands.add_parser("check", help="report the accuracy of a saved state in PyTorch")
    checking.add_argument("state", type=Path)
    checking.add_argument("data", type=Path, nargs="?", default=FOLDER)
    options = parser.parse_args()
    if options.command == "save":
        save(options.folder)
    else:
        check(options.state, options.data)


if __name__ == "__main__":
    main()
