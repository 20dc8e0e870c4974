"""Gradients that are sparse in PyTorch, of embeddings: a program holds them dense, and knows which rows they have."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from ingot.torch.base.copied import last_of, nodes_after
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.base.replacements import calling_frame, replaced
from ingot.torch.base.torch_internals import node_of
from ingot.torch.base.torch_internals.ops import IS_SPARSE, LAYOUT
from ingot.torch.optimizers.zeros import is_own_optimizer

TORCH_FILES = os.path.dirname(torch.__file__) + os.sep
EMBEDDING, EMBEDDING_BAG = torch.embedding, torch.embedding_bag

aten = torch.ops.aten
SCALING = (aten.mul, aten.mul_, aten.div, aten.div_)
# Ops whose result has the rows of the first operand, those of both, and none.
KEEPING = {aten.clone.default, aten.detach.default, aten.alias.default, aten.neg.default, aten.neg_.default}
KEEPING |= {getattr(op, kind) for op in SCALING for kind in ("Tensor", "Scalar")}
ADDING = {aten.add.Tensor, aten.add_.Tensor}
EMPTYING = {aten.zero_.default}
FOLLOWED = KEEPING | ADDING | EMPTYING
# Methods of sparse tensors that tell what a program does not know: how many rows there are, and in which order.
REFUSED = ("_indices", "_nnz", "_values", "indices", "is_coalesced", "sparse_mask", "values")


class Rows(NamedTuple):
    """Rows by number [n], one for each time that an embedding read one; padding is read, and not changed."""

    numbers: torch.Tensor
    are_padding: torch.Tensor

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor's rows."""
        return tensor.index_select(0, self.numbers)

    def put(self, tensor: torch.Tensor, values: torch.Tensor) -> None:
        """Writes a tensor's rows; values of a row that is there several times are the same."""
        are_padding = self.are_padding.reshape(-1, *[1] * (tensor.dim() - 1))
        tensor.index_copy_(0, self.numbers, torch.where(are_padding, self.of(tensor), values))


class SparseGradients:
    """Those of a function that is traced, by the nodes that give them."""

    def __init__(self) -> None:
        self._rows: dict[torch.fx.Node, list[Rows]] = {}
        self._dense: set[torch.fx.Node] = set()
        self._last: torch.fx.Node | None = None  # of those that were followed

    def note(self, gradient: torch.Tensor, numbers: torch.Tensor, padding: int) -> None:
        """Says that a gradient is of some rows."""
        flat = numbers.reshape(-1).long()
        self._follow()
        self._rows[_node_of(gradient)] = [Rows(flat, flat == padding)]

    def note_dense(self, tensor: torch.Tensor) -> None:
        """Says that a tensor is not sparse, though it is made of one that is."""
        self._dense.add(_node_of(tensor))

    def rows(self, tensor: torch.Tensor) -> Rows | None:
        """The rows that a sparse gradient has; None where it has none."""
        self._follow()
        found = self._rows[_node_of(tensor)]
        return Rows(*map(torch.cat, zip(*found, strict=True))) if found else None

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is sparse in PyTorch, and dense here."""
        node = node_of(tensor)
        if node is None:
            return False
        self._follow()
        return node in self._rows

    def _follow(self) -> None:
        """Finds which nodes since the last time are sparse."""
        graph = get_proxy_mode().tracer.graph
        for node in nodes_after(graph, self._last) if self._rows else ():
            if node.target in FOLLOWED and node not in self._dense:
                rows = [self._rows.get(operand) for operand in node.args[: 2 if node.target in ADDING else 1]]
                if None not in rows:
                    self._rows[node] = [] if node.target in EMPTYING else [one for of in rows for one in of or ()]
        self._last = last_of(graph)


class _Noted(torch.autograd.Function):  # type: ignore[misc]  # torch is not checked
    """The same weight; its gradient is noted."""

    @staticmethod
    def forward(context: Any, weight: torch.Tensor, note: Callable[[torch.Tensor], None]) -> torch.Tensor:
        context.note = note
        return weight.view_as(weight)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        context.note(gradient)
        return gradient, None


@contextmanager
def sparse_gradients() -> Iterator[SparseGradients]:
    """Notes the gradients of embeddings that are sparse, which tensors then say that they are."""
    known = SparseGradients()

    def embedding(
        weight: torch.Tensor,
        input: torch.Tensor,
        padding_idx: int = -1,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> torch.Tensor:
        weight = noted(weight, input, padding_idx) if sparse else weight
        result: torch.Tensor = EMBEDDING(weight, input, padding_idx, scale_grad_by_freq, False)
        return result

    def embedding_bag(
        weight: torch.Tensor,
        input: torch.Tensor,
        offsets: torch.Tensor,
        scale_grad_by_freq: bool = False,
        mode: int = 0,
        sparse: bool = False,
        per_sample_weights: torch.Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Any:
        padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
        weight = noted(weight, input, padding) if sparse else weight
        how = (scale_grad_by_freq, mode, False, per_sample_weights, include_last_offset, padding_idx)
        return EMBEDDING_BAG(weight, input, offsets, *how)

    def noted(weight: torch.Tensor, numbers: torch.Tensor, padding: int) -> torch.Tensor:
        made: torch.Tensor = _Noted.apply(weight, lambda gradient: known.note(gradient, numbers, padding))
        return made

    def is_sparse(tensor: torch.Tensor) -> bool:
        return bool(IS_SPARSE.__get__(tensor)) or (not _is_torchs(calling_frame()) and known.has(tensor))

    def layout(tensor: torch.Tensor) -> Any:
        is_asked = not _is_torchs(calling_frame()) and known.has(tensor)
        return torch.sparse_coo if is_asked else LAYOUT.__get__(tensor)

    def to_dense(plain: Callable[..., torch.Tensor], tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if not known.has(tensor):
            return plain(tensor, *args, **kwargs)
        known.note_dense(copy := tensor.clone())
        return copy

    def coalesce(plain: Callable[..., torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone() if known.has(tensor) else plain(tensor)

    def refuse(name: str, plain: Callable[..., Any], tensor: torch.Tensor, *args: Any) -> Any:
        if known.has(tensor):
            what = f"`{name}` asks which rows a sparse gradient has, and a program holds it dense"
            raise TraceError(what, user_place(), "compute with its to_dense(), or take an optimizer of torch.optim")
        return plain(tensor, *args)

    methods = {"to_dense": to_dense, "coalesce": coalesce}
    methods |= {name: functools.partial(refuse, name) for name in REFUSED}
    with ExitStack() as undo:
        undo.enter_context(replaced(torch, "embedding", embedding))
        undo.enter_context(replaced(torch, "embedding_bag", embedding_bag))
        undo.enter_context(replaced(torch.Tensor, "is_sparse", property(is_sparse)))
        undo.enter_context(replaced(torch.Tensor, "layout", property(layout)))
        for name, method in methods.items():
            undo.enter_context(replaced(torch.Tensor, name, functools.partial(method, getattr(torch.Tensor, name))))
        yield known


def _is_torchs(frame: FrameType) -> bool:
    """Whether code is PyTorch's own, which is told how tensors lie in memory; optimizers are told what they may do."""
    return frame.f_code.co_filename.startswith(TORCH_FILES) and not is_own_optimizer(frame)


def _node_of(tensor: torch.Tensor) -> torch.fx.Node:
    node = node_of(tensor)
    assert node is not None
    return node
