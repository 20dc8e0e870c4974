"""The program `ingot`, which compiles and runs: INGOT names it, else it is on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess


def call(*arguments: object) -> str:
    """Runs it; gives what it prints.

    Raises FileNotFoundError where there is none, RuntimeError with what it says where it fails.
    """
    tool = os.environ.get("INGOT") or shutil.which("ingot")
    if tool is None:
        raise FileNotFoundError("there is no program `ingot` on the PATH; the environment's INGOT may name one")
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ingot {arguments[0]}: {done.stderr or done.stdout}")
    return done.stdout
