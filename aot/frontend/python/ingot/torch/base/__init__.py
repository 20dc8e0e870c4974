"""What all other rooms use: errors, whose code a file is, the place of an op, and the insides of PyTorch."""
