"""PyTorch's door: a model, its optimizer and the user's own training function run as a bundle in this process.

>>> train_step = ingot.torch.compile(train_step, model, optimizer)

Or they become programs for ``ingot compile``.

>>> program = ingot.torch.Program(model, optimizer)
>>> program.add("train_step", train_step, (x, y))
>>> program.add("predict", model, (x,), training=False)
>>> program.save("net/")
"""

import ingot.torch.base.supported  # noqa: F401  (before all that needs PyTorch's insides)
from ingot.torch import backend, lazy, optim
from ingot.torch.auto_checkpoint import auto_checkpoint
from ingot.torch.base.errors import TraceError
from ingot.torch.base.metrics import report as metrics
from ingot.torch.buckets import Buckets
from ingot.torch.compiled import compile, step
from ingot.torch.lazy import device, mark_step, optimizer_step
from ingot.torch.partial import partial
from ingot.torch.program import Program, load_state
from ingot.torch.run import DisagreementError

__all__ = [
    "Buckets",
    "DisagreementError",
    "Program",
    "TraceError",
    "auto_checkpoint",
    "backend",
    "compile",
    "device",
    "lazy",
    "load_state",
    "mark_step",
    "metrics",
    "optim",
    "optimizer_step",
    "partial",
    "step",
]
