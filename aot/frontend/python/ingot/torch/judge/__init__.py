"""A program beside PyTorch: the same batches, and where the two part."""
