"""What Python carries from call to call, outside of tensors: a program agrees with PyTorch over several, or refuses it.

A refusal names the object, its path, its values and the user's line.
"""

from __future__ import annotations

import inspect
import linecache
import re
from pathlib import Path

import pytest
import torch
from carried import CASES, HERE
from carried.case import Case
from carried.hidden import Kind, Other
from trainings import agrees

import ingot.torch

STEPS = 6
FOLDER = Path(__file__).parent / "carried"
REFUSED = {name: case for name, case in CASES.items() if case.message}


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_agrees(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(CASES[name].make(), tmp_path, STEPS)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_is_refused_by_name(case: Case) -> None:
    training = case.make()
    program = ingot.torch.Program(training.model, training.optimizer)
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("train_step", training.step, (torch.randn(6, 3),))
    said = str(caught.value)
    assert re.search(case.message, said), said
    if HERE in inspect.getsource(case.make):
        file, line = re.search(r"(\w+\.py):(\d+)", said).groups()
        assert HERE in linecache.getline(str(FOLDER / file), int(line)), said


def test_tracing_registers_no_class() -> None:
    test_is_refused_by_name(REFUSED["registers_a_class"])
    assert not issubclass(Other, Kind)
