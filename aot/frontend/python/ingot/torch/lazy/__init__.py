"""Lazy tensors: what is done with tensors of a device is recorded, and compiled and run when somebody looks.

>>> model.to(ingot.torch.device())
>>> loss = loss_of(model(x), y)
>>> loss.backward()
>>> ingot.torch.optimizer_step(optimizer)
"""

from ingot.torch.base.metrics import clear, counter, report, samples
from ingot.torch.lazy.device import device, mark_step, optimizer_step
from ingot.torch.lazy.text import text

__all__ = ["clear", "counter", "device", "mark_step", "optimizer_step", "report", "samples", "text"]
