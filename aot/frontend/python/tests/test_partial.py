"""`@ingot.torch.partial`: parts of an eager program are compiled."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from trainings import usual_step

import ingot.torch

XS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    torch._dynamo.reset()


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.Tanh())


def backbone(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x).exp()


def train(forward: Any) -> tuple[list[float], list[torch.Tensor]]:
    body, head = network(), nn.Linear(4, 2)
    parameters = [*body.parameters(), *head.parameters()]
    nn.init.ones_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    losses = []
    for x in XS:
        optimizer.zero_grad()
        loss = F.mse_loss(head(forward(body, x)), torch.ones(6, 2))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, parameters


def test_trains_as_eager_does() -> None:
    (mine, parameters), (expected, reference) = train(ingot.torch.partial(backbone)), train(backbone)
    assert mine == pytest.approx(expected, rel=1e-4)
    for x, y in zip(parameters, reference, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)


def train_child(wrap: Callable[[nn.Module], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), network()[1], nn.Linear(4, 2))
    model[0] = wrap(model[0])
    model.more = wrap(nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in XS:
        optimizer.zero_grad()
        model.more(model(x)).square().mean().backward()
        optimizer.step()
    return model.eval()


def test_a_module_is_a_child_of_another() -> None:
    mine, expected = train_child(ingot.torch.partial), train_child(lambda module: module)
    torch.testing.assert_close(mine.state_dict(), expected.state_dict(), rtol=1e-4, atol=1e-5)
    assert not mine[0].training
    expected.load_state_dict(mine.state_dict())
    mine.load_state_dict(expected.state_dict())
    assert repr(mine) == repr(expected)


def test_a_copy_has_its_own_parameters() -> None:
    compiled = ingot.torch.partial(nn.Linear(3, 2))
    before = compiled(XS[0]).detach()
    for copied in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        torch.testing.assert_close(copied(XS[0]).detach(), before)
        nn.init.zeros_(copied.weight)
        assert copied(XS[0]).detach().std(0).max() == 0
    torch.testing.assert_close(compiled(XS[0]).detach(), before)


@pytest.mark.filterwarnings("error")
def test_one_within_another_is_compiled_with_it() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    expected = model(XS[0]).detach()
    model[0] = ingot.torch.partial(model[0])
    torch.testing.assert_close(ingot.torch.partial(model)(XS[0]).detach(), expected)


def test_a_step_that_calls_it_is_compiled_whole() -> None:
    def run(is_compiled: bool) -> list[float]:
        torch.manual_seed(0)
        model = nn.Sequential(ingot.torch.partial(nn.Linear(3, 4)), nn.Tanh())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: torch.Tensor) -> torch.Tensor:
            return usual_step(model, optimizer, x)

        step = ingot.torch.compile(step, model, optimizer) if is_compiled else step
        return [step(x).item() for x in XS]

    assert run(True) == pytest.approx(run(False), rel=1e-4)


def test_two_forwards_at_once_keep_their_own_activations() -> None:
    model = network()
    compiled = ingot.torch.partial(model)
    first, second = compiled(XS[0]), compiled(XS[1])
    mine = [torch.autograd.grad(output.square().sum(), model[0].weight)[0] for output in (first, second)]
    for x, gradient in zip(XS, mine, strict=False):
        (expected,) = torch.autograd.grad(model(x).square().sum(), model[0].weight)
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


def test_gradients_of_gradients_are_refused() -> None:
    x = XS[0].clone().requires_grad_()
    compiled = ingot.torch.partial(lambda x: x.sin() * x)
    with pytest.raises(RuntimeError, match="double backward"):
        torch.autograd.grad(compiled(x).sum(), x, create_graph=True)[0].sum().backward()


def test_another_shape_runs_in_pytorch_with_one_warning() -> None:
    compiled = ingot.torch.partial(backbone)
    model = network()
    compiled(model, XS[0])
    with pytest.warns(UserWarning, match=r"backbone is compiled for float32 \[6, 3\], and was given float32 \[5, 3\]"):
        mine = compiled(model, XS[0][:5])
    assert mine.shape == (5, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(model, XS[1][:5])
        compiled(model, XS[1])


def test_an_optimizer_that_asks_for_losses_calls_it() -> None:
    def trained(compiled: bool) -> tuple[list[float], nn.Module]:
        torch.manual_seed(0)
        model = network()
        optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=3)
        called = ingot.torch.partial(model) if compiled else model

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = called(XS[0]).square().mean()
            loss.backward()
            return loss

        return [optimizer.step(closure).item() for _ in range(4)], model

    (mine, model), (theirs, other) = trained(True), trained(False)
    assert mine == pytest.approx(theirs, rel=1e-4)
    for parameter, expected in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(parameter, expected, rtol=1e-3, atol=1e-4)


def test_functions_of_one_code_are_compiled_apart() -> None:
    with torch._dynamo.config.patch(recompile_limit=2):
        for factor in range(1, 5):
            compiled = ingot.torch.partial(lambda x, factor=factor: x * factor)
            torch.testing.assert_close(compiled(XS[0]), XS[0] * factor)


def sines(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x).sum()


def test_what_is_transformed_is_pytorchs_with_one_warning() -> None:
    compiled = ingot.torch.partial(sines)
    compiled(XS[0])
    with pytest.warns(UserWarning, match=r"sines is called within a function that torch\.func transforms: PyTorch"):
        mine = torch.func.grad(compiled)(XS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.func.grad(compiled)(XS[1])
    torch.testing.assert_close(mine, torch.func.grad(sines)(XS[0]))


def test_hooks_that_come_and_go_are_seen() -> None:
    model = network().eval()
    compiled = ingot.torch.partial(model)
    for _ in range(2):
        hook = model[0].register_forward_hook(lambda module, inputs, output: output * 2)
        torch.testing.assert_close(compiled(XS[0]), model(XS[0]))
        hook.remove()
        torch.testing.assert_close(compiled(XS[0]), model(XS[0]))


def test_refusals_are_ingots() -> None:
    compiled = ingot.torch.partial(torch.matrix_exp)
    with pytest.raises(ingot.torch.TraceError, match=r"linalg_matrix_exp\.default is not supported"):
        compiled(torch.eye(3))


def of_sign(x: torch.Tensor) -> torch.Tensor:
    return x if x.sum() > 0 else -x


def printed(x: torch.Tensor) -> torch.Tensor:
    print(x)
    return x


def of_other_shapes(x: torch.Tensor) -> torch.Tensor:
    return x @ x


@pytest.mark.parametrize("function", [of_sign, printed, of_other_shapes])
def test_what_cannot_be_followed_is_refused_with_the_line(function: Any) -> None:
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(
        ingot.torch.TraceError, match=f"test_partial.py:{line}: {function.__name__} cannot be compiled: "
    ):
        ingot.torch.partial(function)(XS[0])


@pytest.mark.parametrize("kind", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_hooks_on_gradients_of_modules_are_refused(kind: str) -> None:
    model = network()
    compiled = ingot.torch.partial(model)
    compiled(XS[0])
    hook = getattr(model[0], kind)(lambda *_: None)
    with pytest.raises(ingot.torch.TraceError, match=r"test_partial.py:\d+: .*Module-level backwards hooks"):
        compiled(XS[0])
    hook.remove()
    torch.testing.assert_close(compiled(XS[0]), model(XS[0]))


@pytest.mark.parametrize(
    "function", [torch.linalg.solve, lambda a, b: torch.linalg.cholesky(a @ a.T) + torch.linalg.inv(b)]
)
def test_checks_that_matrices_have_factors_are_taken_to_pass(function: Any) -> None:
    a, b = (torch.eye(3) * 2 + torch.rand(3, 3, generator=torch.Generator().manual_seed(i)) / 3 for i in (1, 2))
    a.requires_grad_()
    mine, reference = ingot.torch.partial(function)(a, b), function(a, b)
    torch.testing.assert_close(mine, reference)
    torch.testing.assert_close(*(torch.autograd.grad(result.sum(), a) for result in (mine, reference)))


def test_a_module_stands_in_its_place() -> None:
    """Attributes, modes, parameters and lists that it keeps are the module's, as in pytorch/examples' actor_critic."""

    class Policy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.saved: list[torch.Tensor] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x).log_softmax(-1)

    losses = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        module = Policy()
        policy: Any = ingot.torch.partial(module) if is_compiled else module
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        policy.eval()
        policy.note = "mine"
        assert (module.training, module.note) == (False, "mine")
        del policy.note
        assert not hasattr(module, "note")
        for i in range(3):
            for x in torch.eye(3) + i:
                policy.saved.append(policy(x)[0])
            optimizer.zero_grad()
            loss = -sum(policy.saved)
            loss.backward()
            optimizer.step()
            del policy.saved[:]
            losses.append(loss.item())
        assert [*policy.state_dict()] == ["layer.weight", "layer.bias"]
    assert losses[3:] == pytest.approx(losses[:3], rel=1e-5)


def test_builtins_are_compiled_where_dynamo_gave_up_others() -> None:
    """Dynamo calls all builtins by one code, which it may leave out from some call on."""
    shared = torch._dynamo.external_utils.wrap_inline(torch.sin).__code__
    torch._dynamo.eval_frame.skip_code(shared)
    try:
        torch.testing.assert_close(ingot.torch.partial(torch.sin)(torch.ones(3)), torch.ones(3).sin())
    finally:
        torch._dynamo.eval_frame.reset_code(shared)


def test_what_draws_random_numbers_is_compiled() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    partial = ingot.torch.partial(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = [partial(torch.ones(40, 3)) for _ in range(2)]
    assert not torch.equal(drawn[0], drawn[1])
