"""PyTorch's private names of modes, and of the autograd graph while it is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
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


def modes_around() -> list[str]:
    """Says which modes and hooks are around a call: with them PyTorch may do something else than alone."""
    hooks, is_checked = torch._C._autograd._top_saved_tensors_default_hooks(True), torch._C.is_anomaly_enabled()
    if not (hooks or is_checked or torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack()):
        return []
    modes = [mode for mode in _get_current_function_mode_stack() if not isinstance(mode, DeviceContext)]
    modes += [mode for mode in _get_current_dispatch_mode_stack() if not mode.is_infra_mode()]
    kinds = [type(mode) for mode in modes if not type(mode).__module__.startswith("ingot.")]
    said = [f"a {kind.__name__} sees what it does" for kind in kinds]
    said += ["hooks are given saved tensors (torch.autograd.graph.saved_tensors_hooks)"] if hooks else []
    return [*said, *(["anomalies are looked for (torch.autograd.set_detect_anomaly)"] if is_checked else [])]


@contextmanager
def without_mkldnn() -> Iterator[None]:
    """PyTorch computes by its own kernels, not by oneDNN's, in all threads."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


ProfiledEvent = torch._C._profiler._RecordFunctionFast  # a context manager, to be entered by one thread at a time
is_profiled = torch.autograd._profiler_enabled  # whether a profiler of PyTorch's records what this thread does
