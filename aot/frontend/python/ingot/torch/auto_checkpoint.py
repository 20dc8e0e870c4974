"""Models whose training steps compute again what does not fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch

M = TypeVar("M", bound=torch.nn.Module)

_LIMITS: WeakKeyDictionary[torch.nn.Module, int | str] = WeakKeyDictionary()


def auto_checkpoint(model: M, memory_limit: int | str = "least") -> M:
    """Lets training steps of `model` keep less: what they read late is computed again, to the same bits.

    The compiler finds what to compute again, where ``torch.utils.checkpoint`` wants to be told. `memory_limit` is what
    the arena of a step and the scratch of one thread may take ("64MiB"), or "least": as little as is reached. It is
    that of every step that ``ingot.torch.compile`` or an ``ingot.torch.Program`` makes of the model from now on, and
    that has no limit of its own. The model is given back, and is as it was.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"auto_checkpoint takes a module, and was given a {type(model).__name__}")
    _LIMITS[model] = memory_limit
    return model


def limit_of(models: torch.nn.Module | Mapping[str, torch.nn.Module]) -> int | str | None:
    """The limit that `auto_checkpoint` gave to one of the models.

    Raises ValueError where it gave them different ones.
    """
    given = [models] if isinstance(models, torch.nn.Module) else [*models.values()]
    limits = list(dict.fromkeys(_LIMITS[model] for model in given if model in _LIMITS))
    if len(limits) > 1:
        wanted = " and ".join(map(str, limits))
        raise ValueError(f"auto_checkpoint gave models of one step different limits, {wanted}: give them the same")
    return limits[0] if limits else None
