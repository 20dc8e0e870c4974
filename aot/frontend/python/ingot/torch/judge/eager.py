"""The function in PyTorch: its own steps, and beside them the same in f64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ingot.judge import Undecided
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.modes import without_mkldnn
from ingot.torch.base.torch_internals.ops import COND, CONTROL_FLOW, LOOP
from ingot.torch.judge.case import Case, Step, Tensors
from ingot.torch.judge.expanded import write
from ingot.torch.judge.observe import Drawn
from ingot.torch.judge.wide import Wide
from ingot.torch.python_state.restore import putting_back
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.settings import in_mode
from ingot.torch.tracing.state import State, stored, stored_values
from ingot.torch.tracing.substitutes import COMPILE_AND_CALL, run_at_once
from ingot.torch.tracing.unkept import Unkept, known

NUMBER = "the number"  # begins what outputs of one element are called
SPARSE_AND_DENSE = "add(sparse, dense) is not supported"  # as PyTorch says


@dataclass(frozen=True)
class Eager:
    """What PyTorch's step returns and leaves in the state, from the state that a program's step started from."""

    own: Tensors
    wide: Tensors  # in f64, but for what `narrow` ops made
    narrow: Sequence[str]


def run_pytorch(case: Case, steps: Sequence[Step]) -> list[Eager]:
    """PyTorch's steps, each from the state before a program's and given what that drew; all is as before afterwards.

    A later step may raise what a training would not have come to: it ends the comparison. Raises what the first step
    raises without f64 beside it.
    """
    try:
        return _run_all(case, steps, is_wide=True)
    except Undecided:
        raise
    except Exception:
        pass
    return _run_all(case, steps[:1], is_wide=False)  # what it raises is raised in no handler


def _run_all(case: Case, steps: Sequence[Step], *, is_wide: bool) -> list[Eager]:
    made: list[Eager] = []
    with _as_traced(case, steps[0].state):
        for i, step in enumerate(steps):
            try:
                made.append(_run(case, i, step, Wide() if is_wide else None))
            except Exception:
                if not made:
                    raise
                break
    return made


@contextmanager
def _as_traced(case: Case, copies: Tensors) -> Iterator[None]:
    """PyTorch is set as a function was traced; its generator and all that the function changes are put back.

    `copies` are as in `undone`.
    """
    with ExitStack() as stack:
        stack.enter_context(undone(case.subject, copies))
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(in_mode(case.subject.state, case.training))
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))  # in f64 too: other kernels are of f32 alone
        stack.enter_context(without_mkldnn())
        for owner, name, plain in PLAIN:
            stack.enter_context(replaced(owner, name, plain))
        stack.callback(torch.clear_autocast_cache)
        _give_gradients_values(case.state())
        yield


def _cond(pred: Any, if_true: Any, if_false: Any, operands: Sequence[Any]) -> Any:
    return (if_true if pred else if_false)(*operands)


def _while_loop(holds: Any, body: Any, carried: Sequence[Any], others: Sequence[Any]) -> Any:
    made: Any = carried
    while holds(*pytree.tree_leaves(made), *others):
        made = body(*pytree.tree_leaves(made), *others)
    return made


# Operators of control flow as Python has them: Dynamo, which they would go through, takes no modes.
PLAIN = ((COND, "cond_op", _cond), (LOOP, "while_loop_op", _while_loop), (CONTROL_FLOW, COMPILE_AND_CALL, run_at_once))


def _run(case: Case, i: int, step: Step, wide: Wide | None) -> Eager:
    subject = case.subject
    _put_state(case.state(), step.state)
    leaves, spec = pytree.tree_flatten(tuple(subject.example_args))
    numbers = {number.name: number for number in subject.changeable if number.name in case.given}
    for name, number in numbers.items():
        number.set(case.given[name][i].item())
    inputs = iter([rows[i] for name, rows in case.given.items() if name not in numbers])
    torch.clear_autocast_cache()  # has weights of the step before where the caller set autocast
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            leaves[position] = next(inputs).clone().requires_grad_(leaf.requires_grad)
    with Drawn(step.draws) if step.draws else nullcontext(), _sparse_slots(), wide or nullcontext():
        returned = subject.function(*pytree.tree_unflatten(leaves, spec))
    returned = {name: as_tensor(leaf) for name, leaf in case.named(returned).items() if name in step.outputs}
    made = {output_key(name, returned[name]): returned[name] for name in step.outputs} | case.state().tensors
    own = {name: stored_values(tensor.detach()).clone() for name, tensor in made.items()}
    if wide is None:
        return Eager(own, own, ["every op"])
    exact = {name: stored_values(wide.of(tensor.detach())) for name, tensor in made.items()}
    return Eager(own, exact, wide.narrow)


def output_key(name: str, value: Any) -> str:
    """What an output is called among tensors of the state."""
    tensor = as_tensor(value)
    return f"{NUMBER if tensor.dim() == 0 and not tensor.is_complex() else 'the output'} {name}"


def as_tensor(value: Any) -> torch.Tensor:
    """An output, which may be a number of Python's, in f64."""
    return torch.as_tensor(value, dtype=torch.float64 if isinstance(value, float) else None).detach()


