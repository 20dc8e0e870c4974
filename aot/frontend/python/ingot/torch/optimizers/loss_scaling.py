"""GradScaler: its scale is state, and what an optimizer's step leaves is taken where all gradients are finite."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import step_hooks
from ingot.torch.base.torch_internals.optimizers import BEGIN_SCALE, GROWTH, SCALE, STEP_OR_NOT

Scaler: TypeAlias = Any  # a torch.amp.GradScaler: torch is not checked
Scalers = Mapping[str, Scaler]
OWN = ("torch.optim.", "ingot.torch.")


def with_scalers(known: Scalers, held: Iterable[tuple[str, Any]]) -> Scalers:
    """The `known` scalers and the enabled ones among what is held, by path; their scales are there from now on."""
    found = dict(known)
    for path, value in held:
        if not isinstance(value, torch.amp.GradScaler) or not value.is_enabled() or value in found.values():
            continue
        if getattr(value, SCALE) is None:
            getattr(value, BEGIN_SCALE)(torch.device("cpu"))
        names = itertools.chain([path], (f"{path} ({i})" for i in itertools.count(2)))
        found[next(name for name in names if name not in found)] = value
    return found


def tensors_of(scalers: Scalers) -> dict[str, torch.Tensor]:
    """Their scales, and how many steps there were since these changed, by path."""
    return {f"{path}.{key}": getattr(scaler, key) for path, scaler in scalers.items() for key in (SCALE, GROWTH)}


@contextmanager
def selected_steps(choose: Callable[[torch.Tensor], bool]) -> Iterator[None]:
    """While a function is traced: ``scaler.step(optimizer)`` changes nothing where a gradient is not finite.

    What PyTorch's own optimizers change is computed in both cases, and selected. Others may change what is no tensor:
    `choose` says whether they step, each of which is a way of its own.
    """

    def step_or_not(_: Any, optimizer: torch.optim.Optimizer, told: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        is_skipped = torch.stack([*told["found_inf_per_device"].values()]).sum().ne(0)
        if args or kwargs or not _is_own(optimizer):
            return None if choose(is_skipped) else optimizer.step(*args, **kwargs)
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        slots = [slot for held in optimizer.state.values() for slot in held.values() if isinstance(slot, torch.Tensor)]
        before = [(tensor, tensor.detach().clone(), tensor._version) for tensor in (*parameters, *slots)]
        optimizer.step()
        with torch.no_grad():
            for tensor, old, version in before:
                if tensor._version != version:
                    tensor.copy_(torch.where(is_skipped, old, tensor))
        return None

    with replaced(torch.amp.GradScaler, STEP_OR_NOT, step_or_not):
        yield


def _is_own(optimizer: torch.optim.Optimizer) -> bool:
    """Whether an optimizer's step changes nothing but parameters and slots, in place."""
    return all(str(called.__module__).startswith(OWN) for called in (optimizer.step, *step_hooks(optimizer)))
