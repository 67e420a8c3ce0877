"""Prism: how likely a translator, asked to translate into the same language, makes a text.

H(y | x) is the mean log-probability of y's tokens given x. The token that names the language is
forced and does not count; the end token does.

    prism      = (H(summary | reference) + H(reference | summary)) / 2
    prism-src  = H(summary | source)

Any translator that begins its target with a token for the language will do: M2M100, NLLB, mBART.
Its decoder begins with the last token of the target, as in fairseq. Special tokens that a text
spells out are text.

Source: Thompson and Post 2020, sections 3 and 4.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.generative.likelihood import GivenLikelihood
from prevalence.baselines.neural.runner import SEQ2SEQ, Parts, open_runner
from prevalence.baselines.rules import comparing
from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.checkpoint import read_tokenizer
from prevalence.models.location import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Tokens
    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["TranslationLikelihood", "open_prism"]

_ENGLISH = ("en", "en_XX", "eng_Latn")
"""English in the codes of M2M100, mBART and NLLB."""
_ONE_WAY = "prism-src"


class TranslationLikelihood(GivenLikelihood):
    """Likelihood of texts given others by a translator into their own language.

    Args:
        model: checkpoint folder, registered name or hub name.
        runtime: device, precision and budget.
        language: the tokenizer's code of it; None for English.

    Attributes:
        language: the code.

    Raises:
        ModelError: the checkpoint is unusable, or has no tokens for languages.
        ConfigurationError: it has none for this language.
    """

    def __init__(self, model: str, runtime: Runtime, language: str | None = None) -> None:
        # Some translators have a tokenizer in Python alone.
        tokenizer = read_tokenizer(resolve(model), model, fast=False)
        super().__init__(open_runner(SEQ2SEQ, model, runtime, Parts(tokenizer=tokenizer)))
        tokenizer = self.runner.tokenizer
        if not hasattr(tokenizer, "src_lang"):
            raise ModelError(
                f"{model}: its tokenizer has no tokens for languages; use a translator such as "
                "M2M100, NLLB or mBART"
            )
        asked = _ENGLISH if language is None else (language,)
        known = [code for code in asked if _language_token(tokenizer, code) is not None]
        if not known:
            raise ConfigurationError(
                f"language={language or asked[0]}: {model} has no such language; give a code of "
                "its tokenizer, such as de (M2M100), de_DE (mBART) or deu_Latn (NLLB)"
            )
        self.language = known[0]
        self._token = _language_token(tokenizer, self.language)

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokens of texts, with those of the language and of the end."""
        with _speaking(self.runner.tokenizer, self.language):
            return self.runner.tokens(texts, literal=True)

    def begun(self, targets: Sequence[NDArray[np.int64]]) -> Any:
        """Targets with their last token moved to the beginning."""
        return self.runner.padded([np.roll(target, 1) for target in targets])

    def counted(self, target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """All but the token of the language."""
        return np.asarray(target != self._token)


@contextmanager
def _speaking(tokenizer: Any, language: str) -> Iterator[None]:
    """Other metrics share the tokenizer, so that it gets its own language back."""
    usual = tokenizer.src_lang
    try:
        tokenizer.src_lang = language
        yield
    finally:
        if usual is not None:
            tokenizer.src_lang = usual


def _language_token(tokenizer: Any, code: str) -> int | None:
    """The number of a language's token; None for a code that the tokenizer does not know."""
    try:
        with _speaking(tokenizer, code):
            around = tokenizer("")["input_ids"]
    except KeyError:
        return None
    found = [number for number in around if number != tokenizer.eos_token_id]
    # A tokenizer in Python refuses codes; a fast one takes any piece of its vocabulary.
    if len(found) != 1 or (tokenizer.is_fast and not _special(tokenizer, found[0], code)):
        return None
    return int(found[0])


def _special(tokenizer: Any, number: int, name: str) -> bool:
    named = tokenizer.convert_ids_to_tokens(number) == name
    return named and number in tokenizer.all_special_ids


def open_prism(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open Prism, or its source-side form: mean natural log-probabilities, up to 0.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: the checkpoint does not know the language.

    Source: Thompson and Post 2020, sections 3 and 4.
    """
    likelihood = TranslationLikelihood(
        spec.options.get("model", entry.models[0]), runtime, spec.options.get("language")
    )

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        forth = [(pair.text, pair.summary) for pair in comparisons]
        if entry.name == _ONE_WAY:
            return likelihood(forth)
        both = likelihood(forth + [(summary, text) for text, summary in forth])
        found: NDArray[np.float64] = both.reshape(2, -1).mean(axis=0)
        return found

    return comparing(
        entry,
        spec,
        compute,
        signature={**likelihood.runner.signature, "language": likelihood.language},
        cuts=lambda: likelihood.truncated,
    )
