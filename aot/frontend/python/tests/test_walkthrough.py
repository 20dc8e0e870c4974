"""Pages of docs/ run: their cells in order, in a folder of their own, and what they print is what they show."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from pathlib import Path

import pytest
from tool import ROOT, TOOL

from ingot.torch import lazy

PAGES = ["from_pytorch.md", "lazy_tensors.md"]
CELL = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def run_python(source: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "cell.py", "exec"), names)
    return printed.getvalue()


def run_shell(source: str) -> str:
    environment = {**os.environ, "PATH": f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-e"], input=source, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{source}\n{done.stderr}"
    return done.stdout


def unindented(text: str) -> str:
    return "".join(f"{line.strip()}\n" for line in text.splitlines())


def test_what_is_cpp_is_of_an_example_that_is_built() -> None:
    blocks = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "docs/lazy_tensors.md").read_text(), re.DOTALL | re.MULTILINE)
    example = unindented((ROOT / "examples/embed/lazy.cpp").read_text())
    assert blocks
    for block in blocks:
        assert unindented(block) in example


@pytest.mark.parametrize("name", PAGES)
def test_cells_run_and_print_what_is_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    lazy.mark_step()  # what other tests left
    lazy.clear()
    page = (ROOT / "docs" / name).read_text()
    cells = CELL.findall(page)
    blocks = page.count("```") // 2 - page.count("```cpp")
    assert len(cells) + sum(1 for cell in cells if cell[2]) == blocks, "a block that is no cell"
    names: dict[str, object] = {"__name__": "cell"}
    for language, source, shown in cells:
        printed = run_python(source, names) if language == "python" else run_shell(source)
        if shown:
            assert printed == shown, source
