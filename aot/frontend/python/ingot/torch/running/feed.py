"""What a program reads and gives as memory: prepared once, so that a call only fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import record_function

from ingot.session import Session
from ingot.torch.base.profiles import kernel_events
from ingot.torch.base.torch_internals import likeness
from ingot.torch.optimizers.hyperparameters import Hyperparameter
from ingot.torch.running.captured import Captured
from ingot.torch.tracing.state import stored

if TYPE_CHECKING:
    from ingot._engine import Events

Tensors = tuple[torch.Tensor, ...]


class IndicesOutside(Exception):
    """A call's indices are outside of what they index."""


class Feed:
    """An entry point as a function of tensors of the types that it was traced with."""

    def __init__(
        self,
        session: Session,
        name: str,
        names: Sequence[str],
        tensors: Sequence[torch.Tensor],
        captured: Captured,
        numbers: Mapping[str, Hyperparameter],
        checks: Sequence[str] = (),
    ) -> None:
        """`names` are of the `tensors`, which are examples, then of those that are `captured`.

        `numbers` are read where optimizers have them.

        Entry points that are `checks` of the same inputs give whether their indices are within what they index.
        """
        entry = session.entries[name]
        self._bundle = session.bundle
        self._count, self._are_alike = len(tensors), likeness(tensors)
        self._captured = captured or None
        self._are_plain = all(_plain(tensor) is tensor for tensor in (*tensors, *captured()))
        sources = [
            _place(numbers[port.name]) if port.name in numbers else names.index(port.name) for port in entry.inputs
        ]
        self._call = session.call(name, sources, checks)
        # Made like these, which is faster than of what they are; nobody writes to them, so that they take no memory.
        self._outputs = {
            port.name: torch.empty(port.shape, dtype=getattr(torch, port.element_name)) for port in entry.outputs
        }

    def takes(self, tensors: tuple[Any, ...]) -> bool:
        """Whether these are seen at once to be tensors as the examples were."""
        return len(tensors) == self._count and self._are_alike(*tensors)

    @cached_property
    def events(self) -> Events:
        """Its kernels, as events that PyTorch's profilers show."""
        return kernel_events(self._bundle)

    def __call__(
        self, tensors: Tensors, are_taken: bool = False, events: Events | None = None
    ) -> dict[str, torch.Tensor]:
        """Runs once, with `events` around its kernels; `are_taken` says that these are tensors that it takes.

        Raises IndicesOutside before it does.
        """
        if self._captured:
            tensors = *tensors, *self._captured()
        if not (are_taken and self._are_plain):
            tensors = tuple(map(_plain, tensors))
        outputs = dict(zip(self._outputs, map(torch.empty_like, self._outputs.values()), strict=True))
        if not self._call.run(tensors, tuple(outputs.values()), events):
            raise IndicesOutside
        return outputs


def profiled(feed: Feed, step: str) -> Callable[[Tensors, bool], dict[str, torch.Tensor]]:
    """The same, as an event that PyTorch's profilers show, with one below it for each run of a kernel."""

    def run(tensors: Tensors, are_taken: bool) -> dict[str, torch.Tensor]:
        with record_function(f"ingot: {step}"):
            return feed(tensors, are_taken, feed.events)

    return run


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that lies row by row with the bytes that a program reads: the tensor itself, if it does."""
    tensor = tensor.resolve_conj().resolve_neg().contiguous()
    if not tensor.numel():  # contiguous by any strides
        tensor = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    return stored(tensor.detach()) if tensor.is_complex() else tensor


def _place(number: Hyperparameter) -> tuple[dict[str, Any], str, int | None]:
    """Where a number is, in the group that it was traced with, which the guard sees to."""
    return number.optimizer.param_groups[number.group], number.key, number.index
