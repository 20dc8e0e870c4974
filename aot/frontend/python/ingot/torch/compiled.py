"""A training function that trains through ingot, in the process that it is in."""

from __future__ import annotations

import collections
import functools
import inspect
import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch

from ingot.compiler import Math
from ingot.judge import Undecided
from ingot.torch.auto_checkpoint import limit_of
from ingot.torch.base.errors import FirstStepDiffers, TraceError
from ingot.torch.base.keywords import OfTensors, Positions, with_tensors
from ingot.torch.base.parts import check_parts
from ingot.torch.base.places import is_raised_by_user
from ingot.torch.base.replacements import exclusive
from ingot.torch.base.torch_internals import pytree
from ingot.torch.buckets import Buckets
from ingot.torch.kept import Kept
from ingot.torch.optimizers.slots import drop_slots, parameters_with_slots
from ingot.torch.program import Added, Model, Optimizer, Program, Scheduler, Substituted
from ingot.torch.python_state.noted import noted
from ingot.torch.python_state.repetition import Carried, Kinds
from ingot.torch.python_state.snapshot import PLAIN
from ingot.torch.run import ENTRY, Departed, DisagreementError, Options, Run, settings, shapes_of, tensors_of
from ingot.torch.running.apart import Apart
from ingot.torch.running.described import Undescribed
from ingot.torch.running.feed import IndicesOutside
from ingot.torch.running.guard import Guard
from ingot.torch.running.live import refuse_shared
from ingot.torch.running.redecorated import Programs, programs_of
from ingot.torch.running.same_code import Comparison

LOG = logging.getLogger(__name__)
FOUND_STEPS = 1  # of a program that another process compared, which are compared again
MOST_PROGRAMS = 8
MOST_FIRSTS = 3  # calls that are PyTorch's for what they make or raise, before all of their shapes are
KEEP = "keep it as it is, pass it as a tensor, or allow on_change='retrace'"
Step = Callable[..., Any]


class Call(NamedTuple):
    """The arguments of a call, as they are given and as a program takes them."""

    key: Any  # what of them, and of PyTorch's settings, is fixed
    function: Step  # of `args`
    given: tuple[Any, ...]
    example: tuple[Any, ...]  # padded
    args: tuple[Any, ...]  # padded, with tensors in the place of floats
    tensors: tuple[torch.Tensor, ...]  # of `args`
    unpadded: tuple[torch.Tensor, ...]
    has_floats: bool


