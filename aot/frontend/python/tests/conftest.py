import warnings

import pytest
import torch
from bundle import TOOL


def pytest_configure() -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not TOOL.exists():
        for item in items:
            item.add_marker(pytest.mark.skip(f"{TOOL} is not built; INGOT may name another"))
