"""Ops of tensors of several types, which PyTorch may refuse: that is found out by PyTorch itself."""

from __future__ import annotations

from typing import Any

import torch

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals import pytree, without_functions
from ingot.torch.base.torch_internals.modes import current_autograd_node, no_modes

ABOUT_TYPES = ("dtype", "scalar type", "data type", "datatype", "same type")  # in PyTorch's messages
Types = tuple[torch.dtype, ...]

KNOWN: dict[tuple[Any, Types], str] = {}  # what PyTorch says to an op of tensors of these types


def refuse_mixed_types(func: Any, args: Any, kwargs: Any, place: Place | None) -> None:
    """Raises TraceError for what PyTorch refuses by the types of its operands: tensors without values do not tell.

    Ops of a backward pass are of the types that their forward ops were given.
    """
    if current_autograd_node() is not None:
        return
    types = tuple(x.dtype for x in pytree.arg_tree_leaves(*args, **kwargs) if isinstance(x, torch.Tensor))
    if len({*types}) < 2:
        return
    if (func, types) not in KNOWN:
        KNOWN[func, types] = _said(func, args, kwargs)
    if said := KNOWN[func, types]:
        raise TraceError(f"{func.name()}: {said}", place, "convert to one type, as PyTorch wants it: x.to(dtype)")


def _said(func: Any, args: Any, kwargs: Any) -> str:
    """What PyTorch says of types where an op is given zeros; nothing where it takes them, or minds something else."""
    written = {a.name for a in func._schema.arguments if a.alias_info and a.alias_info.is_write}
    named = dict(zip((a.name for a in func._schema.arguments), args, strict=False)) | kwargs
    with no_modes(), without_functions(), torch.no_grad():
        given = {name: _zeros(value, name in written) for name, value in named.items()}
        try:
            func(*(given[a.name] for a in func._schema.arguments[: len(args)]), **{k: given[k] for k in kwargs})
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            return said if any(word in said for word in ABOUT_TYPES) else ""
    return ""


def _zeros(tree: Any, is_written: bool) -> Any:
    """The same with tensors of zeros, which take no memory where they are only read."""

    def zeros(tensor: torch.Tensor) -> torch.Tensor:
        shape = [int(size) for size in tensor.shape]
        if is_written:
            return torch.zeros(shape, dtype=tensor.dtype)
        return torch.zeros((), dtype=tensor.dtype).expand(shape)

    return pytree.tree_map_only(torch.Tensor, zeros, tree)
