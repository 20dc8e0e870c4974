"""Functions with arguments that are given by keyword alone, as functions of positions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


class Keyworded:
    """A function whose first argument has those that are given by keyword alone."""

    def __init__(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        positional = [parameter for parameter in signature.parameters.values() if parameter.kind not in BY_KEYWORD]
        first = inspect.Parameter("keywords", inspect.Parameter.POSITIONAL_ONLY)
        self.__signature__ = inspect.Signature([first, *positional])

    def __call__(self, keywords: Mapping[str, Any], *args: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **keywords)


def by_position(function: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    """A function of positions: itself, where all its arguments have one."""
    is_keyworded = any(parameter.kind in BY_KEYWORD for parameter in signature.parameters.values())
    return Keyworded(function, signature) if is_keyworded else function
