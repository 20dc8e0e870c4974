"""What PyTorch's optimizers and schedulers do in Python, as a program can do it."""
