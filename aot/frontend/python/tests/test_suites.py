"""PyTorch's own databases of ops, modules and optimizers judge ingot (suites/): all of them at night."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("expecttest", reason="PyTorch's databases need it")

from suites.databases import DOORS, Case, cases
from suites.doors import OP_DOORS, Alter, Sample
from suites.report import Report
from suites.verdict import judged
from suites.worker import Worker

import ingot.torch
from ingot.stablehlo import Place

SECONDS = os.environ.get("INGOT_SUITES_SECONDS", "600")  # of each nightly test
NIGHTS = 7  # in which every case has its turn
NIGHTLY = [
    *((door, dtype) for door in OP_DOORS for dtype in ("float32", "float64", "bfloat16", "complex64", "int64", "bool")),
    *(("module", dtype) for dtype in ("float32", "float64")),
    *(("optimizer", dtype) for dtype in ("float32", "float64")),
]
QUICK = [
    Case("backend", "add", "bfloat16"),
    Case("lazy", "nn.functional.gelu", "float32"),
    Case("function", "std_mean", "float32"),
    Case("function", "nn.functional.dropout", "float32"),
    Case("function", "empty", "float32"),
    Case("module", "nn.BatchNorm1d eval", "float32"),
    Case("optimizer", "NAdam", "float64"),
]
PLACE = Place("train.py", 3)
X = torch.tensor([1.0, 2.0])


class Given(Sample):
    """A sample whose result through ingot is that of a function."""

    def __init__(self, result: Callable[[], Any]) -> None:
        self.result = result

    def _in_pytorch(self, alter: Alter) -> Any:
        return {"y": X}

    def through_ingot(self) -> Any:
        return self.result()


def raising(error: Exception) -> Callable[[], Any]:
    def result() -> Any:
        raise error

    return result


REFUSED = ingot.torch.TraceError("the shape depends on values", PLACE, "use torch.where")
RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "same": (lambda: {"y": X.clone()}, "agree"),
    "rounded": (lambda: {"y": X * (1 + 1e-7)}, "agree"),
    "number": (lambda: {"y": X + 0.1}, "silent"),
    "dtype": (lambda: {"y": X.double()}, "silent"),
    "shape": (lambda: {"y": X[None]}, "silent"),
    "type": (lambda: {"y": [1.0, 2.0]}, "silent"),
    "names": (lambda: {"y": X, "z": X}, "silent"),
    "clear": (raising(REFUSED), "refused"),
    "no place": (raising(ingot.torch.TraceError("the shape depends on values", fix="use torch.where")), "unclear"),
    "no way out": (raising(ingot.torch.TraceError("the shape depends on values", PLACE)), "unclear"),
    "of Python": (raising(ingot.torch.TraceError("KeyError: 'i64'", PLACE, "use torch.where")), "unclear"),
    "sources": (raising(ingot.torch.TraceError("tan has no row", PLACE, "write ingot/torch/aten")), "unclear"),
    "another": (raising(KeyError("i64")), "raw"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_classes(name: str) -> None:
    result, kind = RESULTS[name]
    assert judged(Given(result))[0] == kind


class Ending(Case):
    """Samples one of which ends the process, and one of which never answers."""

    def samples(self, verify: bool) -> list[Sample]:
        same = Given(lambda: {"y": X})
        return [same, Given(lambda: os.kill(os.getpid(), signal.SIGKILL)), same, Given(lambda: time.sleep(60)), same]


def judged_by_workers(chosen: list[Case], sample_seconds: float) -> Report:
    report, worker = Report(), Worker(verify=True, sample_seconds=sample_seconds)
    try:
        for case in chosen:
            report.add(case, worker.verdicts(case, float("inf")))
    finally:
        worker.close()
    return report


def test_a_crash_and_a_hang_are_of_one_sample(tmp_path: Path) -> None:
    report = judged_by_workers([Ending("lazy", "ending", "float32")], sample_seconds=2)
    assert report.counts["lazy"] == {"agree": 3, "raw": 2}
    assert [(row["index"], row["message"]) for row in report.faults] == [
        (1, "the process ended with -9"),
        (3, "no answer in 2 s"),
    ]
    report.write(tmp_path / "counts.json")
    report.merge(tmp_path / "counts.json")
    assert (report.cases["lazy"], report.counts["lazy"]["agree"], len(report.faults)) == (2, 6, 4)


def test_some_cases_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    report = judged_by_workers(QUICK, sample_seconds=120)
    assert not report.faults, str(report)
    assert all(counts["agree"] for counts in report.counts.values()), report.rows


def test_every_case_has_a_name_of_its_own() -> None:
    for door in DOORS:
        named = cases(door, "all")
        assert len({*named}) == len(named) > len(cases(door, "float32")) > 0


@pytest.mark.nightly
@pytest.mark.parametrize(("door", "dtype"), NIGHTLY)
def test_no_case_differs_or_breaks(door: str, dtype: str) -> None:
    part = f"{datetime.date.today().toordinal() % NIGHTS + 1}/{NIGHTS}"
    options = ["--door", door, "--dtype", dtype, "--part", part, "--seconds", SECONDS]
    command = [sys.executable, "-m", "suites", *options]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert run.returncode == 0, run.stdout + run.stderr
