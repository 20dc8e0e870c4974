"""Traces of earlier processes, on disk beside their bundles: found by all that they depend on (`described.py`).

A trace is kept once its program was compared with PyTorch. One that is found is compared again, for a step: what
differs, and what cannot be described or is not as it was, is traced.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import time
from typing import Any

from ingot import cache
from ingot.torch.judge.observe import FoundDraws
from ingot.torch.program import Added, Program
from ingot.torch.python_state.carried import DTYPES, PREFIX
from ingot.torch.python_state.held import Written
from ingot.torch.python_state.noted import Noted
from ingot.torch.running import libraries
from ingot.torch.running.described import Description, Undescribed
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.paths import FIXED
from ingot.torch.tracing.returned import Output, output_of

LOG = logging.getLogger(__name__)
TRACE = "trace.json"
KINDS = {kind.__name__: kind for kind in DTYPES}
# What PyTorch's own code, which is not seen, reads of the environment.
PREFIXES = ("TORCH", "PYTORCH", "ATEN", "C10", "CUDA", "MKL", "OMP", "KMP", "DNNL", "ONEDNN", "INGOT_TORCH")


class Kept:
    """A function that is to be traced, in one process after the other."""

    def __init__(self, program: Program, entry: str, added: Added) -> None:
        """Raises Undescribed where another process could not be shown to trace the same."""
        self._entry, self._added = entry, added
        self._before = set(program.state.tensors)
        self._description = Description(program.subject_of(added), added.example_args)
        environment = {k: v for k, v in os.environ.items() if k.startswith(PREFIXES)}
        leaves = self._description.snapshot.leaves.items()
        places = {path: leaf.read.place for path, leaf in leaves if isinstance(leaf.read, Written)}
        numbers = [path for path, place in places.items() if place in program.numbers_read]
        options = [program.settings, added.training, added.guards, environment, numbers]
        self._key = json.dumps([self._description.text, options])
        self._packages = libraries.packages_of(self._description.snapshot.reached())
        self._contents: dict[str, str] | None = None
        self._start = time.time()

    def find(self, program: Program) -> bool:
        """Makes a program what was traced before, if there is such a trace."""
        text = cache.text(self._key, TRACE)
        if text is None:
            return False
        found = json.loads(text)
        if change := _change(found["outside"]):
            LOG.debug("%s: the trace that was kept is of other times: %s has changed", self._entry, change)
            return False
        self._take(program, found)
        return True

    def note_libraries(self) -> None:
        """Notes what libraries hold, before they trace."""
        self._contents = libraries.contents(self._packages)

    def keep(self, program: Program, outside: Noted) -> None:
        """Writes what was traced, and what it depended on outside of the function; leaves out what it cannot."""
        try:
            made = json.dumps({**self._of(program), "outside": self._outside(outside)})
        except Undescribed as error:
            LOG.debug("%s: the trace is not kept: %s", self._entry, error)
        else:
            cache.keep_text(self._key, TRACE, made)

    def forget(self) -> None:
        """Removes what was found."""
        cache.remove(self._key)

    def _of(self, program: Program) -> dict[str, Any]:
        numbers, (way, *others) = program.numbers, program.graphs[self._entry]
        is_checked = self._entry in program.checked
        is_asked = way.choices or (way.is_guarded and (program.asked or not is_checked))
        if others or is_asked or set(program.state.tensors) - self._before - {*numbers}:
            raise Undescribed("values of tensors, or a first step in PyTorch")
        if program.computed[self._entry].faults:
            raise Undescribed("numbers that may not be as in Python")
        if program.absent[self._entry]:
            raise Undescribed("attributes of arguments")
        if program.argument_gradients[self._entry]:
            raise Undescribed("gradients of arguments")
        if any(program.generators[self._entry]):
            raise Undescribed("generators of the function's own")
        if program.said:
            raise Undescribed(f"what is read at {', '.join(program.said)}")
        paths = {id(leaf.read()): path for path, leaf in self._description.snapshot.leaves.items() if leaf.tensor_id}
        constants = [paths[id(t)] for t in program.constants[self._entry] if id(t) in paths]
        draws = FoundDraws.of(way) if program.is_random else None
        return {
            "text": program.texts[self._entry],
            "checks": program.checks[self._entry],
            "is_checked": is_checked,
            "untouched": sorted(program.untouched[self._entry]),
            "written": sorted(program.written[self._entry]),
            "is_random": program.is_random,
            "inputs": program.inputs[self._entry],
            "returned": _written(program.returned[self._entry]),
            "constants": constants,
            "captures": [paths[id(capture.tensor)] for capture in program.captures[self._entry]],
            "ranges": dict(program.computed[self._entry].ranges),
            "unset": program.unset[self._entry],
            "gradients": program.gradients[self._entry],
            "used_gradients": program.used_gradients[self._entry],
            "kept_gradients": program.kept_gradients[self._entry],
            "numbers": {name.removeprefix(PREFIX): number.kind.__name__ for name, number in numbers.items()},
            "draws": draws and draws.parts,
        }

    def _outside(self, outside: Noted) -> dict[str, Any]:
        if outside.unknown or self._contents is None:
            raise Undescribed(", ".join(outside.unknown))
        stamps = libraries.stamps(self._packages)
        loaded = [at for name, (_, at) in stamps.items() if name in self._contents]
        libraries.refuse_newer(loaded, libraries.process_start())
        libraries.refuse_newer((at for _, at in stamps.values()), self._start)
        new = libraries.contents_of(stamps.keys() - self._contents.keys())
        files = {file: libraries.stamp(file) for file in outside.files}
        libraries.refuse_newer(files.values(), self._start)
        return {
            "contents": {**self._contents, **new},
            "files": {**files, **dict(stamps.values())},
            "variables": outside.variables,
        }

    def _take(self, program: Program, found: dict[str, Any]) -> None:
        leaves = self._description.snapshot.leaves
        program.take(
            self._entry,
            self._added,
            text=found["text"],
            checks=found["checks"],
            is_checked=found["is_checked"],
            untouched=found["untouched"],
            written=found["written"],
            is_random=found["is_random"],
            inputs=found["inputs"],
            returned=_read(found["returned"]),
            constants=[leaves[path].read() for path in found["constants"]],
            captured=[leaves[path].read() for path in found["captures"]],
            unset=found["unset"],
            gradients=found["gradients"],
            used_gradients=found["used_gradients"],
            kept_gradients=KeptGradients(*found["kept_gradients"]),
            ranges=found["ranges"],
            kinds={path: KINDS[kind] for path, kind in found["numbers"].items()},
            draws=FoundDraws(*found["draws"]) if found["draws"] else FoundDraws(),
        )


def _change(outside: dict[str, Any]) -> str:
    """What of libraries, files and the environment is not as it was, if anything is."""
    for name, value in outside["variables"].items():
        if os.environ.get(name) != value:
            return f"the environment's {name}"
    for file, stamp in outside["files"].items():
        if [*libraries.stamp(file)] != stamp:
            return str(file)
    for name, content in libraries.contents_of(outside["contents"]).items():
        if outside["contents"][name] != content:
            return f"the module {name}"
    try:
        libraries.refuse_newer(outside["files"].values(), libraries.process_start())
    except Undescribed as error:
        return str(error)
    return ""


def _written(tree: Any) -> Any:
    """What a function returns, as JSON has it."""
    if isinstance(tree, Output):
        return {"output": dataclasses.asdict(tree)}
    if type(tree) in (list, tuple):
        return {type(tree).__name__: [*map(_written, tree)]}
    if type(tree) is dict and all(isinstance(key, str) for key in tree):
        return {"dict": {key: _written(value) for key, value in tree.items()}}
    if type(tree) in FIXED and type(tree) is not complex:
        return {"value": tree}
    raise Undescribed(f"a {type(tree).__name__} that is returned")


def _read(tree: Any) -> Any:
    if "output" in tree:
        return output_of(tree["output"])
    if "dict" in tree:
        return {key: _read(value) for key, value in tree["dict"].items()}
    if "value" in tree:
        return tree["value"]
    kind = list if "list" in tree else tuple
    return kind(map(_read, tree[kind.__name__]))
