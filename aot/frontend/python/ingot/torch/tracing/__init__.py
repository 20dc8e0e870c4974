"""A user's function as one functional graph of ATen ops: stand-ins for state and arguments, and what records ops."""
