"""Which releases of PyTorch this package is for: it is imported first, and raises ImportError for others.

INGOT_ANY_TORCH in the environment takes every release, for tests with one that is newer.
"""

from __future__ import annotations

import os

import torch

FIRST, LAST = (2, 13), (2, 15)


def refuse_others(version: str) -> None:
    """Raises ImportError for a version of PyTorch that is not known here."""
    if not FIRST <= tuple(map(int, version.split(".")[:2])) <= LAST:
        first, last = (".".join(map(str, release)) for release in (FIRST, LAST))
        after = f"{LAST[0]}.{LAST[1] + 1}"
        raise ImportError(
            f"ingot 0.1 is for PyTorch {first} to {last}, this is {version}; pip install 'torch>={first},<{after}'"
        )


if "INGOT_ANY_TORCH" not in os.environ:
    refuse_others(torch.__version__)
