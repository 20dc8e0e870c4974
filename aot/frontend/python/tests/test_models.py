"""Whole trainings beside PyTorch's, by the judge in agreement.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from agreement import agreement
from models import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_model_trains_as_in_pytorch(name: str, tmp_path: Path) -> None:
    found = agreement(MODELS[name], tmp_path)
    print(name, found)
    assert found.holds, found
