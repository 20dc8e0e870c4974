"""Whole models and how they are trained: each a file with a function that makes a Training, and a row of the table."""

import sys

from agreement import Make
from tool import ROOT

sys.path.append(str(ROOT / "apps/fashion"))  # where vit.py is

from models import dlrm, lenet, mlp, resnet20, transformers_vision, unet, vit

MODELS: dict[str, Make] = {
    "mlp": mlp.make,
    "lenet": lenet.make,
    "resnet20": resnet20.make,
    "unet": unet.make,
    "dlrm": dlrm.make,
    "vit": vit.make,
    "transformers_vit": transformers_vision.make_vit,
    "transformers_resnet": transformers_vision.make_resnet,
}
