"""What the bundle of a step is compiled from."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingot import cache, tool
from ingot.compiler import compile
from ingot.session import Bundle


@dataclass(frozen=True)
class Source:
    """An entry point, the texts of it and of others, and the options of `ingot.compile`."""

    entry: str
    texts: Mapping[str, str]
    options: Mapping[str, Any]

    def bundle(self) -> Bundle:
        """The bundle, compiled now or earlier."""
        return cache.compiled(self.texts, **self.options)

    def roofline(self, threads: int) -> str:
        """What `ingot bench --roofline` says of the entry point on random inputs; takes some seconds."""
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "step.ingot"
            compile(self.texts, file, state="zeros", **self.options)
            return tool.call("bench", file, self.entry, "--roofline", "--threads", threads)
