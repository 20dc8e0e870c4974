"""Entry points of a session as functions of arrays."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ingot import _engine
from ingot.arrays import NUMBER, NUMPY, Framework, Port, framework_of

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Entry:
    """An entry point as a function: inputs in order or by name, outputs by name.

    Arrays of NumPy, PyTorch and JAX are read where they lie if they lie row by row at a multiple of 64 (as PyTorch's
    do, and JAX's); others are copied. Outputs are arrays of the same framework. An input that is not given has its
    default value.
    """

    def __init__(
        self,
        session: _engine.Session,
        bundle: _engine.Bundle,
        index: int,
        name: str,
        inputs: Any,
        defaults: tuple[bool, ...],
        outputs: Any,
    ) -> None:
        self.name = name
        self.inputs = [Port(*port) for port in inputs]
        self.outputs = [Port(*port) for port in outputs]
        self.index = index
        self._session, self._bundle, self._defaults = session, bundle, defaults
        self._events: _engine.Events | None = None
        self._places = {port.name: i for i, port in enumerate(self.inputs)}

    def __call__(self, *args: Any, **named: Any) -> dict[str, Any]:
        """Runs once; gives the outputs.

        Raises TypeError or ValueError for arguments that are not the inputs', EngineError for what the engine refuses.
        """
        framework: Framework = NUMPY
        memories: list[Buffer | None] = [None] * len(self.inputs)
        for i, value in reversed(self.placed(args, named)):
            mine = framework_of(value)
            memories[i] = mine.memory(value, self.inputs[i])
            framework = framework if mine is NUMBER else mine
        self.check_missing(memories)
        blocks = self.run(tuple(memories))
        return {port.name: framework.array(block, port) for port, block in zip(self.outputs, blocks, strict=True)}

    def run(self, inputs: tuple[Buffer | None, ...]) -> tuple[Buffer, ...]:
        """Runs once on memory, of as many bytes as the inputs have; gives the outputs' memory."""
        blocks = tuple([_engine.Block(port.byte_count) for port in self.outputs])
        self._session.run(self.index, inputs, blocks, self._events)
        return blocks

    def with_events(self, events: _engine.Events) -> Entry:
        """The same, with context managers that are entered around the steps of each run."""
        entry = copy.copy(self)
        entry._events = events
        return entry

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name}: {port}" for port in self.inputs)
        return f"{self.name}({inputs}) -> {{{', '.join(f'{port.name}: {port}' for port in self.outputs)}}}"

    def placed(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[tuple[int, Any]]:
        """The arguments, each with the number of its input."""
        if len(args) > len(self.inputs):
            raise TypeError(f"{self.name}() has {len(self.inputs)} inputs, but was given {len(args)}")
        placed = [*enumerate(args)]
        for name, value in named.items():
            i = self._places.get(name)
            placed.append((self._find(name) if i is None else i, value))
        if len(dict(placed)) < len(placed):
            raise TypeError(f"{self.name}() was given an input twice")
        return placed

    def _find(self, name: str) -> int:
        try:
            return self._bundle.find_input(self.index, name)
        except _engine.EngineError as error:
            raise TypeError(f"{self.name}(): {error}") from None

    def check_missing(self, memories: list[Buffer | None]) -> None:
        """Raises TypeError for an input that is not given and has no default value."""
        for port, memory, has_default in zip(self.inputs, memories, self._defaults, strict=True):
            if memory is None and not has_default:
                raise TypeError(f"{self.name}() needs {port.name!r}: {port}")
