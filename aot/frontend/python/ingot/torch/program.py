"""A program: entry points traced from a user's functions, and the state that they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from ingot.compiler import compile
from ingot.folder import EntryPoints, output_name
from ingot.judge import Agreement
from ingot.session import Session
from ingot.torch.auto_checkpoint import limit_of
from ingot.torch.base.errors import TraceError
from ingot.torch.base.parts import check_parts
from ingot.torch.base.places import only_trace_errors
from ingot.torch.base.replacements import exclusive
from ingot.torch.base.tracebacks import shortened
from ingot.torch.judge.case import Case
from ingot.torch.judge.observe import Draws
from ingot.torch.judge.verify import verify
from ingot.torch.python_state.carried import load_numbers
from ingot.torch.python_state.snapshot import Snapshot
from ingot.torch.subjects import Model, Optimizer, Scheduler, Subjects, state_of
from ingot.torch.text.emit import SEED, STEP
from ingot.torch.traced import Added, Traced, traced
from ingot.torch.tracing.calls import owners
from ingot.torch.tracing.others import seen_as_before
from ingot.torch.tracing.paths import leaves, only
from ingot.torch.tracing.settings import without_collection
from ingot.torch.tracing.state import State, stored

# PyTorch rounds to bf16 also what the next op reads in f32.
ROUNDS = ("widen_results",)


class Substituted:
    """What stands in the place of a function; traced is the function itself."""

    function: Callable[..., Any]


class Program(EntryPoints):
    """Entry points that share the state of a model, its optimizer and its scheduler.

    Several models, optimizers or schedulers are given as mappings; their keys stand before the names of their state.
    Dropout and other random ops are keyed by `seed` and by how many steps were run: the state has ``rng.seed`` and
    ``rng.step``.

    With a scheduler, the numbers that it moves are no inputs: the program looks them up in a table of what the
    scheduler gives from where it is to its step `total_steps`, by the counter ``scheduler.last_epoch`` of the state,
    which ``scheduler.step()`` in a traced function counts up. After `total_steps` they stay as they are.

    A function that adds to the gradients of the call before is refused, unless `keep_gradients` makes them state,
    ``grad.<parameter>``; then those that are None are zeros in a file, but of parameters for which no entry point
    makes any.

    With `is_open` a scheduler needs no `total_steps`: whoever runs the program makes it anew where its table is over.

    Raises ValueError for a scheduler without `total_steps`, after them, or whose rates are no function of its counter.
    """

    def __init__(
        self,
        model: Model,
        optimizer: Optimizer = None,
        scheduler: Scheduler = None,
        *,
        total_steps: int | None = None,
        keep_gradients: bool = False,
        seed: int = 0,
        is_open: bool = False,
    ):
        super().__init__()
        check_parts(model, optimizer, scheduler)
        self.subjects = Subjects((model, optimizer, scheduler), keep_gradients, total_steps, is_open)
        self.settings = keep_gradients, total_steps, seed
        self.seed = seed
        self.is_random = False
        self.traced: dict[str, Traced] = {}

    @property
    def state(self) -> State:
        """The state as it is now."""
        return self.subjects.state

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        example_args: Sequence[Any],
        *,
        training: bool = True,
        capture: bool = False,
        guards: bool = False,
    ) -> None:
        """Traces `function` into an entry point; it does not run, and state and gradients stay as they are.

        Its inputs are the tensors of `example_args`, of their shapes and dtypes, called as the function's parameters,
        then the optimizer's changeable numbers (``lr``, ...; f64 scalars) that no scheduler moves. Everything else in
        `example_args` is fixed. Its outputs are the tensors and computed numbers that the function returns: ``loss``
        (or ``output`` where not training), or named by the keys of a dict; objects without tensors are left out, with
        a warning. With `training` models are in the mode that they are in, and gradients are on; without, in
        ``eval()`` and ``no_grad()``. Plain attributes of modules are constants; `capture` makes other tensors such too.
        With `guards`, values that Python must have are those of `example_args` and of the state as it is; the output
        ``guards_hold`` says whether they were, and where not nothing is changed.

        Raises TraceError with the place in the user's source, also for what the function itself raises.
        """
        if isinstance(function, Substituted):
            function = function.function
        try:
            self.trace(name, Added(function, example_args, training, capture, guards))
        except TraceError as error:
            raise shortened(error)  # noqa: B904  (it has its cause)
        limit = limit_of(self.subjects.parts[0])
        if training and limit is not None:
            self.memory_limits[name] = limit

    def trace(self, name: str, added: Added) -> None:
        """Adds an entry point. Where it is refused, the program is as before."""
        learned = self.subjects.learned
        before = {**self.traced}, {**self.texts}, {**self.inputs}
        try:
            with exclusive(), only_trace_errors(), without_collection():
                self.take(name, self._traced(name, added))
                if self.subjects.learned != learned:  # what is state now was fixed in others
                    for other in [other for other in self.traced if other != name]:
                        self.take(other, self._traced(other, self.traced[other].added))
        except TraceError:
            self.subjects.forget(learned)
            self.traced, self.texts, self.inputs = before
            raise

    def take(self, name: str, known: Traced) -> None:
        """Takes in an entry point."""
        self.traced[name], self.texts[name], self.inputs[name] = known, known.text, known.inputs
        self.is_random |= known.is_random

    def _traced(self, name: str, added: Added) -> Traced:
        subject, ways = self.subjects.ways(added, [known.kept_gradients for known in self.traced.values()])
        return traced(name, added, subject, ways, self.subjects.lifted(ways, subject) if added.guards else [])

    def verify(
        self,
        batches: Mapping[str, torch.Tensor],
        entry: str = "train_step",
        *,
        session: Session | None = None,
        steps: int | None = None,
        as_given: Mapping[str, torch.Tensor] | None = None,
        is_in_part: bool = False,
    ) -> Agreement:
        """Runs an entry point's bundle from the state as it is, and each of its steps in PyTorch from the same state.

        `batches` has a tensor for each input, with the step as first dimension. Models, optimizers and what Python
        holds are as before afterwards. Tells how far losses and each tensor of the state are from the same step in
        f64, in units of three times what rounding does to PyTorch. `session` is of the program's bundle, at the same
        state: without, it is compiled anew. PyTorch reads `as_given` where the session reads padded batches.

        With `is_in_part` the first of slow steps alone is judged, if it agrees.

        Random ops give PyTorch what the bundle drew. Where they differ it says at which op first, and its line.

        Raises Undecided where PyTorch cannot be given what an op drew.
        """

        def named(outputs: Any) -> dict[str, Any]:
            return {output_name(path, only(training)): leaf for path, leaf in leaves(outputs)}

        known = self.traced[entry]
        training = known.added.training
        session = session or Session(compile(self, skip=ROUNDS))
        steps = len(next(iter(batches.values()))) if steps is None else steps
        given = batches if as_given is None else as_given
        case = Case(
            session,
            entry,
            known.subject,
            known.draws or Draws(known.graphs),
            training,
            lambda: self.state,
            named,
            batches,
            given,
            steps,
            is_in_part,
        )
        with exclusive(), seen_as_before(self.state):
            return verify(case)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes what `save` does.

        Raises ValueError for a scheduler that no entry point steps: its rates would never change.
        """
        for scheduler, schedule in self.subjects.schedules.items():
            if not schedule.is_stepped:
                raise ValueError(
                    f"no entry point calls {scheduler}.step(); call it in the training function, or in one of its own: "
                    f"program.add('next_epoch', {scheduler}.step, ())"
                )
        super().write(folder)

    def save_state(self, file: str | os.PathLike[str]) -> None:
        """Writes the state as it is now, by name."""
        held = {name: stored(tensor.detach()) for name, tensor in self.state.tensors.items()}
        tensors = {name: tensor.clone().contiguous() for name, tensor in held.items()}
        if self.is_random:
            tensors |= {SEED: torch.tensor(self.seed), STEP: torch.tensor(0)}
        save_file(tensors, os.fspath(file))


def load_state(
    model: Model,
    optimizer: Optimizer,
    file: str | os.PathLike[str],
    scheduler: Scheduler = None,
    *,
    keep_gradients: bool = False,
) -> None:
    """Copies the state that a bundle saved into a model and its optimizer, and steps a scheduler to where it was.

    With `keep_gradients` also the gradients. Raises KeyError for state that the file lacks, ValueError for another
    shape or dtype and for a scheduler that is further already; nothing is copied then. Warns of numbers that Python
    carried from call to call outside of models and optimizers: they are the caller's to set.
    """
    tensors = load_file(os.fspath(file))
    state = state_of(model, optimizer, scheduler, keep_gradients=keep_gradients)
    state.load(tensors)
    load_numbers(tensors, Snapshot(owners(state), state.path_names))
