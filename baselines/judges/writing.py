"""Summaries written by a language model: a product → a dialogue → a summary."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.baselines.judges.packs import PACKS
from prevalence.baselines.judges.parsers import spoken
from prevalence.baselines.judges.prompts import material, missing_inputs
from prevalence.errors import ConfigurationError, InputError
from prevalence.llm.protocol import Message, Request, Sampling, Subject
from prevalence.signature import build_signature
from prevalence.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.llm.protocol import Backend, Response
    from prevalence.records import Product

__all__ = ["PROMPTS", "SummaryPrompt", "SummaryWriter", "Written", "load_summary_prompt"]

PROMPTS = ("reviews", "multi-source")
"""Names of the prompts that ship with the package."""

# After the label only its own marks: what a summary begins with, such as "$20" or "-5", stays.
_LABEL = re.compile(
    r"""^[\W_]*product\s+opinion\s+summary
    (?:[*_"'\])\u201d]*\s*:(?:[*_"]+(?!\S))? | [*_"'\])\u201d]+(?!\S) | [ #]*(?:\n|$)
    | (?=\s[-\u2013\u2014]\s))
    \s*(?:[-\u2013\u2014]\s+)?""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPrompt:
    """How a summary is asked for.

    Attributes:
        name: one of :data:`PROMPTS`.
        inputs: what of a product is shown, in order.
        system: the system message.
        task: what stands before the product.
        rules: what stands after it.
        sampling: how replies are drawn unless a user says otherwise.
        digest: of all the texts.
    """

    name: str
    inputs: tuple[str, ...]
    system: str
    task: str
    rules: str
    sampling: Sampling
    digest: str

    def messages(self, product: Product) -> tuple[Message, ...]:
        """The dialogue about a product.

        Raises:
            InputError: the product has no review, or nothing beside reviews for a prompt that
                shows more.
        """
        if not any(review.text.strip() for review in product.reviews):
            raise InputError(f"{product.where}: has no review to summarise")
        others = set(self.inputs) - {"reviews"}
        if others and others == set(missing_inputs(self.inputs, product)):
            raise InputError(
                f"{product.where}: has none of {', '.join(sorted(others))}; "
                "use the prompt 'reviews'"
            )
        body = "\n\n".join([self.task, material(product, self.inputs), self.rules])
        return Message("system", self.system), Message("user", body)


def load_summary_prompt(name: str) -> SummaryPrompt:
    """Open a prompt.

    Raises:
        ConfigurationError: there is none of this name.
    """
    if name not in PROMPTS:
        raise ConfigurationError(f"unknown prompt {name!r}; choose from {', '.join(PROMPTS)}")
    row = read_toml(PACKS / "summaries.toml")[name]
    low, high = row["words"]
    rules = row["rules"].replace("{low}", str(low)).replace("{high}", str(high))
    texts = [row["system"], row["task"], rules, *row["inputs"]]
    return SummaryPrompt(
        name=name,
        inputs=tuple(row["inputs"]),
        system=row["system"],
        task=row["task"],
        rules=rules,
        sampling=Sampling(
            temperature=row["temperature"],
            top_p=row["top_p"],
            top_k=row["top_k"],
            max_tokens=row["max_tokens"],
        ),
        digest=hashlib.blake2b("\0".join(texts).encode(), digest_size=4).hexdigest(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A summary that a model wrote, or why there is none.

    Attributes:
        text: the summary: the reply without thoughts and label, on one line; empty after an error.
        reply: what the model said.
        cut: whether it ended at the most tokens of a reply.
        prompt_tokens: tokens of the prompt; 0 where unknown.
        completion_tokens: tokens of the reply; 0 where unknown.
        signature: what produced it.
        error: why there is no summary, in one line.
    """

    text: str
    reply: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int
    signature: str
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Where the summary comes from, as a JSON object."""
        return {
            "reply": self.reply,
            "cut": self.cut,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "signature": self.signature,
        }


class SummaryWriter:
    """Has a language model write summaries.

    Args:
        backend: the model.
        prompt: how it is asked.
        sampling: how replies are drawn; None takes the prompt's own way.
        simplified: show the rewritten reviews, which all products must have.
    """

    def __init__(
        self,
        backend: Backend,
        prompt: SummaryPrompt,
        *,
        sampling: Sampling | None = None,
        simplified: bool = False,
    ) -> None:
        self._simplified = simplified
        self._backend = backend
        self._prompt = prompt
        self._sampling = sampling or prompt.sampling
        # Number of products worth one call.
        self.work_unit = backend.work_unit

    @property
    def signature(self) -> str:
        """What produces the summaries."""
        sampling = self._sampling
        parts = {
            "method": "llm",
            "prompt": f"{self._prompt.name}@{self._prompt.digest}",
            "temperature": f"{sampling.temperature:g}",
            "top-p": f"{sampling.top_p:g}",
            "top-k": str(sampling.top_k or "all"),
            "tokens": str(sampling.max_tokens),
            "seed": str(sampling.seed),
        }
        if self._simplified:
            parts["from"] = "simplified"
        return build_signature({**parts, **self._backend.signature})

    def check(self, product: Product) -> None:
        """Whether a product can be shown to the model.

        Raises:
            InputError: it cannot.
        """
        self._messages(product)

    def write(self, products: Sequence[Product]) -> list[Written]:
        """Write a summary of each product, none of which :meth:`check` refuses.

        Raises:
            BackendError: nothing more can be written.
        """
        requests = [
            Request(
                messages=self._messages(product),
                sampling=self._sampling,
                subject=Subject("llm-summary", self._prompt.name, product.id),
            )
            for product in products
        ]
        return [self._written(response) for [response] in self._backend.complete(requests)]

    def _messages(self, product: Product) -> tuple[Message, ...]:
        return self._prompt.messages(product.rewritten() if self._simplified else product)

    def _written(self, response: Response) -> Written:
        text = " ".join(_LABEL.sub("", spoken(response.text).strip()).split())
        empty = "the model's reply holds no summary"
        return Written(
            text=text,
            reply=response.text,
            cut=response.cut,
            prompt_tokens=response.prompt_tokens,
            completion_tokens=response.completion_tokens,
            signature=self.signature,
            error=response.error or (None if text else empty),
        )
