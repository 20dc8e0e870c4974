"""A training function that trains through ingot, in the process that it is in."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.utils import _pytree as pytree

from ingot import cache
from ingot.compiler import Math
from ingot.judge import Undecided
from ingot.session import Session
from ingot.torch.auto_checkpoint import limit_of
from ingot.torch.buckets import Buckets
from ingot.torch.described import Undescribed
from ingot.torch.emit import HELD, SEED, STEP
from ingot.torch.errors import FirstStepDiffers, TraceError
from ingot.torch.feed import Feed, IndicesOutside
from ingot.torch.guard import Guard
from ingot.torch.index_checks import INDICES_WITHIN
from ingot.torch.kept import Kept
from ingot.torch.kept_gradients import LiveGradients
from ingot.torch.keywords import by_position
from ingot.torch.live import Live
from ingot.torch.noted import noted
from ingot.torch.program import Added, Model, Optimizer, Program, Scheduler, Substituted
from ingot.torch.repetition import Carried
from ingot.torch.returned import Output, Shared, ended
from ingot.torch.schedules import advance, counter
from ingot.torch.snapshot import PLAIN
from ingot.torch.state import counter_name, stored
from ingot.torch.unkept import UnkeptGradients, mark_arguments, refuse_gradients, refuse_made

LOG = logging.getLogger(__name__)
ENTRY = "step"
VERIFIED_STEPS = 3
FOUND = {"steps": 1, "shakes": 2}  # by how much a program is compared again that another process compared
MOST_PROGRAMS = 8
Step = Callable[..., Any]
Shapes = list[torch.Size]


class DisagreementError(RuntimeError):
    """The compiled steps give other numbers than PyTorch."""


@dataclass(frozen=True)
class Options:
    """How functions are compiled, and what is done when they change."""

    threads: int = 1
    training: bool = True
    verify: bool = True
    on_change: Literal["retrace", "error"] = "retrace"
    target: str = "host"
    buckets: Buckets | None = None
    memory_limit: int | str | None = None
    micro_batches: int | str | None = None
    math: Math = "standard"


class CompiledStep(Substituted):
    """A function whose calls run a bundle. Arguments are tensors, and values that are fixed for a program."""

    def __init__(self, function: Step, make_program: Callable[[], Program], options: Options) -> None:
        functools.update_wrapper(self, function)
        self._name = getattr(function, "__name__", type(function).__name__)
        self.function, self._make_program, self._options = function, make_program, options
        self._runs: list[Run] = []
        self._latest: Run | None = None
        self._has_said = self._has_said_unset = self._has_said_full = self._has_begun = False
        self._random = {SEED: torch.tensor(0), STEP: torch.tensor(0)}
        called = function.forward if isinstance(function, torch.nn.Module) else function
        self._signature = inspect.signature(called)
        self._by_position = by_position(function, self._signature)
        self._has_keywords = self._by_position is not function
        self._positions = inspect.signature(self._by_position) if self._has_keywords else self._signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call, and one of other shapes or with other values that are fixed, traces before.

        Raises TraceError for what cannot be compiled, DisagreementError where the program does something else; for
        indices that are outside of what they index, what PyTorch raises: the call is its own.
        """
        try:
            return self._compiled(args, kwargs)
        except IndicesOutside:
            return self.function(*args, **kwargs)

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        latest, departed = self._latest, []
        if latest and not kwargs and not self._has_keywords and latest.takes(args) and latest.holds():
            try:
                return latest(args, are_taken=True)
            except Departed:
                departed.append(latest)
        if kwargs or self._has_keywords:
            args = self._positional(args, kwargs)
        args = pytree.tree_map_only(torch.Tensor, torch.Tensor.resolve_conj, args)
        given, unpadded = _tensors(args), args
        if self._options.buckets:
            args = self._options.buckets.padded(self._positions, args)
        leaves, spec = pytree.tree_flatten(args)
        key = (spec, _settings(), tuple(map(_kind, leaves)))
        while True:
            run = next((r for r in self._runs if r not in departed and r.key == key and r.holds()), None)
            is_new = run is None
            if run is None:
                if self._is_full(key):
                    return self._by_position(*unpadded)
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

    def _ran(self, run: Run, args: tuple[Any, ...], given: tuple[torch.Tensor, ...]) -> Any:
        """What a program gives, which is compared before with PyTorch on arguments of other shapes."""
        if self._options.verify and (shapes := _shapes(given)) not in run.verified:
            run.verify(self._name, _tensors(args), given)
            run.verified.append(shapes)
        if all(run is not known for known in self._runs):
            self._runs.append(run)
        self._latest = run
        return run(_tensors(args))

    @property
    def programs(self) -> int:
        """How many programs there are: one for each set of shapes and of values that are fixed."""
        return len(self._runs)

    @property
    def memory_bytes(self) -> int:
        """What its last program holds: state, and the arena of a call; 0 before the first call."""
        return self._latest.memory_bytes if self._latest else 0

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        bound = self._signature.bind(*args, **kwargs)
        return (bound.kwargs, *bound.args) if self._has_keywords else bound.args

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
        if program.asked and not self._has_said:
            self._has_said = True
            warnings.warn(_taken_as_it_is(self._name, program.asked), stacklevel=5)
        run = self._run(program, key)
        run.keep = functools.partial(kept.keep, program, outside) if kept else None
        return run

    def _run(self, program: Program, key: Any) -> Run:
        if (unset := program.unset[ENTRY]) and not self._has_said_unset:
            self._has_said_unset = True
            warnings.warn(_left_as_it_is(self._name, unset), stacklevel=6)
        self._random[SEED] = torch.tensor(program.seed)
        run = Run(program, key, self._options, self._random)
        run.guard = Guard(program.subjects[ENTRY], program.constants[ENTRY], self._options.verify)
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
        run, tensors = self._run(program, key), _tensors(args)
        if not run.gradients.hold():
            return None
        try:
            run.compare(self._name, tensors, tensors, **FOUND)
        except (DisagreementError, Undecided):
            kept.forget()
            kept.note_libraries()
            return None
        run.verified.append(_shapes(tensors))
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
        if not self._has_said_full:
            self._has_said_full = True
            what = f"{self._what_changed(key)}, and {MOST_PROGRAMS} were traced"
            warnings.warn(
                f"{what}: calls that are none of theirs are PyTorch's; pass what changes as a tensor", stacklevel=4
            )
        return True

    def _what_changed(self, key: Any) -> str:
        alike = [run for run in self._runs if run.key == key]
        why = alike[-1].change() if alike else "its arguments are of other shapes or types, or modes are others"
        return f"{self._name}: {why}; a program has that fixed"


