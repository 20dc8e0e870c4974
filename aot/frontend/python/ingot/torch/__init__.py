"""PyTorch's door: a model, its optimizer and the user's own training function become programs for ``ingot compile``.

>>> program = ingot.torch.Program(model, optimizer)
>>> program.add("train_step", train_step, (x, y))
>>> program.add("predict", model, (x,), training=False)
>>> program.save("net/")
"""

from ingot.torch.errors import TraceError
from ingot.torch.program import Program, load_state

__all__ = ["Program", "TraceError", "load_state"]
