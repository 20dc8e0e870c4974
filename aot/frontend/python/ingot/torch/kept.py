"""Traces of earlier processes, on disk beside their bundles: found by what they were made of (`trace_key.py`).

A trace is kept once its program was compared with PyTorch. One that is found is compared again, for a step: one that
differs is traced.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

from ingot import cache
from ingot.torch.judge.bounded import Bounded
from ingot.torch.judge.observe import FoundDraws
from ingot.torch.program import Program
from ingot.torch.python_state.carried import DTYPES, PREFIX
from ingot.torch.python_state.held import Written
from ingot.torch.running.trace_key import NoKey, TraceKey
from ingot.torch.traced import Added, Traced
from ingot.torch.tracing.captures import captures_of
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.paths import FIXED
from ingot.torch.tracing.returned import Output, output_of

LOG = logging.getLogger(__name__)
TRACE = "trace.json"
# Of an entry point, what is written as it is.
AS_THEY_ARE = ("text", "inputs", "is_random", "is_checked", "checks", "unset", "gradients", "used_gradients")
KINDS = {kind.__name__: kind for kind in DTYPES}


class Kept:
    """A function that is to be traced, in one process after the other."""

    def __init__(self, program: Program, entry: str, added: Added) -> None:
        """Raises NoKey if its trace cannot be kept."""
        self._entry, self._added = entry, added
        self._before = set(program.state.tensors)
        key = TraceKey(program.subjects.of(added), added.example_args)
        self._leaves = key.snapshot.leaves
        places = {path: leaf.read.place for path, leaf in self._leaves.items() if isinstance(leaf.read, Written)}
        numbers = [path for path, place in places.items() if place in program.subjects.numbers_read]
        self._key = json.dumps([key.text, program.settings, added.training, added.guards, numbers])

    def find(self, program: Program) -> bool:
        """Makes a program what was traced before, if there is such a trace."""
        text = cache.text(self._key, TRACE)
        if text is not None:
            self._take(program, json.loads(text))
        return text is not None

    def keep(self, program: Program) -> None:
        """Writes what was traced, unless it depends on what no key has."""
        try:
            made = json.dumps(self._of(program))
        except NoKey as error:
            LOG.debug("%s: the trace is not kept: %s", self._entry, error)
        else:
            cache.keep_text(self._key, TRACE, made)

    def forget(self) -> None:
        """Removes what was found."""
        cache.remove(self._key)

    def _of(self, program: Program) -> dict[str, Any]:
        numbers, known = program.subjects.numbers, program.traced[self._entry]
        way, *others = known.graphs
        is_asked = way.choices or (way.is_guarded and (known.asked or not known.is_checked))
        if others or is_asked or set(program.state.tensors) - self._before - {*numbers}:
            raise NoKey("values of tensors, or a first step in PyTorch")
        if known.computed.faults:
            raise NoKey("numbers that may not be as in Python")
        if known.absent:
            raise NoKey("attributes of arguments")
        if known.argument_gradients:
            raise NoKey("gradients of arguments")
        if any(known.generators):
            raise NoKey("generators of the function's own")
        if said := program.subjects.said:
            raise NoKey(f"what is read at {', '.join(said)}")
        paths = {id(leaf.read()): path for path, leaf in self._leaves.items() if leaf.tensor_id}
        captured = [capture.tensor for capture in known.captures]
        if any(id(tensor) not in paths for tensor in captured):
            raise NoKey("a tensor that no name leads to")
        draws = FoundDraws.of(way) if known.is_random else None
        return {
            **{name: getattr(known, name) for name in AS_THEY_ARE},
            "untouched": sorted(known.untouched),
            "written": sorted(known.written),
            "kept_gradients": known.kept_gradients,
            "returned": _written(known.returned),
            "constants": [paths[id(t)] for t in known.constants if id(t) in paths],
            "captures": [paths[id(tensor)] for tensor in captured],
            "ranges": dict(known.computed.ranges),
            "numbers": {name.removeprefix(PREFIX): number.kind.__name__ for name, number in numbers.items()},
            "draws": draws and draws.parts,
        }

    def _take(self, program: Program, found: dict[str, Any]) -> None:
        kinds = {path: KINDS[kind] for path, kind in found["numbers"].items()}
        subject = program.subjects.with_kinds(self._added, kinds)
        captured = [self._leaves[path].read() for path in found["captures"]]
        known = Traced(
            self._added,
            subject,
            **{name: found[name] for name in AS_THEY_ARE},
            untouched={*found["untouched"]},
            written={*found["written"]},
            kept_gradients=KeptGradients(*found["kept_gradients"]),
            returned=_read(found["returned"]),
            computed=Bounded.within(found["ranges"]),
            constants=[self._leaves[path].read() for path in found["constants"]],
            captures=captures_of(captured, subject.places()) if captured else [],
            generators=[None] if found["is_random"] else [],
            draws=FoundDraws(*found["draws"] or ()),
        )
        program.take(self._entry, known)


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
    raise NoKey(f"a {type(tree).__name__} that is returned")


def _read(tree: Any) -> Any:
    if "output" in tree:
        return output_of(tree["output"])
    if "dict" in tree:
        return {key: _read(value) for key, value in tree["dict"].items()}
    if "value" in tree:
        return tree["value"]
    kind = list if "list" in tree else tuple
    return kind(map(_read, tree[kind.__name__]))
