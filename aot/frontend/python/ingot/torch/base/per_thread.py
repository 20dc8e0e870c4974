"""Dicts that hold other values for the thread that traces than for all others."""

from __future__ import annotations

from typing import Any

from ingot.torch.base.replacements import is_tracer

OF_CONTENTS = (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__or__"),
    *("__repr__", "__reversed__", "__ror__", "__setitem__"),
    *("clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
)


class PerThread(dict[Any, Any]):
    """A dict that is `own` for the thread that traces, and `others` for all other threads and for code in C.

    Copied and saved it is one of the two.
    """

    def __init__(self, own: dict[Any, Any], others: dict[Any, Any]) -> None:
        super().__init__(others)
        self.own, self.others = own, others

    def __reduce_ex__(self, _: Any) -> Any:
        return type(self.own), ([*self.items()],)


def _of_seen(name: str) -> Any:
    def method(self: PerThread, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.own if is_tracer() else self.others, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name in OF_CONTENTS:
    setattr(PerThread, _name, _of_seen(_name))
PerThread.__hash__ = None
