"""Lines of StableHLO in static single assignment: names, regions and places in the user's source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ingot.stablehlo.literals import splat
from ingot.stablehlo.types import TensorType

INDENT = "  "


@dataclass(frozen=True)
class Value:
    """What an op gives: ``%3``, and its type."""

    name: str
    type: TensorType

    @property
    def dtype(self) -> str:
        """The element type."""
        return self.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.type.shape


@dataclass(frozen=True)
class Place:
    """A line of the user's source, and the path of the module that it was in (``encoder.layer.3``)."""

    file: str
    line: int
    module: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return f"{where} in {self.module}" if self.module else where

    def location(self) -> str:
        """``loc("step.py":12:1)``; with a module, ``loc("encoder.layer.3"("step.py":12:1))``."""
        line = f"{_quoted(self.file)}:{self.line}:1"
        return f"loc({_quoted(self.module)}({line}))" if self.module else f"loc({line})"


@dataclass(frozen=True)
class Port:
    """What an argument or a result is called. State lives from run to run: a result replaces the argument of its name.

    An input may have a default: its value, in every element, where the host gives none.
    """

    name: str
    is_state: bool = False
    default: float | None = None

    def attributes(self, type_: TensorType) -> str:
        """``{ingot.name = "lr", ingot.default = dense<0.1> : tensor<f64>}``."""
        named = f"ingot.{'state' if self.is_state else 'name'} = {_quoted(self.name)}"
        otherwise = "" if self.default is None else f", ingot.default = {splat(self.default, type_)}"
        return f"{{{named}{otherwise}}}"


class Writer:
    """Writes ops one after the other; each op gives its results as values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.place: Place | None = None
        self.is_located = True  # whether ops are written with their places
        self._count = 0
        self._depth = 2

    def argument(self, type_: TensorType) -> Value:
        """A value that a function or a region is given."""
        self._count += 1
        return Value(f"%a{self._count}", type_)

    def ops(
        self,
        name: str,
        operands: Sequence[Value],
        result_types: Sequence[TensorType],
        attributes: str = "",
        *regions: Callable[[], None],
    ) -> tuple[Value, ...]:
        """Writes an op of several results: its name in full, its attributes as text."""
        self._count += 1
        name_of_all = f"%{self._count}"
        count = len(result_types)
        names = [name_of_all] if count == 1 else [f"{name_of_all}#{i}" for i in range(count)]
        results = tuple(map(Value, names, result_types))
        head = "" if not count else f"{name_of_all} = " if count == 1 else f"{name_of_all}:{count} = "
        head += f'"{name}"({", ".join(value.name for value in operands)})'
        if attributes:
            head += f" <{{{attributes}}}>"
        types = [str(type_) for type_ in result_types]
        given = types[0] if count == 1 else f"({', '.join(types)})"
        tail = f" : ({', '.join(str(value.type) for value in operands)}) -> {given}"
        if self.place and self.is_located:
            tail += f" {self.place.location()}"
        for i, region in enumerate(regions):
            self._line("}, {" if i else head + " ({")
            region()
        self._line("})" + tail if regions else head + tail)
        return results

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result_type: TensorType,
        attributes: str = "",
        *regions: Callable[[], None],
    ) -> Value:
        """Writes an op of one result."""
        return self.ops(name, operands, [result_type], attributes, *regions)[0]

    @contextmanager
    def block(self, types: Sequence[TensorType]) -> Iterator[list[Value]]:
        """Writes the head of a region's only block and indents what follows; gives its arguments."""
        arguments = [self.argument(type_) for type_ in types]
        if arguments:
            self._line(f"^bb0({', '.join(f'{a.name}: {a.type}' for a in arguments)}):")
        self._depth += 1
        yield arguments
        self._depth -= 1

    def _line(self, text: str) -> None:
        self.lines.append(INDENT * self._depth + text)


def module_text(name: str, functions: Sequence[str]) -> str:
    """A module of functions."""
    return "\n".join([f"module @{name} {{", *functions, "}", ""])


def function_text(
    head: str,
    arguments: Sequence[tuple[Value, Port | None]],
    body: Writer,
    results: Sequence[tuple[Value, Port | None]],
) -> str:
    """A function, ``public @main`` or ``private @gelu``, that returns `results`."""
    takes = (f"{value.name}: {_declared(value, port)}" for value, port in arguments)
    gives = (_declared(value, port) for value, port in results)
    separator = ",\n" + INDENT * 3
    types = ", ".join(str(value.type) for value, _ in results)
    leave = f"return {', '.join(value.name for value, _ in results)} : {types}" if results else "return"
    return "\n".join(
        [
            f"{INDENT}func.func {head}(\n{INDENT * 3}{separator.join(takes)}",
            f"{INDENT}) -> (\n{INDENT * 3}{separator.join(gives)}",
            f"{INDENT}) {{",
            *body.lines,
            f"{INDENT * 2}{leave}",
            f"{INDENT}}}",
        ]
    )


def _declared(value: Value, port: Port | None) -> str:
    return f"{value.type} {port.attributes(value.type)}" if port else str(value.type)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
