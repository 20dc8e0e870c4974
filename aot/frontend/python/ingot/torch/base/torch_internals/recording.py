"""PyTorch's private names of what records ops into graphs and makes these functional."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch._functorch.eager_transforms import _wrap_all_tensors_to_functional as wrap_to_functional
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.fx import _symbolic_trace as symbolic_trace
from torch.fx._lazy_graph_module import _use_lazy_graph_module as use_lazy_graph_module
from torch.fx.experimental.proxy_tensor import _MakefxTracer as MakefxTracer

__all__ = [
    "MakefxTracer",
    "symbolic_trace",
    "temporarily_clear_interpreter_stack",
    "use_lazy_graph_module",
    "wrap_to_functional",
]

CONSTRUCT = "_construct_modes_with_fx_tracer"  # of MakefxTracer: makes the mode that records
CONVERT = "_convert_args_to_fake"  # of MakefxTracer: the arguments, its last, as fake tensors
# Of symbolic_trace: methods of modules, as they were when PyTorch was imported.
MODULE_METHODS = {"_orig_module_call": "__call__", "_orig_module_getattr": "__getattr__"}


class TorchOfRecorder:
    """`torch` as symbolic_trace finds it while one thread records: to all others, PyTorch compiles.

    By both what Dynamo has compiled decides, in every thread, whether it may run: it refuses while a graph is recorded.
    """

    def __init__(self, records: Callable[[], bool]) -> None:
        """`records` tells whether the thread that asks is the one that records."""
        is_compiling = torch.compiler.is_compiling
        self.compiler = SimpleNamespace(is_compiling=lambda: not records() or is_compiling())

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def functional_level() -> int:
    """How many transformations of torch.func there are around what runs."""
    return torch._C._functorch.maybe_current_level()  # type: ignore[no-any-return]
