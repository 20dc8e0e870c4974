"""Releases of PyTorch that the package is for."""

import tomllib
from pathlib import Path

import pytest

from ingot.torch.base.supported import FIRST, LAST, refuse_others


@pytest.mark.parametrize("version", ["2.13.0", "2.13.0+cpu", "2.14.1+cu130", "2.15.0", "2.15.1a0+git1234"])
def test_takes_releases_that_it_knows(version: str) -> None:
    refuse_others(version)


@pytest.mark.parametrize("version", ["1.13.1", "2.12.1+cpu", "2.16.0", "3.0.0"])
def test_refuses_others(version: str) -> None:
    text = rf"PyTorch 2\.13 to 2\.15, this is {version.replace('+', '.')}; pip install 'torch>=2\.13,<2\.16'"
    with pytest.raises(ImportError, match=text):
        refuse_others(version)


def test_pip_installs_one_of_them() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["torch"] == [
        f"torch>={FIRST[0]}.{FIRST[1]},<{LAST[0]}.{LAST[1] + 1}"
    ]
