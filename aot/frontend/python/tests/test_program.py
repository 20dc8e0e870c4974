"""What programs are called, hold and take: state, changeable numbers, several models and optimizers."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle, distance
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutput

import ingot.torch

STEPS = 4


def test_names_of_state() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3, bias=False))
    model[2].weight = model[0].weight
    model[1].bias.requires_grad_(False)
    program = ingot.torch.Program(model, torch.optim.Adam(model.parameters()))
    slots = [f"optimizer.{name}.{slot}" for name in ("0.weight", "0.bias", "1.weight") for slot in SLOTS]
    buffers = ["1.running_mean", "1.running_var", "1.num_batches_tracked"]
    assert set(program.state.tensors) == {"0.weight", "0.bias", "1.weight", "1.bias", *buffers, *slots}


SLOTS = ("step", "exp_avg", "exp_avg_sq")


def test_making_slots_changes_nothing() -> None:
    model = nn.Linear(2, 2)
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1, initial_accumulator_value=0.5)
    program = ingot.torch.Program(model, optimizer)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(program.state.tensors["optimizer.bias.sum"], torch.full((2,), 0.5))


def test_a_host_schedules_the_learning_rate(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    model.bias.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=3)
    xs = torch.randn(STEPS, 3, 4)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0],))
    assert [i["name"] for i in program.inputs["train_step"]] == ["x", "lr", "momentum"]
    bundle = Bundle(program, tmp_path)
    rates = []
    for x in xs:
        rates.append(optimizer.param_groups[0]["lr"])
        step(x)
        schedule.step()
    _, final = bundle.train({"x": xs, "lr": torch.tensor(rates, dtype=torch.float64)})
    assert distance(final["weight"], model.weight) < 1e-6
    assert torch.equal(final["bias"], model.bias)


def test_outputs_are_called_by_their_keys_in_a_record(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    x = torch.randn(4, 3)

    def predict(x: torch.Tensor) -> SequenceClassifierOutput:
        y = model(x)
        return SequenceClassifierOutput(logits=y, hidden_states=(x, -y))

    program = ingot.torch.Program(model)
    program.add("predict", predict, (x,), training=False)
    outputs, _ = Bundle(program, tmp_path).run({"x": x}, "predict")
    expected = {"logits": model(x), "hidden_states.0": x, "hidden_states.1": -model(x)}
    assert outputs.keys() == expected.keys()
    assert all(distance(outputs[name], value) < 1e-6 for name, value in expected.items())


def test_complex_state_comes_back(tmp_path: Path) -> None:
    """Files have complex numbers as pairs of real ones."""

    class Filter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.response = nn.Parameter(torch.randn(5, dtype=torch.complex64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.irfft(torch.fft.rfft(x) * self.response, n=8)

    def make() -> tuple[Filter, torch.optim.Optimizer]:
        torch.manual_seed(0)
        model = Filter()
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    model, optimizer = make()
    xs = torch.randn(STEPS, 3, 8)

    def step(x: torch.Tensor, wave: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) - x.roll(1, -1)).square().mean() + 0 * wave.real.sum()
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    waves = torch.randn(STEPS, 2, dtype=torch.complex64)
    program.add("train_step", step, (xs[0], waves[0]))
    assert program.inputs["train_step"][1] == {"name": "wave", "dtype": "f32", "shape": [2, 2]}
    Bundle(program, tmp_path).train({"x": xs, "wave": torch.view_as_real(waves)})
    for x, wave in zip(xs, waves, strict=True):
        step(x, wave)
    other, other_optimizer = make()
    ingot.torch.load_state(other, other_optimizer, tmp_path / "final.safetensors")
    assert distance(torch.view_as_real(other.response), torch.view_as_real(model.response)) < 1e-6


def test_an_output_that_is_no_tensor_is_said_to_be_left_out() -> None:
    model = nn.Linear(3, 2)

    def predict(x: torch.Tensor) -> dict[str, Any]:
        return {"y": model(x), "labels": None, "cache": object()}

    program = ingot.torch.Program(model)
    with pytest.warns(UserWarning, match="the output 'cache' is left out.*object"):
        program.add("predict", predict, (torch.ones(4, 3),), training=False)


def test_functions_hear_that_they_are_compiled() -> None:
    model = nn.Linear(3, 2)

    def predict(x: torch.Tensor) -> torch.Tensor:
        if not (torch.compiler.is_compiling() | False) and x.isnan().any():
            raise ValueError("x has NaN")
        return model(x)

    ingot.torch.Program(model).add("predict", predict, (torch.ones(4, 3),), training=False)
    assert not torch.compiler.is_compiling()


def test_models_may_share_a_module(tmp_path: Path) -> None:
    body = nn.Linear(3, 3)
    models = {"one": nn.Sequential(body, nn.Tanh()), "two": nn.Sequential(body, nn.ReLU())}
    x = torch.randn(2, 3)

    def predict(x: torch.Tensor) -> torch.Tensor:
        return models["one"](x) + models["two"](x)

    program = ingot.torch.Program(models)
    assert set(program.state.tensors) == {"one.0.weight", "one.0.bias"}
    program.add("predict", predict, (x,), training=False)
    outputs, _ = Bundle(program, tmp_path).run({"x": x}, "predict")
    assert distance(outputs["output"], predict(x)) < 1e-6
    assert models["one"][0].weight is body.weight


def test_two_models_and_two_optimizers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    models = {"generator": nn.Linear(2, 3), "critic": nn.Linear(3, 1)}
    optimizers = {
        "slow": torch.optim.SGD(models["generator"].parameters(), lr=0.1),
        "adam": torch.optim.Adam(models["critic"].parameters(), lr=0.01),
    }
    zs, xs = torch.randn(STEPS, 5, 2), torch.randn(STEPS, 5, 3)

    def step(z: torch.Tensor, x: torch.Tensor) -> dict[str, torch.Tensor]:
        optimizers["adam"].zero_grad()
        made = models["generator"](z)
        critic_loss = F.softplus(models["critic"](made.detach())).mean() + F.softplus(-models["critic"](x)).mean()
        critic_loss.backward()
        optimizers["adam"].step()
        optimizers["slow"].zero_grad()
        loss = F.softplus(-models["critic"](made)).mean()
        loss.backward()
        optimizers["slow"].step()
        return {"critic_loss": critic_loss, "loss": loss}

    program = ingot.torch.Program(models, optimizers)
    program.add("train_step", step, (zs[0], xs[0]))
    assert "adam.critic.weight.exp_avg" in program.state.tensors
    log, final = Bundle(program, tmp_path).train({"z": zs, "x": xs})
    for row, z, x in zip(log, zs, xs, strict=True):
        for name, value in step(z, x).items():
            assert abs(row[name] - value.item()) < 1e-5
    assert all(distance(final[name], value) < 1e-5 for name, value in program.state.tensors.items())


def test_saving_again_leaves_no_entry_of_before(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    for name in ("old", "new"):
        program = ingot.torch.Program(model)
        program.add(name, model, (torch.ones(1, 2),), training=False)
        program.save(tmp_path)
    assert [file.name for file in tmp_path.glob("*.mlir")] == ["new.mlir"]
