"""What users see of a step: log lines, a line on a terminal, warnings, `explain`, and one base of all errors."""

from __future__ import annotations

import io
import logging
import re
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import ingot
import ingot.torch
from ingot.torch import account

XS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))


def step_of(**options: Any) -> tuple[Any, nn.Module]:
    model, count = nn.Linear(3, 2), [0]

    @ingot.torch.step(model, **options)
    def step(x: torch.Tensor, scale: dict[str, torch.Tensor]) -> torch.Tensor:
        count[0] += 1
        return model(x) * scale["by"] * count[0]

    return step, model


SCALE = {"by": torch.tensor(2.0)}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def test_what_is_done_is_logged() -> None:
    lines, logger = Lines(), logging.getLogger("ingot.torch")
    before = logger.level
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        step_of()[0](XS, SCALE)
    finally:
        logger.setLevel(before)
        logger.removeHandler(lines)
    done = [text.partition(" took ")[0] for text in lines.texts if " took " in text]
    assert done == ["step: finding", "step: tracing", "step: compiling", "step: comparing"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "PATIENCE_S", 0.01)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with account.Account("step", "the first call").doing("tracing"):
        time.sleep(0.2)
    shown = terminal.getvalue()
    assert "step: tracing, 0 s" in shown
    assert shown.endswith(account.CLEAR)


def test_steps_explain_themselves() -> None:
    step, model = step_of()
    assert step.explain() == "step: 0 programs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step(XS, SCALE)
        step(XS[:2], SCALE)
        model.eval()
        step(XS, SCALE)
    first, second, third = step.explain().splitlines()[1:]
    assert "1. the first call; " in first
    assert OF_TWO in second
    assert "`model.training` is False, and was True" in third
    assert re.search(r"tracing \d+\.\d\d s", first)
    assert "`count[0]` are state" in first
    assert step_of(enabled=False)[0].explain() == "step: all calls are PyTorch's, as enabled=False or INGOT=0 say"


def test_metrics_are_of_all_doors() -> None:
    ingot.torch.lazy.clear()
    step_of()[0](XS, SCALE)
    found = re.findall(r"^Metric: (\w+)", ingot.torch.metrics(), re.MULTILINE)
    assert found == ["CompareTime", "CompileTime", "FindTime", "TraceTime"]
    torch.compile(lambda x: x.sin(), backend="ingot", dynamic=False)(XS)
    assert ingot.torch.lazy.samples("CompileTime") == 2


def test_slow_steps_are_compared_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingot.torch.judge.verify.SLOW_STEP_S", 0.0)
    step, _ = step_of()
    step(XS, SCALE)
    assert "1 of 3 steps was compared, as they are slow" in step.explain()


def test_calls_in_pytorch_are_explained() -> None:
    model = nn.Linear(3, 2)

    @ingot.torch.step(model)
    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x) * float(x.numpy()[0, 0]) if len(x) == 2 else model(x)

    step(XS)
    with pytest.warns(UserWarning, match="this call is PyTorch's"):
        step(XS[:2])
    assert "calls in PyTorch: 1, as test_explained.py:" in step.explain().replace("tests/", "")


OF_TWO = "`x` is a float32 tensor of shape [2, 3], and was a float32 tensor of shape [6, 3]"
DOUBLE, TRAINED = {"by": SCALE["by"].double()}, {"by": SCALE["by"].clone().requires_grad_()}
CHANGES: dict[str, tuple[Any, Any, str]] = {
    "shape": (XS[:2], SCALE, rf"{re.escape(OF_TWO)}.*in \d+\.\d s.*DataLoader\(drop_last=True\)"),
    "dtype in a dict": (XS, DOUBLE, r"`scale\['by'\]` is a float64 tensor of shape \[\], and was"),
    "gradients": (XS, TRAINED, r"`scale\['by'\]` is a float32 tensor .* requires"),
    "form": (XS, {**SCALE, "other": SCALE["by"]}, "the form of its arguments is another"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_warnings_name_the_argument(name: str) -> None:
    x, scale, what = CHANGES[name]
    step, _ = step_of(verify=False)
    step(XS, SCALE)
    with pytest.warns(UserWarning, match=what):
        step(x, scale)


def test_arrays_that_take_long_to_compare_are_warned_of() -> None:
    table, model = np.zeros((1000, 1000)), nn.Linear(3, 2)
    step = ingot.torch.compile(lambda x: model(x) * len(table), model)
    with pytest.warns(UserWarning, match=r"`table` \(8 MB\) is read in each call.*torch.from_numpy"):
        step(XS)


def test_warnings_name_the_setting() -> None:
    step, _ = step_of(verify=False)
    step(XS, SCALE)
    with pytest.warns(UserWarning, match=r"torch.is_grad_enabled\(\) is False, and was True"), torch.no_grad():
        step(XS, SCALE)


def test_errors_have_one_base() -> None:
    errors: list[Any] = [ingot.EngineError, ingot.CompileError, ingot.torch.TraceError, ingot.torch.DisagreementError]
    assert all(issubclass(error, ingot.Error) for error in errors)
    assert not issubclass(ingot.Error, RuntimeError)
    with pytest.raises(ingot.Error, match="ingot compile"):
        ingot.compile("not\na program")


def asks_numpy(x: torch.Tensor) -> Any:
    return x.numpy()


def frames_of(function: Any, *args: Any) -> list[str]:
    """The functions in the traceback of the error that a call raises."""
    with pytest.raises(ingot.torch.TraceError, match="NumPy") as raised:
        function(*args)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    return [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][1:]


def test_refusals_show_the_users_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(3, 2)

    def step(x: torch.Tensor) -> Any:
        return asks_numpy(model(x))

    assert frames_of(ingot.torch.compile(step, model), XS) == ["__call__", "step", "asks_numpy"]
    assert frames_of(ingot.torch.Program(model).add, "step", step, (XS,)) == ["add", "step", "asks_numpy"]
    monkeypatch.setenv("INGOT_TRACEBACK", "full")
    with pytest.raises(ingot.torch.TraceError) as raised:
        ingot.torch.compile(step, model)(XS)
    assert len(traceback.extract_tb(raised.value.__traceback__)) > 8


def test_a_roofline_has_each_kernel() -> None:
    step = ingot.torch.compile(lambda x: x.softmax(1), nn.Identity())
    with pytest.raises(RuntimeError, match="has no program yet: call it once"):
        step.roofline()
    step(XS)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step(XS)
    said = step.roofline()
    assert "GFLOP/s" in said and "test_explained.py" in said, said
    kernels = [event.name for event in profile.events() if event.name.startswith("f32_")]
    assert kernels
    assert all(part in said for kernel in kernels for part in kernel.removesuffix(")").split(" ("))
