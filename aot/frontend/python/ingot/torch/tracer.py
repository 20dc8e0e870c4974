"""How a step's calls become programs: traced, or found where another process traced them."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence

from ingot.judge import Undecided
from ingot.torch.account import Account
from ingot.torch.base.errors import LeftToPyTorch, TraceError
from ingot.torch.base.keywords import OfTensors, Positions, with_tensors
from ingot.torch.base.torch_internals import pytree
from ingot.torch.kept import Kept
from ingot.torch.optimizers.slots import drop_slots, parameters_with_slots
from ingot.torch.program import Program
from ingot.torch.python_state.carried import PREFIX
from ingot.torch.python_state.repetition import Kinds
from ingot.torch.python_state.snapshot import PLAIN, large_arrays, unread
from ingot.torch.run import ENTRY, DisagreementError, Options, Run, settings, shapes_of, tensors_of
from ingot.torch.running.apart import Apart
from ingot.torch.running.guard import Guard
from ingot.torch.running.live import refuse_shared
from ingot.torch.running.redecorated import Programs
from ingot.torch.running.trace_key import NoKey
from ingot.torch.traced import Added
from ingot.torch.tracing.containers import ByIdentity, of_containers, with_records
from ingot.torch.tracing.left_out import TEXTS, NotTaken, without_texts, without_use
from ingot.torch.tracing.packed import PACKED

LOG = logging.getLogger(__name__)
FOUND_STEPS = 1  # of a program that another process compared, which are compared again


class Call(NamedTuple):
    """The arguments of a call, as they are given and as a program takes them."""

    key: Any  # what of them, and of PyTorch's settings, is fixed
    function: Callable[..., Any]  # of `args`
    given: tuple[Any, ...]
    example: tuple[Any, ...]  # padded
    args: tuple[Any, ...]  # padded, with tensors in the place of floats
    tensors: tuple[torch.Tensor, ...]  # of `args`
    unpadded: tuple[torch.Tensor, ...]
    numbers: list[int]  # which leaves of `example` these are


class Tracer:
    """Traces calls of one step, and knows what earlier traces told: which numbers are inputs, what is checked."""

    def __init__(
        self,
        name: str,
        make_program: Callable[[bool], Program],
        options: Options,
        programs: Programs,
        optimizers: Sequence[torch.optim.Optimizer],
    ) -> None:
        self._name, self._make_program, self._options = name, make_program, options
        self._programs, self._optimizers = programs, optimizers
        self._are_gradients_kept = False  # by each program, whatever the options say
        self._with_slots: set[tuple[int, int]] = set()  # parameters that had optimizers' state before the last trace
        self.are_floats_read = True  # of arguments: they are inputs, if they need not be fixed
        self._are_checked = True  # values, where the function raises otherwise
        self.integers_read: set[int] = set()  # of arguments that changed, by their places among leaves
        self._fixed_integers: set[int] = set()  # of arguments, those that a program must have fixed
        self._texts_left_out: set[int] = set()  # numbers of argument leaves that change and are not read
        self._fixed_texts: set[int] = set()  # numbers of argument leaves that it reads
        self._numbers_read: Kinds = {}  # numbers that Python holds elsewhere and that changed, by their places
        self._new_numbers: Kinds = {}  # of them, those that the last trace was the first to read
        self._fixed_numbers: set[tuple[int, Any]] = set()  # places of those that a program must have fixed

    def call_of(self, args: tuple[Any, ...], positions: Positions) -> Call:
        """Converts the arguments of a call to the form that a program takes."""
        positions.check(args)
        given = pytree.tree_map_only(torch.Tensor, torch.Tensor.resolve_conj, with_records(args))
        given = without_texts(given, self._texts_left_out) if self._texts_left_out else given
        example = self._options.buckets.padded(positions.signature, given) if self._options.buckets else given
        reads, integers = self.are_floats_read, self.integers_read
        taken, numbers = with_tensors(example, integers) if reads else (example, [])
        leaves, spec = pytree.tree_flatten(taken)
        key = spec, settings(), tuple(map(_kind, leaves)), *numbers
        function = of_containers(positions.function, taken)
        function = OfTensors(function, numbers) if numbers else function
        unpadded = with_tensors(given, integers)[0] if numbers else given
        return Call(key, function, args, example, taken, tensors_of(taken), tensors_of(unpadded), numbers)

    def __call__(self, call: Call, why: str) -> Run:
        """A new run, and why; where there is none, optimizers hold what they held before."""
        self._with_slots = parameters_with_slots(self._optimizers)
        try:
            return self._traced(call, Account(self._name, why))
        except BaseException:
            drop_slots(self._optimizers, self._with_slots)
            raise

    def reads(self, call: Call, numbers: Kinds) -> bool:
        """Reads numbers that changed in each call from now on; whether there are any that need not be fixed."""
        self._new_numbers = {place: kind for place, kind in numbers.items() if place not in self._fixed_numbers}
        self._numbers_read = self._numbers_read | self._new_numbers
        return bool(self._new_numbers or self._texts_left_out or self.integers_read.intersection(call.numbers))

    def adapts(self, call: Call, keys: Sequence[Any]) -> bool:
        """If a call differs from an earlier one only in integers and texts, makes integers inputs and leaves out texts.

        Returns whether any of them are new.
        """
        integers, texts = set[int](), set[int]()
        for key in keys:
            if (key[:2], key[3:]) == (call.key[:2], call.key[3:]):
                pairs = enumerate(zip(key[2], call.key[2], strict=True))
                kinds = {i: (before[0], now[0]) for i, (before, now) in pairs if before != now}
                if all(kind is other and (kind is int or _is_text(kind)) for kind, other in kinds.values()):
                    integers |= {i for i, (kind, _) in kinds.items() if kind is int} - self._fixed_integers
                    texts |= {i for i, (kind, _) in kinds.items() if kind is not int} - self._fixed_texts
        self.integers_read |= integers
        self._texts_left_out |= texts
        return bool(integers or texts)

    def reads_less(self, call: Call) -> bool:
        """Fixes what a trace failed with, or leaves out its checks, which may take ops that are refused."""
        leaves = pytree.tree_leaves(call.args)
        used = {i for i in self._texts_left_out if type(leaves[i]) is NotTaken and leaves[i].is_used}
        if used:
            self._fixed_texts |= used
            self._texts_left_out -= used
            return True
        if integers := self.integers_read.intersection(call.numbers):
            self._fixed_integers |= integers
            self.integers_read -= integers
        elif call.numbers:
            self.are_floats_read = False
        elif self._new_numbers:
            integers_held = {place for place, kind in self._new_numbers.items() if kind is int}
            self._fixed_numbers |= integers_held or {*self._new_numbers}
        elif self._are_checked:
            self._are_checked = False
        elif self._texts_left_out:
            self._fixed_texts |= self._texts_left_out
            self._texts_left_out = set()
        else:
            return False
        self._numbers_read = {
            place: kind for place, kind in self._numbers_read.items() if place not in self._new_numbers
        }
        return True

    def _traced(self, call: Call, account: Account) -> Run:
        if any(map(_is_packed, pytree.tree_leaves(call.given, is_leaf=_is_packed))):
            raise LeftToPyTorch("an argument is packed: it has as many rows as its values say", fix=PACKED)
        program = self._new_program()
        refuse_shared(program.state.tensors)
        _say_stepped(program)
        added = Added(call.function, call.args, self._options.training, False, True)
        with account.doing("finding"):
            kept = self._kept(program, added)
            known = kept and self._known(kept)
        if kept and known and (found := self._found(kept, known, call, account)):
            return found
        with account.doing("tracing"), without_use(call.args):
            program.trace(ENTRY, added)
        traced = program.traced[ENTRY]
        if traced.needed_gradients:
            self._are_gradients_kept = True
            return self._traced(call, account)
        if traced.asked and self._reads_new_integers(call):
            raise TraceError("an integer that changes decides what the program is")
        if traced.asked and self._programs.is_first("asked"):
            warnings.warn(_taken_as_it_is(self._name, traced.asked), stacklevel=6)
        account.op_count = sum(len(graph.ops) for graph in traced.graphs)
        run = self._run(program, call, account)
        run.keep = functools.partial(kept.keep, program) if kept else None
        return run

    def _reads_new_integers(self, call: Call) -> bool:
        return bool(self.integers_read.intersection(call.numbers)) or int in self._new_numbers.values()

    def _new_program(self) -> Program:
        program = self._make_program(self._are_gradients_kept)
        subjects = program.subjects
        subjects.numbers_read, subjects.are_checked = self._numbers_read, self._are_checked
        subjects.reads_captures = self._options.micro_batches is None  # which take the rows of inputs for a batch's
        return program

    def _run(self, program: Program, call: Call, account: Account) -> Run:
        traced = program.traced[ENTRY]
        if (unset := traced.unset) and self._programs.is_first("unset"):
            warnings.warn(_left_as_it_is(self._name, unset), stacklevel=7)
        apart = Apart(call.example, call.numbers)
        with account.doing("compiling"):
            run = Run(program, call.key, self._options, self._programs.random, apart, self._programs.runs)
        drop_slots(self._optimizers, self._with_slots, run.uses)
        run.guard = Guard(traced.subject, traced.constants, traced.captures, traced.unset)
        run.account, account.contents = account, _contents(run, program)
        if (paths := unread(run.guard.snapshot)) and self._programs.is_first("unread"):
            warnings.warn(_read_once(self._name, paths), stacklevel=7)
        if (large := large_arrays(run.guard.snapshot)) and self._programs.is_first("large"):
            warnings.warn(_read_each_time(self._name, large), stacklevel=7)
        return run

    def _kept(self, program: Program, added: Added) -> Kept | None:
        """What keeps the trace for other processes, if it has a key."""
        if not self._options.verify or self._options.buckets:  # what is found is compared
            return None
        try:
            return Kept(program, ENTRY, added)
        except NoKey as error:
            LOG.debug("%s: traces are not kept: %s", self._name, error)
            return None

    def _known(self, kept: Kept) -> Program | None:
        """The program of another process's trace, if there is one."""
        program = self._new_program()
        return program if kept.find(program) else None

    def _found(self, kept: Kept, program: Program, call: Call, account: Account) -> Run | None:
        """A run of another process's program, if its first step is PyTorch's."""
        run = self._run(program, call, account)
        if not run.gradients.hold():
            return None
        try:
            with account.doing("comparing"):
                run.compare(self._name, call.tensors, call.tensors, FOUND_STEPS)
            drop_slots(self._optimizers, self._with_slots, run.uses)
        except (DisagreementError, Undecided):
            kept.forget()
            return None
        run.verified.append(shapes_of(call.tensors))
        account.is_found = True
        return run


