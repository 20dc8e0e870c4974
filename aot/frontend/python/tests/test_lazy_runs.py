"""A step runs while Python records the next one, and values are as if it had run at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import ingot.torch
from ingot.torch.lazy import recorder

DEVICE = ingot.torch.device()
SECONDS = 0.1


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path_factory.getbasetemp() / "lazy"))
    ingot.torch.mark_step()
    torch.accelerator.synchronize()
    yield
    ingot.torch.mark_step()
    torch.accelerator.synchronize()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run takes some time in which Python may go on."""

    def delayed(call: Callable[[], None]) -> Callable[[], None]:
        def made() -> None:
            time.sleep(SECONDS)
            call()

        return made

    work = recorder.Work
    monkeypatch.setattr(recorder, "Work", lambda call: work(delayed(call)))


def added(x: torch.Tensor, times: int, meanwhile: Callable[[], None] = lambda: None) -> None:
    for _ in range(times):
        x.add_(1)
        meanwhile()
        ingot.torch.mark_step()


@pytest.mark.usefixtures("slow")
def test_python_goes_on_while_a_step_runs() -> None:
    x = torch.zeros(3).to(DEVICE)
    added(x, 1)  # compiles
    assert x.tolist() == [1, 1, 1]
    start = time.perf_counter()
    added(x, 4, lambda: time.sleep(SECONDS))
    before = time.perf_counter()
    assert x.tolist() == [5, 5, 5]
    end = time.perf_counter()
    assert before - start < 4.9 * SECONDS + 0.1 and end - start < 5.9 * SECONDS + 0.1  # and not 8


@pytest.mark.usefixtures("slow")
def test_what_runs_reads_values_of_before() -> None:
    x, y = torch.zeros(4).to(DEVICE), torch.ones(2, 2).to(DEVICE)
    for value in (1.0, 2.0, 3.0):
        total = (x.sum() + y.sum()) * 1
        ingot.torch.mark_step()
        x.copy_(torch.full((4,), value))  # of the processor, while the sum may run
        y[0].copy_(torch.full((2,), value))
        assert total.item() == 4 * (value - 1) + 2 + 2 * max(value - 1, 1)
    assert x.tolist() == [3, 3, 3, 3] and y.tolist() == [[3, 3], [1, 1]]


@pytest.mark.usefixtures("slow")
def test_values_of_a_step_that_runs_are_inputs_of_the_next() -> None:
    x = torch.ones(2).to(DEVICE)
    views = [x[:1], x[1:]]
    for _ in range(3):
        x.mul_(2)
        ingot.torch.mark_step()
        y = views[1] + 1
        ingot.torch.mark_step()
        views[0].sub_(y)
    x.resize_(3)
    assert x.tolist() == [-23, 8, 0]


def embedded(position: int) -> torch.Tensor:
    table, where = torch.ones(3, 2).to(DEVICE), torch.tensor([0, position]).to(DEVICE)
    return F.embedding(where, table).sum()  # the line that errors name


HERE = f"test_lazy_runs.py:{embedded.__code__.co_firstlineno + 2}"


@pytest.mark.parametrize("ask", [lambda x: x.item(), lambda _: added(torch.zeros(1).to(DEVICE), 1)])
def test_errors_are_raised_where_values_are_asked_for(ask: Callable[[torch.Tensor], Any]) -> None:
    y = embedded(2) * 1
    ingot.torch.mark_step()
    assert y.item() == 4
    y = embedded(5) * 1
    ingot.torch.mark_step()
    z = y + 1
    with pytest.raises(IndexError, match=HERE):
        ask(y)
    for failed in (y, z):
        with pytest.raises(RuntimeError, match="failed before"):
            failed.item()
    assert embedded(1).item() == 4


def test_an_error_that_nobody_saw_is_printed_at_the_end() -> None:
    program = """
import torch, ingot.torch
table, where = torch.ones(3, 2, device=ingot.torch.device()), torch.tensor([0, 5], device="ingot")
y = torch.nn.functional.embedding(where, table)
ingot.torch.mark_step()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "IndexError: index out of range in self" in done.stderr


@pytest.mark.usefixtures("slow")
def test_memory_of_what_runs_is_there_until_it_has_run() -> None:
    x = torch.full((1000,), 3.0).to(DEVICE)
    y = x * 2
    ingot.torch.mark_step()
    del x
    noise = [torch.zeros(1000) for _ in range(100)]
    assert y.sum().item() == 6000 and len(noise) == 100


@pytest.mark.usefixtures("slow")
def test_threads_ask_for_what_another_began() -> None:
    x, found = torch.zeros(2).to(DEVICE), list[Any]()
    added(x, 2)
    threads = [threading.Thread(target=lambda: found.append(x.tolist())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[2, 2]] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.usefixtures("slow")
def test_forked_processes_have_what_ran() -> None:
    x = torch.zeros(2).to(DEVICE)
    added(x, 1)
    child = os.fork()
    if child == 0:
        added(x, 1)
        os._exit(0 if x.tolist() == [2, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    added(x, 2)
    assert x.tolist() == [3, 3]
