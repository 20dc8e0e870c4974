"""Refusals that a function's own ``except`` takes for errors of its own: it would go on another way than in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from ingot.stablehlo import Place
from ingot.torch.base.places import REFUSALS, Places, is_users_code, user_place
from ingot.torch.base.replacements import replaced


@contextmanager
def not_swallowed(places: Places) -> Iterator[None]:
    """Raises, at the end, the first refusal that code of the user's caught, at its place."""
    made: list[tuple[BaseException, Place | None]] = []

    def noting(init: Callable[..., None]) -> Callable[..., None]:
        @wraps(init)
        def note(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            made.append((self, user_place()))

        return note

    with ExitStack() as undo:
        undo.callback(made.clear)
        for refusal in REFUSALS:
            undo.enter_context(replaced(refusal, "__init__", noting(refusal.__init__)))
        yield
        for error, place in made:
            # An error's traceback begins at the frame that it came to last: the one that caught it.
            if error.__traceback__ and is_users_code(error.__traceback__.tb_frame):
                places.last = place
                raise error
