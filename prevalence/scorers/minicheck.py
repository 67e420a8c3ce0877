"""MiniCheck and FactCG: encoders that say whether a document supports a claim.

Source: Tang et al. 2024, MiniCheck, and the behaviour of the authors' package, for lengths, chunks
and inputs; Lei et al. 2025, FactCG, whose input is a question with options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError
from prevalence.models.checkpoint import Network, read_config
from prevalence.models.location import resolve
from prevalence.scorers.factcheck import FactChecker, Rule, in_chunks
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prevalence.scorers.factcheck import Running
    from prevalence.scorers.reading import Inputs

__all__ = ["FactCG", "MiniCheck", "MiniCheckT5", "open_minicheck", "sentences_and_lines"]

_CHUNK_TOKENS, _CHUNK_WORDS, _FACTCG_TOKENS = 400, 500, 550
_MOST_TOKENS = 2_048
"""Of a chunk and a claim, where positions are relative."""
_RELATIVE = ("deberta-v2", "t5")
_QUESTION = '\n\nChoose your answer: based on the paragraph above can we conclude that "'
_OPTIONS = '"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
"""What stands in FactCG's input between chunk and claim, and after the claim."""


def sentences_and_lines(text: str) -> list[str]:
    r"""The sentences of each line, with a line feed between lines.

    >>> sentences_and_lines("They fit. I like them.\nThey last.")
    ['They fit.', 'I like them.', '\n', 'They last.']
    """
    found: list[str] = []
    for line in text.split("\n"):
        found += [*sentences_of(line), "\n"]
    return found[:-1]


def _joined(runs: list[list[str]]) -> list[str]:
    chunks = (" ".join(run).replace(" \n ", "\n").strip() for run in runs)
    return [chunk for chunk in chunks if chunk]


class MiniCheck(FactChecker):
    """The classifiers: chunk and claim are one text with the end mark of the model between.

    Args:
        named: ``model`` and ``claims``.
        options: where and how it runs.
        family: for the signature.
        most: tokens of a chunk.

    Raises:
        ModelError: the checkpoint is unusable or has other than two outputs.
    """

    def __init__(
        self,
        named: Mapping[str, str],
        options: Running,
        family: str = "minicheck",
        most: int = _CHUNK_TOKENS,
    ) -> None:
        opened = Network(
            "AutoModelForSequenceClassification", named["model"], device=options.device,
            dtype=options.dtype,
        )  # fmt: skip
        if opened.config.num_labels != 2:
            raise ModelError(f"{named['model']}: {family} has two outputs, and this model "
                             f"{opened.config.num_labels}")  # fmt: skip
        self._most = most
        super().__init__(opened, _rule(family, f"chunk{most}", opened, named), options)

    def chunks(self, premise: str) -> Sequence[str]:
        """Runs of sentences of so many tokens."""
        return _joined(in_chunks(sentences_and_lines(premise), self._tokens_in, self._most))

    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """One text: not the pair that the tokenizer would make, whose marks are others."""
        mark = self.opened.tokenizer.eos_token or self.opened.tokenizer.sep_token
        return (f"{chunk}{mark}{claim}",)

    def _tokens_in(self, text: str) -> int:
        return len(self.tokens(text))


class FactCG(MiniCheck):
    """A classifier that reads chunk and claim as a question with two options.

    Args:
        named: ``model`` and ``claims``.
        options: where and how it runs.

    Raises:
        ModelError: see :class:`MiniCheck`.
    """

    def __init__(self, named: Mapping[str, str], options: Running) -> None:
        super().__init__(named, options, "factcg", _FACTCG_TOKENS)

    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """The chunk, and a question about the claim with its options."""
        return (f"{chunk}{_QUESTION}{claim}{_OPTIONS}",)


class MiniCheckT5(FactChecker):
    """The generative form: of the first token that it would write, "1" against "0".

    Args:
        named: ``model`` and ``claims``.
        options: where and how it runs.

    Raises:
        ModelError: the checkpoint is unusable, or its tokenizer begins "0" and "1" alike.
    """

    def __init__(self, named: Mapping[str, str], options: Running) -> None:
        opened = Network(
            "AutoModelForSeq2SeqLM", named["model"], device=options.device, dtype=options.dtype
        )
        encoded = opened.tokenizer(["0", "1"], add_special_tokens=False)["input_ids"]
        self._answers = [ids[0] for ids in encoded]
        if len(set(self._answers)) < 2:
            raise ModelError(f"{named['model']}: its tokenizer begins 0 and 1 alike, so it is "
                             "not a MiniCheck checkpoint")  # fmt: skip
        super().__init__(
            opened, _rule("minicheck-t5", f"chunk{_CHUNK_WORDS}", opened, named), options
        )

    def chunks(self, premise: str) -> Sequence[str]:
        """Runs of sentences of so many words."""
        runs = in_chunks(sentences_and_lines(premise), _words_in, _CHUNK_WORDS)
        return _joined(runs)

    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """One text, with the task's name before."""
        return (f"predict: {chunk}{self.opened.tokenizer.eos_token}{claim}",)

    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """P("1") of the first token, [B, 1]."""
        import torch

        start = self.opened.config.decoder_start_token_id
        first = torch.full((len(inputs), 1), start, device=self.opened.device)
        output = self.opened.network(**self.opened.padded(inputs), decoder_input_ids=first)
        return output.logits[:, 0, self._answers].float().softmax(-1)[:, 1, None]


def _words_in(text: str) -> int:
    return len(text.split())


def _rule(family: str, gran: str, opened: Network, named: Mapping[str, str]) -> Rule:
    limit = _MOST_TOKENS if opened.config.model_type in _RELATIVE else opened.limit
    return Rule(family, gran, limit, named["claims"] == "sentence")


def open_minicheck(named: Mapping[str, str], options: Running) -> FactChecker:
    """Open either form of MiniCheck, as the config of the checkpoint says.

    Args:
        named: ``model`` and ``claims``.
        options: where and how it runs.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    config = read_config(resolve(named["model"]), named["model"])
    form: Callable[..., FactChecker] = MiniCheckT5 if config.is_encoder_decoder else MiniCheck
    return form(named, options)
