"""Views by strides: PyTorch's, and those of what PyTorch lays out otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bundle import Bundle
from torch import nn

import ingot.torch

LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rows": lambda x: x + 0,
    "columns": lambda x: (x + 0).t(),
    "channels_last": lambda x: x.reshape(2, 3, 2, 2).contiguous(memory_format=torch.channels_last) + 0,
}
VIEWS: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((2, 3), (3, 1), 0),
    ((3, 2), (1, 3), 5),
    ((2, 1, 3), (3, 99, 1), 0),
    ((2, 3, 5), (3, 1, 0), 1),
    ((4, 4), (1, 1), 2),
    ((5,), (4,), 1),
    ((), (), 3),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views(layout: str, tmp_path: Path) -> None:
    def views(x: torch.Tensor) -> dict[str, torch.Tensor]:
        laid_out = LAYOUTS[layout](x)
        read = {f"read{i}": laid_out.as_strided(*view) for i, view in enumerate(VIEWS)}
        written = {}
        for i, view in enumerate(VIEWS[:3]):
            copy = torch.empty_like(laid_out).copy_(laid_out)
            copy.as_strided(*view).mul_(2)
            written[f"written{i}"] = copy
        return read | written

    x = torch.arange(24.0).reshape(6, 4)
    program = ingot.torch.Program(nn.Identity())
    program.add("views", views, (x,))
    outputs, _ = Bundle(program, tmp_path).run({"x": x}, "views")
    for name, expected in views(x).items():
        assert torch.equal(outputs[name], expected), name


def test_a_view_beyond_a_part_is_refused() -> None:
    def widens(x: torch.Tensor) -> torch.Tensor:
        return x[2:].as_strided((3,), (1,), 0)

    with pytest.raises(ingot.torch.TraceError, match="reaches beyond its tensor"):
        ingot.torch.Program(nn.Identity()).add("f", widens, (torch.zeros(5),))
