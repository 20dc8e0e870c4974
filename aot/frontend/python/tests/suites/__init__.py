"""PyTorch's own databases of test samples, run through every door of ingot and judged.

    python -m suites --door backend --dtype float32 --part 1/8 --seconds 600 --out counts.json

`databases.py` lists the cases and makes their samples, `doors.py` runs one in PyTorch and through a door of ingot,
`verdict.py` judges what came back, `excused.py` lists differences that are no fault of ingot's, `worker.py` runs cases
in a process that may crash or hang, and `report.py` counts.
"""