def _contents(run: Run, program: Program) -> str:
    """What a program holds, reads and watches, for `explain`."""
    carried = [name.removeprefix(PREFIX) for name in program.subjects.numbers]
    captures = program.traced[ENTRY].captures
    parts = [
        f"{run.memory_bytes:,} bytes of state and arena",
        f"{len(run.guard.snapshot.leaves)} values are watched",
        f"{len(captures)} tensors outside of the state are read" if captures else "",
        f"Python's numbers {_listed(carried)} are state" if carried else "",
    ]
    return ", ".join(filter(None, parts))


def _taken_as_it_is(name: str, places: Sequence[str]) -> str:
    where = f"{', '.join(places[:3])}{' ...' if len(places) > 3 else ''}"
    what = f"Python asks for values of tensors, which are taken as they are in this call ({where})"
    return f"{name}: {what}; a call where they are others is traced again"


def _left_as_it_is(name: str, paths: Sequence[str]) -> str:
    return f"{name}: compiled calls do not set {_listed(paths)}, which the function leaves in Python: return it instead"


def _read_once(name: str, paths: Sequence[str]) -> str:
    what = f"{name}: Python does not show what {_listed(paths)} holds: what of it is read while the function is traced"
    return f"{what} is fixed in the program; pass it as an argument where it changes"


