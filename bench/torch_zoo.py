"""Tries one training step of many models of `transformers`: is it compiled, and is it PyTorch's?

Each model is small and has random weights; it is trained in a process of its own with a time limit, by
`ingot.torch.compile`, which compares three steps with PyTorch's. A line says what came of it: `agrees`, `unverified`
where rounding decides or PyTorch cannot be given what was drawn, `refused` with the message, or what else went wrong.

    build/python/bin/python bench/torch_zoo.py [MODEL ...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch
import transformers

import ingot.torch

Batch = dict[str, torch.Tensor]
BATCH, LENGTH, WORDS, PADDING, CLASSES = 2, 10, 53, 1, 3
IGNORED = -100  # as a label

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
TEXT = {**SIZES, "vocab_size": WORDS, "hidden_size": 32, "max_position_embeddings": 64, "pad_token_id": PADDING}
PLAIN_TEXT = {**TEXT, "bos_token_id": 0, "eos_token_id": 2}
GROUPED = {**PLAIN_TEXT, "num_key_value_heads": 2, "head_dim": 8}
SEQUENCES = {
    **{"vocab_size": WORDS, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64},
    **{"decoder_ffn_dim": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "pad_token_id": PADDING},
    **{"bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2, "max_position_embeddings": 64},
}
PATCHES = {**SIZES, "hidden_size": 32, "image_size": 32, "patch_size": 8, "num_labels": CLASSES}
STAGES = {"depths": [1, 1], "num_labels": CLASSES}
SPEECH = {
    **{
        **SIZES,
        "hidden_size": 32,
        "vocab_size": 12,
        "conv_dim": (16, 16),
        "conv_kernel": (10, 3),
        "conv_stride": (5, 2),
    },
    **{"num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4},
    **{"mask_time_length": 2, "mask_time_prob": 0.0, "codevector_dim": 16, "proj_codevector_dim": 16},
    **{"num_codevectors_per_group": 8, "classifier_proj_size": 16, "num_negatives": 4},
}


def words(length: int = LENGTH) -> Batch:
    """Sentences of several lengths, and 1 where there is a word."""
    present = (torch.arange(length) < torch.tensor([[length], [length * 2 // 3]])).long()
    ids = torch.randint(3, WORDS, (BATCH, length))
    return {"input_ids": torch.where(present == 1, ids, PADDING), "attention_mask": present}


def continued(length: int = LENGTH) -> Batch:
    """Sentences, and they again as what is to be said."""
    batch = words(length)
    return {**batch, "labels": torch.where(batch["attention_mask"] == 1, batch["input_ids"], IGNORED)}


def labelled(length: int = LENGTH) -> Batch:
    """Sentences and a class for each."""
    return {**words(length), "labels": torch.randint(0, CLASSES, (BATCH,))}


def detected() -> Batch:
    """Sentences, and whether each word is another than it was."""
    return {**words(), "labels": torch.randint(0, 2, (BATCH, LENGTH))}


def translated() -> Batch:
    """Sentences of two languages."""
    return {**words(), "labels": torch.randint(3, WORDS, (BATCH, 6))}


def pictures(size: int = 32, classes: int = CLASSES) -> Batch:
    """Images and a class for each."""
    return {"pixel_values": torch.randn(BATCH, 3, size, size), "labels": torch.randint(0, classes, (BATCH,))}


def segmented() -> Batch:
    """Images and a class for each pixel."""
    return {**pictures(), "labels": torch.randint(0, CLASSES, (BATCH, 32, 32))}


def films() -> Batch:
    """Four frames each, and a class for each film."""
    return {"pixel_values": torch.randn(BATCH, 4, 3, 32, 32), "labels": torch.randint(0, CLASSES, (BATCH,))}


def spoken() -> Batch:
    """Sounds and what is said."""
    return {"input_values": torch.randn(BATCH, 600), "labels": torch.randint(1, 12, (BATCH, 5))}


def listened() -> Batch:
    """Spectra and what is said."""
    return {"input_features": torch.randn(BATCH, 8, 40), "labels": torch.randint(3, WORDS, (BATCH, 6))}


Row = tuple[str, dict[str, Any], str, Callable[[], Batch]]

# Name -> configuration, its arguments, the model, a batch.
ROWS: dict[str, Row] = {
    "electra": ("ElectraConfig", {**TEXT, "embedding_size": 16}, "ElectraForPreTraining", detected),
    "electra_masked": ("ElectraConfig", {**TEXT, "embedding_size": 16}, "ElectraForMaskedLM", continued),
    "deberta": (
        "DebertaConfig",
        {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        "DebertaForMaskedLM",
        continued,
    ),
    "deberta_v2": (
        "DebertaV2Config",
        {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
        "DebertaV2ForSequenceClassification",
        labelled,
    ),
    "albert": ("AlbertConfig", {**TEXT, "embedding_size": 16}, "AlbertForMaskedLM", continued),
    "mpnet": ("MPNetConfig", {**TEXT}, "MPNetForMaskedLM", continued),
    "longformer": ("LongformerConfig", {**TEXT, "attention_window": 4}, "LongformerForMaskedLM", continued),
    "funnel": (
        "FunnelConfig",
        {"vocab_size": WORDS, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64},
        "FunnelForMaskedLM",
        continued,
    ),
    "xlm": (
        "XLMConfig",
        {"vocab_size": WORDS, "emb_dim": 32, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64},
        "XLMWithLMHeadModel",
        continued,
    ),
    "big_bird": (
        "BigBirdConfig",
        {**PLAIN_TEXT, "block_size": 4, "num_random_blocks": 2},
        "BigBirdForMaskedLM",
        continued,
    ),
    "big_bird_sparse": (
        "BigBirdConfig",
        {**PLAIN_TEXT, "block_size": 4, "num_random_blocks": 2, "max_position_embeddings": 128},
        "BigBirdForMaskedLM",
        lambda: continued(64),
    ),
    "reformer": (
        "ReformerConfig",
        {
            **{"vocab_size": WORDS, "hidden_size": 32, "num_attention_heads": 2, "attention_head_size": 16},
            **{"axial_pos_shape": (4, 4), "axial_pos_embds_dim": (16, 16), "attn_layers": ["local", "local"]},
            **{"local_attn_chunk_length": 4, "feed_forward_size": 64, "is_decoder": True},
        },
        "ReformerModelWithLMHead",
        lambda: continued(16),
    ),
    "roformer": ("RoFormerConfig", {**TEXT}, "RoFormerForMaskedLM", continued),
    "layoutlm": ("LayoutLMConfig", {**TEXT}, "LayoutLMForMaskedLM", continued),
    "perceiver": (
        "PerceiverConfig",
        {
            **{"vocab_size": WORDS, "d_model": 32, "d_latents": 32, "num_latents": 8, "num_self_attends_per_block": 2},
            **{"num_self_attention_heads": 4, "num_cross_attention_heads": 4, "max_position_embeddings": LENGTH},
        },
        "PerceiverForMaskedLM",
        continued,
    ),
    "gptj": (
        "GPTJConfig",
        {**PLAIN_TEXT, "n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64},
        "GPTJForCausalLM",
        continued,
    ),
    "gpt_neo": (
        "GPTNeoConfig",
        {
            **{"vocab_size": WORDS, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 4},
            **{"attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64},
        },
        "GPTNeoForCausalLM",
        continued,
    ),
    "gpt_neox": ("GPTNeoXConfig", {**PLAIN_TEXT}, "GPTNeoXForCausalLM", continued),
    "opt": ("OPTConfig", {**PLAIN_TEXT, "ffn_dim": 64, "word_embed_proj_dim": 32}, "OPTForCausalLM", continued),
    "bloom": ("BloomConfig", {**PLAIN_TEXT, "n_layer": 2, "n_head": 4}, "BloomForCausalLM", continued),
    "falcon": ("FalconConfig", {**PLAIN_TEXT, "alibi": False}, "FalconForCausalLM", continued),
    "gemma": ("GemmaConfig", GROUPED, "GemmaForCausalLM", continued),
    "gemma2": ("Gemma2Config", {**GROUPED, "sliding_window": 4}, "Gemma2ForCausalLM", continued),
    "qwen2": ("Qwen2Config", GROUPED, "Qwen2ForCausalLM", continued),
    "qwen3": ("Qwen3Config", GROUPED, "Qwen3ForCausalLM", continued),
    "phi": ("PhiConfig", PLAIN_TEXT, "PhiForCausalLM", continued),
    "phi3": ("Phi3Config", {**PLAIN_TEXT, "num_key_value_heads": 2}, "Phi3ForCausalLM", continued),
    "mistral": ("MistralConfig", {**GROUPED, "sliding_window": 4}, "MistralForCausalLM", continued),
    "mixtral": ("MixtralConfig", {**GROUPED, "num_local_experts": 4}, "MixtralForCausalLM", continued),
    "qwen2_moe": (
        "Qwen2MoeConfig",
        {**GROUPED, "num_experts": 4, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16},
        "Qwen2MoeForCausalLM",
        continued,
    ),
    "olmo": ("OlmoConfig", {**PLAIN_TEXT, "num_key_value_heads": 4}, "OlmoForCausalLM", continued),
    "granite": ("GraniteConfig", {**PLAIN_TEXT, "num_key_value_heads": 2}, "GraniteForCausalLM", continued),
    "mamba": ("MambaConfig", {**PLAIN_TEXT, "state_size": 4, "time_step_rank": 4}, "MambaForCausalLM", continued),
    "rwkv": ("RwkvConfig", {**PLAIN_TEXT, "attention_hidden_size": 32}, "RwkvForCausalLM", continued),
    "bart": ("BartConfig", SEQUENCES, "BartForConditionalGeneration", translated),
    "mbart": ("MBartConfig", SEQUENCES, "MBartForConditionalGeneration", translated),
    "pegasus": ("PegasusConfig", SEQUENCES, "PegasusForConditionalGeneration", translated),
    "marian": ("MarianConfig", SEQUENCES, "MarianMTModel", translated),
    "whisper": (
        "WhisperConfig",
        {**SEQUENCES, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 16},
        "WhisperForConditionalGeneration",
        listened,
    ),
    "switch_transformers": (
        "SwitchTransformersConfig",
        {
            **{"vocab_size": WORDS, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4},
            **{"num_decoder_layers": 2, "num_experts": 4, "expert_capacity": 8, "num_sparse_encoder_layers": 1},
            **{"num_sparse_decoder_layers": 1, "decoder_start_token_id": 0},
        },
        "SwitchTransformersForConditionalGeneration",
        translated,
    ),
    "wav2vec2_ctc": ("Wav2Vec2Config", SPEECH, "Wav2Vec2ForCTC", spoken),
    "wav2vec2_pretraining": (
        "Wav2Vec2Config",
        {**SPEECH, "mask_time_prob": 0.05},
        "Wav2Vec2ForPreTraining",
        lambda: contrasted(),
    ),
    "hubert": ("HubertConfig", SPEECH, "HubertForCTC", spoken),
    "data2vec_audio": (
        "Data2VecAudioConfig",
        {**SPEECH, "num_conv_pos_embeddings": 2},
        "Data2VecAudioForCTC",
        spoken,
    ),
    "data2vec_text": ("Data2VecTextConfig", TEXT, "Data2VecTextForMaskedLM", continued),
    "speecht5": (
        "SpeechT5Config",
        {
            **{"vocab_size": WORDS, "hidden_size": 32, "encoder_layers": 2, "decoder_layers": 2},
            **{
                "encoder_attention_heads": 4,
                "decoder_attention_heads": 4,
                "encoder_ffn_dim": 64,
                "decoder_ffn_dim": 64,
            },
            **{"conv_dim": (16, 16), "conv_kernel": (10, 3), "conv_stride": (5, 2), "num_feat_extract_layers": 2},
            **{"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "mask_time_prob": 0.0},
        },
        "SpeechT5ForSpeechToText",
        spoken,
    ),
    "clip": (
        "CLIPConfig",
        {
            "text_config": {**PLAIN_TEXT, "projection_dim": 16},
            "vision_config": {**PATCHES, "projection_dim": 16},
            "projection_dim": 16,
        },
        "CLIPModel",
        lambda: {**words(), "pixel_values": torch.randn(BATCH, 3, 32, 32)},
    ),
    "detr": (
        "DetrConfig",
        {
            **SEQUENCES,
            **{"use_timm_backbone": False, "use_pretrained_backbone": False, "num_queries": 5, "num_labels": CLASSES},
            "backbone_config": lambda: transformers.ResNetConfig(
                hidden_sizes=[8, 16], depths=[1, 1], embedding_size=8, out_features=["stage2"]
            ),
        },
        "DetrModel",
        lambda: {"pixel_values": torch.randn(BATCH, 3, 32, 32)},
    ),
    "yolos": (
        "YolosConfig",
        {**PATCHES, "image_size": [32, 32], "num_detection_tokens": 4},
        "YolosModel",
        lambda: {"pixel_values": torch.randn(BATCH, 3, 32, 32)},
    ),
    "videomae": (
        "VideoMAEConfig",
        {**PATCHES, "num_frames": 4, "decoder_hidden_size": 16, "decoder_num_hidden_layers": 1},
        "VideoMAEForVideoClassification",
        films,
    ),
    "videomae_pretraining": (
        "VideoMAEConfig",
        {
            **{**PATCHES, "num_frames": 4, "decoder_hidden_size": 16, "decoder_num_hidden_layers": 1},
            **{"decoder_num_attention_heads": 2, "decoder_intermediate_size": 32},
        },
        "VideoMAEForPreTraining",
        lambda: {
            "pixel_values": torch.randn(BATCH, 4, 3, 32, 32),
            "bool_masked_pos": (torch.arange(32) % 4 != 0).expand(BATCH, 32),
        },
    ),
    "vit_mae": (
        "ViTMAEConfig",
        {
            **{**PATCHES, "decoder_hidden_size": 16, "decoder_num_hidden_layers": 1},
            **{"decoder_num_attention_heads": 2, "decoder_intermediate_size": 32},
        },
        "ViTMAEForPreTraining",
        lambda: {"pixel_values": torch.randn(BATCH, 3, 32, 32)},
    ),
    "segformer": (
        "SegformerConfig",
        {
            **{"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [16, 32]},
            **{"patch_sizes": [7, 3], "strides": [4, 2], "num_attention_heads": [2, 4], "mlp_ratios": [2, 2]},
            **{"decoder_hidden_size": 16, "num_labels": CLASSES},
        },
        "SegformerForSemanticSegmentation",
        segmented,
    ),
    "dpt": (
        "DPTConfig",
        {
            **{**PATCHES, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "fusion_hidden_size": 16},
            **{"neck_hidden_sizes": [8, 8, 16, 16], "reassemble_factors": [4, 2, 1, 0.5], "is_hybrid": False},
            **{"use_auxiliary_head": True},
        },
        "DPTForSemanticSegmentation",
        segmented,
    ),
    "beit": ("BeitConfig", PATCHES, "BeitForImageClassification", pictures),
    "deit": ("DeiTConfig", PATCHES, "DeiTForImageClassification", pictures),
    "dinov2": ("Dinov2Config", PATCHES, "Dinov2ForImageClassification", pictures),
    "data2vec_vision": ("Data2VecVisionConfig", PATCHES, "Data2VecVisionForImageClassification", pictures),
    "swinv2": (
        "Swinv2Config",
        {**STAGES, "image_size": 32, "patch_size": 4, "embed_dim": 16, "num_heads": [2, 4], "window_size": 4},
        "Swinv2ForImageClassification",
        pictures,
    ),
    "convnextv2": (
        "ConvNextV2Config",
        {"num_stages": 2, "hidden_sizes": [16, 32], **STAGES},
        "ConvNextV2ForImageClassification",
        pictures,
    ),
    "efficientnet": (
        "EfficientNetConfig",
        {
            **{"image_size": 64, "width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320},
            **{"in_channels": [32, 16], "out_channels": [16, 24], "strides": [1, 2], "num_block_repeats": [1, 2]},
            **{"kernel_sizes": [3, 3], "expand_ratios": [1, 6], "depthwise_padding": [], "num_labels": CLASSES},
            **{"num_hidden_layers": 2},
        },
        "EfficientNetForImageClassification",
        lambda: pictures(64),
    ),
    "regnet": (
        "RegNetConfig",
        {"embedding_size": 8, "hidden_sizes": [8, 16], "groups_width": 8, **STAGES},
        "RegNetForImageClassification",
        pictures,
    ),
    "mobilevit": (
        "MobileViTConfig",
        {
            **{"image_size": 64, "hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 24, 24, 32]},
            **{"num_attention_heads": 4, "num_labels": CLASSES},
        },
        "MobileViTForImageClassification",
        lambda: pictures(64),
    ),
    "mobilenet_v2": (
        "MobileNetV2Config",
        {"image_size": 32, "depth_multiplier": 0.25, "num_labels": CLASSES},
        "MobileNetV2ForImageClassification",
        pictures,
    ),
    "poolformer": (
        "PoolFormerConfig",
        {
            **{"num_encoder_blocks": 2, "depths": [1, 1], "hidden_sizes": [16, 32], "patch_sizes": [7, 3]},
            **{"strides": [4, 2], "padding": [2, 1], "num_labels": CLASSES},
        },
        "PoolFormerForImageClassification",
        pictures,
    ),
}


def contrasted() -> Batch:
    """Sounds, which of their frames are hidden, and which others they are compared with."""
    frames = 59
    hidden = torch.arange(frames).expand(BATCH, frames) % 4 == 1
    return {
        "input_values": torch.randn(BATCH, 600),
        "mask_time_indices": hidden,
        "sampled_negative_indices": torch.randint(0, BATCH * frames, (BATCH, frames, 4)),
    }


def made(row: Row) -> tuple[torch.nn.Module, Batch]:
    """A model with random weights, and a batch."""
    config, settings, model, batch = row
    torch.manual_seed(0)
    settings = {key: value() if callable(value) else value for key, value in settings.items()}
    return getattr(transformers, model)(getattr(transformers, config)(**settings)).train(), batch()


def stepper(model: torch.nn.Module, optimizer: torch.optim.Optimizer, names: list[str]) -> Callable[..., torch.Tensor]:
    """The usual training function; models without a loss are given one of what they put out first."""

    def train_step(*given: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        made = model(
            **dict(zip(names, given, strict=True)), **({"return_loss": True} if "CLIP" in type(model).__name__ else {})
        )
        loss = made.loss if getattr(made, "loss", None) is not None else made[0].square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def tried(name: str) -> str:
    """What becomes of a model, in a line."""
    model, batch = made(ROWS[name])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    step = stepper(model, optimizer, [*batch])
    stepper(*made(ROWS[name])[:1], optimizer, [*batch])  # PyTorch alone can make it
    compiled = ingot.torch.compile(step, model, optimizer)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            loss = compiled(*batch.values())
        except ingot.torch.TraceError as error:
            return f"refused    {error}"
        except ingot.torch.DisagreementError as error:
            return f"DIFFERS    {error}"
        except Exception as error:
            return f"CRASHED    {type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    notes = [str(w.message) for w in said if "not verified" in str(w.message)]
    return f"{'unverified' if notes else 'agrees    '} {seconds:5.1f} s, loss {loss.item():.4f} {' '.join(notes)}"


def answer(name: str, to: Connection) -> None:
    """Tries a model and sends what becomes of it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["INGOT_CACHE"] = folder
        torch.set_num_threads(1)
        try:
            to.send(tried(name))
        except Exception as error:
            to.send(f"not made   {type(error).__name__}: {error}")


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[*ROWS], help=f"of {', '.join(ROWS)}")
    parser.add_argument("--seconds", type=float, default=240, help="at most, for each")
    options = parser.parse_args()
    fork = multiprocessing.get_context("fork")
    for name in options.models:
        here, there = fork.Pipe()
        process = fork.Process(target=answer, args=(name, there))
        process.start()
        there.close()
        try:
            line = here.recv() if here.poll(options.seconds) else f"too slow   more than {options.seconds:.0f} s"
        except EOFError:
            line = "CRASHED    the process ended"
        process.terminate()
        process.join()
        print(f"{name:22} {line.splitlines()[0][:400]}", flush=True)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    sys.exit(main())
