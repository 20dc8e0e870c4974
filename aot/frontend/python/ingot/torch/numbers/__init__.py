"""Numbers of Python's that a program computes: their arithmetic, what is asked of them, and how large they are."""
