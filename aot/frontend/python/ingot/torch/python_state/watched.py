"""Values in Python that are to stay: seen at once where they are the same objects, else compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from ingot._engine import ANYTHING, NONZERO, Watch
from ingot.torch.python_state.held import ABSENT, Attribute, ClassAttribute, Entry, Variable
from ingot.torch.python_state.snapshot import PLAIN

Read = Callable[[], Any]
Place = tuple[Any, Any]  # an object, and a key or a name in it
BY_VALUE = (dict, list, set, tuple, *PLAIN)


class Watched:
    """Containers, places and attributes of objects; `are_equal` compares what they hold, where it is not the same.

    What is read in other ways is compared each time; what dicts hold in `free` entries may be anything, in `nonzero`
    ones anything that is not 0.
    """

    def __init__(
        self,
        are_equal: Callable[[], bool],
        containers: Iterable[Any] = (),
        reads: Sequence[Read] = (),
        attributes: Sequence[Place] = (),
        free: AbstractSet[tuple[int, Any]] = frozenset(),
        nonzero: AbstractSet[tuple[int, Any]] = frozenset(),
    ) -> None:
        """`free` and `nonzero` have the identity of a dict, and a key."""
        self._are_equal, self._containers = are_equal, tuple(containers)
        self._free = dict.fromkeys(free, ANYTHING) | dict.fromkeys(nonzero, NONZERO)
        self._entries = [place for read in reads if (place := _entry(read))]
        self._attributes = [*attributes, *(place for read in reads if (place := _attribute(read)))]
        others = [read for read in reads if not _entry(read) and not _attribute(read)]
        self._others_are_equal = all_same(others) if others else None
        self._arm(self._now())

    def holds(self) -> bool:
        """Whether all is as it was."""
        if self._watch.holds() and (self._others_are_equal is None or self._others_are_equal()):
            return True
        if not self._are_equal():
            return False
        now, known = self._now(), {*map(id, chain(*self._before))}
        if all(id(value) in known or isinstance(value, PLAIN) for value in chain(*now)):
            self._arm(now)  # what could change itself, and is not watched, stays to be compared by value
        return True

    def _now(self) -> tuple[tuple[Any, ...], ...]:
        """What each container holds, then what is in the entries, then attributes."""
        in_entries = tuple(container.get(key, ABSENT) for container, key in self._entries)
        in_attributes = tuple(getattr(value, name, ABSENT) for value, name in self._attributes)
        return *map(self._contents, self._containers), in_entries, in_attributes

    def _contents(self, container: Any) -> tuple[Any, ...]:
        """What a container holds, as `Watch` compares it."""
        if not isinstance(container, dict):
            return tuple(container)
        here = id(container)
        pairs = [(key, self._free.get((here, key), value)) for key, value in dict.items(container)]
        return tuple(chain.from_iterable(pairs))

    def _arm(self, now: tuple[tuple[Any, ...], ...]) -> None:
        self._before = now
        *contents, in_entries, in_attributes = now
        self._watch = Watch(
            self._containers,
            tuple(contents),
            tuple((*place, value) for place, value in zip(self._entries, in_entries, strict=True)),
            tuple((*place, value) for place, value in zip(self._attributes, in_attributes, strict=True)),
        )


def all_same(reads: Iterable[Read]) -> Callable[[], bool]:
    """A function that tells whether each still reads what it reads now."""
    before = [(read, read()) for read in reads]
    return lambda: all(_same(read(), value) for read, value in before)


def _same(now: Any, before: Any) -> bool:
    if now is before:
        return True
    return type(now) is type(before) and isinstance(now, BY_VALUE) and bool(now == before)


def _entry(read: Read) -> Place | None:
    """The mapping and the key that are read, where nothing but that happens."""
    if isinstance(read, ClassAttribute):
        return vars(read.container), read.key
    return (read.container, read.key) if isinstance(read, Entry) and type(read.container) is dict else None


def _attribute(read: Read) -> Place | None:
    """The object and the name of its attribute that are read."""
    if isinstance(read, Variable):
        return read.container, "cell_contents"
    return (read.container, read.key) if isinstance(read, Attribute) and not isinstance(read, ClassAttribute) else None
