"""PyTorch's private names of Dynamo; what importing ``ingot.torch`` does not need is imported later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch._dynamo.config as dynamo_config
from torch._dynamo import convert_frame
from torch._dynamo.backends.registry import register_backend
from torch._dynamo.exc import BackendCompilerFailed, TorchRuntimeError, Unsupported

__all__ = [
    "BackendCompilerFailed",
    "TorchRuntimeError",
    "Unsupported",
    "dynamo_config",
    "register_backend",
]

COMPILING: Any = convert_frame.compile_lock  # what Dynamo holds while it compiles


def bytecode() -> Any:
    """The module that rewrites code; it costs as much to import as a small model to trace."""
    from torch._dynamo import bytecode_transformation

    return bytecode_transformation


def aot_autograd(**how: Any) -> Any:
    """Makes a backend from two compilers, of forward and backward; a minimum cut parts them."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return aot_autograd(partition_fn=min_cut_rematerialization_partition, **how)


def functorch_config() -> Any:
    """The settings of AOTAutograd."""
    from torch._functorch import config

    return config


def boxed(run: Any) -> Callable[..., Any]:
    """A function that takes its arguments as a list, as AOTAutograd calls it."""
    from torch._functorch.aot_autograd import make_boxed_func

    made: Callable[..., Any] = make_boxed_func(run)
    return made