def _read_each_time(name: str, large: dict[str, int]) -> str:
    what = ", ".join(f"`{path}` ({count / 1e6:.0f} MB)" for path, count in large.items())
    why = "is read in each call, as NumPy does not tell whether somebody wrote to it"
    return f"{name}: {what} {why}; make a tensor of it once, torch.from_numpy, or pass what is needed of it"


def _listed(paths: Sequence[str]) -> str:
    return f"{', '.join(f'`{path}`' for path in paths[:3])}{' ...' if len(paths) > 3 else ''}"


def _say_stepped(program: Program) -> None:
    """Tells schedulers, which ask for it, that their optimizers make steps."""
    for optimizer in program.state.optimizers.values():
        optimizer._opt_called = True


def _is_packed(value: Any) -> bool:
    return isinstance(value, PackedSequence)


def _is_text(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, TEXTS)


def _kind(leaf: Any) -> Any:
    """The guard key of one argument leaf."""
    if isinstance(leaf, torch.Tensor):
        return leaf.shape, leaf.dtype, leaf.requires_grad, *sorted(vars(leaf))
    if isinstance(leaf, PLAIN):
        return type(leaf), repr(leaf)
    if isinstance(leaf, ByIdentity):
        return ByIdentity, leaf.key  # of an object that lives as long as the program's function
    return NotTaken, leaf.kind
