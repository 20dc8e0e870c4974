"""Fashion-MNIST, as Debian's dataset-fashion-mnist has it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

FOLDER = Path("/usr/share/datasets/fashion-mnist")
SIZE, CLASSES = 28, 10
MEAN, DEVIATION = 0.286, 0.353  # of the training set's pixels


def read(part: str, folder: Path = FOLDER) -> tuple[np.ndarray, np.ndarray]:
    """Images [n, 1, size, size] of mean 0 and deviation 1, and their classes; `part` is train or t10k."""
    pixels = _read_idx(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, SIZE, SIZE).astype(np.float32)
    return (pixels / 255 - MEAN) / DEVIATION, _read_idx(folder / f"{part}-labels-idx1-ubyte.gz", 8)


def _read_idx(path: Path, header_bytes: int) -> np.ndarray:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8)[header_bytes:].copy()
