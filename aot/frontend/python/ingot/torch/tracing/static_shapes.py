"""Ops whose results' shapes depend on values, made of others where the sizes are answered as for an example."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from ingot.torch.base.torch_internals import node_of, shape_of
from ingot.torch.numbers.answers import Answers

aten = torch.ops.aten
Rule: TypeAlias = Callable[..., Any]
Tensor: TypeAlias = torch.Tensor


def places(answers: Answers, mask: Tensor) -> Tensor:
    """Where a mask [n] is true, in order."""
    return (~mask).long().argsort(stable=True)[: answers.count(mask)]


def nonzero(answers: Answers, x: Tensor) -> Tensor:
    """The positions of what is not zero, one in a row."""
    found = places(answers, (x if x.dtype is torch.bool else x != 0).reshape(-1))
    steps = [torch.empty(x.shape[i + 1 :], device="meta").numel() for i in range(x.dim())]
    columns = [found // step % size for step, size in zip(steps, x.shape, strict=True)]
    return torch.stack(columns, 1) if columns else found.new_zeros(found.shape[0], 0)


def masked_select(answers: Answers, x: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask is true, in order."""
    x, mask = torch.broadcast_tensors(x, mask)
    return x.reshape(-1).index_select(0, places(answers, mask.reshape(-1)))


def index(answers: Answers, x: Tensor, indices: Any) -> Tensor:
    """``x[indices]``, of which some are masks."""
    made: Tensor = aten.index.Tensor(x, _without_masks(answers, indices))
    return made


def index_put(answers: Answers, x: Tensor, indices: Any, *others: Any) -> Tensor:
    """A copy in which ``x[indices]`` is written, of which some are masks."""
    made: Tensor = aten.index_put.default(x, _without_masks(answers, indices), *others)
    return made


def index_put_(answers: Answers, x: Tensor, indices: Any, *others: Any) -> Tensor:
    """Writes ``x[indices]``, of which some are masks."""
    made: Tensor = aten.index_put_.default(x, _without_masks(answers, indices), *others)
    return made


def _without_masks(answers: Answers, indices: Any) -> list[Tensor | None]:
    found: list[Tensor | None] = []
    for key in indices:
        found += nonzero(answers, key).unbind(1) if key is not None and key.dtype in MASKS else [key]
    return found


MASKS = (torch.bool, torch.uint8)


def _groups(answers: Answers, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal elements of x [n], which run each is of, and how long they are."""
    is_first = torch.cat([torch.ones(1, dtype=torch.bool), x[1:] != x[:-1]])
    first = places(answers, is_first)
    run = is_first.long().cumsum(0) - 1
    return x.index_select(0, first), run, torch.zeros_like(first).scatter_add(0, run, torch.ones_like(run))


def unique(answers: Answers, x: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The values of a tensor in order, which of them each element is, and how often each comes."""
    in_order, order = x.reshape(-1).sort(stable=True)
    values, run, counts = _groups(answers, in_order)
    return values, torch.zeros_like(run).scatter(0, order, run).reshape(x.shape), counts


def unique_consecutive(
    answers: Answers, x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """One of each run of equal elements, which run each element is of, and how long they are."""
    if dim is not None and x.dim() > 1:
        return NotImplemented
    values, run, counts = _groups(answers, x.reshape(-1))
    return values, run.reshape(x.shape), counts


def bincount(answers: Answers, x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number comes, or the sum of its weights."""
    is_within = minlength > 0 and answers.answer(((x >= 0) & (x < minlength)).all().item())
    return counts(x, weights, minlength if is_within else max(minlength, int(answers.answer((x.max() + 1).item()))))


def counts(x: Tensor, weights: Tensor | None, size: int) -> Tensor:
    """How often each of the numbers below a size comes, or the sum of its weights."""
    dtype = torch.int64 if weights is None else weights.dtype if weights.dtype == torch.float32 else torch.float64
    terms = torch.ones(x.shape, dtype=dtype) if weights is None else weights.to(dtype)
    return torch.zeros(size, dtype=dtype).scatter_add(0, x.long(), terms)


def repeat_interleave(answers: Answers, repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """Each position as often as it is said."""
    size = int(answers.answer(repeats.sum().item())) if output_size is None else output_size
    return (torch.arange(size)[:, None] >= repeats.cumsum(0)[None]).sum(1)


# Ops that give positions along a dimension, with the number of the result that has them; and such as keep numbers.
SORTS = (aten.sort.default, aten.sort.stable)
POSITIONS: dict[Any, int | None] = {aten.argmax.default: None, aten.argmin.default: None, aten.topk.default: 1}
POSITIONS |= dict.fromkeys((*SORTS, aten.max.dim, aten.min.dim), 1)
KEEPING = (
    *(aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.t.default, aten.transpose.int),
    *(aten.permute.default, aten.select.int, aten.slice.Tensor, aten.squeeze.dim, aten.unsqueeze.default),
    *(aten.clone.default, aten.detach.default, aten.alias.default, aten.expand.default),
)


def _are_positions_below(x: Tensor, size: int) -> bool:
    """Whether a tensor is known to hold positions along a dimension that is not longer than a size."""
    node, place = node_of(x), None
    while node and (node.target in (*KEEPING, operator.getitem) or (node.target in SORTS and place == 0)):
        place = node.args[1] if node.target is operator.getitem else None
        node = node.args[0]
    if node is None or node.target not in POSITIONS or POSITIONS[node.target] != place:
        return False
    given = shape_of(node.args[0])
    names = [argument.name for argument in node.target._schema.arguments]
    defaults = {argument.name: argument.default_value for argument in node.target._schema.arguments}
    dim = {**defaults, **dict(zip(names, node.args, strict=False)), **node.kwargs}["dim"]
    return given is not None and (given.numel() if dim is None or not given else given[dim]) <= size


def bincount_of_positions(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """``bincount`` of positions with enough bins for all that there are, as routers to experts count."""
    if x.dim() != 1 or not _are_positions_below(x, minlength):
        return NotImplemented
    return counts(x, weights, minlength)


# Ops that have a fixed shape where Answers are given, and what makes them.
STATIC: dict[Any, Rule] = {
    aten.nonzero.default: nonzero,
    aten.masked_select.default: masked_select,
    aten.index.Tensor: index,
    aten.index_put.default: index_put,
    aten.index_put_.default: index_put_,
    aten._unique2.default: unique,
    aten.unique_consecutive.default: unique_consecutive,
    aten.bincount.default: bincount,
    aten.repeat_interleave.Tensor: repeat_interleave,
}
INDEXING = (index, index_put, index_put_)


def run_answered(answers: Answers, func: Any, args: Any, kwargs: Any) -> Any:
    """What an op gives, with sizes and numbers as for the example where it is said so."""
    rule = STATIC.get(func)
    is_static = rule in INDEXING and not any(key is not None and key.dtype in MASKS for key in args[1])
    made = NotImplemented
    if rule and not is_static and (rule in INDEXING or args[0].numel() > 0):
        made = rule(answers, *args, **kwargs)
    if made is NotImplemented:
        made = func(*args, **kwargs)
    return answers.number(made) if func is aten._local_scalar_dense.default else made
