"""The compiler, as a function: programs become bundles."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from ingot import tool
from ingot.folder import EntryPoints
from ingot.session import Bundle

File: TypeAlias = str | os.PathLike[str]
Program: TypeAlias = EntryPoints | Mapping[str, str] | File


def compile(
    program: Program,
    output: File | None = None,
    *,
    target: str = "host",
    state: File | None = None,
    shapes: Mapping[str, int | str] | None = None,
    skip: Sequence[str] = (),
    freeze: bool | None = None,
) -> Bundle:
    """Compiles a program and opens the bundle.

    `program` is StableHLO text, or texts by entry point; a file of it or of an ONNX model, or a folder that ``save``
    wrote; or what `ingot.torch` or `ingot.jax` traced. The bundle is written to `output`, or else lives as long as it
    is used.
    `target` names processors, the best first, by commas; `state` a file of first values, or "zeros"; `shapes` the sizes
    that the program leaves open; `skip` passes that are left out. `freeze` makes constants of all state that has a
    first value and that no entry point writes, or of none; without it, of the weights of ONNX models.

    Raises RuntimeError with what the compiler says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(output) if output is not None else Path(scratch) / "program.ingot"
        options = ["--target", target, *(("--state", os.fspath(state)) if state is not None else ())]
        options += [word for name in skip for word in ("--skip", name)]
        for name, size in (shapes or {}).items():
            options += ["--shape", f"{name}={size}"]
        if freeze is not None:
            options.append("--freeze" if freeze else "--no-freeze")
        tool.call("compile", _source(program, Path(scratch) / "program"), "-o", written, *options)
        return Bundle(written)


def _source(program: Program, folder: Path) -> Path:
    """Where the program lies as a file or a folder."""
    if isinstance(program, EntryPoints):
        program.save(folder)
        return folder
    if isinstance(program, str) and "\n" in program:
        file = folder.with_suffix(".mlir")
        file.write_text(program)
        return file
    if isinstance(program, Mapping):
        folder.mkdir()
        for name, text in program.items():
            (folder / f"{name}.mlir").write_text(text)
        return folder
    return Path(program)
