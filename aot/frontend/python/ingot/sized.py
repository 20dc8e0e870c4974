"""Programs that were compiled at several sizes: what has any size goes to the smallest entry point that holds it."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ingot import _engine
from ingot.arrays import NUMBER, NUMPY, Framework, Port, framework_of
from ingot.entry import Entry

if TYPE_CHECKING:
    from typing_extensions import Buffer

NAME = re.compile(r"(?P<program>[^@]*)@(?P<sizes>[^@=<,]+<?=\d+(x\d+)*(,[^@=<,]+<?=\d+(x\d+)*)*)")


@dataclasses.dataclass(frozen=True)
class Size:
    """A size in the name of an entry point: of "predict@batch<=8" the batch."""

    name: str
    extents: tuple[int, ...]
    takes_fewer: bool

    def holds(self, wanted: int | None) -> bool:
        """Whether this many may be given."""
        if wanted is None or len(self.extents) != 1:
            return False
        return wanted <= self.extents[0] if self.takes_fewer else wanted == self.extents[0]


def program_and_sizes(name: str) -> tuple[str, tuple[Size, ...]]:
    """What an entry point's name says; one without sizes is all of the program's name."""
    match = NAME.fullmatch(name)
    if match is None:
        return name, ()
    sizes = []
    for part in match["sizes"].split(","):
        size, _, extents = part.partition("=")
        sizes.append(Size(size.removesuffix("<"), tuple(map(int, extents.split("x"))), size.endswith("<")))
    return match["program"], tuple(sizes)


@dataclasses.dataclass(frozen=True)
class Follows:
    """A dimension is `each` times a size."""

    size: int
    each: int


class Sized:
    """The entry points of a program at several sizes, as one function: called as each of them.

    The sizes are those that the arrays have. Where an entry point takes more rows, those given do not depend on the
    others, and the outputs have as many rows as were given.
    """

    def __init__(self, program: str, members: list[tuple[tuple[Size, ...], Entry]]) -> None:
        self.name = program
        self._members = sorted(members, key=lambda member: math.prod(math.prod(size.extents) for size in member[0]))
        entry = members[0][1]
        self._inputs = [self._followed("inputs", i) for i in range(len(entry.inputs))]
        self._outputs = [self._followed("outputs", i) for i in range(len(entry.outputs))]

    def __call__(self, *args: Any, **named: Any) -> dict[str, Any]:
        """Runs once; gives the outputs.

        Raises TypeError or ValueError for arguments that are not the inputs', or have sizes that no entry point holds;
        EngineError for what the engine refuses.
        """
        placed = self._members[0][1].placed(args, named)
        wanted = self._wanted(placed)
        sizes, entry = self._choose(wanted)
        framework: Framework = NUMPY
        memories: list[Buffer | None] = [None] * len(entry.inputs)
        for i, value in reversed(placed):
            mine = framework_of(value)
            port = self._cut(entry.inputs[i], self._inputs[i], sizes, wanted)
            memories[i] = _padded(mine.memory(value, port), entry.inputs[i])
            framework = framework if mine is NUMBER else mine
        entry.check_missing(memories)
        blocks = entry.run(tuple(memories))
        ports = [self._cut(*port, sizes, wanted) for port in zip(entry.outputs, self._outputs, strict=True)]
        return {port.name: framework.array(block, port) for port, block in zip(ports, blocks, strict=True)}

    def __repr__(self) -> str:
        return f"{self.name}, as {', '.join(entry.name for _, entry in self._members)}"

    def _followed(self, side: str, index: int) -> list[Follows | None]:
        """The size that each dimension of an input or output follows through all entry points."""
        shapes = [getattr(entry, side)[index].shape for _, entry in self._members]
        return [self._follows([shape[d] for shape in shapes]) for d in range(len(shapes[0]))]

    def _follows(self, extents: list[int]) -> Follows | None:
        for s in range(len(self._members[0][0])):
            counts = [sizes[s].extents for sizes, _ in self._members]
            if any(len(count) != 1 or count[0] == 0 for count in counts) or len(set(counts)) == 1:
                continue
            each = extents[0] // counts[0][0]
            if each > 0 and all(extent == each * count[0] for extent, count in zip(extents, counts, strict=True)):
                return Follows(s, each)
        return None

    def _wanted(self, placed: list[tuple[int, Any]]) -> dict[int, int]:
        """The sizes that the arguments have."""
        wanted: dict[int, int] = {}
        for i, value in placed:
            for extent, follows in zip(np.shape(value), self._inputs[i], strict=False):
                if follows is None:
                    continue
                count, rest = divmod(extent, follows.each)
                if rest != 0 or wanted.setdefault(follows.size, count) != count:
                    name = self._members[0][1].inputs[i].name
                    size = self._members[0][0][follows.size].name
                    raise ValueError(f"{self.name}(): {name!r} has another {size} than other inputs: {np.shape(value)}")
        return wanted

    def _choose(self, wanted: dict[int, int]) -> tuple[tuple[Size, ...], Entry]:
        for sizes, entry in self._members:
            if all(size.holds(wanted.get(s)) for s, size in enumerate(sizes)):
                return sizes, entry
        given = ", ".join(f"{self._members[0][0][s].name}={count}" for s, count in sorted(wanted.items()))
        raise ValueError(f"{self.name}() has no entry point for {given}; there are {self!r}")

    @staticmethod
    def _cut(port: Port, dims: list[Follows | None], sizes: tuple[Size, ...], wanted: dict[int, int]) -> Port:
        """The port with as many rows as are wanted."""
        follows = dims[0] if dims else None
        if follows is None or wanted[follows.size] == sizes[follows.size].extents[0]:
            return port
        shape = (follows.each * wanted[follows.size], *port.shape[1:])
        return dataclasses.replace(port, shape=shape, byte_count=port.byte_count // port.shape[0] * shape[0])


def _padded(memory: Buffer, port: Port) -> Buffer:
    """The memory, and zeros behind it, as much as the port takes."""
    given: Any = memory
    if given.nbytes == port.byte_count:
        return memory
    block: Any = _engine.Block(port.byte_count)
    whole = np.ndarray(port.byte_count, np.uint8, block)
    whole[: given.nbytes] = given.reshape(-1).view(np.uint8)
    whole[given.nbytes :] = 0
    padded: Buffer = block
    return padded
