"""Ordinary programs, as people write them: what the comparison with PyTorch must never refuse."""
