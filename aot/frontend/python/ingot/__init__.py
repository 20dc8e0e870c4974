"""Training loops of Python frameworks as programs for the ingot compiler.

``ingot.torch`` traces PyTorch, ``ingot.jax`` lowers JAX. The frameworks themselves are imported only by the module that is named after them.
"""
