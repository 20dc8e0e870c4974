"""A ResNet-18 that PyTorch trains on some kinds of clothes and exports, and ingot's engine then trains on the others.

    finetune.py prepare FOLDER             trains on five of the ten classes; writes model.onnx, and training images of
                                           all classes to batches.safetensors
    finetune.py check NAME=MODEL.onnx...   evaluates models by ONNX Runtime on the test images of both halves

He et al., "Deep residual learning for image recognition", CVPR 2016, with a quarter of its channels.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from fashion_images import CLASSES, read
from safetensors.numpy import save_file
from torch import nn

BATCH = 64
FIRST = (0, 2, 4, 6, 8)  # the classes that PyTorch trains on: tops, coats, bags; the rest: shoes, trousers, dresses


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Conv2d(channels, width, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(inner + self.shortcut(x))


class ResNet18(nn.Module):
    """Scores [batch, classes] of images [batch, 1, size, size]."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        stages: list[nn.Module] = []
        for stage in range(4):
            channels, wide = width << max(stage - 1, 0), width << stage
            stages += [Residual(channels, wide, 2 if stage else 1), Residual(wide, wide, 1)]
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(8 * width, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.stages(self.stem(images)).mean((2, 3)))


def images_of(part: str, first: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of the classes in FIRST, or of the others; `part` is train or t10k."""
    images, labels = read(part)
    chosen = np.isin(labels, FIRST) == first
    return images[chosen], labels[chosen].astype(np.int32)


def prepare(folder: Path, steps: int) -> None:
    """Trains, exports, and writes what there is left to learn."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = ResNet18()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    images, labels = (torch.from_numpy(array) for array in images_of("train", first=True))
    for step in range(steps):
        rows = torch.randint(len(images), (BATCH,))
        loss = F.cross_entropy(model(images[rows]), labels[rows].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 100 == 0:
            print(f"PyTorch: step {step + 1}, loss {loss.item():.4f}", flush=True)
    batch = torch.export.Dim("batch")
    torch.onnx.export(
        model.eval(),
        (images[:BATCH],),
        folder / "model.onnx",
        input_names=["images"],
        output_names=["scores"],
        dynamic_shapes=({0: batch},),
        external_data=False,
        verbose=False,
    )
    # Half of each batch is of what PyTorch trained on, so that it is not forgotten.
    new_images, new_labels = images_of("train", first=False)
    count = 250
    generator = np.random.default_rng(0)
    new, old = (generator.integers(len(array), size=(count, BATCH // 2)) for array in (new_labels, labels))
    save_file(
        {
            "images": np.concatenate([new_images[new], images.numpy()[old]], axis=1),
            "labels": np.concatenate([new_labels[new], labels.numpy()[old]], axis=1),
        },
        folder / "batches.safetensors",
    )


def check(models: list[str]) -> None:
    """Prints the accuracy of each model on both halves of the test images."""
    import onnxruntime

    halves = [images_of("t10k", first=True), images_of("t10k", first=False)]
    for named in models:
        name, _, path = named.partition("=")
        session = onnxruntime.InferenceSession(path)
        shares = []
        for images, labels in halves:
            right = 0
            for start in range(0, len(labels), BATCH):
                scores = session.run(None, {"images": images[start : start + BATCH]})[0]
                right += int((scores.argmax(1) == labels[start : start + BATCH]).sum())
            shares.append(100 * right / len(labels))
        first, others = shares
        print(f"ONNX Runtime: {name}: test accuracy {first:.2f} % on the first classes, {others:.2f} % on the others")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="train on some classes, export, write batches of the others")
    preparing.add_argument("folder", type=Path)
    preparing.add_argument("--steps", type=int, default=400)
    checking = commands.add_parser("check", help="report accuracies by ONNX Runtime")
    checking.add_argument("models", nargs="+", metavar="NAME=MODEL.onnx")
    options = parser.parse_args()
    if options.command == "prepare":
        prepare(options.folder, options.steps)
    else:
        check(options.models)


if __name__ == "__main__":
    main()
