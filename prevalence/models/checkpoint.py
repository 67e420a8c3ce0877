"""A checkpoint on disk or hub → model, tokenizer, labels, real length limit, digest."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import BackendError, ModelError, first_line
from prevalence.metric import check_threshold
from prevalence.models.devices import dtype_name, open_device
from prevalence.models.error_rates import error_rates_of, read_errors_file
from prevalence.models.labels import LabelMap, parse_labels, read_labels
from prevalence.models.lengths import asked_length, real_limit, trained_length
from prevalence.models.location import folder_digest, plain_name, refuse_pickles, resolve
from prevalence.models.quantized import folded_weights
from prevalence.models.registry import Checkpoint, lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from prevalence.stats.correction import ErrorRates

__all__ = [
    "ATTENTIONS",
    "FIRST",
    "JOINT",
    "MEAN",
    "POOLINGS",
    "PREMISE_FIRST",
    "PREMISE_FIRST_FAMILIES",
    "Layout",
    "LoadedCheckpoint",
    "Network",
    "load_checkpoint",
    "load_network",
    "quiet_transformers",
    "read_config",
    "read_tensors",
    "read_tokenizer",
]

JOINT = "joint"
"""Premise and hypothesis are one input, and every token of it attends to all others."""
PREMISE_FIRST = "premise-first"
"""The premise attends to itself alone, a hypothesis to the premise and itself."""
PREMISE_FIRST_FAMILIES = ("bert", "mpnet")
"""Model types that can be read premise first."""
ATTENTIONS = (JOINT, PREMISE_FIRST)
"""What ``prevalence_attention`` in a config may say."""
FIRST = "first"
"""With premise-first attention, the head reads the hypothesis' first token."""
MEAN = "mean"
"""With premise-first attention, the head reads the mean of all of the hypothesis' tokens."""
POOLINGS = (FIRST, MEAN)
"""What ``prevalence_pooling`` in a config may say."""
_CLASSIFIER = "AutoModelForSequenceClassification"

_DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """Everything that scoring needs of a checkpoint.

    Attributes:
        name: for the signature: the registered name, or the folder's name.
        model: a Hugging Face sequence-classification model in evaluation mode.
        tokenizer: a fast tokenizer.
        pad: padding token of the model.
        labels: which output is which class.
        max_length: real limit in tokens, special tokens included, of a pair; of the premise
            alone with premise-first attention.
        attention: one of :data:`ATTENTIONS`.
        max_hypothesis: limit of the hypothesis with premise-first attention, likewise.
        threshold: calibrated threshold, or 0.5.
        calibrated: whether the threshold was calibrated.
        digest: BLAKE2b of weights, config and tokenizer, 16 bytes.
        errors: measured error rates, or None.
        folder: where it lies.
    """

    name: str
    model: Any
    tokenizer: Any
    pad: int | None
    labels: LabelMap
    max_length: int
    attention: str
    max_hypothesis: int
    threshold: float
    calibrated: bool
    digest: bytes
    errors: ErrorRates | None
    folder: Path


def load_checkpoint(
    model: str,
    *,
    dtype: Any = None,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
    at_most: int | None = None,
) -> LoadedCheckpoint:
    """Load an NLI checkpoint: a registered name, a folder, or a hub name.

    Only safetensors are read, and no code from the checkpoint is run.

    Args:
        model: name or path.
        dtype: torch dtype; float32 when None.
        labels: class names in output order, for a checkpoint whose config does not name them.
        max_length: a limit below the model's own.
        at_most: a limit like ``max_length``, where a model that reads less keeps its own.

    Raises:
        ModelError: not found, not loadable, labels or attention unknown.
        ConfigurationError: ``max_length`` out of range.
    """
    import torch

    entry = lookup(model)
    folder = resolve(model)
    config = read_config(folder, model)
    _refuse_other_heads(config, folder, model)
    order = parse_labels(labels, name=model) if labels else read_labels(config.id2label, name=model)
    if order.size != config.num_labels:
        raise ModelError(
            f"{model}: {order.size} classes are named (labels= or --labels), the model has "
            f"{config.num_labels}"
        )
    if not getattr(config, "prevalence_contradiction", True):
        # Its training found this class not good enough to be reported.
        order = replace(order, contradiction=None)
    attention = _attention(config, model)
    tokenizer = read_tokenizer(folder, model)
    limit = real_limit(config, tokenizer)
    threshold = _threshold(config, entry, model)
    if config.pad_token_id is None:
        # Heads that read the last token find it by the padding token in the config.
        config.pad_token_id = tokenizer.pad_token_id
    return LoadedCheckpoint(
        name=entry.name if entry else plain_name(model),
        model=load_network(_CLASSIFIER, folder, config, model, dtype=dtype or torch.float32),
        tokenizer=tokenizer,
        pad=config.pad_token_id,
        labels=order,
        max_length=asked_length(config, limit, model, max_length, at_most),
        attention=attention,
        max_hypothesis=trained_length(config, "prevalence_max_hypothesis", limit, model),
        threshold=_DEFAULT_THRESHOLD if threshold is None else threshold,
        calibrated=threshold is not None,
        digest=folder_digest(folder),
        errors=error_rates_of(read_errors_file(folder), name=model),
        folder=folder,
    )


