"""What PyTorch must do otherwise while it is traced."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch.fx import traceback as fx_traceback
from torch.nn.attention import SDPBackend, sdpa_kernel

from ingot.torch.base.raised import unlogged
from ingot.torch.base.replacements import by_thread, is_tracer, replaced
from ingot.torch.base.streams import counted_streams
from ingot.torch.base.torch_internals import has_hooks
from ingot.torch.base.torch_internals.dynamo import COMPILING, dynamo_config
from ingot.torch.base.torch_internals.modes import without_mkldnn
from ingot.torch.base.torch_internals.optimizers import CAPTURABLE
from ingot.torch.numbers.checks import passing_checks
from ingot.torch.tracing.state import Optimizers, State
from ingot.torch.tracing.substitutes import substitutes

# Names that the modules of torch.optim look up, and what they find while an optimizer is traced: counters in tensors on
# every device.
OPTIMIZER_NAMES: dict[str, Any] = {
    CAPTURABLE: lambda supports_xla=True: ["cpu", "cuda"],
}

# It warns of every comparison with a changeable number.
SHAPES_LOG = logging.getLogger("torch.fx.experimental.symbolic_shapes")


@contextmanager
def tracing_settings(state: State, training: bool) -> Iterator[None]:
    """What PyTorch must do otherwise while it is traced.

    Models are in the mode that is asked for, then as before; what was given to torch.compile runs as it was; attention
    and recurrent layers are made of plain ops; Dynamo compiles nothing in other threads, as it would read what is
    replaced; libraries hear that PyTorch compiles; anomalies are not looked for; and optimizers find OPTIMIZER_NAMES,
    all of torch what substitutes its functions.
    """
    with ExitStack() as undo:
        undo.enter_context(COMPILING)
        undo.enter_context(unlogged())
        undo.enter_context(fx_traceback.preserve_node_meta())
        undo.enter_context(dynamo_config.patch(error_on_nested_fx_trace=False))
        undo.enter_context(passing_checks())
        undo.enter_context(sdpa_kernel(SDPBackend.MATH))
        undo.enter_context(said_to_compile(state.optimizers))
        undo.enter_context(counted_streams())
        undo.enter_context(without_mkldnn())
        undo.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        undo.enter_context(in_mode(state, training))
        undo.callback(SHAPES_LOG.setLevel, SHAPES_LOG.level)
        SHAPES_LOG.setLevel(logging.ERROR)
        undo.callback(torch.set_anomaly_enabled, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        torch.set_anomaly_enabled(False)
        undo.enter_context(substitutes())
        for optimizer in state.optimizers.values():
            source = sys.modules[type(optimizer).step.__module__]
            for name, traceable in OPTIMIZER_NAMES.items():
                if hasattr(source, name):
                    undo.enter_context(replaced(source, name, traceable, kind="an optimizer's module"))
        yield


_THRESHOLDS: list[tuple[int, int, int]] = []  # of Python's collection, as each context found them
_THRESHOLDS_LOCK = threading.Lock()


@contextmanager
def without_collection() -> Iterator[None]:
    """Python looks for no garbage: tracing makes a great many objects that stay, among all those of PyTorch.

    It is not disabled, which a function may ask for. The last of several threads lets Python look again.
    """
    with _THRESHOLDS_LOCK:
        _THRESHOLDS.append(gc.get_threshold())
        gc.set_threshold(0)
    try:
        yield
    finally:
        with _THRESHOLDS_LOCK:
            before = _THRESHOLDS.pop()
            if not _THRESHOLDS:
                gc.set_threshold(*before)


@contextmanager
def in_mode(state: State, training: bool) -> Iterator[None]:
    """Where not `training`, models are in ``eval()``, then as before, and no gradients are computed."""
    modes = [(module, module.training) for model in state.models.values() for module in model.modules()]
    try:
        with nullcontext() if training else torch.no_grad():
            for module, mode in modes:
                module.training = mode and training
            yield
    finally:
        for module, mode in modes:
            module.training = mode


class _FlagOfTracer:
    """True in the thread that traces, as long as its value is."""

    value = True

    def __bool__(self) -> bool:
        return self.value and is_tracer()

    def __or__(self, other: Any) -> Any:
        return bool(self) | other

    def __and__(self, other: Any) -> Any:
        return bool(self) & other

    __ror__, __rand__ = __or__, __and__


@contextmanager
def said_to_compile(optimizers: Optimizers) -> Iterator[None]:
    """torch.compiler.is_compiling() is true, so that libraries do not choose by the values in tensors.

    It is false within optimizers, which would compute their corrections in the tensors' types instead of Python's.
    """

    flag = _FlagOfTracer()

    def say(answer: bool) -> Callable[..., None]:
        return by_thread(lambda *_: setattr(flag, "value", answer), lambda *_: None)

    with ExitStack() as undo:
        undo.enter_context(replaced(torch.compiler, "_is_compiling_flag", flag))
        for optimizer in filter(has_hooks, optimizers.values()):
            undo.callback(optimizer.register_step_pre_hook(say(False)).remove)
            undo.callback(optimizer.register_step_post_hook(say(True)).remove)
        yield
