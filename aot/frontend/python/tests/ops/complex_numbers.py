"""Complex numbers and Fourier transforms."""

import torch
import torch.nn.functional as F

from ops.data import Cases, between, mixed, normal

X, Y, Z, W = normal(3, 8), normal(3, 8), mixed(3, 4), mixed(3, 4)
fft = torch.fft

SQUARES, COLUMNS = mixed(2, 3, 3), mixed(2, 3, 2)
FACTORS, PIVOTS = torch.linalg.lu_factor(SQUARES)
linalg = torch.linalg


def solutions(factors: torch.Tensor, pivots: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Of all systems that factors solve."""
    by_left = [linalg.lu_solve(factors, pivots, b, adjoint=adjoint) for adjoint in (False, True)]
    return by_left + [linalg.lu_solve(factors, pivots, b.mT, left=False, adjoint=adjoint) for adjoint in (False, True)]


CASES: Cases = {
    "norms": (
        lambda z: (z.norm(), z.norm(dim=1), linalg.matrix_norm(z), linalg.matrix_norm(z, 1), (z * 0).norm()),
        (Z,),
    ),
    "vector_norms": (
        lambda z: [linalg.vector_norm(z, p, dim=1) for p in (0, 0.5, 1, 3, -1, float("inf"), float("-inf"))],
        (Z,),
    ),
    "distances": (
        lambda z, w: (torch.dist(z, w), F.pairwise_distance(z, w), F.triplet_margin_loss(z, w, z * w)),
        (Z, W),
    ),
    "normalised": (lambda z: (F.normalize(z, dim=1), torch.renorm(z, 2, 0, 1.5)), (Z,)),
    "deviations": (
        lambda z: (z.var(), z.std(1), z.var(0, correction=0, keepdim=True), *torch.std_mean(z, 1), *torch.var_mean(z)),
        (Z,),
    ),
    "lu_solve": (solutions, (FACTORS, PIVOTS, COLUMNS)),
    "to_real": (lambda z: (z.to(torch.float64), torch.zeros(3, 4).copy_(z.detach())), (Z,)),
    "nan_to_num": (lambda z: torch.nan_to_num(z.detach() / 0, nan=2.0, posinf=3.0, neginf=-3.0), (Z,)),
    "polar_of_one_size": (lambda x, y: torch.polar(x[:, None], y), (between(1, 2, 3), normal(4))),
    "parts": (lambda z: (z.real, z.imag, z.abs(), z.angle(), z.conj().imag), (Z,)),
    "make": (
        lambda x, y: (torch.view_as_real(torch.complex(x, y)), torch.polar(x, y).real),
        (between(1, 2, 3), normal(3)),
    ),
    "arithmetic": (
        lambda z, w: [f.real + 2 * f.imag for f in (z + w, z * w, z / w, z - 2, z * 1j, z.conj() * w)],
        (Z, W),
    ),
    "functions": (
        lambda z: [f.real + 2 * f.imag for f in (z.exp(), z.log(), z.sqrt(), z**2, z.sin(), z.tanh(), z.sgn())],
        (Z,),
    ),
    "sums": (lambda z: (torch.view_as_real(z.sum(1)), z.mean(0).imag, torch.view_as_real(z.prod(1))), (Z,)),
    "products": (lambda z, w: torch.view_as_real(z @ w.mH), (Z, W)),
    "moves": (lambda z, w: torch.view_as_real(torch.cat([z.T, w.T])[::2]), (Z, W)),
    "compare": (lambda z, w: (z == w, z != w, torch.isfinite(z)), (Z, Z)),
    "fft": (
        lambda x: [torch.view_as_real(f) for f in (fft.fft(x), fft.fft(x, dim=0), fft.fft(x, n=5), fft.fft(x, n=10))],
        (X,),
    ),
    "ifft": (
        lambda z: [torch.view_as_real(f) for f in (fft.ifft(z), fft.ifft(z, norm="ortho"), fft.fft(z, norm="forward"))],
        (Z,),
    ),
    "rfft": (
        lambda x: [torch.view_as_real(f) for f in (fft.rfft(x), fft.rfft(x, norm="ortho"), fft.rfft(x, n=7))],
        (X,),
    ),
    "irfft": (lambda z: (fft.irfft(z), fft.irfft(z, n=7), fft.hfft(z)), (Z,)),
    "fft2": (lambda x: [torch.view_as_real(f) for f in (fft.fft2(x), fft.rfft2(x), fft.fftn(x, dim=(0,)))], (X,)),
    "irfft2": (lambda z: (fft.irfft2(z), fft.ifft2(z).real), (Z,)),
    "shift": (lambda x: (fft.fftshift(x), fft.ifftshift(x, dim=1), fft.fftfreq(8, dtype=x.dtype)), (X,)),
    "filter": (lambda x, w: fft.irfft(fft.rfft(x) * fft.rfft(w), n=8), (X, Y)),
    "stft": (
        lambda x: torch.view_as_real(
            torch.stft(x, 8, 4, window=torch.hann_window(8, dtype=x.dtype), return_complex=True)
        ),
        (normal(2, 32),),
    ),
}
