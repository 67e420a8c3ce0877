"""Sentences → simpler sentences: ten samples each, and the one that says the most separate things.

Source: Malon 2023, section 6: of ten nucleus samples the first of those with the most sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from prevalence.errors import BackendError, ConfigurationError
from prevalence.models.checkpoint import quiet_transformers
from prevalence.models.devices import RoomErrorsPassed
from prevalence.nli.tokens import cleaner
from prevalence.signature import package_version
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

    from prevalence.simplify.checkpoint import SeqToSeq
    from prevalence.text.sentences import Splitter

__all__ = ["RewriteCounts", "RewriteOptions", "Simplifier", "most_sentences"]

_DEFAULT_LENGTH = 256
_REMEMBERED = 100_000
"""Distinct sentences whose rewritings are kept for the rest of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """How sentences are rewritten; all but the batch size are in the signature.

    Attributes:
        samples: candidates for each sentence.
        p: nucleus probability in (0, 1].
        prefix: text before each sentence; None takes the checkpoint's own.
        max_length: most tokens of a sentence and of a rewriting; None takes the checkpoint's own,
            or 256.
        seed: of the samples.
        splitter: cuts reviews into sentences, and counts those of candidates.
        batch_size: sentences at a time, each of them ``samples`` rows.

    Raises:
        ConfigurationError: a value out of range.
    """

    samples: int = 10
    p: float = 0.9
    prefix: str | None = None
    max_length: int | None = None
    seed: int = 0
    splitter: str = "punkt-en"
    batch_size: int = 16

    def __post_init__(self) -> None:
        positive = {"samples": self.samples, "batch size": self.batch_size,
                    "length limit": 1 if self.max_length is None else self.max_length}  # fmt: skip
        for name, value in positive.items():
            if value < 1:
                raise ConfigurationError(f"the {name} must be positive, not {value}")
        if not 0.0 < self.p <= 1.0:
            raise ConfigurationError(f"the nucleus probability must lie in (0, 1], not {self.p}")


@dataclass(slots=True)
class RewriteCounts:
    """What became of distinct sentences.

    Attributes:
        sentences: distinct sentences seen.
        changed: those replaced by another text.
        cut: replaced by a candidate that had reached the length limit.
        too_long: kept as they were, because they are longer than the limit.
        empty: kept as they were, because every candidate was empty.
    """

    sentences: int = 0
    changed: int = 0
    cut: int = 0
    too_long: int = 0
    empty: int = 0


class _Candidate(NamedTuple):
    text: str
    cut: bool


def most_sentences(candidates: Sequence[str], splitter: Splitter) -> int | None:
    """Place of the first candidate with the most sentences; None when all are empty."""
    sizes = [len(splitter(text)) for text in candidates]
    best = max(sizes, default=0)
    return sizes.index(best) if best else None


