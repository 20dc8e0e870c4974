"""Runs of bundles as PyTorch's profilers show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingot.session import Bundle
from ingot.torch.base.torch_internals.modes import ProfiledEvent

if TYPE_CHECKING:
    from ingot._engine import Events


def kernel_events(bundle: Bundle) -> Events:
    """An event for each step that calls a kernel, for one session of a bundle."""
    return tuple(tuple(ProfiledEvent(kernel) if kernel else None for kernel in steps) for steps in bundle.kernels())
