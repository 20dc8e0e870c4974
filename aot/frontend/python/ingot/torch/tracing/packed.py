"""Packed sequences of recurrent layers, whose rows are as many as lengths say: whole padded ones, and which rows count.

``packed.data`` is what a mask of steps and sequences selects, in PyTorch's order. A layer computes all steps, and keeps
its state where a sequence is over.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from ingot.torch.base.errors import LeftToPyTorch, SelectionRefused
from ingot.torch.base.function_modes import Replacing
from ingot.torch.base.places import user_place
from ingot.torch.base.torch_internals import constant_of, fake_mode, node_of, without_functions
from ingot.torch.base.torch_internals.modes import no_modes
from ingot.torch.base.torch_internals.ops import PACK, PAD
from ingot.torch.numbers.choices import Choices
from ingot.torch.tracing.selected import Selected, TensorLike

Tensor: TypeAlias = torch.Tensor
State = list[Tensor]  # [n, hidden] each
Cell = Callable[[Tensor, State, Tensor, Tensor | None], State]  # of products of the input, and of weights of the state

PACKED = (
    "give the layer the padded batch and take y[torch.arange(n), lengths - 1], its outputs where sequences end; or "
    "leave the layer to PyTorch, and compile the rest of the model as ingot.torch.partial(rest)"
)


class Steps(int):
    """How many steps a padded batch has, where the longest sequence is to have as many."""


class BatchSizes(TensorLike):
    """``packed.batch_sizes``, of sequences in the order of their lengths [n]; none is empty, and one has all steps."""

    device = torch.device("cpu")

    def __init__(self, lengths: Tensor, steps: int) -> None:
        self.lengths, self.steps = lengths, steps
        self.mask = torch.arange(steps)[:, None] < lengths

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise LeftToPyTorch(f"{func.__name__} reads how many sequences have so many steps", user_place(), PACKED)

    def __getitem__(self, step: int) -> Any:
        return self.lengths.shape[0] if step == 0 else self.mask[step].sum()

    def size(self, dim: int) -> int:
        """The number of steps."""
        return Steps(self.steps)


def _lstm(products: Tensor, state: State, weight: Tensor, bias: Tensor | None) -> State:
    i, f, g, o = (products + functional.linear(state[0], weight, bias)).chunk(4, -1)
    memory = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return [o.sigmoid() * memory.tanh(), memory]


def _gru(products: Tensor, state: State, weight: Tensor, bias: Tensor | None) -> State:
    r, z, n = products.chunk(3, -1)
    of_r, of_z, of_n = functional.linear(state[0], weight, bias).chunk(3, -1)
    made = (n + (r + of_r).sigmoid() * of_n).tanh()
    return [(state[0] - made) * (z + of_z).sigmoid() + made]


def _rnn(activation: Callable[[Tensor], Tensor]) -> Cell:
    return lambda products, state, weight, bias: [activation(products + functional.linear(state[0], weight, bias))]


aten = torch.ops.aten
CELLS: dict[Any, Cell] = {
    torch.lstm: _lstm,
    torch.gru: _gru,
    torch.rnn_tanh: _rnn(torch.tanh),
    torch.rnn_relu: _rnn(torch.relu),
}


def _direction(
    cell: Cell, xs: Tensor, mask: Tensor, state: State, weights: Sequence[Tensor], has_biases: bool, is_reverse: bool
) -> tuple[Tensor, State]:
    """The outputs [steps, n, ...] of one direction of a layer, and its last state; xs is [steps, n, ...]."""
    of_input, of_state, *others = weights
    biases, projection = (others[:2], others[2:]) if has_biases else ((None, None), others)
    products = functional.linear(xs, of_input, biases[0])
    outputs: dict[int, Tensor] = {}
    for step in reversed(range(len(xs))) if is_reverse else range(len(xs)):
        made = cell(products[step], state, of_state, biases[1])
        if projection:
            made[0] = functional.linear(made[0], projection[0])
        state = [torch.where(mask[step, :, None], new, old) for new, old in zip(made, state, strict=True)]
        outputs[step] = state[0]
    return torch.stack([outputs[step] for step in range(len(xs))]), state


def _layers(function: Any, cell: Cell) -> Callable[..., Any]:
    """``torch.lstm`` and its like, of what is packed."""

    def run(data: Any, sizes: Any, hx: Any, params: Any, *settings: Any) -> Any:
        if not isinstance(data, Selected) or not isinstance(sizes, BatchSizes):
            return function(data, sizes, hx, params, *settings)
        has_biases, layers, dropout, train, bidirectional = settings
        if dropout and train and layers > 1:
            raise LeftToPyTorch("a layer drops out of what is packed", user_place(), PACKED)
        starts = hx if cell is _lstm else [hx]
        directions = 2 if bidirectional else 1
        count = len(params) // (layers * directions)
        xs = data.rows.reshape(*sizes.mask.shape, -1)
        ends: list[State] = []
        for layer in range(layers):
            outputs = []
            for i in range(layer * directions, (layer + 1) * directions):
                weights, state = params[i * count : (i + 1) * count], [start[i] for start in starts]
                made = _direction(cell, xs, sizes.mask, state, weights, has_biases, is_reverse=i % directions == 1)
                outputs.append(made[0])
                ends.append(made[1])
            xs = torch.cat(outputs, -1)
        return data.with_rows(xs.flatten(0, 1)), *(torch.stack(parts) for parts in zip(*ends, strict=True))

    return run


def _lengthened(xs: Tensor, steps: int, value: float) -> Tensor:
    """The same with so many steps, [steps, ...]; those that it has not are of one value."""
    missing = steps - len(xs)
    return torch.cat([xs, xs.new_full((missing, *xs.shape[1:]), value)]) if missing else xs


def known_lengths(lengths: Tensor) -> list[int]:
    """The lengths of a tensor that was made of Python's numbers, and may be sorted; none where they are not known."""
    node = node_of(lengths)
    is_sorted = node is not None and node.target is operator.getitem and node.args[0].target is aten.sort.default
    made = node.args[0].args[0] if is_sorted and node else node
    is_made = made is not None and made.target is aten.lift_fresh_copy.default
    constant = constant_of(made.args[0]) if is_made and made else None
    with no_modes(), without_functions():
        numbers = [] if constant is None else constant.tolist()
    return sorted(numbers, reverse=True) if is_sorted else numbers