class Simplifier:
    """Rewrites sentences with one checkpoint and one set of options.

    A sentence's rewriting depends on the sentence, the checkpoint, the options and the seed, but
    not on its batch: every row draws its own random numbers. Other batches change probabilities
    by rounding only, which in float32 turns a draw very rarely; bfloat16 rounds coarsely, and
    there a rewriting may change with its batch.

    Args:
        checkpoint: the loaded model.
        options: how to rewrite.

    Attributes:
        counts: what became of the sentences so far.
    """

    def __init__(self, checkpoint: SeqToSeq, options: RewriteOptions | None = None) -> None:
        self.options = options or RewriteOptions()
        self.counts = RewriteCounts()
        self._checkpoint = checkpoint
        own = self.options.prefix
        self._prefix = checkpoint.prefix if own is None else own
        self._clean = cleaner(checkpoint.tokenizer)
        self._max_length = _limit(self.options.max_length, checkpoint)
        self._batch_size = self.options.batch_size
        self.splitter = get_splitter(self.options.splitter)
        self._known: dict[str, str] = {}

    @property
    def signature(self) -> str:
        """What produced a rewriting, on one line."""
        found = self._checkpoint
        parts = {
            "seq2seq": f"{quote(found.name)}@{found.digest}",
            "prefix": quote(self._prefix) or "none",
            "samples": self.options.samples,
            "p": f"{self.options.p:.12g}",
            "len": self._max_length,
            "split": self.options.splitter,
            "dtype": str(found.model.dtype).removeprefix("torch."),
            "seed": self.options.seed,
            "v": package_version(),
        }
        return "|".join(["simplify", *(f"{key}:{part}" for key, part in parts.items())])

    def rewrite(
        self, sentences: Iterable[str], *, progress: Callable[[int], None] | None = None
    ) -> list[str]:
        """Rewrite sentences; equal ones are rewritten once.

        Args:
            sentences: any number.
            progress: called with the number of distinct sentences just finished.

        Returns:
            One text a sentence, in order.

        Raises:
            BackendError: one sentence alone does not fit the device's memory.
        """
        wanted = list(sentences)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        new = [text for text in dict.fromkeys(wanted) if text not in self._known]
        self.counts.sentences += len(new)
        fitting = self._fitting(new)
        if progress is not None and len(new) > len(fitting):
            progress(len(new) - len(fitting))
        while fitting:
            batch, fitting = fitting[: self._batch_size], fitting[self._batch_size :]
            for text, found in zip(batch, self._candidates(batch), strict=True):
                self._known[text] = self._chosen(text, found)
            if progress is not None:
                progress(len(batch))
        return [self._known[text] for text in wanted]

    def _fitting(self, texts: Sequence[str]) -> list[str]:
        """The texts within the limit, longest first; the others stay as they are."""
        if not texts:
            return []
        with quiet_transformers():
            encoded = self._checkpoint.tokenizer([*map(self._shown, texts)])
        lengths = [len(ids) for ids in encoded["input_ids"]]
        pairs = sorted(zip(lengths, texts, strict=True), key=lambda pair: -pair[0])
        fitting = [text for length, text in pairs if length <= self._max_length]
        for length, text in pairs:
            if length > self._max_length:
                self.counts.too_long += 1
                self._known[text] = text
        return fitting

    def _shown(self, text: str) -> str:
        return self._prefix + self._clean(text)

    def _chosen(self, text: str, candidates: Sequence[_Candidate]) -> str:
        place = most_sentences([candidate.text for candidate in candidates], self.splitter)
        if place is None:
            self.counts.empty += 1
            return text
        chosen = candidates[place]
        self.counts.changed += chosen.text != text
        self.counts.cut += chosen.cut
        return chosen.text

    def _candidates(self, texts: Sequence[str]) -> list[list[_Candidate]]:
        """The samples of a batch; one that does not fit the memory is halved, to the same end."""
        import torch

        with RoomErrorsPassed():
            return self._sampled(texts)
        if len(texts) == 1:
            raise BackendError(
                f"one sentence with {self.options.samples} samples does not fit the memory of "
                f"{self._checkpoint.device}; use --max-length, --device cpu or a smaller model"
            )
        torch.cuda.empty_cache()
        half = (len(texts) + 1) // 2
        self._batch_size = min(self._batch_size, half)
        return self._candidates(texts[:half]) + self._candidates(texts[half:])

    def _sampled(self, texts: Sequence[str]) -> list[list[_Candidate]]:
        import numpy as np
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        from prevalence.llm.nucleus import NucleusSampler, uniforms

        options, model = self.options, self._checkpoint.model
        samples, steps, device = options.samples, self._max_length, self._checkpoint.device
        inputs = self._checkpoint.tokenizer(
            [*map(self._shown, texts)], padding=True, return_tensors="pt"
        )
        ids, mask = inputs["input_ids"].to(device), inputs["attention_mask"].to(device)
        numbers = np.concatenate(
            [uniforms(text, samples=samples, steps=steps, seed=options.seed) for text in texts]
        )
        sampler = NucleusSampler(torch.from_numpy(numbers).to(device), p=options.p)
        with torch.inference_mode(), quiet_transformers():
            read = model.get_encoder()(input_ids=ids, attention_mask=mask, return_dict=True)
            # A sentence is read once; its samples share what was read.
            shared = read.last_hidden_state.repeat_interleave(samples, dim=0)
            written = model.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=shared),
                attention_mask=mask.repeat_interleave(samples, dim=0),
                do_sample=False,
                num_beams=1,
                max_new_tokens=steps,
                logits_processor=[sampler],
            )
        return self._read_back(written.cpu())

    def _read_back(self, written: torch.Tensor) -> list[list[_Candidate]]:
        """Token rows → texts, and whether each was cut at the limit, by sentence."""
        import torch

        ends = torch.as_tensor(self._checkpoint.model.generation_config.eos_token_id).reshape(-1)
        ended = torch.isin(written[:, 1:], ends).any(dim=1).tolist()
        texts = self._checkpoint.tokenizer.batch_decode(written, skip_special_tokens=True)
        rows = [_Candidate(t.strip(), not end) for t, end in zip(texts, ended, strict=True)]
        size = self.options.samples
        return [rows[place : place + size] for place in range(0, len(rows), size)]


def _limit(asked: int | None, checkpoint: SeqToSeq) -> int:
    if asked is None:
        return min(checkpoint.max_length or _DEFAULT_LENGTH, checkpoint.limit)
    if asked > checkpoint.limit:
        raise ConfigurationError(
            f"--max-length {asked} is above the {checkpoint.limit} tokens that "
            f"{checkpoint.name} reads"
        )
    return asked
