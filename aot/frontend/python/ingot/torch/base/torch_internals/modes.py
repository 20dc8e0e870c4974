"""PyTorch's private names of modes, and of the autograd graph while it is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes as no_modes

__all__ = ["TorchDispatchMode", "no_dispatch", "no_modes"]

no_torch_function: Any = torch._C._disabled_torch_function_impl
RUN_BACKWARD = "_engine_run_backward"  # of torch.autograd: what all ways to compute gradients come to


def current_autograd_node() -> Any:
    """The node of the autograd graph whose gradient is computed; None where none is."""
    return torch._C._current_autograd_node()


def next_sequence_number() -> int:
    """The number that the next node of the autograd graph has."""
    return int(torch._C._autograd._get_sequence_nr())


@contextmanager
def without_mkldnn() -> Iterator[None]:
    """PyTorch computes by its own kernels, not by oneDNN's, in all threads."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)
