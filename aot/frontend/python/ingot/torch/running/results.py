"""The return value of a call, built from the outputs of its program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ingot.torch.base.torch_internals import pytree
from ingot.torch.tracing.returned import Output, Shared, ended


class Results:
    """Builds the return value of each call in the form that the traced function returned."""

    def __init__(self, returned: Any, tensors: Mapping[str, torch.Tensor], *, is_padded: bool) -> None:
        """`tensors` is the state by name; `is_padded` says that buckets pad the arguments."""
        self._leaves, self._spec = pytree.tree_flatten(returned)
        self._is_one = isinstance(returned, Output)
        self._tensors, self._is_padded = tensors, is_padded

    def __call__(self, outputs: Mapping[str, torch.Tensor], arguments: Sequence[torch.Tensor]) -> Any:
        """Builds the return value from the outputs, which are by name."""
        if self._is_one:
            return self._result(self._leaves[0], outputs, arguments)
        leaves = [self._result(x, outputs, arguments) if isinstance(x, Output) else x for x in self._leaves]
        return pytree.tree_unflatten(leaves, self._spec)

    def _result(self, output: Output, outputs: Mapping[str, torch.Tensor], arguments: Sequence[torch.Tensor]) -> Any:
        value = outputs[output.name]
        if output.is_number:
            return value.item()
        value = torch.view_as_complex(value) if output.is_complex else value
        if output.shared:
            value = self._shared(output.shared, outputs, arguments, value)
        is_ended = output.ends_gradients and not value.requires_grad and torch.is_grad_enabled()
        return ended(value) if is_ended else value

    def _shared(
        self,
        shared: Shared,
        outputs: Mapping[str, torch.Tensor],
        arguments: Sequence[torch.Tensor],
        copy: torch.Tensor,
    ) -> torch.Tensor:
        """An output in the memory that it shares; a copy of it where that lies otherwise, or is a padded argument's."""
        if shared.whole == "argument":
            whole = None if self._is_padded else arguments[int(shared.name)]
        else:
            whole = (outputs if shared.whole == "output" else self._tensors)[shared.name]
        found = None if whole is None else shared.of(whole)
        return copy if found is None else found
