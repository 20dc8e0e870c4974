"""A training function that trains through ingot, in the process that it is in."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Literal

import torch

from ingot.compiler import Math
from ingot.judge import Undecided
from ingot.torch.auto_checkpoint import limit_of
from ingot.torch.base.errors import FirstStepDiffers, TraceError
from ingot.torch.base.keywords import Positions
from ingot.torch.base.replacements import exclusive
from ingot.torch.base.torch_internals import pytree
from ingot.torch.buckets import Buckets
from ingot.torch.kept import Kept
from ingot.torch.program import Added, Model, Optimizer, Program, Scheduler, Substituted
from ingot.torch.python_state.noted import noted
from ingot.torch.python_state.repetition import Carried
from ingot.torch.python_state.snapshot import PLAIN
from ingot.torch.run import ENTRY, Departed, DisagreementError, Options, Run, settings, shapes_of, tensors_of
from ingot.torch.running.described import Undescribed
from ingot.torch.running.feed import IndicesOutside
from ingot.torch.running.guard import Guard
from ingot.torch.text.emit import SEED, STEP

LOG = logging.getLogger(__name__)
FOUND = {"steps": 1, "shakes": 2}  # by how much a program is compared again that another process compared
MOST_PROGRAMS = 8
Step = Callable[..., Any]


class CompiledStep(Substituted):
    """A function whose calls run a bundle. Arguments are tensors, and values that are fixed for a program."""

    def __init__(self, function: Step, make_program: Callable[[], Program], options: Options) -> None:
        functools.update_wrapper(self, function)
        self._name = getattr(function, "__name__", type(function).__name__)
        self.function, self._make_program, self._options = function, make_program, options
        self._runs: list[Run] = []
        self._latest: Run | None = None
        self._said: set[str] = set()  # what it warned of
        self._has_begun = False
        self._random = {SEED: torch.tensor(0), STEP: torch.tensor(0)}
        called = function.forward if isinstance(function, torch.nn.Module) else function
        self._positions = Positions(function, inspect.signature(called))
        self._by_position = self._positions.function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call, and one of other shapes or with other values that are fixed, traces before.

        Raises TraceError for what cannot be compiled, DisagreementError where the program does something else; for
        indices that are outside of what they index, what PyTorch raises: the call is its own.
        """
        latest, departed = self._latest, []
        given = self._positions.of(args, kwargs) if kwargs or self._positions.has_keywords else args
        try:
            if latest and (tensors := latest.taken(given)) is not None and latest.holds():
                try:
                    return latest(tensors, are_taken=True)
                except Departed:
                    departed.append(latest)
            return self._compiled(given, departed)
        except IndicesOutside:
            return self.function(*args, **kwargs)

    def _compiled(self, args: tuple[Any, ...], departed: list[Run]) -> Any:
        """What a call gives that is not seen at once to be of the latest program, or has `departed` from it."""
        args = pytree.tree_map_only(torch.Tensor, torch.Tensor.resolve_conj, args)
        given, unpadded = tensors_of(args), args
        if self._options.buckets:
            args = self._options.buckets.padded(self._positions.signature, args)
        leaves, spec = pytree.tree_flatten(args)
        key = (spec, settings(), tuple(map(_kind, leaves)))
        while True:
            run = self._traced_before(key, departed)
            if run is None and self._is_full(key):
                return self._by_position(*unpadded)
            with nullcontext() if run else exclusive():
                run = run or self._traced_before(key, departed)  # by another thread, until now
                is_new = run is None
                if run is None:
                    try:
                        run = self._trace(args, key)
                    except FirstStepDiffers:  # from the state that it makes on, steps are alike
                        return self._by_position(*unpadded)
                    except Carried as error:
                        if not error.is_of_first or self._has_begun or self._options.on_change == "error":
                            raise
                        self._has_begun = True  # from what it changed on, calls may be alike
                        warnings.warn(f"{self._name}: this call is PyTorch's: {error.what}", stacklevel=3)
                        return self._by_position(*unpadded)
                try:
                    return self._ran(run, args, given)
                except Departed:
                    if is_new:
                        raise run.rounded() from None
                    departed.append(run)

    def _traced_before(self, key: Any, departed: list[Run]) -> Run | None:
        """A program that is for such a call."""
        return next((run for run in self._runs if run not in departed and run.key == key and run.holds()), None)

    def _ran(self, run: Run, args: tuple[Any, ...], given: tuple[torch.Tensor, ...]) -> Any:
        """What a program gives, which is compared before with PyTorch on arguments of other shapes."""
        if self._options.verify and (shapes := shapes_of(given)) not in run.verified:
            run.verify(self._name, tensors_of(args), given)
            run.verified.append(shapes)
        if all(run is not known for known in self._runs):
            self._runs.append(run)
        self._latest = run
        return run(tensors_of(args))

    @property
    def programs(self) -> int:
        """How many programs there are: one for each set of shapes and of values that are fixed."""
        return len(self._runs)

    @property
    def memory_bytes(self) -> int:
        """What its last program holds: state, and the arena of a call; 0 before the first call."""
        return self._latest.memory_bytes if self._latest else 0

    def _trace(self, args: tuple[Any, ...], key: Any) -> Run:
        if self._runs:
            self._report(key)
        program = self._make_program()
        _say_stepped(program)
        kept = self._kept(program, args)
        if kept and (found := self._found(kept, args, key)):
            return found
        with noted() as outside:
            program.add(ENTRY, self._by_position, args, training=self._options.training, guards=True)
        if program.asked and self._is_first("asked"):
            warnings.warn(_taken_as_it_is(self._name, program.asked), stacklevel=5)
        run = self._run(program, key)
        run.keep = functools.partial(kept.keep, program, outside) if kept else None
        return run

    def _run(self, program: Program, key: Any) -> Run:
        if (unset := program.unset[ENTRY]) and self._is_first("unset"):
            warnings.warn(_left_as_it_is(self._name, unset), stacklevel=6)
        self._random[SEED] = torch.tensor(program.seed)
        run = Run(program, key, self._options, self._random)
        run.guard = Guard(program.subjects[ENTRY], program.constants[ENTRY], self._options.verify)
        if run.guard.unread and self._is_first("unread"):
            warnings.warn(_read_once(self._name, run.guard.unread), stacklevel=6)
        return run

    def _kept(self, program: Program, args: tuple[Any, ...]) -> Kept | None:
        """What keeps the trace for other processes, where they can be shown to trace the same."""
        if not self._options.verify or self._options.buckets:  # what is found is compared
            return None
        try:
            return Kept(program, ENTRY, Added(self._by_position, args, self._options.training, False, True))
        except Undescribed as error:
            LOG.debug("%s: traces are not kept: %s", self._name, error)
            return None

    def _found(self, kept: Kept, args: tuple[Any, ...], key: Any) -> Run | None:
        """The program of another process's trace, if its first step is PyTorch's."""
        program = self._make_program()
        if not kept.find(program):
            kept.note_libraries()
            return None
        run, tensors = self._run(program, key), tensors_of(args)
        if not run.gradients.hold():
            return None
        try:
            run.compare(self._name, tensors, tensors, **FOUND)
        except (DisagreementError, Undecided):
            kept.forget()
            kept.note_libraries()
            return None
        run.verified.append(shapes_of(tensors))
        return run

    def _report(self, key: Any) -> None:
        """Says once that a program is not enough, and why; refuses it where that was asked for."""
        what = self._what_changed(key)
        if self._options.on_change == "error":
            raise TraceError(what, fix="keep it as it is, pass it as a tensor, or allow on_change='retrace'")
        if len(self._runs) == 1:
            warnings.warn(f"{what}: it is traced again, as it will be for each other one", stacklevel=5)

    def _is_full(self, key: Any) -> bool:
        """Whether no more programs are traced: further calls are PyTorch's, which is said once."""
        if len(self._runs) < MOST_PROGRAMS or self._options.on_change == "error":
            return False
        if self._is_first("full"):
            what = f"{self._what_changed(key)}, and {MOST_PROGRAMS} were traced"
            warnings.warn(
                f"{what}: calls that are none of theirs are PyTorch's; pass what changes as a tensor", stacklevel=4
            )
        return True

    def _is_first(self, warning: str) -> bool:
        """Whether a warning was not given yet; from now on it was."""
        is_first = warning not in self._said
        self._said.add(warning)
        return is_first

    def _what_changed(self, key: Any) -> str:
        alike = [run for run in self._runs if run.key == key]
        why = alike[-1].change() if alike else "its arguments are of other shapes or types, or modes are others"
        return f"{self._name}: {why}; a program has that fixed"


