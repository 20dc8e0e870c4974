"""Counts verdicts by door and class, prints them, and adds up the files of several runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .databases import Case
from .verdict import CLASSES, FAULTS, Verdict

Row = dict[str, Any]  # a verdict with its case


class Report:
    """The verdicts of a run: how many of each class, and those that are no agreement one by one."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()  # by door
        self.counts: dict[str, Counter[str]] = {}  # by door and class
        self.rows: list[Row] = []

    def add(self, case: Case, verdicts: Iterable[Verdict]) -> None:
        """Counts a case's verdicts while they come."""
        self.cases[case.door] += 1
        counts = self.counts.setdefault(case.door, Counter())
        for verdict in verdicts:
            counts[verdict.kind] += verdict.count
            if verdict.kind != "agree":
                self.rows.append({**vars(case), **vars(verdict)})

    @property
    def faults(self) -> list[Row]:
        """What must not be: unclear refusals, other exceptions, and other results than PyTorch's."""
        return [row for kind in FAULTS for row in self.rows if row["kind"] == kind]

    def __str__(self) -> str:
        lines = ["".join(f"{title:>9}" for title in ("door", "cases", *CLASSES))]
        for door, counts in self.counts.items():
            lines.append("".join(f"{x:>9}" for x in (door, self.cases[door], *(counts[kind] for kind in CLASSES))))
        same: dict[tuple[str, str], list[int]] = {}
        for row in self.faults:
            same.setdefault(("{kind:7} {door} {name} {dtype}".format(**row), row["message"]), []).append(row["index"])
        lines += [f"{case} {indices}: {message}" for (case, message), indices in same.items()]
        return "\n".join(lines)

    def write(self, file: Path) -> None:
        """Writes what `merge` reads."""
        file.write_text(json.dumps(vars(self), indent=1))

    def merge(self, file: Path) -> None:
        """Adds what another run wrote."""
        other = json.loads(file.read_text())
        self.cases.update(other["cases"])
        for door, counts in other["counts"].items():
            self.counts.setdefault(door, Counter()).update(counts)
        self.rows += other["rows"]
