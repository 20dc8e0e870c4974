"""What torch finds in the place of its own functions while it is traced.

Functions whose gradient is one op without a row are made of ops that have rows; none looks at tensors' values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.function_modes import Replacing
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.ops import CHOOSE_ATTENTION, COND, CONTROL_FLOW, LOOP, grid_sampler_2d
from ingot.torch.text.loops import while_loop
from ingot.torch.text.others import grouped_mm
from ingot.torch.tracing.attention import causal_mask
from ingot.torch.tracing.ctc import ctc_loss
from ingot.torch.tracing.float_arguments import FLOAT_ARGUMENTS
from ingot.torch.tracing.static_shapes import bincount_of_positions
from ingot.torch.tracing.volumes import NEAREST, sampled_volumes

Function: TypeAlias = Callable[..., Any]

CUBIC = 2  # of the interpolations of grid_sample


def grid_sampler(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """Images [n, c, h, w] sampled where a grid [n, h', w', 2] says, or volumes."""
    if x.dim() == 5 and interpolation_mode == CUBIC:
        return NotImplemented
    sample = sampled_volumes if x.dim() == 5 else grid_sampler_2d
    sampled = sample(x, grid, interpolation_mode, padding_mode, align_corners)
    if interpolation_mode == NEAREST or 1 in x.shape[2:]:  # the grid's gradient is zeros, not none
        sampled = sampled + torch.where(torch.zeros((), dtype=torch.bool), grid, 0.0).sum()
    return sampled


def multilabel_margin_loss(
    x: torch.Tensor,
    target: torch.Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> torch.Tensor:
    """The hinge between each label and each class that is none; x and target are [n, classes], or [classes].

    PyTorch's decomposition counts labels after the first -1, and makes a vector of one loss; its op does neither.
    """
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    scores, labels = (tensor.reshape(-1, x.shape[-1] if x.dim() else 1) for tensor in (x, target))
    classes = scores.shape[1]
    is_used = (labels == -1).cumsum(1) == 0
    is_label = torch.where(is_used, labels, -1)[:, :, None] == torch.arange(classes)
    gaps = 1 - scores.gather(1, torch.where(is_used, labels, 0))[:, :, None] + scores[:, None, :]
    counts = is_used[:, :, None] & ~is_label.any(1, keepdim=True)
    losses = torch.where(counts, gaps.relu(), 0.0).sum((1, 2)) / classes
    if reduction == "none":
        return losses.reshape(x.shape[:-1])
    return losses.sum() if reduction == "sum" else losses.mean()


def embedding_renorm_(weight: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """A weight of embeddings whose rows that are read are made smaller in place where their norm is too large."""
    numbers = indices.reshape(-1)
    rows = weight.index_select(0, numbers)
    norms = torch.linalg.vector_norm(rows, norm_type, 1, keepdim=True)
    fitting = torch.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
    return weight.index_copy_(0, numbers, fitting)


def one_hot(labels: torch.Tensor, num_classes: int = -1) -> Any:
    """``functional.one_hot``, by a table of the classes, so that it is looked at that labels are within."""
    if num_classes < 0:
        return NotImplemented
    classes = torch.arange(num_classes, device=labels.device)
    found = classes.index_select(0, labels.reshape(-1)).reshape(labels.shape)
    return (found.unsqueeze(-1) == classes).long()


def is_said_to_be_causal(mask: torch.Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a transformer's mask is causal, by what its caller says; of others the mask itself is used."""
    return bool(is_causal)


def choose_attention(backends: Any, set_priority: bool = False) -> None:
    """``sdpa_kernel`` chooses a kernel of PyTorch's: a program has its own."""


def cond(predicate: torch.Tensor, if_true: Function, if_false: Function, operands: Sequence[Any]) -> Any:
    """One function or the other: both are traced, as of Python's ``if``."""
    return if_true(*operands) if predicate else if_false(*operands)


