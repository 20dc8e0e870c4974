"""ATen ops as StableHLO's text: the table of ops, in ``aten``, and what writes a graph by it."""
