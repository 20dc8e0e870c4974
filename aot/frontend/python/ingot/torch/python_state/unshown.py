"""What objects hold in memory of their own, which Python does not show: it is compared by what would save it.

Tables, images and trees of libraries are such objects: written in C, or of a class around one that is.
"""

from __future__ import annotations

import collections
import functools
import io
import pickle
import sys
import types
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ingot.torch.python_state.held import ABSENT

# Python's own classes that others derive from, whose memory is known.
BASES = (
    *(dict, list, set, frozenset, tuple, collections.deque, collections.OrderedDict, collections.defaultdict),
    *(int, float, complex, str, bytes, BaseException, type, object),
)
WORD = 8
ON_HEAP = 1 << 9  # a flag of classes that a program or a library defines
OTHERWISE = {"torch", "numpy", "ingot", "jaxlib"}  # packages whose objects are seen, or are none of a step's
HANDLES = {"h5py", "lmdb", "netCDF4", "tables"}  # packages whose objects stand for what is in files
PYTHONS = {kind for kind in vars(types).values() if isinstance(kind, type)}  # functions, modules and the like
PROTOCOL = 5  # of pickle, by which arrays are not copied


@functools.cache
def has_unshown(kind: Any) -> bool:
    """Whether objects of a class have memory that is neither attributes nor elements of Python's."""
    size = max(_size(base) for base in BASES if issubclass(kind, base))
    slots = [vars(c).get("__slots__", ()) for c in kind.__mro__]
    own = sum(1 if isinstance(names, str) else len([*names]) for names in slots)
    own += (kind.__dictoffset__ != 0) + (kind.__weakrefoffset__ != 0)
    return bool(_size(kind) > size + own * WORD)


def _size(kind: type) -> int:
    """The bytes of an object, without elements."""
    return int(type.__getattribute__(kind, "__basicsize__"))


class _Writer(pickle.Pickler):
    """Saves what holds nothing of PyTorch, which is seen by itself."""

    def reducer_override(self, value: Any) -> Any:
        """Raises PicklingError for tensors and modules."""
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            raise pickle.PicklingError("a tensor")
        return NotImplemented


@dataclass(frozen=True, eq=False, slots=True)
class Content:
    """All that saving an object would write, as a sum."""

    holder: Any

    def __call__(self) -> Any:
        """The sum as it is now; nothing where the object cannot be saved."""
        sums: list[int] = []
        written = io.BytesIO()

        def add(buffer: pickle.PickleBuffer) -> None:
            sums.append(zlib.crc32(buffer.raw()))

        try:
            _Writer(written, PROTOCOL, buffer_callback=add).dump(self.holder)
        except Exception:  # of any kind that an object's own code raises
            return ABSENT
        sums.append(zlib.crc32(written.getbuffer()))
        return f"{written.tell()} bytes of sum {' '.join(f'{part:08x}' for part in sums)}"


def content_of(value: Any) -> Content | None:
    """How what an object has unshown is read, or what an object that it has as an attribute does; None for others."""
    kind: Any = type(value)
    if _package_of(kind) in OTHERWISE:
        return None
    if not has_unshown(kind) and all(Content(part)() is not ABSENT for part in _foreign_parts(value)):
        return None
    content = Content(value)
    return None if content() is ABSENT else content


def is_hidden(value: Any) -> bool:
    """Whether an object has something unshown that saving it would not write, and is none of PyTorch's or NumPy's."""
    kind: Any = type(value)
    if kind in PYTHONS or _package_of(kind) in OTHERWISE:
        return False
    return has_unshown(kind) and (_package_of(kind) in HANDLES or Content(value)() is ABSENT)


def is_unread(value: Any) -> bool:
    """Whether an object of a library has something unshown that cannot be read."""
    kind: Any = type(value)
    return _is_foreign(kind) and is_hidden(value)


def _foreign_parts(value: Any) -> Iterator[Any]:
    """The attributes of an object that are objects of libraries with something unshown."""
    held = getattr(value, "__dict__", None)
    names = [slot for base in type(value).__mro__ for slot in _slots(base)]
    parts = [*(held.values() if isinstance(held, dict) else ()), *(getattr(value, name, None) for name in names)]
    kinds: list[Any] = [*map(type, parts)]
    saves_itself = _saves_itself(type(value))
    for part, kind in zip(parts, kinds, strict=True):
        is_nameless = kind.__module__ == "builtins" and kind not in PYTHONS and has_unshown(kind)
        if _is_foreign(kind) or (saves_itself and is_nameless):
            yield part


def _saves_itself(class_: type) -> bool:
    """Whether the authors of a library's class say what saving an object writes."""
    others = [base for base in class_.__mro__ if _package_of(base) not in sys.stdlib_module_names]
    return any(name in vars(base) for base in others for name in ("__getstate__", "__reduce__", "__reduce_ex__"))


def _slots(class_: type) -> tuple[str, ...]:
    slots = vars(class_).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _package_of(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


@functools.cache
def _is_foreign(kind: Any) -> bool:
    """Whether a class is neither Python's own nor one whose objects are seen in another way."""
    module = _package_of(kind)
    is_nameless = module == "builtins" and kind.__flags__ & ON_HEAP  # a library's that does not say whose it is
    is_own = module in sys.stdlib_module_names and not is_nameless
    return not is_own and module not in OTHERWISE and has_unshown(kind)
