"""Sums, means, extremes, norms; running ones; orders."""

import torch
import torch.nn.functional as F

from ops.data import Cases, between, normal, truths, whole

X, Y, POSITIVE, WHOLE, CUBE = normal(3, 4), normal(3, 4), between(0.5, 2, 3, 4), whole(9, 3, 7), normal(2, 5, 3)
TIES = whole(3, 4, 5).double()

CASES: Cases = {
    "sum": (lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True)), (CUBE,)),
    "sum_int": (lambda x: (x.sum(), x.int().sum(0)), (WHOLE,)),
    "mean": (lambda x: (x.mean(), x.mean(-1), x.mean((0, 1), keepdim=True)), (CUBE,)),
    "prod": (lambda x: (x.prod(), x.prod(1)), (X,)),
    "amax_ties": (lambda x: (x.amax(1), x.amin(0), x.amax()), (TIES,)),
    "max_ties": (lambda x: (*x.max(1), *x.min(0, keepdim=True), x.max()), (TIES,)),
    "argmax": (lambda x: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True)), (TIES,)),
    "aminmax": (lambda x: (*torch.aminmax(x, dim=1), *torch.aminmax(x)), (X,)),
    "all_any": (lambda x: (x.all(), x.any(1), x.all(0), (x.int() * 2).any(1)), (truths(3, 4),)),
    "count_nonzero": (lambda x: (torch.count_nonzero(x), torch.count_nonzero(x, dim=1)), (WHOLE,)),
    "var_std": (lambda x: (x.var(), x.std(1), x.var(0, correction=0), x.std((0, 2), keepdim=True)), (CUBE,)),
    "var_mean": (lambda x: (*torch.var_mean(x, 1), *torch.std_mean(x)), (CUBE,)),
    "norm": (lambda x: (x.norm(), x.norm(dim=1), x.norm(p=1, dim=0), x.norm(p=3), x.norm(p=float("inf"), dim=1)), (X,)),
    "vector_norm": (
        lambda x: [torch.linalg.vector_norm(x, p, dim=1) for p in (0.5, 1, 2, 2.5, -1, float("-inf"))],
        (X,),
    ),
    "norm_of_zero": (lambda x: (x * 0).norm(dim=1), (X,)),
    "logsumexp": (lambda x: (torch.logsumexp(x, 1), torch.logsumexp(x, (0, 2), keepdim=True)), (CUBE,)),
    "softmax": (lambda x: (x.softmax(1), x.log_softmax(-1), F.softmin(x, 0)), (CUBE,)),
    "cumsum": (lambda x: (x.cumsum(1), x.cumsum(0)), (CUBE,)),
    "cumsum_int": (lambda x: (x.cumsum(1), (x > 3).cumsum(0)), (WHOLE,)),
    "cumsum_long": (lambda x: x.cumsum(0), (normal(300, 2),)),
    "cumprod": (lambda x: x.cumprod(1), (POSITIVE,)),
    "cumprod_zero": (lambda x: F.relu(x).cumprod(1), (X,)),
    "cummax": (lambda x: (*x.cummax(1), *x.cummin(0)), (X,)),
    "cummax_ties": (lambda x: (*x.cummax(1), *x.cummin(0)), (TIES,)),
    "cummax_int": (lambda x: (*x.cummax(1),), (WHOLE,)),
    "logcumsumexp": (lambda x: x.logcumsumexp(1), (CUBE,)),
    "median": (lambda x: (x.median(), *x.median(1), *x.median(0, keepdim=True)), (CUBE,)),
    "nanmedian": (lambda x: (x.nanmedian(),), (normal(7),)),
    "kthvalue": (lambda x: (*x.kthvalue(2, 1), *x.kthvalue(3, 0, keepdim=True)), (X,)),
    "mode": (lambda x: (*torch.mode(x, 1),), (WHOLE,)),
    "quantile": (
        lambda x: (torch.quantile(x, 0.4), torch.quantile(x, torch.tensor([0.1, 0.9], dtype=x.dtype), dim=1)),
        (X,),
    ),
    "nansum": (lambda x: (torch.nansum(torch.log(x)), torch.nanmean(torch.log(x.flatten()), 0)), (X,)),
    "sort": (lambda x: (*x.sort(1), *x.sort(0, descending=True)), (X,)),
    "sort_ties": (lambda x: (*x.sort(dim=1, stable=True), *x.sort(dim=0, descending=True, stable=True)), (TIES,)),
    "argsort": (lambda x: (x.argsort(1), x.argsort(0, descending=True)), (X,)),
    "orders_of_scalars": (lambda x: (*x.sort(), *x.topk(1), *x.median(0), *x.kthvalue(1), *x.mode()), (normal(),)),
    "msort": (torch.msort, (X,)),
    "topk": (lambda x: (*x.topk(2, 1), *x.topk(2, 0, largest=False)), (X,)),
    "topk_int": (lambda x: x.topk(2, 1).values, (WHOLE,)),
    "histc": (lambda x: torch.histc(x.detach(), 5, -2, 2), (normal(50),)),
    "diff": (lambda x: (x.diff(), x.diff(n=2, dim=0)), (normal(4, 5),)),
    "trapezoid": (lambda x: (torch.trapezoid(x), torch.cumulative_trapezoid(x, dx=0.5)), (X,)),
    "trace": (torch.trace, (normal(3, 4),)),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.5), (normal(4, 5),)),
    "normalize": (lambda x: F.normalize(x, dim=1), (X,)),
    "cosine_similarity": (lambda x, y: F.cosine_similarity(x, y, dim=1), (X, Y)),
    "pairwise_distance": (lambda x, y: (F.pairwise_distance(x, y), F.pairwise_distance(x, y, p=1)), (X, Y)),
    "cdist": (lambda x, y: torch.cdist(x, y), (normal(2, 5, 3), normal(2, 4, 3))),
    "cdist_p": (lambda x, y: [torch.cdist(x, y, p=p) for p in (1, 3, float("inf"))], (normal(5, 3), normal(4, 3))),
    "pdist": (F.pdist, (normal(5, 3),)),
    "searchsorted": (
        lambda s, v: (torch.searchsorted(s.cumsum(1), v), torch.searchsorted(s.cumsum(1), v, right=True)),
        (POSITIVE, between(0, 6, 3, 5)),
    ),
    "searchsorted_number": (lambda s: torch.searchsorted(s.cumsum(1)[0], 2.5), (POSITIVE,)),
    "bucketize": (
        lambda x: (
            torch.bucketize(x, torch.tensor([-1.0, 0, 1], dtype=x.dtype)),
            torch.bucketize(x, torch.tensor([-1.0, 0, 1], dtype=x.dtype), right=True),
        ),
        (X,),
    ),
    "equal_all": (lambda x, y: (x == y).all(), (X, X)),
    "std_of_half": (lambda x: x.half().sum(1).double(), (normal(3, 40),)),
}
