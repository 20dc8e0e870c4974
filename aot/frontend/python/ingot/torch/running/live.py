"""A bundle's state in the place of the live tensors': what is trained is what PyTorch sees."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from ingot._engine import addresses, are_at
from ingot.session import Bundle, Session
from ingot.torch.tracing.state import stored


class Live:
    """A session in whose memory a model's and an optimizer's own tensors lie."""

    def __init__(self, bundle: Bundle, threads: int, tensors: Mapping[str, torch.Tensor]) -> None:
        self.session = Session(bundle, threads)
        self._names = [*bundle.states]
        self.names = set(bundle.states)  # of the state that lies in the session's memory
        self._views = [self.session.state.torch(name) for name in bundle.states]
        self._tensors = tuple([tensors[name] for name in bundle.states])
        self._pointers = [view.data_ptr() for view in self._views]
        self._addresses = addresses(tuple(self._views))

    def take_in(self) -> None:
        """Copies the tensors that do not lie in the session's memory into it; from then on they do."""
        if are_at(self._tensors, self._addresses):
            return
        with torch.no_grad():
            for i, (name, tensor, pointer) in enumerate(zip(self._names, self._tensors, self._pointers, strict=True)):
                if tensor.data_ptr() != pointer:
                    if self._views[i].data_ptr() != pointer:  # its memory became another, as by share_memory()
                        self._views[i] = self.session.state.torch(name)
                    view = self._views[i]
                    view.copy_(stored(tensor.detach()))
                    tensor.data = torch.view_as_complex(view) if tensor.is_complex() else view

    def written(self) -> None:
        """Tells PyTorch that the state has other values: backward passes through the old ones are errors."""
        torch.autograd.graph.increment_version(self._tensors)
