"""The lazy device is one of PyTorch's: its module, generators, memory, files and loaders of data."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import ingot.torch

DEVICE = ingot.torch.device()
MODULE: Any = torch.get_device_module(DEVICE)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path_factory.getbasetemp() / "lazy"))
    yield
    ingot.torch.mark_step()


@pytest.mark.parametrize("workers", [0, 1])
def test_loaders_pin_what_is_pinned_already(workers: int) -> None:
    batches = [*DataLoader(TensorDataset(torch.arange(6.0)), batch_size=3, pin_memory=True, num_workers=workers)]
    assert all(x.is_pinned() for (x,) in batches)
    assert [x.to(DEVICE, non_blocking=True).sum().item() for (x,) in batches] == [3, 12]


def test_loaders_of_tensors_of_the_device() -> None:
    data = TensorDataset(torch.arange(6.0, device=DEVICE))
    shuffled = DataLoader(data, batch_size=3, shuffle=True, generator=torch.Generator(device=DEVICE).manual_seed(1))
    assert sorted(torch.cat([x for (x,) in shuffled]).tolist()) == [0, 1, 2, 3, 4, 5]
    assert not data[0][0].is_pinned()
    with pytest.raises(RuntimeError, match=r"ingot:0 cannot be pinned.*x\.cpu\(\)"):
        data[0][0].pin_memory()


def test_generators_draw_what_the_processors_draw() -> None:
    mine, other = torch.Generator(DEVICE).manual_seed(3), torch.Generator().manual_seed(3)
    assert isinstance(mine, torch.Generator) and isinstance(other, torch.Generator)
    assert mine.device == DEVICE and other.device.type == "cpu"
    for again in (mine, copy.deepcopy(mine), pickle.loads(pickle.dumps(mine)), mine.clone_state()):
        assert again.device == DEVICE
        drawn = torch.randn(3, device=DEVICE, generator=again), torch.randperm(5, device=DEVICE, generator=again)
        expected = torch.randn(3, generator=other), torch.randperm(5, generator=other)
        assert all(torch.equal(x.cpu(), y) for x, y in zip(drawn, expected, strict=True))
        other.manual_seed(3)
    assert torch.ones(2, device=DEVICE).bernoulli_(generator=mine).tolist() == [1, 1]


def test_seeds_and_states_are_those_of_the_processors_generator() -> None:
    MODULE.manual_seed(5)
    states = MODULE.get_rng_state(), *MODULE.get_rng_state_all()
    drawn = torch.randn(2, device=DEVICE).tolist()
    assert drawn == torch.randn(2, generator=torch.Generator().manual_seed(5)).tolist() and MODULE.initial_seed() == 5
    for restore in (lambda: MODULE.set_rng_state(states[0]), lambda: MODULE.set_rng_state_all(states[1:])):
        restore()
        assert torch.randn(2, device=DEVICE).tolist() == drawn


def test_there_is_one_device() -> None:
    with MODULE.device(0), torch.accelerator.device_index(0):
        assert MODULE.current_device() == torch.accelerator.current_device_index() == 0
    MODULE.set_device("ingot:0")
    for use in (lambda: MODULE.device(1), lambda: MODULE.synchronize("cpu"), lambda: torch.ones(2, device="ingot:1")):
        with pytest.raises(RuntimeError, match="the only one is ingot:0"):
            use()


def test_memory_is_counted() -> None:
    before = MODULE.memory_allocated()
    x = torch.ones(1 << 20).to(DEVICE)
    assert MODULE.memory_allocated() - before == torch.accelerator.memory_allocated() - before == 4 << 20
    MODULE.reset_peak_memory_stats()
    y = x * 2 + 1
    assert MODULE.memory_allocated() - before == 4 << 20  # nothing has run
    torch.accelerator.synchronize()
    assert MODULE.memory_allocated() - before == 8 << 20
    assert torch.accelerator.max_memory_allocated() == MODULE.max_memory_allocated() >= before + (8 << 20)
    del x, y
    assert MODULE.memory_allocated() == before
    assert MODULE.max_memory_allocated() >= before + (8 << 20)
    free, whole = torch.accelerator.get_memory_info()
    assert 0 < free < whole and MODULE.memory_stats() == dict(torch.accelerator.memory_stats())


def test_files_of_pytorch_load_onto_the_device(tmp_path: Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for saved in (x, x.to(DEVICE)):
        torch.save({"x": saved, "row": saved[1], "turned": saved.t()}, tmp_path / "x.pt")
        for where, options in ((DEVICE, {}), ("ingot", {"mmap": True})):
            loaded = torch.load(tmp_path / "x.pt", map_location=where, **options)
            assert [y.device for y in loaded.values()] == [DEVICE] * 3
            if saved is x:
                loaded["row"].mul_(2)  # views of one memory stay that
                assert loaded["x"].tolist() == [[0, 1, 2], [6, 8, 10]] == loaded["turned"].t().tolist()


def test_safetensors(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    model, file = nn.Linear(3, 4).to(DEVICE), tmp_path / "x.safetensors"
    safetensors.save_file(model.state_dict(), file)
    for device, expected in ((DEVICE, DEVICE), ("ingot", DEVICE), ("cpu", torch.device("cpu"))):
        loaded = safetensors.load_file(file, device=str(device))
        assert loaded["weight"].device == expected and torch.equal(loaded["weight"].cpu(), model.weight.cpu())
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save({"x": model.weight, "y": model.weight})
    safetensors.load_model(nn.Linear(3, 4).to(DEVICE), file, device="ingot:0")


def test_models_of_transformers_are_saved_and_loaded(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=11, n_positions=8)
    model = transformers.GPT2LMHeadModel(config).to(DEVICE).eval()
    tokens = torch.tensor([[1, 4, 2]])
    logits = model(tokens.to(DEVICE)).logits
    model.save_pretrained(tmp_path)
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    torch.testing.assert_close(again(tokens).logits, logits.cpu())


def scaled(device: Any, scaler: torch.amp.GradScaler) -> list[float]:
    weight = torch.arange(3.0).to(device).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for factor in (1.0, float("inf"), 2.0):
        optimizer.zero_grad()
        scaler.scale((weight * factor).square().sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    return [*weight.tolist(), scaler.get_scale()]


def test_losses_are_scaled() -> None:
    mine, expected = scaled(DEVICE, torch.amp.GradScaler("ingot")), scaled("cpu", torch.amp.GradScaler("cpu"))
    assert mine == pytest.approx(expected, rel=1e-5)


def test_memory_has_an_address_and_a_storage() -> None:
    x = torch.arange(6.0).to(DEVICE)
    y = x * 2
    assert y[2:].data_ptr() - y.data_ptr() == 8 and y.untyped_storage().nbytes() == 24
    assert x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr() != y.untyped_storage().data_ptr()


@pytest.mark.parametrize("share", [torch.from_dlpack, torch.to_dlpack, torch.utils.dlpack.to_dlpack, np.from_dlpack])
def test_memory_is_not_shared_by_dlpack(share: Callable[[Any], Any]) -> None:
    with pytest.raises(BufferError, match=r"ingot:0 is not shared by DLPack.*x\.cpu\(\)"):
        share(torch.ones(2, device=DEVICE))
    assert torch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2))).tolist() == [1, 1]
    assert torch.from_dlpack(np.ones(2), device=DEVICE).device == DEVICE


def test_values_that_are_known_run_nothing() -> None:
    x = torch.arange(3.0).to(DEVICE)
    y = x * 2
    assert x.tolist() == [0, 1, 2] and "mul" in ingot.torch.lazy.text(y)
    assert y.tolist() == [0, 2, 4]
