"""The page on ATen ops, from the table: ``python -m ingot.torch.text.ops_doc FILE`` writes it anew."""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from pathlib import Path

import ingot.torch.text.aten
from ingot.torch.text.aten.refused import REFUSED
from ingot.torch.text.decompositions import EXACT
from ingot.torch.text.lowering import TABLE, Rule, overload_name
from ingot.torch.text.others import NAMED

HEAD = """# ATen ops

PyTorch's ops as `ingot.torch` writes them, by the files of `aot/frontend/python/ingot/torch/text/aten/`. What has no
row is taken apart by PyTorch's own decompositions into ops that have one; what has neither is an error with the op's
place.
This page is made from the table by `python -m ingot.torch.text.ops_doc docs/torch_ops.md`.
"""
EXACT_HEAD = """
## Sums of a fixed number of terms

What PyTorch approximates, to a few digits some of it: computed in f64, as ops that have rows.

"""
NAMED_HEAD = """
## Of groups, and of other libraries

Made of ops that have rows, by functions of `text/others.py`.

"""
REFUSED_HEAD = """
## Refused

| op | why | instead |
|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    families: dict[str, dict[Rule, list[str]]] = defaultdict(lambda: defaultdict(list))
    for overload, rule in TABLE.items():
        if overload not in REFUSED:
            families[rule.__module__.rpartition(".")[2]][rule].append(overload)
    parts = [HEAD]
    for family in ingot.torch.text.aten.__all__:
        if family not in families:
            continue
        module = getattr(ingot.torch.text.aten, family)
        parts.append(f"\n## {family}\n\n{first_line(module)}\n\n| ops | meaning |\n|---|---|\n")
        rows = (
            f"| {', '.join(f'`{overload}`' for overload in sorted(overloads))} | {first_line(rule)} |\n"
            for rule, overloads in families[family].items()
        )
        parts.extend(sorted(rows))
    parts.append(EXACT_HEAD)
    parts.append(", ".join(sorted(f"`{overload_name(op)}`" for op in EXACT)) + "\n")
    parts.append(NAMED_HEAD)
    parts.append(", ".join(f"`{name}`" for name in NAMED) + "\n")
    parts.append(REFUSED_HEAD)
    parts.extend(f"| `{overload}` | {why} | {instead} |\n" for overload, (why, instead) in sorted(REFUSED.items()))
    return "".join(parts)


def first_line(documented: object) -> str:
    """What a docstring starts with, for a cell of a table."""
    text = inspect.getdoc(documented)
    assert text, f"{documented} has no docstring"
    return text.splitlines()[0].replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