def _attention(config: Any, model: str) -> str:
    pooling = getattr(config, "prevalence_pooling", FIRST)
    named = getattr(config, "prevalence_attention", JOINT)
    for key, value, known in (
        ("prevalence_pooling", pooling, POOLINGS),
        ("prevalence_attention", named, ATTENTIONS),
    ):
        if value not in known:
            raise ModelError(
                f"{model}: its config names {key} {value!r}, and this version knows "
                f"{' and '.join(known)}; update prevalence, or use another checkpoint"
            )
    if named == PREMISE_FIRST and config.model_type not in PREMISE_FIRST_FAMILIES:
        raise ModelError(
            f"{model}: {PREMISE_FIRST} attention is for {' and '.join(PREMISE_FIRST_FAMILIES)} "
            f"classifiers, and its config says {config.model_type}; remove prevalence_attention"
        )
    if named == JOINT and pooling != FIRST:
        raise ModelError(
            f"{model}: prevalence_pooling {pooling!r} in its config goes with {PREMISE_FIRST} "
            "attention alone, and its own is joint; remove prevalence_pooling"
        )
    return str(named)


def _threshold(config: Any, entry: Checkpoint | None, model: str) -> float | None:
    """The calibrated threshold: the config's own before the registered one."""
    stored = getattr(config, "prevalence_threshold", None)
    if stored is None:
        return entry.threshold if entry else None
    try:
        check_threshold(float(stored))
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{model}: prevalence_threshold {stored!r} in its config is not in [0, 1)"
        ) from error
    return float(stored)


def read_config(folder: Path, model: str) -> Any:
    """The config of a checkpoint folder; no code of it is run.

    Raises:
        ModelError: it cannot be read.
    """
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"{model}: its config cannot be read: {first_line(error)}") from error


def _refuse_other_heads(config: Any, folder: Path, model: str) -> None:
    heads = getattr(config, "architectures", None) or []
    if heads and not any(head.endswith("ForSequenceClassification") for head in heads):
        raise ModelError(
            f"{model}: {folder.name} holds {', '.join(heads)}, not a sequence-classification "
            "model; fine-tune it first (prevalence train)"
        )


def read_tokenizer(folder: Path, model: str, *, fast: bool = True) -> Any:
    """The tokenizer of a checkpoint folder, which must be a ``fast`` one; no code of it is run.

    Raises:
        ModelError: there is none.
    """
    from transformers import AutoTokenizer

    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(
                folder, use_fast=True, trust_remote_code=False
            )
    except Exception as error:
        raise ModelError(f"{model}: no usable tokenizer: {first_line(error)}") from error
    _refuse_made_up(tokenizer.vocab_files_names, folder, model)
    if fast and not tokenizer.is_fast:
        raise ModelError(f"{model}: it has no fast tokenizer (tokenizer.json)")
    return tokenizer


def _refuse_made_up(names: Mapping[str, str], folder: Path, model: str) -> None:
    """Without its files, transformers makes a tokenizer of special tokens: all texts are alike."""
    if names and not any((folder / name).is_file() for name in names.values()):
        raise ModelError(
            f"{model}: no tokenizer files in it ({', '.join(sorted(set(names.values())))}); "
            "copy them from the source of the model"
        )


def load_network(
    kind: str,
    folder: Path,
    config: Any,
    model: str,
    *,
    dtype: Any,
    optional: tuple[str, ...] = (),
    weights: Mapping[str, Any] | None = None,
) -> Any:
    """Load the weights of a folder into one of transformers' automatic classes.

    Args:
        kind: name of the class, such as ``AutoModelForSequenceClassification``.
        folder: with safetensors.
        config: its config.
        model: name for messages.
        dtype: torch dtype.
        optional: beginnings of the names of weights that may be missing.
        weights: a state dict in place of the folder's.

    Returns:
        The network in evaluation mode.

    Raises:
        ModelError: no safetensors, not loadable, or weights are missing or of another shape.
    """
    import transformers

    refuse_pickles(folder, model)
    misfits: list[str] = []
    try:
        automatic = getattr(transformers, kind)
        own = folded_weights(folder) if weights is None else weights
        with quiet_transformers():
            if own is None:
                network, info = automatic.from_pretrained(
                    folder, config=config, dtype=dtype, use_safetensors=True,
                    trust_remote_code=False, output_loading_info=True, ignore_mismatched_sizes=True,
                )  # fmt: skip
                absent, misfits = info["missing_keys"], [row[0] for row in info["mismatched_keys"]]
            else:
                network = automatic.from_config(config, dtype=dtype, trust_remote_code=False)
                absent = _load_folded(network, own)
    except Exception as error:
        raise ModelError(f"{model}: its weights cannot be loaded: {first_line(error)}") from error
    _refuse_misfits(misfits, model)
    missing = [name for name in sorted(absent) if not name.startswith(optional)]
    if missing:
        wanted = "fine-tuned classifier" if kind == _CLASSIFIER else f"model for {kind}"
        raise ModelError(
            f"{model}: weights are missing for {', '.join(missing[:3])}: this is not a {wanted}, "
            "and its answers would be random"
        )
    if config.model_type == "deberta":  # Some biases stay in float32 beside other weights.
        for weight in network.parameters():
            weight.data = weight.data.to(dtype)
    return network.eval()


