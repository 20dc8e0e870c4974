"""Optimizers with PyTorch's interface whose state is small: Adam and AdamW with moments of 8 bits.

>>> optimizer = ingot.torch.optim.AdamW8bit(model.parameters(), lr=1e-3)

They train in PyTorch as it is, and become part of a program as those of ``torch.optim`` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from ingot.torch.base.torch_internals.optimizers import ADAM
from ingot.torch.optimizers.block_codes import MEAN, SQUARE, Coded, block_elements, decode, encode

__all__ = ["Adam8bit", "AdamW8bit"]

Tensors = Sequence[torch.Tensor]
# What belongs to a parameter, in the order in which updates take it.
SLOTS = ("exp_avg", "exp_avg_sq")
SCALES = ("exp_avg_scale", "exp_avg_sq_scale")


class Adam8bit(torch.optim.Optimizer):  # type: ignore[misc]  # torch is not checked
    """Adam, whose moments take 2 + 8/256 bytes an element instead of 8.

    A parameter's ``exp_avg`` and ``exp_avg_sq`` are codes, u8 of the parameter's shape; ``exp_avg_scale`` and
    ``exp_avg_sq_scale``, f32 [blocks], are the greatest sizes of blocks of up to 256 elements, in row-major order
    (``optimizers/block_codes.py``). A step moves the parameter by the moments before they are rounded, in f32.

    Codes differ from those of Dettmers et al. (arXiv 2110.02861): they are made by integer arithmetic instead of a
    table, and rounded by dither, so that a second moment goes down as it should when gradients become small. Parameters
    of fewer than 4096 elements, those without blocks of at least 64, and those of f64 are updated by PyTorch's Adam.

    Source: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1.
    """

    DECOUPLED = False  # whether weight decay is apart from the gradient

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | torch.Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        least = {"lr": lr, "betas[0]": betas[0], "betas[1]": betas[1], "eps": eps, "weight_decay": weight_decay}
        for name, value in least.items():
            if not value >= 0 or (name.startswith("betas") and value >= 1):
                raise ValueError(f"invalid {name}: {value}")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter that has a gradient; gives what the closure returns."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                self._init_group(group)
                self._update_group(group)
        return loss

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads what ``state_dict()`` gave."""
        super().load_state_dict(state_dict)
        # PyTorch gives a parameter's slots its type.
        saved = [number for group in state_dict["param_groups"] for number in group["params"]]
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        for number, parameter in zip(saved, parameters, strict=True):
            held = state_dict["state"].get(number, {})
            if SCALES[0] not in held:
                continue
            for name in (*SLOTS, *SCALES):
                self.state[parameter][name] = held[name].detach().to(parameter.device, copy=True)

    def _init_group(self, group: dict[str, Any]) -> None:
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            if parameter.grad.is_sparse:
                raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
            if not self.state[parameter]:
                self.state[parameter].update(_slots(parameter))

    def _update_group(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        settings = {name: group[name] for name in ("lr", "weight_decay", "eps")}
        settings |= {"beta1": beta1, "beta2": beta2, "decoupled_weight_decay": self.DECOUPLED}
        updated = [parameter for parameter in group["params"] if parameter.grad is not None]
        coded = [parameter for parameter in updated if SCALES[0] in self.state[parameter]]
        plain = [parameter for parameter in updated if SCALES[0] not in self.state[parameter]]
        if coded:
            _single_tensor_adam8bit(*self._lists(coded, (*SLOTS, *SCALES, "step")), **settings)
        if plain:
            params, grads, means, squares, steps = self._lists(plain, (*SLOTS, "step"))
            none: list[torch.Tensor] = []
            switches = dict.fromkeys(("amsgrad", "maximize", "capturable", "differentiable"), False)
            has_complex = any(map(torch.is_complex, plain))
            ADAM(
                *(params, grads, means, squares, none, steps, None, None),
                **{**settings, **switches, "has_complex": has_complex},
            )

    def _lists(self, parameters: Tensors, slots: Iterable[str]) -> list[list[torch.Tensor]]:
        gradients = [parameter.grad for parameter in parameters]
        return [[*parameters], gradients, *([self.state[p][slot] for p in parameters] for slot in slots)]


class AdamW8bit(Adam8bit):
    """Adam8bit with decoupled weight decay.

    Source: Loshchilov, Hutter, "Decoupled weight decay regularization", ICLR 2019.
    """

    DECOUPLED = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | torch.Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)


def _slots(parameter: torch.Tensor) -> dict[str, torch.Tensor]:
    """A parameter's state before its first step."""
    step = torch.tensor(0.0, dtype=torch.float32)
    block = block_elements(parameter)
    if not block:
        like = {name: torch.zeros_like(parameter, memory_format=torch.preserve_format) for name in SLOTS}
        return {"step": step, **like}
    blocks, device = parameter.numel() // block, parameter.device
    codes = {name: torch.zeros(parameter.shape, dtype=torch.uint8, device=device) for name in SLOTS}
    return {"step": step, **codes, **{name: torch.zeros(blocks, device=device, dtype=torch.float32) for name in SCALES}}


def _single_tensor_adam8bit(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    exp_avg_scales: Tensors,
    exp_avg_sq_scales: Tensors,
    steps: Tensors,
    *,
    lr: Any,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
) -> None:
    """Updates parameters whose moments are codes; tracing calls it with lists of one."""
    lists = (params, grads, exp_avgs, exp_avg_sqs, exp_avg_scales, exp_avg_sq_scales, steps)
    for parameter, grad, means, squares, mean_scales, square_scales, step in zip(*lists, strict=True):
        blocks = (mean_scales.numel(), -1)
        weight, gradient = (tensor.to(torch.float32).reshape(blocks) for tensor in (parameter, grad))
        step += 1
        if weight_decay != 0:
            if decoupled_weight_decay:
                weight = weight * (1 - lr * weight_decay)
            else:
                gradient = gradient + weight * weight_decay
        mean = decode(Coded(means.view(blocks), mean_scales), MEAN) * beta1 + gradient * (1 - beta1)
        square = decode(Coded(squares.view(blocks), square_scales), SQUARE) * beta2 + gradient * gradient * (1 - beta2)
        made = step.item()
        deviation = square.sqrt() / (1 - beta2**made) ** 0.5 + eps
        parameter.copy_((weight - mean / deviation * (lr / (1 - beta1**made))).view(parameter.shape))
        for codes, scales, coded in (
            (means, mean_scales, encode(mean, MEAN, step)),
            (squares, square_scales, encode(square, SQUARE, step)),
        ):
            codes.copy_(coded.codes.view(codes.shape))
            scales.copy_(coded.scales)
