"""A training script whose threads prefetch, write checkpoints and log while its step is traced and runs."""

from __future__ import annotations

import csv
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset
from trainings import Classifier

import ingot.torch

RUNS = 200  # at night
BATCH, ROWS, FEATURES, CLASSES = 16, 40, 6, 3  # the last batch has 8 rows


class Script(Classifier):
    """Trains two epochs; what its threads raise is kept."""

    def __init__(self, folder: Path, compiled: bool, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, CLASSES)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1, momentum=0.9)
        self.folder, self.compiled = folder, compiled
        self.data = TensorDataset(torch.randn(ROWS, FEATURES), torch.randint(0, CLASSES, (ROWS,)))
        self.generator = torch.Generator().manual_seed(seed)
        self.batches: queue.Queue[Any] = queue.Queue(2)
        self.losses: list[float] = []
        self.errors: list[BaseException] = []
        self.is_done = threading.Event()
        self.written = 0

    def run(self) -> list[float]:
        """The losses of all steps."""
        model, optimizer = self.model, self.optimizer
        step = ingot.torch.compile(self.step, model, optimizer) if self.compiled else self.step
        with self.beside(self.prefetch), self.beside(self.write_checkpoints), self.beside(self.log):
            while batch := self.batches.get():
                self.losses.append(step(*batch).item())
            self.is_done.set()
        return self.losses

    @contextmanager
    def beside(self, work: Callable[[], None]) -> Iterator[None]:
        """Works in another thread meanwhile."""

        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                self.errors.append(error)
                self.batches.put(None)

        thread = threading.Thread(target=guarded)
        thread.start()
        yield
        thread.join()

    def prefetch(self) -> None:
        for _ in range(2):
            for x, y in DataLoader(self.data, BATCH, shuffle=True, generator=self.generator):
                np.random.rand(2), torch.rand(2)  # draws that are no matter of the step
                self.batches.put((x + 0.0, y.clone()))
        self.batches.put(None)

    def write_checkpoints(self) -> None:
        while not self.is_done.wait(0.01):
            state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
            torch.save(state, self.folder / "next.pt")
            os.replace(self.folder / "next.pt", self.folder / "last.pt")
            torch.load(self.folder / "last.pt", weights_only=True)
            self.written += 1

    def log(self) -> None:
        with open(self.folder / "log.csv", "a", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            while not self.is_done.wait(0.002):
                rate = self.optimizer.param_groups[0]["lr"]
                norm = sum(float(p.detach().norm()) for p in self.model.parameters())
                rows.writerow([time.strftime("%H:%M:%S"), f"{time.time():.3f}", rate, norm, self.losses[-1:]])
                file.flush()


def train(folder: Path, seed: int) -> None:
    expected = Script(folder, False, seed).run()
    script = Script(folder, True, seed)
    losses = script.run()
    for error in script.errors:
        raise error
    assert losses == pytest.approx(expected, rel=1e-3) and len(losses) == 6
    assert script.written


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_threads_go_on_beside_a_step(tmp_path: Path) -> None:
    train(tmp_path, 0)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_no_thread_fails_in_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(RUNS):
        monkeypatch.setenv("INGOT_CACHE", str(tmp_path / f"cache{seed}"))
        train(tmp_path, seed)
