"""`verify` sees what a bundle does otherwise than PyTorch, and leaves everything as it was."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from tool import TOOL
from torch import nn
from torch.utils.checkpoint import checkpoint
from trainings import linear, usual_step

import ingot.torch
from ingot.judge import Undecided
from ingot.torch.judge import verify
from ingot.torch.text.lowering import TABLE

BATCHES = {"x": torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))}


@pytest.fixture(autouse=True)
def tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))


def traced() -> ingot.torch.Program:
    torch.manual_seed(0)
    model, optimizer = linear()
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", lambda x: usual_step(model, optimizer, x), (BATCHES["x"][0],))
    return program


def test_agrees_and_changes_nothing() -> None:
    program = traced()
    before = {name: tensor.detach().clone() for name, tensor in program.state.tensors.items()}
    found = program.verify(BATCHES)
    assert found.holds, found
    assert str(found).startswith("agrees; times what rounding allows: losses ")
    assert set(found.tensors) == set(before)
    assert all(torch.equal(tensor, before[name]) for name, tensor in program.state.tensors.items())
    assert program.verify(BATCHES) == found


def test_rates_are_followed() -> None:
    rates = torch.tensor([0.1, 0.2, 0.05, 0.01], dtype=torch.float64)
    assert traced().verify(BATCHES | {"lr": rates}).holds


def test_another_program_differs() -> None:
    program = traced()
    text = program.texts["train_step"]
    program.texts["train_step"] = text.replace('"stablehlo.add"(%13, %a3)', '"stablehlo.subtract"(%13, %a3)')
    assert program.texts["train_step"] != text
    found = program.verify(BATCHES)
    assert not found.holds
    assert str(found).startswith("differs")
    assert found.tensors["optimizer.weight.momentum_buffer"] > 1


def random_program(draw: Callable[[torch.Tensor], torch.Tensor]) -> ingot.torch.Program:
    torch.manual_seed(0)
    model, optimizer = linear()
    model.forward = lambda x, call=model.forward: draw(call(x))
    program = ingot.torch.Program(model, optimizer, seed=3)
    program.add("train_step", lambda x: usual_step(model, optimizer, x), (BATCHES["x"][0],))
    return program


DRAWING = {
    "dropout": lambda x: F.dropout(F.dropout(x, 0.5), 0.1),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.2),
    "noise": lambda x: x + torch.randn_like(x) + torch.rand(2),
    "in place": lambda x: x * torch.empty(6, 1).normal_(1, 0.5) + torch.empty(2).exponential_(),
    "whole numbers": lambda x: x[torch.randperm(6)] * torch.randint(1, 5, (6, 1)),
    "by weight": lambda x: x * torch.bernoulli(torch.sigmoid(x.detach())),
    "computed again": lambda x: checkpoint(lambda y: F.dropout(torch.tanh(y), 0.5), x, use_reentrant=False),
}


@pytest.mark.parametrize("name", DRAWING)
def test_pytorch_is_given_what_was_drawn(name: str) -> None:
    program = random_program(DRAWING[name])
    before = torch.get_rng_state()
    found = program.verify(BATCHES)
    assert found.holds, found
    assert torch.equal(torch.get_rng_state(), before)


def test_another_program_that_draws_differs() -> None:
    program = random_program(lambda x: F.dropout(torch.tanh(x), 0.5))
    program.texts["train_step"] = program.texts["train_step"].replace("stablehlo.tanh", "stablehlo.logistic")
    assert not program.verify(BATCHES).holds


def test_what_pytorch_cannot_be_given_is_named() -> None:
    program = random_program(lambda x: F.rrelu(x, training=True))
    with pytest.raises(Undecided, match="PyTorch cannot be given what the program drew for aten::rrelu_with_noise"):
        program.verify(BATCHES)


WRONG = {"tanh": ("tanh.default", "logistic"), "sqrt": ("sqrt.default", "cbrt")}


@pytest.mark.parametrize("name", WRONG)
def test_the_first_op_that_differs_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    overload, other = WRONG[name]
    monkeypatch.setitem(TABLE, overload, lambda e, x: e.unary(other, x))
    program = random_program(lambda x: torch.tanh(F.dropout(x, 0.3)).square().sum(1).add(1).sqrt())
    found = program.verify(BATCHES)
    assert not found.holds
    assert re.search(rf"; {re.escape(overload)} \({name}\w*\) at .*test_verify\.py:\d+ .*is off by", str(found)), found


def test_the_first_op_that_differs_is_named_among_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MOST_OUTPUTS", 3)
    test_the_first_op_that_differs_is_named("tanh", monkeypatch)


def test_the_first_op_that_differs_is_named_after_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLE, "tanh.default", lambda e, x: e.unary("logistic", x))

    def after_a_loop(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            _, y = torch.while_loop(
                lambda i, y: i < 3, lambda i, y: (i + 1, y.sin() + x), (torch.tensor(0), torch.zeros_like(x))
            )
        return torch.tanh(x * y)

    found = random_program(after_a_loop).verify(BATCHES)
    assert re.search(r"; tanh\.default \(tanh\w*\) at .*test_verify\.py:\d+ .*is off by", str(found)), found


def branching_program(last: Callable[[torch.Tensor], torch.Tensor]) -> ingot.torch.Program:
    """Goes several ways, by what it draws, by values, and by what Python counts."""
    torch.manual_seed(0)
    model, optimizer = linear()
    calls = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        x = F.dropout(x, 0.2)
        if calls % 2:
            x = x + torch.randn(3)
        if torch.rand([]) < 0.5:
            x = F.dropout(last(x), 0.5)
        return usual_step(model, optimizer, x)

    program = ingot.torch.Program(model, optimizer, seed=3)
    program.add("train_step", step, (BATCHES["x"][0],))
    return program


def test_pytorch_is_given_what_was_drawn_on_the_way_that_was_taken() -> None:
    program = branching_program(torch.tanh)
    assert len(program.traced["train_step"].graphs) == 4
    found = program.verify(BATCHES)
    assert found.holds, found


def test_the_first_op_that_differs_is_named_where_it_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLE, "tanh.default", lambda e, x: e.unary("logistic", x))
    found = branching_program(torch.tanh).verify(BATCHES)
    assert re.search(r"differs; .*; tanh\.default \(tanh\w*\) at .*test_verify\.py:\d+ .*is off by", str(found)), found


def test_outputs_that_are_no_losses_are_compared() -> None:
    model = nn.Linear(3, 2)
    program = ingot.torch.Program(model)
    program.add("predict", model, (BATCHES["x"][0],), training=False)
    name = next(iter(program.inputs["predict"]))["name"]
    assert program.verify({name: BATCHES["x"]}, "predict").tensors["the output output"] < 1
    program.texts["predict"] = program.texts["predict"].replace('"stablehlo.add"', '"stablehlo.subtract"')
    assert not program.verify({name: BATCHES["x"]}, "predict").holds


@pytest.mark.parametrize("made", [torch.tensor, torch.as_tensor, lambda lr: torch.tensor([lr, 1.0])[0]])
def test_rates_that_python_rounds_agree(made: Callable[[float], torch.Tensor]) -> None:
    model, optimizer = linear()
    optimizer.param_groups[0]["lr"] = 0.003

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().sum() * made(optimizer.param_groups[0]["lr"])
        loss.backward()
        optimizer.step()
        return loss

    compiled = ingot.torch.compile(step, model, optimizer)
    assert compiled(BATCHES["x"][0]).isfinite()


def test_averaged_sgd_agrees() -> None:
    model = nn.Linear(3, 4)
    optimizer = torch.optim.ASGD(model.parameters())
    compiled = ingot.torch.compile(lambda x: usual_step(model, optimizer, x), model, optimizer)
    assert compiled(BATCHES["x"][0]).isfinite()


def test_a_function_that_does_something_else_while_it_is_traced_differs() -> None:
    found = random_program(lambda y: y * 1.5 if torch.compiler.is_compiling() else y).verify(BATCHES)
    assert not found.holds
    assert "the function gives other numbers than what was traced of it" in str(found)


class Expanded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]).expand(4, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x * self.scale).square().sum()


@pytest.mark.parametrize("layout", [lambda x: x[:1].expand(4, 3), lambda x: x[:4, :1].expand(4, 3)])
def test_expanded_arguments_and_buffers_are_compared(layout: Callable[[torch.Tensor], torch.Tensor]) -> None:
    model, x = Expanded(), layout(BATCHES["x"][0])
    step = ingot.torch.compile(model, model)
    torch.testing.assert_close(step(x).detach(), model(x).detach())


def test_results_without_elements_are_compared() -> None:
    step = ingot.torch.compile(lambda x: (x * 2, x.double() + 1), nn.Identity())
    for result, dtype in zip(step(torch.ones(0, 3)), (torch.float32, torch.float64), strict=True):
        assert (result.shape, result.dtype) == ((0, 3), dtype)


@pytest.mark.parametrize(
    "conjugated",
    [torch.conj, lambda z: torch.fft.fft(z).conj()[1:], lambda z: torch.view_as_real(z.conj().resolve_conj())],
)
def test_conjugated_results_are_compared(conjugated: Callable[[torch.Tensor], torch.Tensor]) -> None:
    z = torch.view_as_complex(BATCHES["x"][0, :, :2].contiguous())
    step = ingot.torch.compile(lambda z: (conjugated(z), z * 2), nn.Identity())
    torch.testing.assert_close(step(z), (conjugated(z).resolve_conj(), z * 2))


def test_complex_numbers_are_compared() -> None:
    z = torch.tensor(1.5 - 2j)
    step = ingot.torch.compile(lambda z: (z * z, z.imag), nn.Identity())
    torch.testing.assert_close(step(z), (z * z, z.imag))


def test_bags_of_indices_that_are_not_contiguous_are_compared() -> None:
    table, indices = torch.randn(10, 3), torch.tensor([[1, 0], [9, 0], [2, 0], [1, 0]])[:, 0]
    offsets, weights = torch.tensor([0, 0, 3, 0])[::2], torch.rand(4)

    def bags(table: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        leaf = table.detach().requires_grad_()
        summed = F.embedding_bag(given[0], leaf, given[1], mode="sum", per_sample_weights=given[2])
        return torch.autograd.grad(summed.square().sum(), [leaf])[0]

    given = table, indices, offsets, weights
    torch.testing.assert_close(ingot.torch.compile(bags, nn.Identity())(*given), bags(*given))


def test_memory_that_pytorch_fills_without_an_op_is_compared() -> None:
    scores, labels = torch.randn(8, 2, 5).log_softmax(2), torch.tensor([[1, 2, 3], [4, 1, 0]])
    step = ingot.torch.compile(lambda x: F.ctc_loss(x, labels, (8, 6), (3, 2)), nn.Identity())
    torch.testing.assert_close(step(scores), F.ctc_loss(scores, labels, (8, 6), (3, 2)))
