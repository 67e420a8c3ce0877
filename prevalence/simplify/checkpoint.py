"""A sequence-to-sequence checkpoint folder → model, tokenizer, prefix, limit, digest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.checkpoint import first_line, folder_digest, quiet_transformers, real_limit

if TYPE_CHECKING:
    import torch

__all__ = ["DTYPES", "MAX_LENGTH_KEY", "PREFIX_KEY", "SeqToSeq", "load_seq_to_seq"]

PREFIX_KEY = "prevalence_prefix"
MAX_LENGTH_KEY = "prevalence_max_length"

DTYPES = ("auto", "float32", "bfloat16")
"""Types of the weights. T5's activations leave the range of float16, so it is not offered."""

_KEPT = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id",
         "forced_bos_token_id")  # fmt: skip
"""What generation takes from a checkpoint's own defaults: tokens, but no beams or penalties."""


@dataclass(frozen=True, slots=True)
class SeqToSeq:
    """A loaded checkpoint.

    Attributes:
        name: the folder's name.
        model: a Hugging Face encoder-decoder model in evaluation mode.
        tokenizer: its tokenizer.
        device: where the model is.
        prefix: text that training put before each sentence, or "".
        max_length: most tokens of a sentence in training, or None.
        limit: most tokens that the model reads.
        digest: of weights, config and tokenizer, 12 hex digits.
    """

    name: str
    model: Any
    tokenizer: Any
    device: torch.device
    prefix: str
    max_length: int | None
    limit: int
    digest: str


def load_seq_to_seq(folder: str | Path, *, device: str = "auto", dtype: str = "auto") -> SeqToSeq:
    """Load a sequence-to-sequence checkpoint: T5, BART, Pegasus, ...

    Only safetensors are read, and no code from the checkpoint is run.

    Args:
        folder: checkpoint folder.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
        dtype: one of :data:`DTYPES`; ``auto`` is float32.

    Raises:
        ModelError: no such folder, not an encoder-decoder, or not loadable.
        ConfigurationError: an unknown dtype.
        BackendError: the device is not there.
    """
    import torch

    from prevalence.models.devices import open_device

    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ModelError(
            f"{folder}: no such folder; give a sequence-to-sequence checkpoint folder (a hub model "
            "is fetched by: hf download NAME --local-dir FOLDER)"
        )
    if dtype not in DTYPES:
        raise ConfigurationError(f"unknown dtype {dtype!r}: choose from {', '.join(DTYPES)}")
    where = open_device(device)
    tokenizer, model = _loaded(path, torch.bfloat16 if dtype == "bfloat16" else torch.float32)
    model.generation_config = _plain_generation(model.generation_config)
    settings = model.config.to_dict()
    prefix, limit = settings.get(PREFIX_KEY), settings.get(MAX_LENGTH_KEY)
    return SeqToSeq(
        name=path.resolve().name,
        model=model.to(where).eval(),
        tokenizer=tokenizer,
        device=where,
        prefix=prefix if isinstance(prefix, str) else "",
        max_length=limit if isinstance(limit, int) and limit > 0 else None,
        limit=real_limit(model.config, tokenizer),
        digest=folder_digest(path).hex()[:12],
    )


def _loaded(path: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

    if not list(path.glob("*.safetensors")):
        raise ModelError(
            f"{path}: no .safetensors file in it. Pickled weights are never loaded; convert them "
            "once with save_pretrained"
        )
    try:
        with quiet_transformers():
            config = AutoConfig.from_pretrained(path, trust_remote_code=False)
            if not config.is_encoder_decoder:
                raise ModelError(
                    f"{path}: {config.model_type} is not a sequence-to-sequence model; give a T5, "
                    "BART or Pegasus checkpoint"
                )
            tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
            model, info = AutoModelForSeq2SeqLM.from_pretrained(
                path,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{path}: cannot be loaded: {first_line(error)}") from error
    if info["missing_keys"]:
        missing = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelError(f"{path}: weights are missing for {missing}; its texts would be random")
    return tokenizer, model


def _plain_generation(own: Any) -> Any:
    from transformers import GenerationConfig

    tokens = {name: getattr(own, name, None) for name in _KEPT}
    given = {name: token for name, token in tokens.items() if token is not None}
    return GenerationConfig(**given)  # type: ignore[no-untyped-call]
