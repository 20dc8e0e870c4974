"""The program `ingot`, which compiles and runs.

INGOT names it, unless it is 0; else the package has it, or, in the sources, the build tree; else it is on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ingot._engine import Error

OWN = Path(__file__).parent / "bin/ingot"
BUILT = Path(__file__).parents[4] / "build/release/apps/ingot/ingot"


class CompileError(Error, RuntimeError):
    """The program `ingot` failed; the text is what it says."""


def program() -> str:
    """Where it is.

    Raises FileNotFoundError where there is none.
    """
    given = os.environ.get("INGOT")
    named = given if given != "0" else None
    found = named or next((str(file) for file in (OWN, BUILT) if file.exists()), None) or shutil.which("ingot")
    if found is None:
        raise FileNotFoundError("there is no program `ingot` on the PATH; the environment's INGOT may name one")
    return found


def call(*arguments: object) -> str:
    """Runs it; gives what it prints.

    Raises FileNotFoundError where there is none, CompileError with what it says where it fails.
    """
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"ingot {arguments[0]}: {done.stderr or done.stdout}")
    return done.stdout


def main() -> None:
    """The package's own program as a command."""
    os.execv(OWN, ["ingot", *sys.argv[1:]])
