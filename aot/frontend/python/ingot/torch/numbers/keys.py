"""Tensors of the state as keys: while a function is traced their stand-ins find what is held by them, and they too."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import told_classes
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.numbers.checks import asking_frame

_types: dict[int, type] = {}  # of what stand-ins stand for, by the identities of these


@contextmanager
def one_key(tensors: Mapping[str, torch.Tensor], stand_ins: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Gives tensors and their stand-ins one hash, by which mappings and sets take them for one, and one type."""
    originals = {id(stand_ins[name]): id(tensor) for name, tensor in tensors.items()}
    types = {id(stand_ins[name]): type(tensor) for name, tensor in tensors.items()}
    compare = torch.Tensor.__eq__

    def hashed(tensor: torch.Tensor) -> int:
        return originals.get(id(tensor), id(tensor))

    def equal(one: torch.Tensor, other: Any) -> Any:
        is_one = isinstance(other, torch.Tensor) and hashed(one) == hashed(other) and is_of_keys()
        return True if is_one else compare(one, other)

    _types.update(types)
    as_one = replaced(torch.Tensor, "__hash__", hashed), replaced(torch.Tensor, "__eq__", equal)
    with as_one[0], as_one[1], told_classes(type_of):
        try:
            yield
        finally:
            for stand_in in types:
                del _types[stand_in]


def type_of(value: Any) -> type:
    """The type that a value has where nothing is traced: a tensor's is that of what it stands for."""
    kind: type = type(value)
    return kind if kind is not FakeTensor else _types.get(id(value), torch.Tensor)


def is_of_keys() -> bool:
    """Whether ``==`` is asked by a mapping or a set, not by an operator of the code that runs."""
    frame = asking_frame()
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] != "COMPARE_OP"
