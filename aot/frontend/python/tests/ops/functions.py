"""Functions of one number: exponentials, angles, special functions, activations."""

from functools import partial

import torch
import torch.nn.functional as F

from ops.data import Cases, between, normal

ANY, POSITIVE, UNIT, ABOVE_ONE = normal(3, 4), between(0.2, 4, 3, 4), between(-0.9, 0.9, 3, 4), between(1.1, 4, 3, 4)

DOMAINS = {
    "exp exp2 expm1 sin cos tan sinh cosh tanh atan asinh sigmoid erf erfc sinc": ANY,
    "log log2 log10 log1p lgamma digamma": POSITIVE,
    "asin acos atanh erfinv": UNIT,
    "acosh": ABOVE_ONE,
}
SPECIAL = {
    "i0 i0e i1 i1e ndtr expit": ANY,
    "entr psi gammaln": POSITIVE,
    "logit": between(0.1, 0.9, 3, 4),
}
ACTIVATIONS = (
    "relu relu6 elu selu celu gelu silu mish softplus softsign tanhshrink softshrink hardshrink hardtanh hardsigmoid "
    "hardswish logsigmoid leaky_relu glu rrelu"
)

POLES = torch.tensor([0.0, -0.0, -1, -2, float("inf"), float("-inf"), float("nan"), 0.5, -0.5], dtype=torch.float64)
# Where PyTorch's Bessel functions J and Y are right in f64: between 3 and 14 they are off by up to 4e-7.
RIGHT = torch.cat([between(0.01, 2.7, 8), between(15, 60, 8)])
KINDS = ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0")
MODIFIED = [f"{scaled}modified_bessel_{kind}" for scaled in ("", "scaled_") for kind in ("k0", "k1")]
POLYNOMIALS = [
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
]
ENDS = torch.tensor([-1.0, 0.0, 1e-30, 0.5, 3, 290, 1e5, float("inf"), float("nan")], dtype=torch.float64)


def kinds(x: torch.Tensor) -> torch.Tensor:
    """Which elements are not finite, and how."""
    return torch.stack([x.isnan(), x.isposinf(), x.isneginf()])


CASES: Cases = {
    **{name: (getattr(torch, name), (x,)) for names, x in DOMAINS.items() for name in names.split()},
    **{f"special_{n}": (getattr(torch.special, n), (x,)) for names, x in SPECIAL.items() for n in names.split()},
    **{f"act_{name}": (getattr(F, name), (2 * ANY,)) for name in ACTIVATIONS.split()},
    "gelu_tanh": (partial(F.gelu, approximate="tanh"), (ANY,)),
    "prelu": (F.prelu, (normal(2, 3, 4), between(0.1, 0.4, 3))),
    "softplus_beta": (partial(F.softplus, beta=3, threshold=2), (ANY,)),
    "logit_eps": (partial(torch.logit, eps=0.2), (between(0, 1, 3, 4),)),
    "polygamma": (lambda x: (torch.polygamma(1, x), torch.polygamma(2, x)), (POSITIVE,)),
    "polygamma_at_poles": (lambda x: [kinds(torch.polygamma(n, x.detach())) for n in (0, 2, 3)], (POLES,)),
    "zeta_at_poles": (lambda q: [kinds(torch.special.zeta(s, q.detach())) for s in (0.5, 1, 2, 2.5)], (POLES,)),
    "multigammaln": (lambda x: torch.special.multigammaln(x, 3), (between(2, 5, 3, 4),)),
    "zeta": (lambda s, q: torch.special.zeta(s.detach(), q), (ABOVE_ONE, POSITIVE)),
    "xlogy": (torch.xlogy, (POSITIVE, between(0.2, 4, 3, 4))),
    "xlogy_zero": (lambda x, y: torch.xlogy(F.relu(x), y), (ANY, POSITIVE)),
    "xlog1py": (torch.special.xlog1py, (ANY, POSITIVE)),
    "logaddexp": (lambda x, y: (torch.logaddexp(x, y), torch.logaddexp2(x, y)), (ANY, normal(3, 4))),
    "lgamma_negative": (lambda x: torch.lgamma(x), (between(-3.9, -3.1, 5),)),
    "float_of_int": (lambda x: (torch.exp(x), torch.sqrt(x + 3)), (torch.arange(-2, 3),)),
    "erfcx": (torch.special.erfcx, (torch.cat([between(-3, 3, 9), torch.tensor([2.0, 5, 30, 1e5])]),)),
    "log_ndtr": (torch.special.log_ndtr, (between(-30, 5, 9),)),
    "bessel": (lambda x: [getattr(torch.special, kind)(x.detach()) for kind in KINDS], (RIGHT,)),
    "modified_bessel": (lambda x: [getattr(torch.special, f)(x.detach()) for f in MODIFIED], (between(0.01, 30, 12),)),
    "polynomials": (
        lambda x: [getattr(torch.special, f)(x.detach(), torch.arange(-1, 10) / 1.25) for f in POLYNOMIALS],
        (between(0.1, 1.6, 11),),
    ),
    "ndtri": (torch.special.ndtri, (torch.cat([between(0.01, 0.99, 9), torch.tensor([1e-30, 1e-9])]),)),
    "igamma": (
        lambda a, x: (torch.igamma(a.detach(), x), torch.special.gammaincc(a.detach(), x)),
        (torch.cat([between(0.02, 4, 8), between(30, 200, 8)]), torch.cat([between(0.05, 6, 8), between(30, 200, 8)])),
    ),
    "igamma_at_ends": (
        lambda a, x: [f(a[:, None], x).detach().nan_to_num(-7) for f in (torch.igamma, torch.igammac)],
        (ENDS, ENDS),
    ),
    "bessel_far": (lambda x: (torch.special.i0e(x), torch.special.i1e(x)), (between(-60, 60, 9),)),
}
