"""Whole models and how they are trained: each a file with a function that makes a Training, and a row of the table."""

from agreement import Make

from models import resnet20

MODELS: dict[str, Make] = {
    "resnet20": resnet20.make,
}
