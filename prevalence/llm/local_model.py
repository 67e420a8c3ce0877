"""A causal language model of Hugging Face in memory, and dialogues → its token ids."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import BackendError, ModelError, first_line
from prevalence.models.checkpoint import load_network, read_config, read_tokenizer
from prevalence.models.devices import dtype_name, open_device
from prevalence.models.location import folder_digest, local_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prevalence.llm.protocol import Message

__all__ = ["LanguageModel", "load_language_model", "log_sum", "model_name"]

_ROLES = {"system": "", "user": "", "assistant": "Answer: "}
_PROBE = "probe"
_OPENED = re.compile(r"<think(?:ing)?>\s*$", re.IGNORECASE)
"""The end of a prompt whose template begins the reply, with a thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A model, its tokenizer, and how dialogues are written for it.

    Attributes:
        name: of its folder, with a digest of the files.
        model: a causal language model in evaluation mode.
        tokenizer: its tokenizer.
        device: where it runs.
        dtype: of its weights.
        template: ``chat`` (the checkpoint's own template), ``chat-user`` (the same, which knows no
            system turn: that text stands before the first user's) or ``plain`` (no template: the
            texts one after the other, then ``Answer:``).
        limit: most positions, prompt and reply together.
        ends: token ids that end a reply.
        marks: texts that the tokenizer takes for special tokens wherever they stand.
        opening: the beginning of every reply that the template writes itself, ``<think>`` or "".
    """

    name: str
    model: Any
    tokenizer: Any
    device: Any
    dtype: str
    template: str
    limit: int
    ends: frozenset[int]
    marks: tuple[str, ...] = ()
    opening: str = ""

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """The token ids of a dialogue, ready for the reply to follow."""
        turns = [{"role": one.role, "content": self._defused(one.content)} for one in messages]
        if self.template == "plain":
            text = "\n\n".join(_ROLES[turn["role"]] + turn["content"] for turn in turns)
            return _ids(self.tokenizer, text + "\n\nAnswer:", special=True)
        if self.template == "chat-user":
            turns = _folded(turns)
        text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return _ids(self.tokenizer, text, special=False)

    def _defused(self, text: str) -> str:
        """A text in which no special token of this tokenizer is spelled."""
        for mark in self.marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text

    def spellings(self, answer: str) -> list[tuple[int, ...]]:
        """The token sequences that a reply which begins with an answer may begin with.

        An answer may follow a space, and tokenizers write the beginning of a text in their own
        way; none of the sequences is the beginning of another, so that probabilities add up.
        """
        newline = _ids(self.tokenizer, "\n", special=False)
        after = _ids(self.tokenizer, "\n" + answer, special=False)
        found = {
            tuple(_ids(self.tokenizer, text, special=False)) for text in (answer, " " + answer)
        }
        if after[: len(newline)] == newline:
            found.add(tuple(after[len(newline) :]))
        found.discard(())
        return sorted(
            one for one in found if not any(one != o and one[: len(o)] == o for o in found)
        )

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a reply."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text


def load_language_model(folder: str, *, device: str, dtype: str) -> LanguageModel:
    """Load a checkpoint folder.

    Args:
        folder: with safetensors weights; no code of its own is run.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...
        dtype: one of :data:`prevalence.models.devices.DTYPES`; auto is bfloat16 on a GPU.

    Raises:
        ModelError: no such folder, no decoder, or not loadable.
        ConfigurationError: an unknown dtype.
        BackendError: the device is not there.
    """
    import torch

    path = local_folder(folder, "causal language model's")
    where = open_device(device)
    dtype = dtype_name(dtype, where, auto="bfloat16" if where.type == "cuda" else "float32")
    config = read_config(path, folder)
    tokenizer = read_tokenizer(path, folder, fast=False)
    kind = "AutoModelForCausalLM"
    model = load_network(kind, path, config, folder, dtype=getattr(torch, dtype))
    if getattr(model, "_is_stateful", False):
        raise ModelError(
            f"{path}: {config.model_type} keeps a running state in place of keys and values, which "
            "replies cannot share; serve it and use openai:MODEL"
        )
    try:
        model.to(where)
    except RuntimeError as error:
        raise BackendError(f"{path} does not fit on {where}: {first_line(error)}") from error
    template, opening = _template(tokenizer)
    return LanguageModel(
        name=model_name(path),
        model=model,
        tokenizer=tokenizer,
        device=where,
        dtype=dtype,
        template=template,
        limit=_limit(model.config),
        ends=_ends(model, tokenizer),
        marks=_marks(tokenizer),
        opening=opening,
    )


def _template(tokenizer: Any) -> tuple[str, str]:
    """How dialogues become prompts, and the beginning of a reply that the template writes."""
    if not getattr(tokenizer, "chat_template", None):
        return "plain", ""

    def prompt(*turns: dict[str, str]) -> str:
        found = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return str(found)

    user = {"role": "user", "content": "x"}
    name = "chat"
    try:
        text = prompt({"role": "system", "content": _PROBE}, user)
    except Exception:
        # Templates raise whatever they like.
        text = ""
    if _PROBE not in text:
        # Some templates leave a system turn out without a word.
        name, text = "chat-user", prompt(user)
    opened = _OPENED.search(text)
    return name, "" if opened is None else opened[0]


def _folded(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    if system and others:
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


def _limit(config: Any) -> int:
    text = config.get_text_config()
    limit = getattr(text, "max_position_embeddings", None)
    return limit if isinstance(limit, int) and limit > 0 else int(1e9)


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    ends = getattr(model.generation_config, "eos_token_id", None)
    several = ends if isinstance(ends, list) else [ends]
    return frozenset(end for end in [*several, tokenizer.eos_token_id] if end is not None)


def _marks(tokenizer: Any) -> tuple[str, ...]:
    """Special tokens' texts, longest first; one of a single character cannot be broken up."""
    known = getattr(tokenizer, "added_tokens_decoder", {}).values()
    found = {token.content for token in known if token.special and len(token.content.strip()) > 1}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def model_name(path: Path) -> str:
    """A folder's name, and a digest of its weights, settings and files of chat templates."""
    hasher = hashlib.blake2b(folder_digest(path), digest_size=6)
    for template in sorted(path.glob("*.jinja")):
        hasher.update(template.read_bytes())
    return f"{path.resolve().name}@{hasher.hexdigest()}"


def _ids(tokenizer: Any, text: str, *, special: bool) -> list[int]:
    # A tokenizer's own maximum would only warn; the model's limit is checked for every prompt.
    found = tokenizer(text, add_special_tokens=special, verbose=False)
    return list(found["input_ids"])


def log_sum(values: Sequence[float]) -> float:
    """Logarithm of a sum of exponentials.

    >>> round(log_sum([math.log(0.25), math.log(0.5)]), 6) == round(math.log(0.75), 6)
    True
    """
    most = max(values)
    if most == -math.inf:
        return most
    return most + math.log(sum(math.exp(value - most) for value in values))
