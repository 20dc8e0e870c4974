"""The table of ATen ops, in families; importing this fills it."""

from ingot.torch.aten import (
    comparisons,
    contractions,
    convolution,
    creation,
    elementwise,
    embedding_bag,
    indexing,
    losses,
    moves,
    padding,
    pooling,
    random,
    reductions,
    resampling,
    sorting,
)

__all__ = [
    "comparisons",
    "contractions",
    "convolution",
    "creation",
    "elementwise",
    "embedding_bag",
    "indexing",
    "losses",
    "moves",
    "padding",
    "pooling",
    "random",
    "reductions",
    "resampling",
    "sorting",
]
