"""Bundles that were compiled before, on disk: found by what they were compiled of.

INGOT_CACHE names the folder (``~/.cache/ingot``), INGOT_CACHE_BYTES how large it may grow (2 GiB). Several processes
may use it: a bundle takes its place whole, and what is open stays usable after it is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingot import tool
from ingot._engine import EngineError
from ingot.compiler import Math, MemoryLimit, MicroBatches, compile, memory_options
from ingot.session import Bundle

BUNDLE, CONTENT = "program.ingot", "content.json"
MOST_BYTES = 2 << 30


def compiled(
    texts: Mapping[str, str],
    target: str = "host",
    skip: Sequence[str] = (),
    memory_limit: MemoryLimit | None = None,
    micro_batches: MicroBatches | None = None,
    math: Math = "standard",
) -> Bundle:
    """The bundle of a program whose state starts as zeros: the one of before, or a new one.

    A hash finds it, and its whole content is compared.
    """
    memory: dict[str, Any] = {"memory_limit": memory_limit, "micro_batches": micro_batches}
    content = json.dumps([texts, target, skip, memory_options(**memory), math, _compiler(), _processor()])
    place = folder() / hashlib.sha256(content.encode()).hexdigest()
    try:
        if (place / CONTENT).read_text() == content:
            os.utime(place)
            return Bundle(place / BUNDLE)
    except OSError:  # there is none, or another process removes it
        pass
    except EngineError:  # it is damaged
        shutil.rmtree(place, ignore_errors=True)
    options = {"target": target, "skip": skip, "state": "zeros", **memory, "math": math}
    return _add(place, content, texts, options)


def _add(place: Path, content: str, texts: Mapping[str, str], options: dict[str, Any]) -> Bundle:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        warnings.warn(f"nothing is kept: {error}; INGOT_CACHE names another folder", stacklevel=5)
        return compile(texts, **options)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-", ignore_cleanup_errors=True) as made:
        bundle = compile(texts, Path(made) / BUNDLE, **options)
        (Path(made) / CONTENT).write_text(content)
        with suppress(OSError):  # another process was faster, and has the same
            os.rename(made, place)
    _shrink(place)
    return bundle


def put(place: Path, files: Mapping[str, str]) -> None:
    """Puts an entry of texts in its place, where one before it may be."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-", ignore_cleanup_errors=True) as made:
        for name, text in files.items():
            (Path(made) / name).write_text(text)
        remove(place)
        os.rename(made, place)
    _shrink(place)


def remove(place: Path) -> None:
    """Removes an entry."""
    shutil.rmtree(place, ignore_errors=True)


def _shrink(newest: Path) -> None:
    """Removes what was not used for longest while there is too much; never the newest."""
    most = int(os.environ.get("INGOT_CACHE_BYTES", MOST_BYTES))
    with suppress(OSError):  # another process removes something as well
        entries = [entry for entry in newest.parent.iterdir() if (entry / CONTENT).exists()]
        entries.sort(key=lambda entry: (entry == newest, entry.stat().st_mtime), reverse=True)
        used = 0
        for entry in entries:
            used += sum(file.stat().st_size for file in entry.iterdir())
            if used > most and entry != newest:
                shutil.rmtree(entry, ignore_errors=True)


def folder() -> Path:
    """Where entries are kept."""
    given = os.environ.get("INGOT_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ingot"


def _compiler() -> list[object]:
    """Which compiler it is: another build of one version is another."""
    file = shutil.which(tool.program()) or tool.program()
    status = os.stat(file)
    return [file, status.st_size, status.st_mtime_ns]


def _processor() -> str:
    """What tells this processor from others that may share the folder."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return ""