@contextmanager
def packed_sequences(choices: Choices) -> Iterator[None]:
    """While a function is traced: padded sequences are packed and padded again, and recurrent layers compute between.

    What PyTorch would raise an error for is checked in each call. Where something is made of the rows that no program
    makes, calls are PyTorch's.
    """
    known: list[BatchSizes] = []  # of the call that runs
    epoch = 0

    def sizes_of(lengths: Tensor, steps: int, wanted: list[int]) -> BatchSizes:
        """What is known of the same lengths before: what is packed by these is selected by one mask."""
        nonlocal epoch
        if (now := fake_mode().epoch) != epoch:
            epoch = now
            known.clear()
        for sizes in known:
            are_same = _are_alike(node_of(sizes.lengths), node_of(lengths))
            if are_same or (wanted and known_lengths(sizes.lengths) == wanted):
                return sizes
        known.append(BatchSizes(lengths, steps))
        return known[-1]

    def pack(padded: Tensor, lengths: Tensor, batch_first: bool) -> Any:
        xs = padded.transpose(0, 1) if batch_first else padded
        wanted = known_lengths(lengths)
        if wanted:
            if sorted(wanted, reverse=True) != wanted or not 0 < wanted[-1] <= wanted[0] <= len(xs):
                return getattr(torch, PACK)(padded, lengths, batch_first)
            xs = xs[: wanted[0]]
        else:
            in_order = (lengths[:-1] >= lengths[1:]).all()
            choices.check(lambda: in_order & (lengths[-1] > 0) & (lengths[0] <= len(xs)))
        sizes = sizes_of(lengths, len(xs), wanted)
        return Selected.of(_lengthened(xs[: sizes.steps], sizes.steps, 0), sizes.mask), sizes

    def pad(data: Any, sizes: Any, batch_first: bool, value: float, steps: int) -> Any:
        if not isinstance(data, Selected) or not isinstance(sizes, BatchSizes):
            return getattr(torch, PAD)(data, sizes, batch_first, value, steps)
        is_asked = type(steps) is Steps and not known_lengths(sizes.lengths)
        if is_asked and not choices.check(lambda: sizes.lengths[0] == sizes.steps):
            raise LeftToPyTorch("pad_packed_sequence gives as many steps as values say", user_place(), PACKED)
        xs = data.rows.reshape(*sizes.mask.shape, *data.rows.shape[1:])
        xs = torch.where(sizes.mask.reshape(*sizes.mask.shape, *[1] * (xs.dim() - 2)), xs, value)
        xs = _lengthened(xs, steps, value)
        return xs.transpose(0, 1) if batch_first else xs, sizes.lengths

    layers = {function: _layers(function, cell) for function, cell in CELLS.items()}
    with Replacing({getattr(torch, PACK): pack, getattr(torch, PAD): pad, **layers}):
        try:
            yield
        except SelectionRefused as error:
            if not known:
                raise
            raise LeftToPyTorch(error.what, error.place, error.fix) from error


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two nodes compute the same, or arguments of nodes are the same."""
    if type(one) is not type(other) or not isinstance(one, (torch.fx.Node, list, tuple)):
        return bool(one == other)
    if not isinstance(one, torch.fx.Node):
        return len(one) == len(other) and all(map(_are_alike, one, other))
    if one is other or one.op != "call_function" or one.target is not other.target:
        return one is other
    return _are_alike(one.args, other.args) and bool(one.kwargs == other.kwargs)
