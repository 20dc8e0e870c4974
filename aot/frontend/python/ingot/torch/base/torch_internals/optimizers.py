"""PyTorch's private names of optimizers, and of checkpoints."""

from __future__ import annotations

from typing import Any

from torch.optim import _functional as functions
from torch.optim import adagrad, adam, lbfgs
from torch.utils import checkpoint

__all__ = ["functions"]

UPDATE = "_single_tensor_"  # begins the names of functions in torch.optim that update lists of parameters
ADAM: Any = adam._single_tensor_adam
ADAGRAD: Any = adagrad._single_tensor_adagrad
LBFGS: Any = lbfgs
TO_NUMBER = "_to_scalar"  # by which LBFGS's step reads its rate, before it does anything else
CAPTURABLE = "_get_capturable_supported_devices"  # where counters of steps may be tensors
# Of torch.utils.checkpoint: what checkpoints call, which takes the function first.
CHECKPOINT = "_checkpoint_without_reentrant_generator"
if hasattr(checkpoint, f"{CHECKPOINT}_impl"):  # from 2.14 on
    CHECKPOINT = f"{CHECKPOINT}_impl"
checkpoint_generator: Any = getattr(checkpoint, CHECKPOINT)
