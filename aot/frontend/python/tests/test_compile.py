"""`ingot.torch.compile`: a user's script trains through a bundle, and sees it in the tensors that it has."""

from __future__ import annotations

import copy
import functools
import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch
from ingot import cache, tool
from ingot.torch.text.lowering import TABLE

GENERATOR = torch.Generator().manual_seed(0)
XS = torch.randn(12, 6, 3, generator=GENERATOR)
STEPS = 6


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)
        self.scale = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale * self.head(torch.tanh(self.norm(self.fc(x))))


class Training:
    """A model, its optimizer, and a step that is compiled, or not."""

    def __init__(self, compiled: bool, make_optimizer: Callable[..., Any] = torch.optim.SGD, **options: Any) -> None:
        torch.manual_seed(0)
        self.model = Net()
        settings = {"momentum": 0.5} if make_optimizer is torch.optim.SGD else {}
        self.optimizer = make_optimizer(self.model.parameters(), lr=0.1, **settings)
        options = {"verify": False, **options}
        self.step = ingot.torch.compile(self.eager, self.model, self.optimizer, **options) if compiled else self.eager

    def eager(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def tensors(self) -> dict[str, torch.Tensor]:
        slots = self.optimizer.state_dict()["state"]
        named = {f"{i}.{slot}": value for i, held in slots.items() for slot, value in held.items()}
        return {**self.model.state_dict(), **named}


def same(mine: Training, reference: Training) -> None:
    given, expected = mine.tensors(), reference.tensors()
    assert given.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(
            given[name], tensor, rtol=1e-4, atol=1e-6, msg=lambda text, name=name: f"{name}: {text}"
        )


def both(change: Callable[[Training], None] = lambda _: None, **options: Any) -> tuple[Training, Training]:
    """Trains compiled and in PyTorch; both are changed in between."""
    mine, reference = Training(True, **options), Training(False)
    for training in (mine, reference):
        for i in range(STEPS):
            if i == STEPS // 2:
                change(training)
            training.last = training.step(XS[i])
    torch.testing.assert_close(mine.last, reference.last.detach(), rtol=1e-4, atol=1e-6)
    same(mine, reference)
    return mine, reference


def test_the_live_model_is_trained() -> None:
    mine, reference = both(verify=True)
    parameter = mine.model.fc.weight
    assert isinstance(parameter, nn.Parameter) and mine.optimizer.param_groups[0]["params"][0] is parameter
    mine.model.eval(), reference.model.eval()
    torch.testing.assert_close(mine.model(XS[0]), reference.model(XS[0]), rtol=1e-4, atol=1e-6)


def test_an_optimizer_without_state_has_none_afterwards() -> None:
    mine = Training(True, lambda parameters, lr: torch.optim.SGD(parameters, lr))
    mine.step(XS[0])
    assert mine.optimizer.state_dict()["state"] == {}  # as in PyTorch


def test_a_memory_limit_is_of_the_step() -> None:
    mine, _ = both(memory_limit="1MiB")
    assert 0 < mine.step.memory_bytes < 2 << 20
    assert Training(True).step.memory_bytes == 0
    with pytest.raises(RuntimeError, match=r"@step takes \d+ bytes at least for .* of --memory-limit"):
        Training(True, memory_limit=1).step(XS[0])


def test_rows_that_are_normalized_by_each_other_are_one_batch() -> None:
    with pytest.raises(RuntimeError, match=r"@step cannot .* rows depend on each other: .* reads rows, and what"):
        Training(True, micro_batches=2).step(XS[0])


def test_what_products_are_made_of_is_said() -> None:
    both(math="exact")
    with pytest.raises(ValueError, match="math is 'guessed'"):
        Training(True, math="guessed")


def test_checkpoints_are_pytorchs_and_hold_what_they_name() -> None:
    mine, reference = both()
    file = io.BytesIO()
    torch.save({"model": mine.model.state_dict(), "optimizer": mine.optimizer.state_dict()}, file)
    size = sum(tensor.nbytes for tensor in mine.tensors().values())
    assert file.getbuffer().nbytes < size + 20_000
    mine.step(XS[6])
    file.seek(0)
    held = torch.load(file)
    mine.model.load_state_dict(held["model"])
    mine.optimizer.load_state_dict(held["optimizer"])
    same(mine, reference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine.step(XS[7])
    reference.step(XS[7])
    same(mine, reference)


def test_evaluation_in_between_is_eager() -> None:
    mine, reference = Training(True), Training(False)
    for i in range(STEPS):
        for training in (mine, reference):
            training.step(XS[i])
            training.model.eval()
            with torch.no_grad():
                training.seen = training.model(XS[i + 1])
            training.model.train()
        torch.testing.assert_close(mine.seen, reference.seen, rtol=1e-4, atol=1e-6)
    assert mine.step.programs == 1


def test_a_scheduler_outside_is_followed() -> None:
    trainings = Training(True), Training(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for training in trainings:
            scheduler = torch.optim.lr_scheduler.StepLR(training.optimizer, 2, 0.1)
            for i in range(STEPS):
                training.step(XS[i])
                scheduler.step()
    same(*trainings)
    assert trainings[0].step.programs == 1


class Halving(torch.optim.lr_scheduler.StepLR):
    """A class of the user's whose attributes its base writes."""

    def get_lr(self) -> list[float]:
        return super().get_lr()


@pytest.mark.parametrize("kind", [torch.optim.lr_scheduler.StepLR, Halving])
def test_a_scheduler_inside_goes_along(kind: Any) -> None:
    trainings = Training(True), Training(False)
    for training in trainings:
        scheduler = kind(training.optimizer, 2, 0.1)

        def step(x: torch.Tensor, training: Training = training, scheduler: Any = scheduler) -> torch.Tensor:
            loss = training.eager(x)
            scheduler.step()
            return loss

        if training is trainings[0]:
            step = ingot.torch.compile(step, training.model, training.optimizer, scheduler, total_steps=10)
        for i in range(STEPS):
            step(XS[i])
        training.scheduler = scheduler
    same(*trainings)
    mine, reference = (training.scheduler for training in trainings)
    assert mine.last_epoch == reference.last_epoch == STEPS
    assert mine.get_last_lr() == pytest.approx(reference.get_last_lr())


def freeze(training: Training) -> None:
    training.model.fc.weight.requires_grad_(False)


def double(training: Training) -> None:
    training.model.scale = 2.0


def decay(training: Training) -> None:
    training.optimizer.param_groups[0]["weight_decay"] = 0.1


def to_eval(training: Training) -> None:
    training.model.eval()


def hook(training: Training) -> None:
    training.model.head.weight.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))


def forward_hook(training: Training) -> None:
    training.model.fc.register_forward_hook(lambda module, args, output: 2 * output)


def another_module(training: Training) -> None:
    training.model.norm = nn.Identity()


def write_in_place(training: Training) -> None:
    with torch.no_grad():
        training.model.head.weight.mul_(0.5)


def give_data(training: Training) -> None:
    training.model.head.weight.data = torch.ones(2, 4)


def assign(training: Training) -> None:
    held = {name: 0.5 * tensor for name, tensor in training.model.state_dict().items() if tensor.is_floating_point()}
    training.model.load_state_dict(training.model.state_dict() | held)


def rate(training: Training) -> None:
    training.optimizer.param_groups[0].update(lr=0.01, momentum=0.25)


SEEN = {change.__name__: change for change in (write_in_place, give_data, assign, rate)}
TRACED_AGAIN = {
    change.__name__: change for change in (freeze, double, decay, to_eval, hook, forward_hook, another_module)
}


@pytest.mark.parametrize("name", SEEN)
def test_values_that_the_user_changes_are_seen(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine, _ = both(SEEN[name])
    assert mine.step.programs == 1


@pytest.mark.parametrize("name", TRACED_AGAIN)
def test_what_is_fixed_in_a_program_is_traced_again(name: str) -> None:
    with pytest.warns(UserWarning, match="a program has that fixed"):
        mine, _ = both(TRACED_AGAIN[name])
    assert mine.step.programs == 2


@pytest.mark.parametrize("name", TRACED_AGAIN)
def test_or_refused_where_that_is_asked_for(name: str) -> None:
    with pytest.raises(ingot.torch.TraceError, match="has that fixed; keep it"):
        both(TRACED_AGAIN[name], on_change="error")


def test_a_change_is_named() -> None:
    with pytest.warns(UserWarning, match=r"`self\.model\.scale` is 2\.0, and was 1\.0 \(contract 4\); a program"):
        both(double)


def test_other_shapes_are_traced_once_each() -> None:
    mine, reference = Training(True), Training(False)
    with pytest.warns(UserWarning, match="tensor of shape") as warned:
        for rows in (6, 4, 6, 4, 5):
            for training in (mine, reference):
                training.step(XS[0, :rows])
            same(mine, reference)
    assert mine.step.programs == 3
    assert len([one for one in warned if "tensor of shape" in str(one.message)]) == 1


def test_two_functions_train_one_model() -> None:
    mine, reference = Training(True), Training(False)

    def halve(training: Training) -> Callable[[], None]:
        @torch.no_grad()
        def function() -> None:
            training.model.head.weight.mul_(0.5)

        return function

    halves = ingot.torch.compile(halve(mine), mine.model, verify=False), halve(reference)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(STEPS):
            for training, half in zip((mine, reference), halves, strict=True):
                training.step(XS[i])
                assert half() is None
    same(mine, reference)


square = 0  # as an attribute that `Training.eager` names


def test_variables_called_as_attributes_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, _ = both(lambda _: monkeypatch.setitem(globals(), "square", 1))
    assert mine.step.programs == 1


def test_autocast_is_compared() -> None:
    training = Training(True, verify=True)
    model = training.model

    def forward(x: torch.Tensor, call: Callable[..., torch.Tensor] = model.forward) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return call(x)

    model.forward = forward
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        training.step(XS[0])


def test_caches_of_constants_are_watched() -> None:
    """A function that is called again after its cache is cleared may give something else."""
    model, factor = nn.Linear(3, 2), [1.0]
    scale = functools.cache(lambda: torch.ones(2) * factor[0])

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return model(x) * scale()

    scale()
    predict = ingot.torch.compile(scaled, model, training=False)
    torch.testing.assert_close(predict(XS[0]), scaled(XS[0]))
    factor[0] = 2.0
    scale.cache_clear()
    with pytest.warns(UserWarning):
        torch.testing.assert_close(predict(XS[0]), scaled(XS[0]))


def test_equal_values_are_the_same_and_their_changes_are_seen() -> None:
    model = nn.Linear(3, 2)
    model.factors = [1.5, 2.5]
    predict = ingot.torch.compile(lambda x: model(x) * model.factors[0], model, training=False)
    expected = predict(XS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            model.factors = [3.0 / 2, 5.0 / 2]
            assert torch.equal(predict(XS[0]), expected)
    model.factors[0] = 3.0
    with pytest.warns(UserWarning, match=r"`model\.factors\[0\]` is 3\.0, and was 1\.5"):
        torch.testing.assert_close(predict(XS[0]), 2 * expected)


def test_hooks_that_go_are_seen() -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def clear_and_step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return model.weight.grad.sum()

    step = ingot.torch.compile(clear_and_step, model, optimizer)
    doubling = model.weight.register_hook(lambda gradient: 2 * gradient)
    doubled = step(XS[0])
    doubling.remove()
    with pytest.warns(UserWarning, match="a program has that fixed"):
        torch.testing.assert_close(2 * step(XS[0]), doubled)


def test_what_the_function_does_not_name_may_change() -> None:
    mine, _ = both(lambda training: setattr(training, "losses", []))
    assert mine.step.programs == 1


def test_arguments_and_results_are_trees() -> None:
    model = nn.Linear(3, 2)

    @ingot.torch.step(model, training=False)
    def predict(batch: dict[str, torch.Tensor], power: int = 1) -> dict[str, Any]:
        out = model(batch["x"]) ** power
        return {"out": out, "parts": (out.sum(), [out.mean()]), "fixed": "yes", "none": None}

    for power in (1, 2, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = predict({"x": XS[0]}, power=power)
        expected = model(XS[0]) ** power
        torch.testing.assert_close(given["out"], expected.detach())
        torch.testing.assert_close(given["parts"][1][0], expected.mean().detach())
        assert given["fixed"] == "yes" and given["none"] is None
    assert predict.programs == 2


def test_a_compiled_function_is_traced_as_what_it_was() -> None:
    training = Training(True)
    training.step(XS[0])
    program = ingot.torch.Program(training.model, training.optimizer)
    program.add("train_step", training.step, (XS[0],))
    session = ingot.Session(ingot.compile(program))
    loss = training.step(XS[1])
    torch.testing.assert_close(session.entries["train_step"](x=XS[1])["loss"], loss)


def test_kept_gradients_are_pytorchs() -> None:
    def make(compiled: bool) -> tuple[nn.Module, torch.optim.Optimizer, Callable[..., Any]]:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def accumulate(x: torch.Tensor) -> None:
            model(x).square().mean().backward()

        if compiled:
            return model, optimizer, ingot.torch.compile(accumulate, model, optimizer, keep_gradients=True)
        return model, optimizer, accumulate

    gradients = []
    for compiled in (True, False):
        model, optimizer, accumulate = make(compiled)
        accumulate(XS[0])
        optimizer.step()
        optimizer.zero_grad()
        accumulate(XS[1])
        accumulate(XS[2])
        gradients.append(model.weight.grad)
    torch.testing.assert_close(*gradients)


def test_random_bits_go_on() -> None:
    model = nn.Sequential(nn.Linear(3, 64), nn.Dropout(0.5))
    predict = ingot.torch.compile(lambda x: model(x), model)
    one, two = predict(XS[0]), predict(XS[0])
    assert not torch.equal(one, two)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predict(XS[0, :2])
    assert not torch.equal(predict(XS[0]), one), "another program draws on"


def test_backward_through_old_values_is_an_error() -> None:
    training = Training(True)
    training.step(XS[0])
    loss = training.model(XS[0]).square().mean()
    training.step(XS[1])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_is_not_compiled_is_the_function_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(3, 2)
    off = ingot.torch.compile(model.forward, model, enabled=False)
    monkeypatch.setenv("INGOT", "0")
    for step in (off, ingot.torch.compile(model.forward, model)):
        assert torch.equal(step(XS[0]), model(XS[0]))
        assert (step.programs, step.memory_bytes, step.state_dict()) == (0, 0, {})


def test_another_program_is_found_in_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    right = cache.compiled

    def compiled(texts: dict[str, str], *options: Any, **named: Any) -> ingot.Bundle:
        changed = {name: text.replace("stablehlo.tanh", "stablehlo.logistic") for name, text in texts.items()}
        assert changed != texts
        return right(changed, *options, **named)

    monkeypatch.setattr(cache, "compiled", compiled)
    training = Training(True, verify=True)
    before = copy.deepcopy(training.tensors())
    with pytest.raises(ingot.torch.DisagreementError, match=r"eager is not what PyTorch does: it differs"):
        training.step(XS[0])
    assert all(torch.equal(tensor, before[name]) for name, tensor in training.model.state_dict().items())


def test_programs_that_are_traced_again_are_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(True, verify=True)
    training.step(XS[0])
    monkeypatch.setitem(TABLE, "tanh.default", lambda e, x: e.unary("logistic", x))
    with (
        pytest.warns(UserWarning, match="tensor of shape"),
        pytest.warns(UserWarning, match=r"PyTorch's from now on: .*tanh\.default \(tanh\) at .*test_compile\.py:\d+"),
    ):
        training.step(XS[0, :4])


def test_what_cannot_be_compared_is_said() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.RReLU())
    predict = ingot.torch.compile(lambda x: model(x), model)
    with pytest.warns(UserWarning, match=r"is not verified: PyTorch cannot be given .* aten::rrelu_with_noise"):
        predict(XS[0])


def test_second_processes_find_bundles(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Training(True).step(XS[0])
    assert len([*own_cache.iterdir()]) == 1
    monkeypatch.setattr(tool, "call", lambda *_: pytest.fail("compiled again"))
    Training(True).step(XS[0])
