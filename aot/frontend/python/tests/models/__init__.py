"""Whole models and how they are trained: each a file with a function that makes a Training, and a row of the table."""

import sys

from agreement import Make
from tool import ROOT

sys.path.append(str(ROOT / "apps/fashion"))  # where vit.py is

from models import (
    bert,
    char_gpt,
    distilbert,
    dlrm,
    gpt2,
    lenet,
    llama,
    mlp,
    recurrent,
    resnet20,
    roberta,
    t5,
    transformers_vision,
    unet,
    vit,
    xlnet,
)

MODELS: dict[str, Make] = {
    "mlp": mlp.make,
    "lenet": lenet.make,
    "resnet20": resnet20.make,
    "unet": unet.make,
    "dlrm": dlrm.make,
    "vit": vit.make,
    "vit_bf16": vit.make_in_bf16,
    "char_gpt": char_gpt.make,
    "char_gpt_bf16": char_gpt.in_bf16,
    "lstm": recurrent.lstm,
    "gru": recurrent.gru,
    "transformers_bert": bert.classify,
    "transformers_bert_masked": bert.masked,
    "transformers_distilbert": distilbert.make,
    "transformers_gpt2": gpt2.make,
    "transformers_llama": llama.make,
    "transformers_resnet": transformers_vision.make_resnet,
    "transformers_roberta": roberta.make,
    "transformers_swin": transformers_vision.make_swin,
    "transformers_t5": t5.make,
    "transformers_vit": transformers_vision.make_vit,
    "transformers_xlnet": xlnet.make,
}
