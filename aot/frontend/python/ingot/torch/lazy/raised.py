"""Errors that a hook, or an op, raises within ``backward()``.

PyTorch's engine leaves an op by asking the device's guard, which is made in Python, for its type while the error is on
its way: PyTorch then ends the process, as a call that succeeds may leave no error behind. So the guard takes the error
away, and the engine raises it in the end.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from ingot.torch.base.torch_internals.devices import PRIVATE_DEVICE, DeviceGuard, ImperativeEngine

_pending = threading.local()
_raise_pending = ctypes.pythonapi.PyErr_Occurred  # as ctypes calls it, it raises what is on its way in this thread


class Guard(DeviceGuard):  # type: ignore[misc]  # torch is not checked
    """What PyTorch asks for the device's type."""

    def type_(self) -> Any:
        """The type; an error that is on its way is kept."""
        try:
            _raise_pending()
        except BaseException as error:  # raised again by Engine
            _pending.error = error
        return PRIVATE_DEVICE


class Engine(ImperativeEngine):  # type: ignore[misc]
    """PyTorch's engine of autograd, which raises what the guard has kept."""

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes gradients."""
        _pending.error = None
        try:
            return super().run_backward(*args, **kwargs)
        except SystemError:
            if _pending.error is None:
                raise
        error, _pending.error = _pending.error, None
        raise error