class Departed(Exception):
    """A program was run where values that Python asked for were others than when it was traced: it changed nothing."""


class Run:
    """One program of a function: what it was traced with, and its bundle over the live state."""

    guard: Guard
    keep: Callable[[], None] | None = None  # what keeps its trace for other processes

    def __init__(self, program: Program, key: Any, options: Options, random: dict[str, torch.Tensor]) -> None:
        self.key = key
        self.has_departed = False  # in its last run
        self.verified: list[Shapes] = []  # shapes of arguments as they were given
        self._is_padded = options.buckets is not None
        self._computed = program.computed[ENTRY]
        self._program, self._subject = program, program.subjects[ENTRY]
        wanted = {"memory_limit": options.memory_limit, "micro_batches": options.micro_batches}
        memory: Any = {name: {ENTRY: value} for name, value in wanted.items() if value is not None}
        checks = {f"{INDICES_WITHIN}{i}": text for i, text in enumerate(program.checks[ENTRY])}
        self._bundle = cache.compiled(program.texts | checks, options.target, **memory, math=options.math)
        self._tensors = self._subject.state.tensors | random
        self._live = Live(self._bundle, options.threads, self._tensors)
        numbers = {number.name: number for number in self._subject.changeable}
        given = [row["name"] for row in program.inputs[ENTRY] if row["name"] not in numbers]
        examples = _tensors(self._subject.example_args)
        self._feed = Feed(self._live.session, ENTRY, given, examples, numbers, [*checks])
        self._unkept = UnkeptGradients(program.gradients[ENTRY], self._tensors)
        self._argument_gradients = program.argument_gradients[ENTRY]
        self._used_gradients = {name: self._tensors[name] for name in program.used_gradients[ENTRY]}
        self.gradients = LiveGradients(self._subject.state, self._tensors, program.kept_gradients[ENTRY])
        self._is_flat = len(examples) == len(self._subject.example_args)
        self._shapes = _shapes(examples)
        self._absent = program.absent[ENTRY]
        self._schedulers = [
            (schedule.scheduler, self._tensors[counter_name(name)])
            for name, schedule in self._subject.schedules.items()
        ]
        numbers_carried = self._subject.state.numbers
        self._carried = [(numbers_carried[name], self._tensors[name]) for name in self._live.names & {*numbers_carried}]

    def holds(self) -> bool:
        """Whether all that is fixed in it is as it was."""
        return self.guard.holds() and self.gradients.hold()

    @property
    def memory_bytes(self) -> int:
        """State, and the arena of a call."""
        return self._bundle.state_bytes + self._bundle.arena_bytes

    def takes(self, args: tuple[Any, ...]) -> bool:
        """Whether a call's arguments are seen at once to be of its program: tensors alone, of the same types.

        With buckets a batch that fills one is compared first, as others are.
        """
        is_compared = not self._is_padded or self._shapes in self.verified
        are_taken = self._is_flat and is_compared and self._feed.takes(args) and _settings() == self.key[1]
        return are_taken and not (self._absent and any(self._absent & {*vars(x)} for x in args))

    def __call__(self, arguments: tuple[torch.Tensor, ...], are_taken: bool = False) -> Any:
        """Runs on the live state; `are_taken` says that these are tensors that it takes."""
        refuse_gradients(self._used_gradients)
        marked = {self._program.inputs[ENTRY][i]["name"]: arguments[i] for i in self._argument_gradients}
        refuse_made(marked)
        self._take_numbers()
        missing = self.gradients.take()
        self._live.take_in()
        outputs = self._feed(arguments, are_taken)
        self._live.written()
        self.has_departed = not outputs.pop(HELD, True)
        if self.has_departed:
            raise Departed
        for scheduler, count in self._schedulers:
            advance(scheduler, int(count))
        for number, tensor in self._carried:
            number.set(tensor.item())
        self.gradients.leave(missing)
        self._unkept.stand()
        mark_arguments(marked)
        return self._returned(outputs, arguments)

    def _take_numbers(self) -> None:
        """What Python counts and carries becomes state."""
        if self._carried:
            values = self._values()
            if not self._computed.hold(values):
                raise Departed
            for number, tensor in self._carried:
                tensor.fill_(values[number.name])
        for scheduler, count in self._schedulers:
            count.fill_(counter(scheduler))

    def _values(self) -> dict[str, Any]:
        """What Python carries, as it is now."""
        return {name: number.get() for name, number in self._subject.state.numbers.items()}

    def rounded(self) -> TraceError:
        """The error where values are others in the program as soon as it was traced."""
        if limited := self._computed.limited:
            what = f"Python computes integers of what a tensor gives at {limited[0]}, which is too large for 64 bits"
            return TraceError(what, fix="compute with floats, or keep it small: n % 1_000_003")
        what = f"Python asks for values of tensors at {self._program.asked[0]}, which rounding or random numbers decide"
        return TraceError(f"{what}: in the program they are others", fix="compute with tensors, torch.where")

    def change(self) -> str:
        """Why it is not enough."""
        asked = "Python would be given other values of tensors" if self.has_departed else ""
        return self.gradients.change() or asked or self.guard.change()

    def verify(self, name: str, arguments: Sequence[torch.Tensor], given: Sequence[torch.Tensor]) -> None:
        """Compares some steps with PyTorch's on what was given, on copies of all; says so where that is not possible.

        Raises DisagreementError where they are not the same but for rounding, and where padding may be why.
        """
        try:
            self.compare(name, arguments, given, steps=VERIFIED_STEPS)
        except Undecided as error:
            if self._is_padded:
                raise DisagreementError(f"{name} cannot be shown to be right for padded batches: {error}") from error
            warnings.warn(f"{name} is not verified: {error}", stacklevel=5)
            return
        if self.keep:
            self.keep()

    def compare(self, name: str, arguments: Sequence[torch.Tensor], given: Sequence[torch.Tensor], **how: int) -> None:
        """Compares, by `how` many `steps` and `shakes`; raises DisagreementError, Undecided where rounding decides."""
        refuse_gradients(self._used_gradients)
        self._take_numbers()
        self.gradients.take()
        how["steps"] = self.gradients.steps(self._computed.calls(self._values(), how["steps"]))
        session = Session(self._bundle)
        for state in session.state:
            session.state[state] = stored(self._tensors[state].detach())
        names = [row["name"] for row in self._program.inputs[ENTRY]]
        batches, as_given = (dict(zip(names, map(_repeated, tensors), strict=False)) for tensors in (arguments, given))
        with self.guard.functions.seen():
            agreement = self._program.verify(batches, ENTRY, session=session, every=False, as_given=as_given, **how)
        if agreement.by_rounding:
            LOG.info("%s %s", name, agreement)
        if not agreement.holds:
            raise DisagreementError(f"{name} is not what PyTorch does: it {agreement}; verify=False takes it as it is")

    def _returned(self, outputs: dict[str, torch.Tensor], arguments: Sequence[torch.Tensor]) -> Any:
        def tensor(output: Output) -> torch.Tensor:
            value = outputs[output.name]
            value = torch.view_as_complex(value) if output.is_complex else value
            if output.shared:
                value = self._shared(output.shared, outputs, arguments, value)
            return (
                ended(value) if output.ends_gradients and not value.requires_grad and torch.is_grad_enabled() else value
            )

        tree = self._program.returned[ENTRY]
        return tensor(tree) if isinstance(tree, Output) else pytree.tree_map_only(Output, tensor, tree)

    def _shared(
        self, shared: Shared, outputs: dict[str, torch.Tensor], arguments: Sequence[torch.Tensor], copy: torch.Tensor
    ) -> torch.Tensor:
        """An output in the memory that it shares; a copy of it where that lies otherwise, or is a padded argument's."""
        if shared.whole == "argument":
            whole = None if self._is_padded else arguments[int(shared.name)]
        else:
            whole = (outputs if shared.whole == "output" else self._tensors)[shared.name]
        found = None if whole is None else shared.of(whole)
        return copy if found is None else found


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
    where = f"{', '.join(f'`{path}`' for path in paths[:3])}{' ...' if len(paths) > 3 else ''}"
    return f"{name}: compiled calls do not set {where}, which the function leaves in Python: return it instead"


def _tensors(tree: Any) -> tuple[torch.Tensor, ...]:
    return tuple(leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor))


def _repeated(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().expand(VERIFIED_STEPS, *tensor.shape)


def _shapes(tensors: Sequence[torch.Tensor]) -> Shapes:
    return [tensor.shape for tensor in tensors]


def _settings() -> tuple[Any, ...]:
    """What PyTorch is set to that is fixed in a program."""
    autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    return torch.is_grad_enabled(), torch.get_default_dtype(), *autocast


def _say_stepped(program: Program) -> None:
    """Tells schedulers, which ask for it, that their optimizers make steps."""
    for optimizer in program.state.optimizers.values():
        optimizer._opt_called = True
