"""Training loops of Python frameworks as programs for the ingot compiler.

``ingot.torch`` traces PyTorch, ``ingot.jax`` has JAX lower itself. The frameworks are imported only by the module that
is named after them.
"""
