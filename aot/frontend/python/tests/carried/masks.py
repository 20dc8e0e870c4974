"""What masks select by value: reduced, in losses and scattered it needs no shape of its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree
from trainings import Training, linear

from carried.case import table

CASES, case = table()

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # of the model's output [6, 2] and its input [6, 3]


def chosen(x: torch.Tensor) -> torch.Tensor:
    """Some of the rows, and at least one: PyTorch's mean of none is no number."""
    return x[:, 0] >= x[:, 0].mean()


def by_nonzero(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As DeBERTa leaves out what has no label."""
    places = (chosen(x)).nonzero()
    if places.size(0) > 0:
        scores = torch.gather(y, 0, places.expand(places.size(0), y.size(1)))
        labels = torch.gather((x[:, 1] > 0).long(), 0, places.view(-1))
        return F.cross_entropy(scores.view(-1, 2).float(), labels.view(-1))
    return torch.tensor(0.0)  # of which there is no gradient


def by_experts(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As in a mixture of experts: each makes of its rows what is added where they were."""
    made = torch.zeros_like(y)
    choice = x.argmax(1)
    for expert in range(3):
        (rows,) = torch.where(choice == expert)
        made.index_add_(0, rows, y[rows] * (expert + 1.0) - 0.5)
    return made.square().mean()


def behind(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As Mixtral takes the rows of an expert, and weighs them."""
    made, columns = torch.zeros_like(y), torch.stack([x[:, 0] > 0, x[:, 0] <= 0])
    for expert in range(2):
        (rows,) = torch.where(columns[expert])
        chosen_rows = y[None, rows].reshape(-1, 2) * x[:, 1][rows, None]
        made.index_add_(0, rows, chosen_rows + y[None, None, rows].squeeze(0).view(-1, 2))
    return made.square().mean()


def detected(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As ELECTRA leaves out padding."""
    active = x[:, :2] >= x[:, :2].mean()
    return nn.BCEWithLogitsLoss()(y.view(-1, 2)[active], (x[:, 1:] > 0)[active].float())


def labelled(y: torch.Tensor, x: torch.Tensor, **options: object) -> torch.Tensor:
    mask = chosen(x)
    return F.cross_entropy(y[mask], (x[:, 1] > 0).long()[mask], **options)


def likelihood(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    mask, labels = chosen(x), (x[:, 1] > 0).long()
    return -y[mask].log_softmax(-1).gather(1, labels[mask].unsqueeze(-1)).squeeze(-1).mean()


def written_back(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    mask = y.detach() > 0
    z = y * 1
    z[mask] = y[mask].exp()
    return z.square().mean()


def largest_of_each(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As a network's targets are the best of the states that are not the last."""
    rows = y[chosen(x)]
    return (rows.max(1).values + rows.argmax(-1)).square().mean()


def with_a_norm(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    mask = chosen(x)
    return F.layer_norm(F.linear(y[mask], x.new_ones(4, 2) / 2), (4,)).sum() + y[mask].relu().square().sum()


def embedded(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As wav2vec 2.0 hides frames behind what it learns."""
    z = y * 1
    z[x[:, 0] > 0] = y.sum(0)
    return z.square().mean()


def spoken(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As wav2vec 2.0 gives its targets, one after the other."""
    scores = torch.stack([y @ y.new_ones(2, 4), y @ y.new_ones(2, 4) * x[:, :1]], 1) * torch.arange(4.0)
    labels = torch.where(x[:2] > 5, 0, torch.tensor([[1, 2, -100], [-100, 3, -100]]))
    present = labels >= 0
    flat, lengths = labels.masked_select(present), present.sum(-1)
    return F.ctc_loss(scores.log_softmax(-1), flat, torch.tensor([6, 5]), lengths)


def of_tensors(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As outputs of several kinds are filtered."""
    made = {"all": y, "some": y[chosen(x)], "epoch": 3}
    squares = pytree.tree_map_only(torch.Tensor, lambda z: z.square().mean(), made)
    return sum(squares[name] for name, z in made.items() if isinstance(z, torch.Tensor) and torch.is_tensor(z))


def not_a_number(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As what is missing is left out of a mean."""
    z = y * 1
    z[x[:, :2] < 0] = float("nan")
    return z.nanmean() + torch.where(x[:, :2] < 0, torch.tensor(float("nan")), y).nansum()


LOSSES: dict[str, Loss] = {
    "of_tensors": of_tensors,
    "not_a_number": not_a_number,
    "mean": lambda y, x: y[chosen(x)].square().mean(),
    "mean_of_elements": lambda y, x: y[x[:, :2] >= x[:, :2].mean()].square().mean(),
    "sum": lambda y, x: (2 * y[chosen(x)] - 1).abs().sum(),
    "masked_select": lambda y, x: torch.masked_select(y, x[:, :2] <= x.mean()).square().mean(),
    "columns": lambda y, x: y[chosen(x)].mean(0).square().sum() + y[chosen(x)].sum(-1).square().mean(),
    "largest": lambda y, x: y[chosen(x)].max() - y[chosen(x)].amin(0).sum(),
    "largest_of_each": largest_of_each,
    "logsumexp": lambda y, x: y[chosen(x)].logsumexp(0).sum(),
    "logarithm": lambda y, x: (y[y > -0.3] + 0.5).log().square().mean(),
    "column": lambda y, x: y[chosen(x)][:, 1].square().mean(),
    "cross_entropy": labelled,
    "smoothed": lambda y, x: labelled(y, x, label_smoothing=0.1, weight=torch.tensor([0.2, 0.8])),
    "cross_entropy_of_sums": lambda y, x: labelled(y, x, reduction="sum"),
    "cross_entropy_of_each": lambda y, x: labelled(y, x, reduction="none").square().mean(),
    "mse": lambda y, x: F.mse_loss(y[chosen(x)], torch.ones(2)),
    "likelihood": likelihood,
    "detected": detected,
    "nonzero": by_nonzero,
    "behind": behind,
    "experts": by_experts,
    "embedded": embedded,
    "spoken": spoken,
    "written_back": written_back,
    "normalised": with_a_norm,
    "counted": lambda y, x: y[chosen(x)].sum() / y[chosen(x)].shape[0],
    "nothing": lambda y, x: y[x[:, 0] > 100].sum() + y.square().mean(),
}


def training_by(loss_of: Loss) -> Callable[[], Training]:
    def training() -> Training:
        model, optimizer = linear()

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = loss_of(model(x), x)
            loss.backward()
            optimizer.step()
            return loss

        return Training(model, optimizer, step)

    return training


def enter(name: str, loss: Loss, message: str = "") -> None:
    training = training_by(loss)
    training.__name__ = f"selects_by_value_{name}"
    case(message)(training)


for _name, _loss in LOSSES.items():
    enter(_name, _loss)


def multiplied_in_place(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    rows = y[chosen(x)]
    other = rows
    other *= 2
    return rows.mean()


REFUSED: dict[str, tuple[Loss, str]] = {
    "sorted": (lambda y, x: y[chosen(x)].sort(0)[0][0].sum(), r"sort would have to know it"),
    "first": (lambda y, x: y[chosen(x)][0].sum(), r"an index would have to know it"),
    "joined": (lambda y, x: torch.cat([y[chosen(x)], y]).mean(), r"cat would have to know it"),
    "by_two_masks": (lambda y, x: (y[chosen(x)] * y[x[:, 1] > 0]).mean(), r"different masks"),
    "dropped": (lambda y, x: F.dropout(y[chosen(x)]).mean(), r"dropout would have to know it"),
    "in_place": (multiplied_in_place, r"__imul__ would have to know it"),
    "multiplied_in_place": (lambda y, x: y[chosen(x)].mul_(2).mean(), r"mul_ would have to know it"),
    "of_rows": (lambda y, x: (y[chosen(x)] * y).mean(), r"__mul__ would have to know it"),
    "in_a_number": (lambda y, x: y.sum() / len(y[chosen(x)]), r"__len__ would have to know it"),
    "returned": (lambda y, x: {"loss": y.mean(), "rows": y[chosen(x)]}["rows"].std(), r"std would have to know it"),
}
for _name, (_loss, _message) in REFUSED.items():
    enter(_name, _loss, _message)
