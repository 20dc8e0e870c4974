"""A function in PyTorch beside its entry point in a bundle: the same batches, losses and state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

from ingot.judge import SHAKES, Agreement, Run, judge
from ingot.session import Session
from ingot.torch.calls import Subject
from ingot.torch.restore import restored
from ingot.torch.snapshot import Snapshot
from ingot.torch.state import State, stored

Tensors = Mapping[str, torch.Tensor]
Log = list[dict[str, float]]
Shake = Callable[[torch.Tensor], torch.Tensor]


def verify(
    session: Session,
    entry: str,
    subject: Subject,
    state: Callable[[], State],
    scalars: Callable[[Any], dict[str, float]],
    batches: Tensors,
    steps: int,
    unit: float,
    every: bool,
) -> Agreement:
    """Judges a session's steps by PyTorch's own, and by those with each f32 value moved by about `unit` of it.

    `state` gives the state as it is, which the session starts from, `scalars` the numbers among what the function
    returns. Nothing but the session is changed.
    """
    log, last = _run_session(session, entry, batches, steps)
    outputs = [*log[0]]

    def run(shake: int | None) -> Run:
        with undone(subject), sdpa_kernel(SDPBackend.MATH), torch.random.fork_rng(devices=[]):
            losses = _run_eager(subject, batches, steps, shaken(shake, unit), scalars)
            last = {name: stored(tensor.detach()).clone() for name, tensor in state().tensors.items()}
        return [row[name] for row in losses for name in outputs], last

    reference = run(None)
    mine = [row[name] for row in log for name in outputs]
    runs = [run(seed) for seed in range(SHAKES)]
    return judge(reference, runs, (mine, {**reference[1], **last}), _distance, every=every)


def _run_session(session: Session, entry: str, batches: Tensors, steps: int) -> tuple[Log, dict[str, torch.Tensor]]:
    """Runs an entry point; gives the numbers among its outputs, and the last state."""
    log = []
    for step in range(steps):
        outputs = session.entries[entry](**{name: stored(rows[step]) for name, rows in batches.items()})
        log.append({name: float(value) for name, value in outputs.items() if value.ndim == 0})
    return log, {name: session.state.torch(name).clone() for name in session.state}


def shaken(seed: int | None, unit: float) -> Shake:
    """What moves f32 values at random; others, and all where there is no seed, it leaves as they are."""
    random = torch.Generator().manual_seed(seed or 0)

    def moved(tensor: torch.Tensor) -> torch.Tensor:
        if seed is None or tensor.dtype != torch.float32:
            return tensor
        return tensor * (1 + unit * torch.randn(tensor.shape, generator=random))

    return moved


def _run_eager(
    subject: Subject, batches: Tensors, steps: int, moved: Shake, scalars: Callable[[Any], dict[str, float]]
) -> Log:
    leaves, spec = pytree.tree_flatten(tuple(subject.example_args))
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    numbers = {number.name: number for number in subject.changeable if number.name in batches}
    inputs = [rows for name, rows in batches.items() if name not in numbers]
    log = []
    for step in range(steps):
        with torch.no_grad():
            for name, tensor in subject.state.tensors.items():
                if not name.endswith(".step"):
                    tensor.copy_(moved(tensor))
        for name, number in numbers.items():
            number.set(batches[name][step].item())
        for i, rows in zip(positions, inputs, strict=True):
            leaves[i] = moved(rows[step])
        log.append(scalars(subject.function(*pytree.tree_unflatten(leaves, spec))))
    return log


@contextmanager
def undone(subject: Subject) -> Iterator[None]:
    """Tensors, gradients and what Python holds are as before afterwards."""
    tensors = list(subject.state.tensors.values())
    before = [(t.data, t.detach().clone(), t.grad, None if t.grad is None else t.grad.clone()) for t in tensors]
    trained = [tensor.requires_grad for tensor in tensors]
    with restored(Snapshot(subject.roots(), {}).reached()):
        yield
    for tensor, flag in zip(tensors, trained, strict=True):
        tensor.requires_grad_(flag)
    with torch.no_grad():
        for tensor, (data, value, grad, gradient) in zip(tensors, before, strict=True):
            tensor.data = data
            tensor.copy_(value)
            tensor.grad = grad
            if grad is not None:
                grad.copy_(gradient)


def _distance(a: torch.Tensor, reference: torch.Tensor) -> float:
    """Relative L2 distance; absolute where the reference is zero."""
    a, reference = a.double(), reference.double()
    norm = reference.norm().item()
    return float((a - reference).norm()) / (norm if norm > 0 else 1)