def compile(
    function: Step,
    model: Model,
    optimizer: Optimizer = None,
    scheduler: Scheduler = None,
    *,
    total_steps: int | None = None,
    keep_gradients: bool = False,
    seed: int = 0,
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
    `memory_limit` is that of `ingot.compile`, for a call: what does not fit is computed again, to the same bits;
    without, it is what `auto_checkpoint` said of the model. So are `micro_batches` and `math`. With `enabled` false, or
    INGOT=0 in the environment, it is the function itself.
    """
    if enabled is False or (enabled is None and os.environ.get("INGOT") == "0"):
        return function

    def make_program() -> Program:
        return Program(model, optimizer, scheduler, total_steps=total_steps, keep_gradients=keep_gradients, seed=seed)

    if buckets and not verify:
        raise ValueError("steps with buckets are compared with PyTorch's: leave verify on")
    limit = memory_limit if memory_limit is not None else limit_of(model) if training else None
    options = Options(threads, training, verify, on_change, target, buckets, limit, micro_batches, math)
    return CompiledStep(function, make_program, options)


def step(
    model: Model, optimizer: Optimizer = None, scheduler: Scheduler = None, **options: Any
) -> Callable[[Step], Step]:
    """`compile` as a decorator: ``@ingot.torch.step(model, optimizer)``."""
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
