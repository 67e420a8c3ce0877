"""Prevalence by the equations as they stand: every pair through tokenizer and model.

No cache, no pair left out, no text tokenised once; one pair a call, or batches in input order that
are padded to their longest pair. Written from the papers, to be measured and checked against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prevalence.models.checkpoint import PREMISE_FIRST, LoadedCheckpoint
from prevalence.signature import TRIVIAL_TEMPLATES
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.records import Product

Pair = tuple[str, str]
Floats = NDArray[np.float64]

NOT_ASKED = -1


@dataclass(frozen=True, slots=True)
class NaiveSummary:
    """Answers about one summary of m reviews and n sentences; 0 where nothing is asked.

    Attributes:
        trivial: float [n], P(t entails y_k).
        earlier: float [n, n], P(y_j entails y_k) for j < k.
        reviews: float [m, n], P(x_i entails y_k).
    """

    trivial: Floats
    earlier: Floats
    reviews: Floats


class NaiveScoring:
    """Answers every pair that equations 1 to 3 of Malon 2023 name.

    Args:
        checkpoint: model and tokenizer, on the CPU.
        batch: pairs a call.

    Attributes:
        pairs: those of the last run, in the order in which they were asked.
        answers: float [pairs], P(entailment) of each.
    """

    def __init__(self, checkpoint: LoadedCheckpoint, batch: int = 1) -> None:
        self._checkpoint = checkpoint
        self._batch = batch
        self._split = get_splitter()
        self.pairs: list[Pair] = []
        self.answers: Floats = np.empty(0)

    def run(self, products: Sequence[Product]) -> list[NaiveSummary]:
        """Answer all pairs of all products."""
        self.pairs = []
        places = [
            self._places(product, summary.text)
            for product in products
            for summary in product.summaries
        ]
        with torch.inference_mode():
            parts = [
                self._entailment(self.pairs[at : at + self._batch])
                for at in range(0, len(self.pairs), self._batch)
            ]
        self.answers = np.concatenate(parts) if parts else np.empty(0)
        # NOT_ASKED is the place of the last.
        padded = np.append(self.answers, 0.0)
        return [NaiveSummary(*(padded[part] for part in each)) for each in places]

    def _places(self, product: Product, text: str) -> tuple[NDArray[np.int64], ...]:
        """Where the answers about a summary will stand, in the shapes of :class:`NaiveSummary`."""
        sentences = [sentence.text for sentence in self._split(text)]
        size = len(sentences)
        shapes = ((size,), (size, size), (len(product.reviews), size))
        trivial, earlier, reviews = (np.full(shape, NOT_ASKED) for shape in shapes)
        for k, sentence in enumerate(sentences):
            if product.name is not None:
                statement = TRIVIAL_TEMPLATES["name"].replace("{name}", product.name)
                trivial[k] = self._ask(statement, sentence)
            for j in range(k):
                earlier[j, k] = self._ask(sentences[j], sentence)
            for i, review in enumerate(product.reviews):
                reviews[i, k] = self._ask(review.text, sentence)
        return trivial, earlier, reviews

    def _ask(self, premise: str, hypothesis: str) -> int:
        self.pairs.append((premise, hypothesis))
        return len(self.pairs) - 1

    def _entailment(self, pairs: Sequence[Pair]) -> Floats:
        first = self._checkpoint.attention == PREMISE_FIRST
        logits = (self._premise_first if first else self._joint)(pairs)
        found = torch.softmax(logits, dim=1)[:, self._checkpoint.labels.entailment]
        return found.double().numpy()

    def _joint(self, pairs: Sequence[Pair]) -> Any:
        """Logits of pairs by the tokenizer's own encoding and the model's own forward pass."""
        inputs = self._checkpoint.tokenizer(
            [premise for premise, _ in pairs],
            [hypothesis for _, hypothesis in pairs],
            truncation="only_first",
            max_length=self._checkpoint.max_length,
            padding=True,
            return_tensors="pt",
        )
        return self._checkpoint.model(**inputs).logits

    def _premise_first(self, pairs: Sequence[Pair]) -> Any:
        """Logits of pairs by the plain encoder under a mask that hides hypotheses from premises.

        A premise's tokens see the premise; the hypothesis', which count their positions anew, see
        both.
        """
        rows = [self._row(*pair) for pair in pairs]
        longest = max(len(ids) for ids, _ in rows)
        ids, positions, types = torch.zeros(3, len(rows), longest, dtype=torch.int64)
        mask = torch.full((len(rows), 1, longest, longest), torch.finfo(torch.float32).min)
        for row, (tokens, split) in enumerate(rows):
            size = len(tokens)
            ids[row, :size] = torch.tensor(tokens)
            positions[row, :size] = torch.tensor([*range(split), *range(size - split)])
            types[row, split:size] = 1
            mask[row, 0, :, :split] = 0.0
            mask[row, 0, split:, split:size] = 0.0
        body = self._mpnet if self._checkpoint.model.config.model_type == "mpnet" else self._bert
        heads = torch.tensor([split for _, split in rows])
        return body(ids, positions, types, mask, heads)

    def _bert(
        self, ids: Tensor, positions: Tensor, types: Tensor, mask: Tensor, heads: Tensor
    ) -> Any:
        """Logits by BERT, from the state of each row's token at `heads`."""
        bert, classifier = self._checkpoint.model.bert, self._checkpoint.model.classifier
        hidden = bert(
            input_ids=ids, position_ids=positions, token_type_ids=types, attention_mask=mask
        ).last_hidden_state
        return classifier(torch.tanh(bert.pooler.dense(hidden[torch.arange(len(heads)), heads])))

    def _mpnet(self, ids: Tensor, positions: Tensor, _: Tensor, mask: Tensor, heads: Tensor) -> Any:
        """Likewise by MPNet, whose distances between tokens run on from premise to hypothesis."""
        mpnet, classifier = self._checkpoint.model.mpnet, self._checkpoint.model.classifier
        first = mpnet.embeddings.padding_idx + 1
        hidden = mpnet.embeddings(input_ids=ids, position_ids=positions + first)
        hidden = mpnet.encoder(hidden, attention_mask=mask, return_dict=True).last_hidden_state
        return classifier(hidden[torch.arange(len(heads)), heads][:, None])

    def _row(self, premise: str, hypothesis: str) -> tuple[list[int], int]:
        """The tokens of a pair, and where the hypothesis begins."""
        limits = self._checkpoint.max_length, self._checkpoint.max_hypothesis
        first, second = (
            self._checkpoint.tokenizer(text, truncation=True, max_length=limit)["input_ids"]
            for text, limit in zip((premise, hypothesis), limits, strict=True)
        )
        return first + second, len(first)