def _refuse_misfits(names: Sequence[str], model: str) -> None:
    if names:
        raise ModelError(
            f"{model}: the shape of {', '.join(sorted(names)[:3])} is not what its config says; "
            "use the config.json that belongs to these weights"
        )


class Layout(NamedTuple):
    """What a checkpoint of another program holds, as transformers names it.

    Attributes:
        config: of transformers.
        weights: the state dict.
    """

    config: Any
    weights: Mapping[str, Any]


def read_tensors(folder: Path, model: str) -> dict[str, Any]:
    """Every tensor in the safetensors of a folder, by name.

    Raises:
        ModelError: there is none, or a file cannot be read.
    """
    from safetensors.torch import load_file

    refuse_pickles(folder, model)
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found |= load_file(path)
        except Exception as error:
            raise ModelError(f"{path}: not safetensors: {first_line(error)}") from error
    return found


def _load_folded(network: Any, weights: Mapping[str, Any]) -> list[str]:
    """Load a state dict, also that of a classifier into its encoder; the names that it lacks."""
    prefix = f"{network.base_model_prefix}."
    if not any(name.startswith(prefix) for name in network.state_dict()):
        weights = {name.removeprefix(prefix): weight for name, weight in weights.items()}
    missing: list[str] = network.load_state_dict(weights, strict=False).missing_keys
    return missing


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence the bars and load reports of transformers; what is wrong becomes an error of ours."""
    from transformers import utils

    logging: Any = utils.logging
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


class Network:
    """Weights, tokenizer and where they run.

    Args:
        kind: name of one of transformers' automatic classes.
        model: checkpoint folder, registered name or hub name.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        optional: beginnings of the names of weights that may be missing.
        pads: whether rows are padded with the tokenizer's own token.
        config: in place of what the folder holds, like the next two.
        tokenizer: likewise.
        weights: a state dict, likewise.

    Attributes:
        folder: where the files lie.
        config: the checkpoint's.
        tokenizer: the checkpoint's, a fast one.
        limit: most tokens that the network and its tokenizer take.
        device: the torch device.
        dtype: the precision, resolved.
        name: last part of the path or hub name.
        digest: of the files, bytes.
        network: the module, in evaluation mode.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
        BackendError: the device is not there.
    """

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        device: str = "auto",
        dtype: str = "auto",
        optional: tuple[str, ...] = (),
        pads: bool = True,
        config: Any = None,
        tokenizer: Any = None,
        weights: Mapping[str, Any] | None = None,
    ) -> None:
        import torch

        self.folder = resolve(model)
        self.config = read_config(self.folder, model) if config is None else config
        self.tokenizer = read_tokenizer(self.folder, model) if tokenizer is None else tokenizer
        if pads and self.tokenizer.pad_token is None:
            raise ModelError(f"{model}: its tokenizer has no padding token")
        self.limit = real_limit(self.config, self.tokenizer)
        self.device = open_device(device)
        self.dtype = dtype_name(dtype, self.device)
        self.name = plain_name(model)
        self.digest = folder_digest(self.folder)
        self.network = load_network(
            kind, self.folder, self.config, model, dtype=getattr(torch, self.dtype),
            optional=optional, weights=weights,
        ).to(self.device)  # fmt: skip

    @property
    def signature(self) -> str:
        """The name and the beginning of the digest."""
        return f"{self.name}@{self.digest.hex()[:12]}"

    @contextmanager
    def asked(self, failure: str) -> Iterator[None]:
        """Inference without gradients inside the block.

        Args:
            failure: what a message says of a device that fails.

        Raises:
            BackendError: the device failed.
        """
        import torch

        try:
            with torch.inference_mode():
                yield
        except RuntimeError as error:
            raise BackendError(f"{failure}: {first_line(error)}") from error

    def padded(self, rows: Sequence[Mapping[str, list[int]]]) -> Any:
        """Rows of token ids as one batch on the device."""
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return self.tokenizer.pad(columns, return_tensors="pt").to(self.device)
