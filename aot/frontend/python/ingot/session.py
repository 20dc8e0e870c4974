"""Bundles and their running instances, whose state is arrays over live memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingot import _engine
from ingot.arrays import NUMPY, Port, framework_of, torch_tensor
from ingot.entry import Entry
from ingot.sized import Size, Sized, program_and_sizes

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAX_THREADS = 1024
Source = int | tuple[dict[str, Any], str, int | None]  # of an input
LOAD_PARTIAL, LOAD_IGNORE_UNKNOWN, LOAD_OR_PREVIOUS = 1, 2, 4


class Bundle:
    """An opened bundle. It never changes, and any number of sessions may run it.

    The file must stay as it is while it is open: replace it by renaming another over it.
    """

    def __init__(self, path: str | os.PathLike[str], *, target: str | None = None) -> None:
        self.native = _engine.Bundle(path, target)
        info: dict[str, Any] = self.native.info()
        self.name: str = info["name"]
        self.producer: str = info["producer"]
        self.target: str = info["target"]
        self.checksum: int = info["checksum"]
        self.arena_bytes: int = info["arena_bytes"]
        self.state_bytes: int = info["state_bytes"]
        self.states = {state[0]: Port(*state) for state in self.native.states()}

    def kernels(self) -> list[list[str]]:
        """For each step of each entry point the kernel that it calls, with the user's line; "" if it only jumps."""
        entries = range(len(self.native.entries()))
        return [[_kernel_text(*step) if step else "" for step in self.native.kernels(entry)] for entry in entries]

    def __repr__(self) -> str:
        return f"<ingot.Bundle {self.name!r} for {self.target}>"


def _kernel_text(name: str, source: str) -> str:
    return f"{name} ({source})" if source else name


class Entries(dict[str, Entry]):
    """Entry points by name."""

    def __missing__(self, name: str) -> Entry:
        raise KeyError(f"there is no entry point {name!r}; there are {', '.join(self)}")


class Session:
    """A running instance of a bundle, with state of its own.

    `entries` has the entry points as functions, `programs` those at several sizes as one function each, beside the
    others; `state` has the state as arrays over the session's own memory. Several
    threads may use a session: one runs, the others wait. `memory`, of the bundle's `state_bytes` at a multiple of 64,
    is where the state is to lie; with `keeps_state` it holds the state already.
    """

    def __init__(
        self,
        bundle: Bundle | str | os.PathLike[str],
        threads: int = 1,
        *,
        memory: Buffer | None = None,
        keeps_state: bool = False,
    ) -> None:
        if not 0 <= threads <= MAX_THREADS:
            raise ValueError(f"a session has 0 to {MAX_THREADS} threads, and was to have {threads}")
        self.bundle = bundle if isinstance(bundle, Bundle) else Bundle(bundle)
        self.memory = _engine.Block(self.bundle.state_bytes) if memory is None else memory
        self._native = _engine.Session(self.bundle.native, self.memory, threads, keeps_state)
        self.state = State(self.bundle, self._native, self.memory)
        self.entries: Mapping[str, Entry] = Entries(
            (name, Entry(self._native, self.bundle.native, i, name, inputs, defaults, outputs))
            for i, (name, inputs, defaults, outputs) in enumerate(self.bundle.native.entries())
        )
        self.programs: Mapping[str, Entry | Sized] = self._programs()

    def _programs(self) -> dict[str, Entry | Sized]:
        programs: dict[str, Entry | Sized] = {}
        members: dict[str, list[tuple[tuple[Size, ...], Entry]]] = {}
        for name, entry in self.entries.items():
            program, sizes = program_and_sizes(name)
            if sizes:
                members.setdefault(program, []).append((sizes, entry))
            programs[program] = entry
        return programs | {program: Sized(program, entries) for program, entries in members.items()}

    def run(self, entry: int, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Runs an entry point, by its number, on memory: objects that give it, and PyTorch's tensors row by row."""
        self._native.run(entry, inputs, outputs)

    def call(self, entry: str, sources: Sequence[Source], checks: Sequence[str] = ()) -> _engine.Call:
        """An entry point as ``run(arguments, outputs)``, which tells whether its `checks` held, and else does not run.

        A source is the place of an input among the arguments, or a dict, a key and maybe an index, where a number is
        read in each call. Checks are entry points of the same inputs with one output, a bool.
        """
        others = tuple(self.entries[check].index for check in checks)
        return _engine.Call(self._native, self.entries[entry].index, tuple(sources), others)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the state as a safetensors file: whole, or not at all; the file before stays as ``path.previous``."""
        if not os.fspath(path):
            raise ValueError("the file to save the state in has no name")
        self._native.save(path)

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        partial: bool = False,
        ignore_unknown: bool = False,
        or_previous: bool = False,
    ) -> None:
        """Loads the state of a safetensors file.

        What the file lacks stays as it is where it is `partial`; with `ignore_unknown` it may have more than the state;
        with `or_previous` ``path.previous`` is loaded where it is damaged.
        """
        flags = LOAD_PARTIAL * partial + LOAD_IGNORE_UNKNOWN * ignore_unknown + LOAD_OR_PREVIOUS * or_previous
        self._native.load(path, flags)


class State(Mapping[str, Any]):
    """The state by name, or by an end of a name: arrays of NumPy over the session's memory.

    What is written to them is what the next run reads. A state without a value, before `init` or a file gave it one, is
    given it by ``state[name] = array``.
    """

    def __init__(self, bundle: Bundle, native: _engine.Session, memory: Buffer) -> None:
        self._bundle, self._native, self._memory = bundle, native, memory

    def __getitem__(self, name: str) -> Any:
        return NUMPY.array(self._memory, self._port(name))

    def __setitem__(self, name: str, value: Any) -> None:
        port = self._port(name)
        self._native.write_state(self._bundle.native.find_state(port.name), framework_of(value).memory(value, port))

    def __iter__(self) -> Iterator[str]:
        return iter(self._bundle.states)

    def __len__(self) -> int:
        return len(self._bundle.states)

    def torch(self, name: str) -> Any:
        """A state as a tensor of PyTorch over the same memory."""
        return torch_tensor(self._memory, self._port(name))

    def _port(self, name: str) -> Port:
        if name in self._bundle.states:
            return self._bundle.states[name]
        try:
            return [*self._bundle.states.values()][self._bundle.native.find_state(name)]
        except _engine.EngineError as error:
            raise KeyError(str(error)) from None
