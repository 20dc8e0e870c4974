"""torch.utils.checkpoint: what the backward pass computes again stays computed again.

A compiler that finds equal ops would take the first results, and keep them in memory. What is computed again reads its
inputs from behind a barrier, so its ops are equal to none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import checkpoint

from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.optimizers import CHECKPOINT, checkpoint_generator


@torch.library.custom_op("ingot::barrier", mutates_args=())  # type: ignore[untyped-decorator]
def barrier(x: torch.Tensor) -> torch.Tensor:
    """The same values, which no pass of a compiler knows to be the same."""
    return x.clone()


barrier.register_fake(torch.empty_like)
barrier.register_autograd(lambda ctx, gradient: gradient)


@contextmanager
def computed_again() -> Iterator[None]:
    """Lets functions that are checkpointed run behind a barrier in the backward pass, by both ways to do it.

    The reentrant way also has the forward pass call the function that it is given; the other calls it only again.
    """
    apply = checkpoint.CheckpointFunction.apply

    def generate(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return checkpoint_generator(_behind_barrier(function, 0), *args, **kwargs)

    def apply_reentrant(function: Callable[..., Any], *args: Any) -> Any:
        return apply(_behind_barrier(function, 1), *args)

    with (
        replaced(checkpoint, CHECKPOINT, generate),
        replaced(checkpoint, "SAC_IGNORED_OPS", checkpoint.SAC_IGNORED_OPS | {torch.ops.ingot.barrier.default}),
        replaced(checkpoint.CheckpointFunction, "apply", staticmethod(apply_reentrant)),
    ):
        yield


def _behind_barrier(function: Callable[..., Any], first: int) -> Callable[..., Any]:
    """The function, whose calls from number `first` on are behind a barrier."""
    calls = itertools.count()

    def call(*args: Any, **kwargs: Any) -> Any:
        if next(calls) >= first:
            args, kwargs = pytree.tree_map_only(torch.Tensor, barrier, (args, kwargs))
        return function(*args, **kwargs)

    return call
