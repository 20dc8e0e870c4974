"""JAX's door: a training function of a state and a batch becomes a program for ``ingot compile``.

>>> program = ingot.jax.Program()
>>> program.add("train_step", train_step, state, batch)
>>> program.add("predict", predict, state, batch, training=False)
>>> program.save("net/")

``ingot.jax.jit`` stands in the place of ``jax.jit``.
"""

from ingot.jax.jit import jit
from ingot.jax.program import Program
from ingot.jax.state import load_state, save_state

__all__ = ["Program", "jit", "load_state", "save_state"]
