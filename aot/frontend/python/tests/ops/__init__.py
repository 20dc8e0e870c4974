"""Tables of functions of tensors, by family."""

from ops import arithmetic, complex_numbers, functions, images, indexing, layers, matrices, moves, reductions
from ops.data import Cases

FAMILIES: dict[str, Cases] = {
    "arithmetic": arithmetic.CASES,
    "functions": functions.CASES,
    "reductions": reductions.CASES,
    "moves": moves.CASES,
    "indexing": indexing.CASES,
    "matrices": matrices.CASES,
    "complex": complex_numbers.CASES,
    "images": images.CASES,
    "layers": layers.CASES,
}