def run_at_once(function: Function, args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
    """Calls an operator of control flow, which Dynamo would else compile by itself first."""
    return function(*args, **(kwargs or {}))


def moved(
    module: torch.nn.Module, move: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True
) -> torch.nn.Module:
    """What ``module.to(...)`` and its like leave, where its tensors are so already."""
    for tensor in (*module.parameters(recurse), *module.buffers(recurse)):
        made = move(tensor)
        if (made.dtype, made.device) != (tensor.dtype, tensor.device):
            raise TraceError(
                f"a module's tensors become {made.dtype} on {made.device}, and were {tensor.dtype} on {tensor.device}",
                fix="convert the module before it is traced",
            )
    return module


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Anomaly detection raises for a gradient that is not a number: while a function is traced there are no values."""


def tensor(data: Any, *, dtype: torch.dtype | None = None, requires_grad: bool = False, **_: Any) -> Any:
    """``torch.tensor(data)``, where some of its numbers are computed by the program, or are tensors without values."""
    leaves = pytree.tree_leaves(data) if isinstance(data, list | tuple) else [data]
    if not any(isinstance(leaf, FakeTensor | torch.SymFloat | torch.SymInt) for leaf in leaves):
        return NotImplemented
    together = dtype or functools.reduce(torch.promote_types, map(_type_of, leaves))

    def put(value: Any) -> torch.Tensor:
        if isinstance(value, list | tuple):
            return torch.stack([put(element) for element in value])
        return value.to(together) if isinstance(value, torch.Tensor) else torch.scalar_tensor(value, dtype=together)

    return put(data).detach().clone().requires_grad_(requires_grad)


def as_tensor(data: Any, dtype: torch.dtype | None = None, device: Any = None) -> Any:
    """``torch.as_tensor(data)``, where the data are lists of numbers that the program computes."""
    return tensor(data, dtype=dtype) if isinstance(data, list | tuple) else NotImplemented


def _type_of(number: Any) -> torch.dtype:
    """The type of a tensor of a number."""
    if isinstance(number, torch.Tensor):
        return number.dtype
    like = 1.0 if isinstance(number, torch.SymFloat) else 1 if isinstance(number, torch.SymInt) else number
    return torch.as_tensor(like).dtype


COMPILE_AND_CALL = "_hop_compile_and_call"  # runs operators of control flow through Dynamo


def run_source(script: torch.jit.ScriptFunction, *args: Any, **kwargs: Any) -> Any:
    """The Python function that TorchScript compiled, whose ops are seen."""
    source = getattr(script, "_torchdynamo_inline", None)
    return source(*args, **kwargs) if source else NotImplemented


# Where torch's own modules look functions up, and what they find. A substitute that gives NotImplemented leaves its
# arguments to the function in whose place it is.
SUBSTITUTES: dict[tuple[Any, str], Function] = {
    (COND, "cond_op"): cond,
    (CONTROL_FLOW, COMPILE_AND_CALL): run_at_once,
    (LOOP, "while_loop_op"): while_loop,
    (torch, "_grouped_mm"): grouped_mm,
    (torch, "as_tensor"): as_tensor,
    (torch, "bincount"): bincount_of_positions,
    (torch.Tensor, "bincount"): bincount_of_positions,
    (torch, "ctc_loss"): ctc_loss,
    (torch, "embedding_renorm_"): embedding_renorm_,
    (torch, "grid_sampler"): grid_sampler,
    (torch, "set_anomaly_enabled"): set_anomaly_enabled,
    (torch, "tensor"): tensor,
    (torch.jit.ScriptFunction, "__call__"): run_source,
    (torch.nn.Module, "_apply"): moved,
    (torch.nn.attention, CHOOSE_ATTENTION): choose_attention,
    (torch.nn.attention.bias, "CausalBias"): causal_mask,
    (torch.nn.functional, "multilabel_margin_loss"): multilabel_margin_loss,
    (torch.nn.functional, "one_hot"): one_hot,
    (torch.nn.modules.transformer, "_detect_is_causal_mask"): is_said_to_be_causal,
    **FLOAT_ARGUMENTS,
}


# Those of functions that PyTorch does not take apart into ops with a rule, or not into right ones.
OF_GRADIENTS = {
    place: SUBSTITUTES[place]
    for place in (
        *((torch, name) for name in ("ctc_loss", "embedding_renorm_", "grid_sampler")),
        (torch.nn.functional, "multilabel_margin_loss"),
    )
}


@contextmanager
def substitutes(table: Mapping[tuple[Any, str], Function] = SUBSTITUTES) -> Iterator[None]:
    """Functions stand for those of torch, whoever calls them."""
    with ExitStack() as undo:
        by_original: dict[Any, Function] = {}
        for (where, name), substitute in table.items():
            original = getattr(where, name)
            stands = _standing_for(original, substitute)
            undo.enter_context(replaced(where, name, stands))
            if isinstance(original, Hashable):
                by_original[original] = stands
        undo.enter_context(Replacing(by_original))
        yield


def _standing_for(original: Function, substitute: Function) -> Function:
    """The substitute, or the original where that gives NotImplemented."""

    @functools.wraps(original)
    def substituted(*args: Any, **kwargs: Any) -> Any:
        made = substitute(*args, **kwargs)
        return original(*args, **kwargs) if made is NotImplemented else made

    return substituted
