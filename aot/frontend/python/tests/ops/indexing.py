"""Reading and writing where tensors say."""

import torch
import torch.nn.functional as F

from ops.data import Cases, normal, truths, whole

X, SOURCE, CUBE, ROWS = normal(4, 5), normal(3, 5), normal(3, 4, 5), torch.tensor([2, 0, 2])
AT = whole(4, 3, 5)
BAGS, OFFSETS = whole(7, 9), torch.tensor([0, 3, 3, 5])
TABLE = normal(7, 3)
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")

ZERO, ONE = torch.tensor(0), torch.tensor([0])


def rows_of_scalars(x: torch.Tensor) -> list[torch.Tensor]:
    """A scalar has one row."""
    reduced = [x.index_reduce(0, ZERO, x * 2, name) for name in ("prod", "mean", "amax", "amin")]
    rows = [x.index_select(0, ONE), x.index_add(0, ZERO, x, alpha=2), x.index_copy(0, ZERO, 2 * x)]
    return [*rows, *reduced, x.index_fill(0, ZERO, 2.0), x.transpose(0, -1), x.take(ZERO), x.put(ZERO, 2 * x)]


CASES: Cases = {
    "rows_of_scalars": (rows_of_scalars, (normal(),)),
    "by_scalars": (lambda x, i: (x.index_select(0, i), x.take(i), x.put(i, x.sum())), (X, torch.tensor(2))),
    "repeat_interleave": (
        lambda x, n: (x.repeat_interleave(n, 0, output_size=6), torch.repeat_interleave(n, output_size=6)),
        (X, torch.tensor([1, 2, 0, 3])),
    ),
    "index": (lambda x, i: (x[i], x[:, i], x[i, i], x[i, 1:3]), (X, ROWS)),
    "index_negative": (lambda x, i: x[i - 4], (X, ROWS)),
    "index_apart": (
        lambda x, i: (x[i, :, i], x[:, i, i], x[i[:, None], i[None]], x[None, i]),
        (CUBE, torch.tensor([2, 0, 1])),
    ),
    "index_list": (lambda x: x[[0, 2]], (X,)),
    "index_put": (lambda x, i, v: x.index_put((i,), v), (X, torch.tensor([2, 0, 1]), SOURCE)),
    "index_put_accumulate": (lambda x, i, v: x.index_put((i,), v, accumulate=True), (X, ROWS, SOURCE)),
    "assign": (lambda x, i: put(x, i, 7.0), (X, ROWS)),
    "assign_mask": (lambda x, c: put(x, c, 7.0), (X, truths(4, 5))),
    "assign_mask_rows": (lambda x, c: put(x, c, 0.0), (X, truths(4))),
    "assign_mask_row": (lambda x, c, v: put(x, c, v.detach()), (X, truths(4), normal(5))),
    "mask_column": (lambda x, c: put(x, (slice(None), c), 2.0), (X, truths(5))),
    "where_mask": (lambda x, c: torch.where(c[:, None], x, x * 2), (X, truths(4))),
    "gather": (lambda x, i: x.gather(0, i), (X, AT)),
    "gather_at_a_scalar": (lambda x, i: x[:1, 0].gather(0, i[0, 0] * 0), (X, AT)),
    "scatter_at_a_scalar": (
        lambda x, i: [
            x[:1, 0].scatter(0, i[0, 0] * 0, 2.0),
            x[:1, 0].scatter_add(0, i[0, 0] * 0, x[1, 1]),
            x[:1, 0].scatter_reduce(0, i[0, 0] * 0, x[1, 1], "prod"),
        ],
        (X, AT),
    ),
    "gather_last": (lambda x, i: x.gather(-1, i), (CUBE, whole(5, 3, 4, 2))),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 0), (X, AT)),
    "scatter": (
        lambda x, i, v: x.scatter(0, i, v),
        (X, torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1], [2, 3, 0, 1, 2]]), SOURCE),
    ),
    "scatter_value": (lambda x, i: x.scatter(0, i, 2.5), (X, AT)),
    "scatter_add": (lambda x, i, v: x.scatter_add(0, i, v), (X, AT, SOURCE)),
    "scatter_of_reduce": (
        lambda x, i, v: [x.detach().scatter(0, i, v.detach(), reduce=r) for r in ("add", "multiply")],
        (X, AT, SOURCE),
    ),
    "scatter_value_reduce": (
        lambda x, i: [x.detach().scatter(0, i, 2.5, reduce=r) for r in ("add", "multiply")],
        (X, AT),
    ),
    **{f"scatter_reduce_{r}": (lambda x, i, v, r=r: x.scatter_reduce(0, i, v, r), (X, AT, SOURCE)) for r in REDUCTIONS},
    **{
        f"scatter_reduce_{r}_alone": (
            lambda x, i, v, r=r: x.scatter_reduce(0, i, v, r, include_self=False),
            (X, AT, SOURCE),
        )
        for r in REDUCTIONS
    },
    "index_select": (lambda x, i: (x.index_select(0, i), x.index_select(1, i)), (X, ROWS)),
    "index_add": (lambda x, i, v: x.index_add(0, i, v, alpha=2), (X, ROWS, SOURCE)),
    "index_copy": (lambda x, i, v: x.index_copy(0, i, v), (X, torch.tensor([2, 0, 1]), SOURCE)),
    "index_fill": (lambda x, i: (x.index_fill(0, i, 3.0), x.index_fill(1, i, -1)), (X, ROWS)),
    "index_reduce": (lambda x, i, v: [x.index_reduce(0, i, v, r) for r in ("mean", "amax", "amin")], (X, ROWS, SOURCE)),
    "masked_scatter": (lambda x, c, v: x.masked_scatter(c, v), (X, truths(4, 5), normal(20))),
    "masked_scatter_rows": (lambda x, c, v: x.masked_scatter(c[:, None], v), (X, truths(4), normal(4, 5))),
    "take": (lambda x, i: (x.take(i), x.take(i - 9)), (X, torch.tensor([[1, 5], [19, 3]]) % 9)),
    "put": (lambda x, v: x.put(torch.tensor([1, 5, 9]), v), (X, normal(3))),
    "put_accumulate": (lambda x, v: x.put(torch.tensor([1, 5, 1]), v, accumulate=True), (X, normal(3))),
    "one_hot": (lambda i: F.one_hot(i, 5), (whole(5, 3, 2),)),
    "embedding": (lambda i, w: (F.embedding(i, w), F.embedding(i, w, padding_idx=2)), (whole(7, 2, 3), TABLE)),
    "embedding_frequency": (lambda i, w: F.embedding(i, w, scale_grad_by_freq=True), (whole(7, 2, 6), TABLE)),
    **{
        f"bag_{mode}": (lambda i, o, w, mode=mode: F.embedding_bag(i, w, o, mode=mode), (BAGS, OFFSETS, TABLE))
        for mode in ("sum", "mean", "max")
    },
    **{
        f"bag_padded_{mode}": (
            lambda i, o, w, mode=mode: F.embedding_bag(i, w, o, mode=mode, padding_idx=2),
            (whole(4, 9), OFFSETS, TABLE),
        )
        for mode in ("sum", "mean", "max")
    },
    "bag_weights": (
        lambda i, o, w, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
        (BAGS, OFFSETS, TABLE, normal(9)),
    ),
    "bag_rows": (lambda i, w: [F.embedding_bag(i, w, mode=m) for m in ("sum", "mean", "max")], (whole(7, 4, 3), TABLE)),
    "bag_last_offset": (
        lambda i, w: F.embedding_bag(i, w, torch.tensor([0, 4, 9]), mode="mean", include_last_offset=True),
        (BAGS, TABLE),
    ),
    "bag_frequency": (  # rows as often as each other: PyTorch divides by another row's count
        lambda i, w: F.embedding_bag(i, w, mode="sum", scale_grad_by_freq=True),
        (torch.arange(8).reshape(2, 4) % 4, TABLE),
    ),
    "nonzero_static": (lambda x: torch.nonzero_static(x, size=6, fill_value=-1), (whole(2, 3, 4),)),
    "argwhere_of_max": (lambda x: x[torch.arange(4), x.argmax(1)], (X,)),
}


def put(x: torch.Tensor, index: object, value: object) -> torch.Tensor:
    """x[index] = value."""
    x = x.clone()
    x[index] = value
    return x
