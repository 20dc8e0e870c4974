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
# Of GradScaler: what steps or does not, what makes its tensors, and the attributes that hold these.
STEP_OR_NOT = "_maybe_opt_step"
BEGIN_SCALE = "_lazy_init_scale_growth_tracker"
SCALE, GROWTH = "_scale", "_growth_tracker"
UNSCALES = "_step_supports_amp_scaling"  # an attribute of optimizers whose fused step unscales gradients itself
CAPTURABLE = "_get_capturable_supported_devices"  # where counters of steps may be tensors
# Of torch.utils.checkpoint: what checkpoints call, which takes the function first.
CHECKPOINT = "_checkpoint_without_reentrant_generator"
if hasattr(checkpoint, f"{CHECKPOINT}_impl"):  # from 2.14 on
    CHECKPOINT = f"{CHECKPOINT}_impl"
checkpoint_generator: Any = getattr(checkpoint, CHECKPOINT)
