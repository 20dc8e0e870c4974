"""Changes to the model between calls."""

from __future__ import annotations

import copy
import io
import threading

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def layer_is_frozen_and_thawed(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[0].requires_grad_(i not in (2, 3))
        train_step(XS[i], YS[i])


def state_dict_is_loaded(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    best = {}
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 1:
            best = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
        if i == 3:
            model.load_state_dict(best[0])
            optimizer.load_state_dict(best[1])


def state_dict_is_assigned(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            model.load_state_dict({k: v.clone() for k, v in model.state_dict().items()}, assign=True)


def whole_model_is_saved_and_loaded(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(3):
        train_step(XS[i], YS[i])
    file = io.BytesIO()
    torch.save((model, optimizer), file)
    model, optimizer = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
    train_step = classifier(step, model, optimizer)
    for i in range(3, 6):
        train_step(XS[i], YS[i])


def model_is_copied(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(3):
        train_step(XS[i], YS[i])
    other = copy.deepcopy(model)
    other_step = classifier(step, other, sgd(other, 0.01))
    for i in range(3, 6):
        train_step(XS[i], YS[i])
        other_step(XS[i], YS[i])


def layer_is_replaced(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            torch.manual_seed(7)
            model[1] = nn.ReLU()


def head_is_replaced_without_the_optimizer(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            torch.manual_seed(7)
            model[4] = nn.Linear(8, 3)


def weights_are_tied_later(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            torch.manual_seed(7)
            model.insert(2, nn.Linear(8, 8))
            model[2].weight = model[3].weight


class Scaled(nn.Module):
    """A model with a buffer, a plain tensor, a flag and a float."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp()
        self.register_buffer("scale", torch.ones(4))
        self.shift = torch.zeros(4)
        self.is_bent, self.factor = False, 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.scale + self.shift
        return self.net(x.tanh() if self.is_bent else x) * self.factor


def buffer_is_replaced(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.scale = torch.full((4,), 1.0 + i)


def buffer_is_written(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.scale.mul_(1.5)


def plain_tensor_is_written(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.shift += 0.5


def flag_is_toggled(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model.is_bent = i % 2 == 1
        train_step(XS[i], YS[i])


def factor_is_annealed(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model.factor = 0.9**i
        train_step(XS[i], YS[i])


def evaluated_between(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.eval()
        with torch.no_grad():
            model(XS[7])
        model.train()


def batch_norm_is_frozen(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[1].train(i < 3)
        train_step(XS[i], YS[i])


def momentum_of_batch_norm_is_annealed(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[1].momentum = 0.5 * 0.5**i
        train_step(XS[i], YS[i])


def forward_hook_is_added_and_removed(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        handle = model[1].register_forward_hook(lambda module, args, out: out * 2) if i in (2, 3) else None
        train_step(XS[i], YS[i])
        if handle:
            handle.remove()


def gradient_hook_is_added(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 3:
            model[0].weight.register_hook(lambda grad: grad.clamp(-0.01, 0.01))
        train_step(XS[i], YS[i])


def forward_is_replaced(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 3:
            model[1].forward = torch.sin
        train_step(XS[i], YS[i])


def model_becomes_double(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            model.double()
        train_step(XS[i].to(model[0].weight.dtype), YS[i])


def parameters_are_written_by_hand(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        with torch.no_grad():
            model[0].weight.clamp_(-0.3, 0.3)
            model[2].weight.data.mul_(0.99)


def data_is_set(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model[0].weight.data = model[0].weight.data.clone() * 0.9


def parameters_are_averaged(step: Step) -> None:
    model, average = mlp(), mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        with torch.no_grad():
            for mine, other in zip(average.parameters(), model.parameters(), strict=True):
                mine.lerp_(other, 0.1)
    model.load_state_dict(average.state_dict())
    train_step(XS[0], YS[0])


def memory_is_shared(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 3:
            model.share_memory()
        train_step(XS[i], YS[i])


def saved_by_a_thread_meanwhile(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        saver = threading.Thread(target=lambda: torch.save(model.state_dict(), io.BytesIO()))
        saver.start()
        train_step(XS[i], YS[i])
        saver.join()


def parametrized_later(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            nn.utils.parametrizations.weight_norm(model[0])
        train_step(XS[i], YS[i])


def pruned_later(step: Step) -> None:
    from torch.nn.utils import prune

    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            prune.l1_unstructured(model[0], "weight", 0.5)
        train_step(XS[i], YS[i])


class Lazy(nn.Module):
    """Makes its second layer in the first call, and counts calls."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.head = nn.Linear(4, 8), None
        self.calls = 0
        self.seen: list[float] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        x = self.first(x)
        return x[:, :3] * (0.5 if self.calls > 3 else 1.0)


def calls_are_counted(step: Step) -> None:
    model = Lazy()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])


class Mask(nn.Module):
    """Makes its mask again where the length is another."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net, self.mask = nn.Linear(4, 3), None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None or self.mask.size(0) != x.size(0):
            self.mask = torch.tril(torch.ones(x.size(0), x.size(0)))
        return self.mask @ self.net(x)


def mask_is_made_again(step: Step) -> None:
    model = Mask()
    train_step = classifier(step, model, sgd(model))
    for rows in (6, 6, 6, 4, 6, 3):
        train_step(XS[0, :rows], YS[0, :rows])


class Stateful(nn.Module):
    """Carries its hidden state from call to call in a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.head = nn.GRUCell(4, 5), nn.Linear(5, 3)
        self.hidden = torch.zeros(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.cell(x, self.hidden)
        self.hidden = hidden.detach()
        return self.head(hidden)


def hidden_state_is_an_attribute(step: Step) -> None:
    model = Stateful()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])


class Ema(nn.Module):
    """Keeps a running maximum in a buffer that it assigns."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp()
        self.register_buffer("peak", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.peak = torch.maximum(self.peak * 0.9, x.detach().abs().amax(0))
        return self.net(x / self.peak)


def buffer_is_assigned_inside(step: Step) -> None:
    model = Ema()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])


def buffer_becomes_a_parameter(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            del model.scale
            model.scale = nn.Parameter(torch.ones(4))
        train_step(XS[i], YS[i])


def teacher_is_copied_again(step: Step) -> None:
    model, teacher = mlp(), mlp().requires_grad_(False)
    optimizer = sgd(model)

    @step(model, optimizer)
    def distill(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), teacher(x) + 1)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        distill(XS[i])
        if i % 2:
            teacher.load_state_dict(model.state_dict())
