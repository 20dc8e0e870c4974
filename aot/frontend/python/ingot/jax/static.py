"""Arguments that ``jax.jit`` fixes when it traces a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Static:
    """Which arguments are fixed, by their places and by their names, as ``jax.jit`` finds one from the other."""

    places: tuple[int, ...]  # one below 0 counts from the last that is given
    names: tuple[str, ...]

    @staticmethod
    def of(
        function: Callable[..., Any], places: int | Sequence[int] | None, names: str | Sequence[str] | None
    ) -> Static:
        """Those of ``static_argnums`` and ``static_argnames``."""
        by_place = (places,) if isinstance(places, int) else tuple(places or ())
        by_name = (names,) if isinstance(names, str) else tuple(names or ())
        if places is None or names is None:
            both = [(i, name) for i, name in enumerate(_parameters(function)) if i in by_place or name in by_name]
            by_place = tuple({*by_place, *(i for i, _ in both)})
            by_name = tuple({*by_name, *(name for _, name in both)})
        return Static(by_place, by_name)

    def others(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments that are not fixed, as a tree of theirs."""
        if not self.places and not self.names:
            return args, kwargs
        fixed = {place % len(args) for place in self.places if place < len(args)} if args else set()
        return (
            tuple(value for i, value in enumerate(args) if i not in fixed),
            {name: value for name, value in kwargs.items() if name not in self.names},
        )

    def fixed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments that are fixed, with their types and where they are."""
        if not self.places and not self.names:
            return ()
        by_place = [(place % len(args), args[place]) for place in self.places if place < len(args)] if args else []
        by_name = [(name, value) for name, value in kwargs.items() if name in self.names]
        return tuple((where, type(value), value) for where, value in (*by_place, *by_name))


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of what may be given by place or by name; nothing where Python knows no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
