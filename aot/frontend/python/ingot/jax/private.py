"""The only names of JAX that this package uses and JAX does not publish; a test tells which one is gone."""

from jax._src.core import trace_state_clean
from jax._src.lax.lax import _convert_element_type as weakly_typed

__all__ = ["trace_state_clean", "weakly_typed"]
