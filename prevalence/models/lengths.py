"""How many tokens a model reads: its own limit, what training left, what a user asks for."""

from __future__ import annotations

from typing import Any

from prevalence.errors import ConfigurationError, ModelError

__all__ = [
    "LEAST_LENGTH",
    "asked_length",
    "first_position",
    "real_limit",
    "table_limit",
    "trained_length",
]

_UNSET_LIMIT = 1_000_000
"""Tokenizers without a stated limit report about 1e30."""
_DEFAULT_LIMIT = 512
LEAST_LENGTH = 8
"""Fewest tokens of an input that a limit may leave."""
_OFFSET_POSITIONS = {
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "luke",
    "markuplm",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}
"""Model types that number positions from ``padding_idx + 1``."""


def real_limit(config: Any, tokenizer: Any) -> int:
    """Longest input in tokens: the tokenizer's limit, bounded by the position table.

    RoBERTa-like models number positions from ``padding_idx + 1``, so 514 rows serve 512 tokens;
    some tokenizers state no limit and report about 1e30.
    """
    candidates = []
    stated = getattr(tokenizer, "model_max_length", None)
    if stated and stated < _UNSET_LIMIT:
        candidates.append(int(stated))
    table = table_limit(config)
    if table is not None:
        candidates.append(table)
    return min(candidates) if candidates else _DEFAULT_LIMIT


def table_limit(config: Any) -> int | None:
    """Longest input in tokens that the position table allows; None without one."""
    rows = getattr(config, "max_position_embeddings", None)
    return int(rows) - first_position(config) if rows and rows > 0 else None


def first_position(config: Any) -> int:
    """The position of the first token of an input."""
    return (config.pad_token_id or 0) + 1 if config.model_type in _OFFSET_POSITIONS else 0


def asked_length(
    config: Any, limit: int, model: str, asked: int | None, at_most: int | None
) -> int:
    """The length that a user asks for, or else the one that training left, ``at_most`` so long.

    Raises:
        ConfigurationError: it is outside what the model reads.
        ModelError: the config holds no number of tokens.
    """
    if asked is None:
        length = trained_length(config, "prevalence_max_length", limit, model)
        return length if at_most is None else min(length, at_most)
    if not LEAST_LENGTH <= asked <= limit:
        raise ConfigurationError(
            f"{model}: maximum length {asked} is outside {LEAST_LENGTH}..{limit}"
        )
    return asked


def trained_length(config: Any, key: str, limit: int, model: str) -> int:
    """A limit that training left in the config under a key, within the model's own.

    Raises:
        ModelError: the config holds no number of tokens there.
    """
    trained = getattr(config, key, limit)
    if type(trained) is not int or trained < LEAST_LENGTH:
        raise ModelError(
            f"{model}: {key} {trained!r} in its config must be a number of tokens of at least "
            f"{LEAST_LENGTH}"
        )
    return min(limit, trained)
