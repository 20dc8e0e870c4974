"""The page on what tracing replaces: ``python -m ingot.torch.base.replacements_doc FILE`` writes it anew."""

from __future__ import annotations

import sys
from pathlib import Path

from ingot.torch.base.replacements import ANY, TABLE, Row

HEAD = """# Attributes replaced while tracing

While a step is traced, these attributes of Python and PyTorch are others for the thread that traces. Other threads get
the originals, and after the trace, good or failed, every attribute is what it was. Calls of a compiled step replace
nothing. Names of a step's own functions and modules are not listed one by one.
This page is made from the table by `python -m ingot.torch.base.replacements_doc docs/replaced.md`.

| owner | attributes | why |
|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    return HEAD + "".join(f"| {row.owners} | {_names(row)} | {row.why} |\n" for row in TABLE)


def _names(row: Row) -> str:
    names = row.names.split()
    return "those that the step has" if names == [ANY] else ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