def _give_gradients_values(state: State) -> None:
    """Puts zeros in the place of gradients that an earlier call did not keep; a program reads none of them."""
    for tensor in state.tensors.values():
        if isinstance(gradient := tensor.grad, Unkept):
            tensor.grad = torch.zeros_like(tensor) if known(gradient) is None else gradient.plain().clone()


def _put_state(state: State, values: Tensors) -> None:
    with torch.no_grad():
        for name, tensor in state.tensors.items():
            write(stored(tensor.detach()), values[name])
    for name, number in state.numbers.items():
        number.set(values[name].item())


@contextmanager
def _sparse_slots() -> Iterator[None]:
    """Raises Undecided where PyTorch's step does not take slots that are dense in a program."""
    try:
        yield
    except RuntimeError as error:
        if SPARSE_AND_DENSE not in str(error):
            raise
        raise Undecided("PyTorch adds no dense momentum to a sparse gradient") from error


@contextmanager
def undone(subject: Subject, copies: Tensors | None = None) -> Iterator[None]:
    """Tensors, gradients and what Python holds are as before afterwards.

    `copies` are values of tensors by name: those that are a tensor's own are not copied again.
    """
    put_back = _undoing(subject, copies or {})
    try:
        yield
    finally:
        put_back()


def _undoing(subject: Subject, copies: Tensors) -> Callable[[], None]:
    """A function that puts back tensors, gradients and what Python holds as they are now."""
    tensors = list(subject.state.tensors.values())
    values = [_copy(tensor.detach(), copies.get(name)) for name, tensor in subject.state.tensors.items()]
    gradients = [_cloned(known(tensor.grad)) for tensor in tensors]
    before = [(t.data, value, t.grad, grad) for t, value, grad in zip(tensors, values, gradients, strict=True)]
    trained = [tensor.requires_grad for tensor in tensors]
    put_back_objects = putting_back(subject.named_attributes().snapshot)

    def put_back() -> None:
        put_back_objects()
        for tensor, flag in zip(tensors, trained, strict=True):
            tensor.requires_grad_(flag)
        with torch.no_grad():
            for tensor, (data, value, grad, gradient) in zip(tensors, before, strict=True):
                tensor.data = data
                write(tensor, value)
                tensor.grad = grad
                if gradient is not None:
                    grad.copy_(gradient)

    return put_back


def _copy(tensor: torch.Tensor, copy: torch.Tensor | None) -> torch.Tensor:
    """A copy of a tensor: one that there is, or a new one."""
    is_one = copy is not None and copy.dtype == tensor.dtype and torch.equal(copy, tensor)
    return copy if copy is not None and is_one else tensor.clone()


def _cloned(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.clone()