class CompiledStep(Substituted):
    """A function whose calls run a bundle. Arguments are tensors, floats, and values that are fixed for a program."""

    def __init__(
        self,
        function: Step,
        make_program: Callable[[], Program],
        options: Options,
        programs: Programs,
        optimizers: Sequence[torch.optim.Optimizer] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self._name = getattr(function, "__name__", type(function).__name__)
        self.function, self._make_program, self._options = function, make_program, options
        self._runs: list[Run] = []
        self._latest: Run | None = None
        self._first: Any = None  # the key of the last call, where that was PyTorch's as it makes what later ones find
        self._firsts: collections.Counter[Any] = collections.Counter()  # how often a call was, by its key
        self._programs, self._optimizers = programs, optimizers
        self._with_slots: set[tuple[int, int]] = set()  # parameters that had optimizers' state before the last trace
        self._same: list[Comparison] = []  # with the functions of runs that were found, which last as long as they hold
        called = function.forward if isinstance(function, torch.nn.Module) else function
        self._are_floats_read = True  # of arguments: they are inputs, if they need not be fixed
        self._are_checked = True  # values, where the function raises otherwise
        self._numbers_read: Kinds = {}  # floats that Python holds elsewhere and that changed, by their places
        self._new_numbers: Kinds = {}  # of them, those that the last trace was the first to read
        self._fixed_numbers: set[tuple[int, Any]] = set()  # places of those that a program must have fixed
        self._positions = Positions(function, inspect.signature(called))
        self._by_position = self._positions.function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call, and one of other shapes or with other values that are fixed, traces before.

        Raises TraceError for what cannot be compiled, DisagreementError where the program does something else; for
        indices that are outside of what they index, what PyTorch raises: the call is its own.
        """
        if torch.is_anomaly_enabled():
            if self._is_first("anomaly"):
                what = "anomalies are looked for (torch.autograd.set_detect_anomaly)"
                warnings.warn(f"{self._name}: calls are PyTorch's while {what}", stacklevel=2)
            return self.function(*args, **kwargs)
        if self._same and not all(same.holds() for same in self._same):
            self._runs, self._same, self._latest = [], [], None
        latest, departed = self._latest, []
        given = self._positions.of(args, kwargs) if kwargs or self._positions.has_keywords else args
        try:
            if latest and (tensors := latest.taken(given)) is not None and latest.holds():
                try:
                    return latest(tensors, are_taken=True)
                except Departed:
                    departed.append(latest)
            with exclusive():
                return self._compiled(given, departed)
        except IndicesOutside:
            return self.function(*args, **kwargs)

    def _compiled(self, args: tuple[Any, ...], departed: list[Run]) -> Any:
        """What a call gives that is not seen at once to be of the latest program, or has `departed` from it."""
        call = self._call(args)
        if any(run.is_checked for run in departed):
            return self._by_position(*call.given)
        self._runs = [run for run in self._runs if not run.is_over]
        while True:
            run = self._fitting(call.key, departed)
            is_new = run is None
            if run is None:
                if self._is_full(call.key) or self._firsts[call.key] == MOST_FIRSTS:
                    return self._by_position(*call.given)
                if self._runs:
                    self._report(call.key)
                try:
                    run = self._traced(call)
                except FirstStepDiffers:  # from the state that it makes on, steps are alike
                    return self._by_position(*call.given)
                except Carried as error:
                    self._note_first(call.key, error)
                    return self._by_position(*call.given)
                except TraceError as error:
                    if is_raised_by_user(error.__cause__):
                        return self._raising(call, error)
                    if not self._reads_less(call):
                        raise
                    return self._compiled(args, departed)
            if shapes_of(call.unpadded) in run.differing:
                return self._by_position(*call.given)
            try:
                return self._ran(run, call)
            except Departed:
                if run.is_checked:
                    return self._by_position(*call.given)
                if is_new:
                    raise run.rounded() from None
                departed.append(run)
            except DisagreementError as error:
                self._leave_to_pytorch(run, call.unpadded, error)

    def _call(self, args: tuple[Any, ...]) -> Call:
        """A call's arguments as a program takes them; raises TypeError for those that the function does not take."""
        self._positions.signature.bind(*args)
        given = pytree.tree_map_only(torch.Tensor, torch.Tensor.resolve_conj, args)
        example = self._options.buckets.padded(self._positions.signature, given) if self._options.buckets else given
        taken, floats = with_tensors(example) if self._are_floats_read else (example, [])
        leaves, spec = pytree.tree_flatten(taken)
        key = spec, settings(), tuple(map(_kind, leaves)), *floats
        function = OfTensors(self._by_position, floats) if floats else self._by_position
        unpadded = with_tensors(given)[0] if floats else given
        return Call(key, function, given, example, taken, tensors_of(taken), tensors_of(unpadded), bool(floats))

    def _fitting(self, key: Any, departed: list[Run]) -> Run | None:
        """A run that there is, which fits a call and has not `departed` from it."""
        known = next((r for r in self._runs if r not in departed and r.key == key and r.holds()), None)
        return known or self._found_of_same(key, departed)

    def _note_first(self, key: Any, error: Carried) -> None:
        """Lets a call be PyTorch's that makes what later ones find; raises the error where it is no such call."""
        if not error.is_of_first or self._first == key or self._options.on_change == "error":
            raise error
        self._first = key  # from what it changes on, calls may be alike
        self._firsts[key] += 1
        if self._is_first("first"):
            warnings.warn(f"{self._name}: this call is PyTorch's: {error.what}", stacklevel=4)

    def _raising(self, call: Call, error: TraceError) -> Any:
        """A call in PyTorch of a function that raises an error of its own while it is traced."""
        result = self._by_position(*call.given)
        self._firsts[call.key] += 1
        if self._is_first("raising"):
            warnings.warn(f"{self._name}: this call is PyTorch's: traced, it raises {error.what}", stacklevel=4)
        return result

    def _reads_less(self, call: Call) -> bool:
        """Fixes numbers that a trace failed with, or leaves out its checks, which may take ops that are refused."""
        if call.has_floats:
            self._are_floats_read = False
        elif self._new_numbers:
            self._fixed_numbers |= {*self._new_numbers}
        elif self._are_checked:
            self._are_checked = False
        else:
            return False
        self._numbers_read = {
            place: kind for place, kind in self._numbers_read.items() if place not in self._new_numbers
        }
        return True

    def _ran(self, run: Run, call: Call) -> Any:
        """What a program gives, which is compared before with PyTorch on arguments of other shapes."""
        if self._options.verify and (shapes := shapes_of(call.unpadded)) not in run.verified:
            known = parameters_with_slots(self._optimizers)
            run.verify(self._name, call.tensors, call.unpadded)
            drop_slots(self._optimizers, known)
            run.verified.append(shapes)
        self._add(run)
        self._latest, self._first = run, None
        return run(call.tensors)

    def _found_of_same(self, key: Any, departed: list[Run]) -> Run | None:
        """A run of an earlier function of the same code over the same values, if one fits."""
        run: Run
        for run, same in self._programs.of_same(self.function):
            if run not in self._runs and run not in departed and run.key == key and run.holds():
                self._runs.append(run)
                self._same.append(same)
                return run
        return None

    def _leave_to_pytorch(self, run: Run, given: tuple[torch.Tensor, ...], error: DisagreementError) -> None:
        """Keeps a training going whose later calls differ; the first call raises, before anything is trained."""
        if self._latest is None or self._options.on_change == "error":
            raise error
        run.differing.append(shapes_of(given))
        self._add(run)
        what = f"{self._name}: calls with arguments of these shapes are PyTorch's from now on"
        warnings.warn(f"{what}: {error}", stacklevel=5)

    def _add(self, run: Run) -> None:
        if all(run is not known for known in self._runs):
            self._runs.append(run)
            self._programs.add(self.function, run)

    @property
    def programs(self) -> int:
        """How many programs there are: one for each set of shapes and of values that are fixed."""
        return len(self._runs)

    @property
    def memory_bytes(self) -> int:
        """What its last program holds: state, and the arena of a call; 0 before the first call."""
        return self._latest.memory_bytes if self._latest else 0

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs beside models and optimizers: with ``seed=...``, how far random numbers are."""
        return self._programs.random.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        self._programs.random.load_state_dict(state)

    def _traced(self, call: Call) -> Run:
        """A new run; where there is none, optimizers hold what they held before."""
        self._with_slots = parameters_with_slots(self._optimizers)
        try:
            return self._trace(call)
        except BaseException:
            drop_slots(self._optimizers, self._with_slots)
            raise

    def _trace(self, call: Call) -> Run:
        program = self._new_program()
        refuse_shared(program.state.tensors)
        _say_stepped(program)
        added = Added(call.function, call.args, self._options.training, False, True)
        kept = self._kept(program, added)
        if kept and (found := self._found(kept, call)):
            return found
        with noted() as outside:
            program.add(ENTRY, call.function, call.args, training=self._options.training, guards=True)
        if program.asked and self._is_first("asked"):
            warnings.warn(_taken_as_it_is(self._name, program.asked), stacklevel=5)
        run = self._run(program, call)
        run.keep = functools.partial(kept.keep, program, outside) if kept else None
        return run

    def _new_program(self) -> Program:
        program = self._make_program()
        program.numbers_read, program.are_checked = self._numbers_read, self._are_checked
        return program

    def _run(self, program: Program, call: Call) -> Run:
        if (unset := program.unset[ENTRY]) and self._is_first("unset"):
            warnings.warn(_left_as_it_is(self._name, unset), stacklevel=6)
        apart = Apart(call.example, are_floats_read=call.has_floats)
        run = Run(program, call.key, self._options, self._programs.random, apart)
        drop_slots(self._optimizers, self._with_slots, run.uses)
        run.guard = Guard(program.subjects[ENTRY], program.constants[ENTRY], self._options.verify)
        if run.guard.unread and self._is_first("unread"):
            warnings.warn(_read_once(self._name, run.guard.unread), stacklevel=6)
        return run

    def _kept(self, program: Program, added: Added) -> Kept | None:
        """What keeps the trace for other processes, where they can be shown to trace the same."""
        if not self._options.verify or self._options.buckets:  # what is found is compared
            return None
        try:
            return Kept(program, ENTRY, added)
        except Undescribed as error:
            LOG.debug("%s: traces are not kept: %s", self._name, error)
            return None

    def _found(self, kept: Kept, call: Call) -> Run | None:
        """The program of another process's trace, if its first step is PyTorch's."""
        program = self._new_program()
        if not kept.find(program):
            kept.note_libraries()
            return None
        run = self._run(program, call)
        if not run.gradients.hold():
            return None
        try:
            run.compare(self._name, call.tensors, call.tensors, FOUND_STEPS)
            drop_slots(self._optimizers, self._with_slots, run.uses)
        except (DisagreementError, Undecided):
            kept.forget()
            kept.note_libraries()
            return None
        run.verified.append(shapes_of(call.tensors))
        return run

    def _report(self, key: Any) -> None:
        """Says once that a program is not enough, and why; refuses it where that was asked for.

        Floats of Python's that changed are read in each call from now on.
        """
        what = self._what_changed(key)
        if self._options.on_change == "error":
            raise TraceError(f"{what}; a program has that fixed", fix=KEEP)
        alike = [run for run in self._runs if run.key == key]
        floats = alike[-1].guard.floats() if alike else {}
        self._new_numbers = {place: kind for place, kind in floats.items() if place not in self._fixed_numbers}
        self._numbers_read = self._numbers_read | self._new_numbers
        if self._is_first(f"changed {what.partition(' is ')[0]}"):
            later = "and is read in each call from now on" if self._new_numbers else "as it will be for each other one"
            warnings.warn(f"{what}; a program has that fixed: it is traced again, {later}", stacklevel=4)

    def _is_full(self, key: Any) -> bool:
        """Whether no more programs are traced: further calls are PyTorch's, which is said once."""
        if len(self._runs) < MOST_PROGRAMS or self._options.on_change == "error":
            return False
        if self._is_first("full"):
            what = f"{self._what_changed(key)}; a program has that fixed, and {MOST_PROGRAMS} were traced"
            warnings.warn(
                f"{what}: calls that are none of theirs are PyTorch's; pass what changes as a tensor", stacklevel=4
            )
        return True

    def _is_first(self, warning: str) -> bool:
        """Whether a warning was not given yet; from now on it was."""
        is_first = warning not in self._programs.said
        self._programs.said.add(warning)
        return is_first

    def _what_changed(self, key: Any) -> str:
        alike = [run for run in self._runs if run.key == key]
        why = alike[-1].change() if alike else "its arguments are of other shapes or types, or modes are others"
        return f"{self._name}: {why}"


class PyTorchsStep(CompiledStep):
    """A step that is not compiled: it has what a compiled one has, and calls the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **kwargs)


def compile(
    function: Step,
    model: Model,
    optimizer: Optimizer = None,
    scheduler: Scheduler = None,
    *,
    total_steps: int | None = None,
    keep_gradients: bool = False,
    seed: int | None = None,
    enabled: bool | None = None,
    threads: int = 1,
    training: bool = True,
    verify: bool = True,
    on_change: Literal["retrace", "error"] = "retrace",
    target: str = "host",
    buckets: Buckets | None = None,
    memory_limit: int | str | None = None,
    micro_batches: int | str | None = None,
    math: Math = "standard",
) -> Step:
    """A training function that runs as a bundle in this process, on the live model and optimizer.

    From the first call on, parameters, buffers and slots lie in the bundle's memory: ``state_dict()``, evaluation in
    PyTorch and checkpoints see what is trained. Gradients have no values there, which whoever asks for them is told,
    unless `keep_gradients`. The first call traces, compiles, and compares some steps with PyTorch (`verify`), which is
    given what random ops drew. Arguments of other shapes, and whatever else is fixed in a program and changes, are
    traced and compared again with one warning, or with `on_change="error"` refused; `buckets` pads batches.
    Each call draws the seed of its random ops from PyTorch's generator, or counts calls from a `seed` of its own.
    `memory_limit` is that of `ingot.compile`, for a call: what does not fit is computed again, to the same bits;
    without, it is what `auto_checkpoint` said of the model. So are `micro_batches` and `math`. With `enabled` false, or
    INGOT=0 in the environment, it calls the function itself.
    """
    if not callable(function):
        raise TypeError(f"what is compiled is a {type(function).__name__}, and is to be a function")
    check_parts(model, optimizer, scheduler)
    if seed is not None and type(seed) is not int:
        raise TypeError(f"seed is {seed!r}, and is to be an integer, or None to follow PyTorch's generator")

    def make_program() -> Program:
        how = functools.partial(Program, total_steps=total_steps, keep_gradients=keep_gradients, is_open=True)
        return how(model, optimizer, scheduler, seed=seed or 0)

    limit = memory_limit if memory_limit is not None else limit_of(model) if training else None
    options = Options(threads, training, verify, on_change, target, buckets, limit, micro_batches, math)
    parts = model, optimizer, scheduler, total_steps, keep_gradients, seed, options
    optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else [*(optimizer or {}).values()]
    is_off = enabled is False or (enabled is None and os.environ.get("INGOT") == "0")
    kind = PyTorchsStep if is_off else CompiledStep
    return kind(function, make_program, options, programs_of(function, optimizer, parts, seed), optimizers)


def step(
    model: Model, optimizer: Optimizer = None, scheduler: Scheduler = None, **options: Any
) -> Callable[[Step], Step]:
    """`compile` as a decorator: ``@ingot.torch.step(model, optimizer)``."""
    if inspect.isroutine(model):
        raise TypeError("the decorator is given the model: @ingot.torch.step(model, optimizer)")
    check_parts(model, optimizer, scheduler)
    return lambda function: compile(function, model, optimizer, scheduler, **options)


def _kind(leaf: Any) -> Any:
    """What of an argument is fixed in a program."""
    if isinstance(leaf, torch.Tensor):
        return leaf.shape, leaf.dtype, leaf.requires_grad, *sorted(vars(leaf))
    if isinstance(leaf, PLAIN):
        return type(leaf), repr(leaf)
    fix = "give tensors, numbers, strings, lists or dicts of them, and all else before: functools.partial(step, model)"
    raise TypeError(f"an argument is a {type(leaf).__name__}; {fix}")


def _taken_as_it_is(name: str, places: Sequence[str]) -> str:
    where = f"{', '.join(places[:3])}{' ...' if len(places) > 3 else ''}"
    what = f"Python asks for values of tensors, which are taken as they are in this call ({where})"
    return f"{name}: {what}; a call where they are others is traced again"


def _left_as_it_is(name: str, paths: Sequence[str]) -> str:
    return f"{name}: compiled calls do not set {_listed(paths)}, which the function leaves in Python: return it instead"


def _read_once(name: str, paths: Sequence[str]) -> str:
    what = f"{name}: Python does not show what {_listed(paths)} holds: what of it is read while the function is traced"
    return f"{what} is fixed in the program; pass it as an argument where it changes"


def _listed(paths: Sequence[str]) -> str:
    return f"{', '.join(f'`{path}`' for path in paths[:3])}{' ...' if len(paths) > 3 else ''}"


def _say_stepped(program: Program) -> None:
    """Tells schedulers, which ask for it, that their optimizers make steps."""
    for optimizer in program.state.optimizers.values():
        optimizer._opt_called = True
