"""Where Python holds a value: a place that is read again, and that most can be written."""

from __future__ import annotations

import contextvars
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Absent:
    """What is read where nothing is."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = Absent()


class Held(NamedTuple):
    """A value that something holds, the path to it, and how it is read again."""

    path: str
    value: Any
    read: Callable[[], Any]


class Holder(NamedTuple):
    """An object that holds values, how it is read again, and what holds it itself."""

    value: Any
    read: Callable[[], Any]
    outer: Holder | None


@dataclass(frozen=True, eq=False, slots=True)
class Itself:
    """A value that is held for as long as what holds it lives."""

    value: Any

    def __call__(self) -> Any:
        """The value."""
        return self.value


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """An entry of a mapping."""

    container: Any
    key: Any

    def __call__(self) -> Any:
        """The value that is there now."""
        return self.container.get(self.key, ABSENT)

    def write(self, value: Any) -> None:
        """Puts a value there."""
        self.container[self.key] = value

    @property
    def place(self) -> tuple[int, Any]:
        """The same for every way to the same entry."""
        return id(self.container), self.key


@dataclass(frozen=True, eq=False, slots=True)
class Defaulted(Entry):
    """An attribute that an object has of its class until it is written."""

    default: Any

    def __call__(self) -> Any:
        """The value that is there now."""
        return self.container.get(self.key, self.default)


class Element(Entry):
    """An element of a sequence; a tuple's is not written."""

    def __call__(self) -> Any:
        """The value that is there now."""
        return self.container[self.key] if self.key < len(self.container) else ABSENT


@dataclass(frozen=True, eq=False, slots=True)
class ElementOfEntry(Entry):
    """An element of the list in an entry of a mapping, whichever list that is."""

    index: int

    def __call__(self) -> Any:
        """The value that is there now."""
        held = self.container.get(self.key, ())
        return held[self.index] if self.index < len(held) else ABSENT

    def write(self, value: Any) -> None:
        """Puts a value there, in a list of its own."""
        held = self.container[self.key]
        self.container[self.key] = [*held[: self.index], value, *held[self.index + 1 :]]

    @property
    def place(self) -> tuple[int, Any]:
        """The same for every way to the same element."""
        return id(self.container), (self.key, self.index)


@dataclass(frozen=True, eq=False, slots=True)
class Attribute:
    """An attribute of an object."""

    container: Any
    key: str

    def __call__(self) -> Any:
        """The value that is there now."""
        return getattr(self.container, self.key, ABSENT)

    def write(self, value: Any) -> None:
        """Puts a value there."""
        setattr(self.container, self.key, value)

    @property
    def place(self) -> tuple[int, Any]:
        """The same for every way to the same attribute."""
        return id(self.container), self.key


class ClassAttribute(Attribute):
    """An attribute that a class has itself."""

    def __call__(self) -> Any:
        """The value that is there now, as the class holds it."""
        return vars(self.container).get(self.key, ABSENT)


@dataclass(frozen=True, eq=False, slots=True)
class Variable:
    """A variable that a function closes over."""

    container: types.CellType

    def __call__(self) -> Any:
        """The value that it has now."""
        try:
            return self.container.cell_contents
        except ValueError:  # it has none yet
            return ABSENT

    def write(self, value: Any) -> None:
        """Gives it a value."""
        self.container.cell_contents = value

    @property
    def place(self) -> tuple[int, Any]:
        """The same for every function that closes over it."""
        return id(self.container), ""


class Context(Entry):
    """The value of a context variable."""

    container: contextvars.ContextVar[Any]

    def __call__(self) -> Any:
        """The value that it has now."""
        try:
            return self.container.get()
        except LookupError:  # it has none yet
            return ABSENT

    def write(self, value: Any) -> None:
        """Gives it a value."""
        self.container.set(value)


Written = Entry | Attribute | Variable
