"""PyTorch's own run of a function in f64: each op runs a second time, on wide copies of its operands.

The function sees its own tensors in their own types, takes the branches that it takes, and no value of its arguments is
moved. Only numbers that it asks tensors for are the wide ones, as a program computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.weak import WeakTensorKeyDictionary

from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.modes import TorchDispatchMode
from ingot.torch.base.torch_internals.ops import OpOverload, is_empty, neg_view
from ingot.torch.judge.expanded import write
from ingot.torch.text.decompositions import in_f64

WIDE = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64}
WIDE |= {torch.complex64: torch.complex128}
COMPONENTS = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}
FRESH = torch.ops.aten.lift_fresh.default  # of a tensor that torch.tensor made: its numbers were rounded before
FIRST_SWEEP_BYTES = 64 << 20  # of new buffers, after which those of freed storages are dropped
BUFFER_BYTES = 64 << 10  # that a buffer counts for besides its numbers

Key = tuple[int, torch.dtype]


class Wide(TorchDispatchMode):  # type: ignore[misc]  # torch is not checked
    """Runs each op in f64 too. A storage has one wide buffer, so that views and writes in place hold in both."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.narrow: list[str] = []  # ops that ran in their own types alone: what follows of them is not exact
        self._buffers: dict[Key, tuple[StorageWeakRef, torch.Tensor]] = {}
        self._without_storage = WeakTensorKeyDictionary()
        self._new_bytes, self._sweep_bytes = 0, FIRST_SWEEP_BYTES

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload) or torch.Tag.nondeterministic_seeded in func.tags:
            return self._alone(func, args, kwargs)
        if is_empty(func):  # PyTorch fills it without an op, as its ctc_loss does with lengths
            return func(*args, **kwargs)
        wide_args, wide_kwargs = pytree.tree_map_only(torch.Tensor, self.of, (args, kwargs))
        made = func(*args, **kwargs)
        try:
            wide = run_wide(func, wide_args, wide_kwargs, made)
        except (RuntimeError, NotImplementedError, ValueError, IndexError, TypeError):
            self._forget_written(func, args, kwargs)
            self.narrow.append(str(func))
            return made
        if func is FRESH and made.dtype in WIDE:
            self.narrow.append(str(func))
        operands = {_storage(x) for x in pytree.tree_leaves((wide_args, wide_kwargs)) if _is_strided(x)}
        return pytree.tree_map(lambda mine, other: self._noted(func, mine, other, operands), made, wide)

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor's wide values, in its own layout."""
        if not _is_strided(tensor):
            known = self._without_storage.get(tensor)
            return known if known is not None else tensor.detach().to(_wide_type(tensor.dtype))
        buffer = self._buffer(tensor)
        whole = buffer.view(torch.complex128) if tensor.is_complex() else buffer
        wide = whole.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
        wide = wide.conj() if tensor.is_conj() else wide
        return neg_view(wide) if tensor.is_neg() else wide

    def _alone(self, func: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Runs an op in its own types: what it draws is exact, what it computes of operands is not."""
        made = func(*args, **kwargs)
        if isinstance(func, OpOverload):
            self._forget_written(func, args, kwargs)
        if not all(map(_is_whole, pytree.tree_leaves(made))) and _reads_floats(func, args, kwargs):
            self.narrow.append(str(func))
        return made

    def _noted(self, func: Any, made: Any, wide: Any, operands: set[int]) -> Any:
        """What an op made, whose wide values are kept; of numbers these."""
        if not isinstance(made, torch.Tensor):
            return wide
        if made.shape != wide.shape:
            if made.is_floating_point():
                self.narrow.append(str(func))
        elif not _is_strided(made):
            self._without_storage[made] = wide
        elif (key := _key(made)) not in self._buffers:
            is_view = _is_strided(wide) and _storage(wide) in operands
            self._keep(key, made, _buffer_like(made, wide.clone() if is_view else wide))
        return made

    def _buffer(self, tensor: torch.Tensor) -> torch.Tensor:
        """The wide values of a tensor's storage, which begin as its own."""
        known = self._buffers.get(key := _key(tensor))
        count = _count(tensor)
        if known is not None and known[1].numel() >= count:
            return known[1]
        whole = torch.empty(0, dtype=key[1]).set_(tensor.untyped_storage())
        buffer = whole.to(_wide_type(key[1]), copy=True)
        if known is not None:
            buffer[: known[1].numel()] = known[1]
        self._keep(key, tensor, buffer)
        return buffer

    def _keep(self, key: Key, tensor: torch.Tensor, buffer: torch.Tensor) -> None:
        if self._new_bytes >= self._sweep_bytes:
            self._buffers = {key: kept for key, kept in self._buffers.items() if not kept[0].expired()}
            left_bytes = sum(BUFFER_BYTES + kept.nbytes for _, kept in self._buffers.values())
            self._new_bytes, self._sweep_bytes = 0, max(FIRST_SWEEP_BYTES, left_bytes // 4)
        self._new_bytes += BUFFER_BYTES + buffer.nbytes
        self._buffers[key] = StorageWeakRef(tensor.untyped_storage()), buffer

    def _forget_written(self, func: Any, args: Any, kwargs: Mapping[str, Any]) -> None:
        """The wide values of what an op wrote are its own again."""
        for tensor in _written(func, args, kwargs):
            self._buffers.pop(_key(tensor), None)


def run_wide(func: Any, args: Any, kwargs: Mapping[str, Any], made: Any) -> Any:
    """The result of an op on wide operands, in wide types; `made` is its result in its own types, or like that.

    The exact formula replaces ops that PyTorch approximates even in f64, such as gradients of samples.
    """
    func = in_f64(func)
    if any(isinstance(value, torch.dtype) for value in (*args, *kwargs.values())):
        args, kwargs = pytree.tree_map_only(torch.dtype, _wide_type, (args, dict(kwargs)))
    if not any(map(_is_float, args)):
        args, kwargs = _wide_constants(func, args, kwargs, made)
    return each_tensor(widened, func(*args, **kwargs))


def _wide_constants(func: Any, args: Any, kwargs: Mapping[str, Any], made: Any) -> tuple[Any, Mapping[str, Any]]:
    """Arguments without floats by which an op makes wide ones where it makes floats."""
    result = next((value for value in pytree.tree_leaves(made) if isinstance(value, torch.Tensor)), None)
    if result is None or not _is_float(result) or any(map(_is_float, pytree.tree_leaves((args, kwargs)))):
        return args, kwargs
    if any(argument.name == "dtype" for argument in getattr(func, "_schema", _NO_SCHEMA).arguments):
        return args, {**kwargs, "dtype": kwargs.get("dtype") or _wide_type(result.dtype)}
    if torch.Tag.pointwise in getattr(func, "tags", ()):
        args = pytree.tree_map_only(torch.Tensor, lambda x: x if x.dtype is torch.bool else x.double(), args)
    return args, kwargs


def each_tensor(change: Callable[[torch.Tensor], torch.Tensor], made: Any) -> Any:
    """What an op made, each of its tensors changed; most ops make one."""
    return change(made) if isinstance(made, torch.Tensor) else pytree.tree_map_only(torch.Tensor, change, made)


class _NO_SCHEMA:
    arguments = ()


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in its wide type."""
    return tensor.to(_wide_type(tensor.dtype))


def _wide_type(dtype: torch.dtype) -> torch.dtype:
    return WIDE.get(dtype, dtype)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def _storage(tensor: torch.Tensor) -> int:
    return int(StorageWeakRef(tensor.untyped_storage()).cdata)


def _key(tensor: torch.Tensor) -> Key:
    return _storage(tensor), COMPONENTS.get(tensor.dtype, tensor.dtype)


def _count(tensor: torch.Tensor) -> int:
    """How many numbers, parts of complex ones, a tensor's storage holds."""
    component: torch.dtype = COMPONENTS.get(tensor.dtype, tensor.dtype)
    return int(tensor.untyped_storage().nbytes()) // int(component.itemsize)


def _buffer_like(tensor: torch.Tensor, wide: torch.Tensor) -> torch.Tensor:
    """A buffer for a tensor's storage with wide values where the tensor has its own."""
    count = _count(tensor)
    wide = wide.resolve_conj().resolve_neg()
    if wide.is_complex():
        buffer = torch.zeros(count, dtype=torch.float64)
        whole = buffer.view(torch.complex128)
    elif wide.numel() == count and wide.stride() == tensor.stride() and wide.is_contiguous():
        return wide.view(-1)
    else:
        buffer = whole = torch.zeros(count, dtype=wide.dtype)
    write(whole.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()), wide)
    return buffer


def _written(func: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors among an op's arguments that it writes."""
    for argument, value in zip(func._schema.arguments, args, strict=False):
        if argument.is_write:
            yield from filter(_is_strided, pytree.tree_leaves(value))
    for argument in func._schema.arguments:
        if argument.is_write and argument.name in kwargs:
            yield from filter(_is_strided, pytree.tree_leaves(kwargs[argument.name]))


def _reads_floats(func: Any, args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether an op reads floats: other than those that it writes, and than likenesses of what it makes."""
    if not isinstance(func, OpOverload):
        return True
    written = {id(tensor) for tensor in _written(func, args, kwargs)}
    operands = [x for x in pytree.tree_leaves((args, kwargs)) if _is_float(x) and id(x) not in written]
    return bool(operands) and "_like" not in func._schema.name


def _is_whole(value: Any) -> bool:
    """Whether all that a tensor holds are whole numbers, which every type has exactly."""
    return not _is_float(value) or bool((value == value.round()).all())
