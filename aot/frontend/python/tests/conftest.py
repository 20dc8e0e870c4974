import importlib.util
import warnings
from pathlib import Path

import pytest
from tool import TOOL

import ingot

# A framework's tests are left out where it is not installed.
TESTS = {"jax": "test_jax_*.py", "torch": "test_[!j]*.py"}
collect_ignore_glob = [files for framework, files in TESTS.items() if not importlib.util.find_spec(framework)]


def pytest_report_header() -> list[str]:
    what = f"left out, as their framework is not installed: {', '.join(collect_ignore_glob) or 'none'}"
    return [f"tested: {Path(ingot.__file__).parent}, with {TOOL}", what]


def pytest_configure() -> None:
    if not TOOL.exists():
        raise pytest.UsageError(f"there is no {TOOL}: ./dev build; INGOT may name another")
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        warnings.filterwarnings("ignore", category=UserWarning, module="torch")
