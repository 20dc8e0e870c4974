"""What stays whole in the text: some functions of torch.nn, and optimizers' updates, each with what it is made of.

They become ``stablehlo.composite`` ops of their names in PyTorch; what is made of the same ops shares a decomposition.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from ingot.torch.base.function_modes import Replacing
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import has_hooks
from ingot.torch.base.torch_internals.optimizers import UPDATE
from ingot.torch.numbers.choices import Choices
from ingot.torch.optimizers.updates import Updates
from ingot.torch.optimizers.zeros import right_at_zero
from ingot.torch.tracing.attention import attention_of_pytorch, scaled_dot_product_attention
from ingot.torch.tracing.state import Optimizers

# Says that what is traced until it is left belongs to one composite of that name.
Mark: TypeAlias = Callable[[str], AbstractContextManager[None]]
Function: TypeAlias = Callable[..., Any]

FUNCTIONS = (
    "batch_norm",
    "cross_entropy",
    "gelu",
    "group_norm",
    "layer_norm",
    "rms_norm",
    "scaled_dot_product_attention",
)
# What is traced in the place of a function's own ops.
MADE_OF: dict[Function, Function] = {attention_of_pytorch: scaled_dot_product_attention}
OPTIMIZERS = "torch.optim."  # what begins the names of composites that are updates


@contextmanager
def composites(optimizers: Optimizers, mark: Mark, choices: Choices) -> Iterator[None]:
    """Marks FUNCTIONS, whoever calls them, and each parameter's update."""
    functions = [function for name in FUNCTIONS if _is_torchs(function := getattr(functional, name), name)]
    marked = {f: _marked(f, f"torch.nn.functional.{f.__name__}", mark) for f in functions}
    stepping = ""
    traced: dict[Any, Any] = {}

    def note(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        nonlocal stepping
        stepping = f"{OPTIMIZERS}{type(optimizer).__name__}"

    def one_by_one(update: Function) -> Function:
        update = right_at_zero(update, choices.is_input)

        def updates(*lists: Any, **settings: Any) -> None:
            alike = Updates(update, settings, choices.count, traced)
            for i in range(len(lists[0])):
                ones = [x[i : i + 1] if isinstance(x, list) else x for x in lists]
                with mark(stepping):
                    alike.run(ones)
                for every, one in zip(lists, ones, strict=True):
                    if isinstance(every, list):
                        every[i : i + 1] = one

        return updates

    with ExitStack() as undo:
        undo.enter_context(Replacing(marked))
        for function, whole in marked.items():
            undo.enter_context(replaced(functional, function.__name__, whole))
        for optimizer in filter(has_hooks, optimizers.values()):
            undo.callback(optimizer.register_step_pre_hook(note).remove)
        for source in {sys.modules[type(optimizer).step.__module__] for optimizer in optimizers.values()}:
            for name in [name for name in vars(source) if name.startswith(UPDATE)]:
                update = one_by_one(getattr(source, name))
                undo.enter_context(replaced(source, name, update, kind="an optimizer's module"))
        yield


def _is_torchs(function: Any, name: str) -> bool:
    """Whether it is PyTorch's, and none that the user has put in its place."""
    return getattr(function, "__name__", "") == name and str(function.__module__).startswith("torch.")


def _marked(function: Function, name: str, mark: Mark) -> Function:
    made_of = MADE_OF.get(function, function)

    @functools.wraps(function)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with mark(name):
            return made_of(*args, **kwargs)

    return whole
