"""Sides of the question-based metrics for `benchmarks.baseline_throughput`.

The plain loop asks as the originals do, without their batches: one question a call, for each
summary anew. What is asked for is found by the same rules on both sides, so that the networks are
what is compared. The untrained writer would end at once, so it writes questions of full length.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.baseline_throughput import Side, Size, examples
from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.questions import models
from prevalence.baselines.questions.asking import mean
from prevalence.baselines.questions.spans import SpanFinder
from prevalence.baselines.questions.summaqa import cloze
from prevalence.scorers.qafe import answer_f1

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SIDES", "qafacteval_sides", "questeval_sides", "summaqa_sides"]

MOST = 4
"""Answers asked for in a text."""
_FEWER = 4
"""Times as few products as the other metrics get: a summary raises many questions."""
_ANSWER, _QUESTION = 30, 48


def _build(folder: Path, size: Size) -> tuple[str, str]:
    """Untrained checkpoints beside the tokenizer of a folder: a writer and an answerer."""
    import torch
    import transformers as hf

    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(1)
    writer: Any = hf.BartForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    writer.final_logits_bias[0, tokenizer.all_special_ids] = -100.0
    (folder / "qg").mkdir(exist_ok=True)
    template = {"template": "{before}<hl> {answer} <hl>{after}"}
    (folder / "qg" / "question_generation.json").write_text(json.dumps(template), encoding="utf-8")
    answerer: Any = hf.BertForQuestionAnswering(hf.BertConfig(
        vocab_size=size.words, hidden_size=size.width, num_hidden_layers=2 * size.layers,
        num_attention_heads=size.heads, intermediate_size=4 * size.width,
    ))  # fmt: skip
    for name, network in (("qg", writer), ("qa", answerer)):
        network.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return str(folder / "qg"), str(folder / "qa")


class _Plain:
    """The networks, asked one question a call."""

    def __init__(self, qg: str, qa: str, device: str) -> None:
        import torch
        import transformers as hf

        self.device = device
        self.tokenizer: Any = hf.AutoTokenizer.from_pretrained(qa)
        writer: Any = hf.BartForConditionalGeneration.from_pretrained(qg, dtype=torch.float32)
        answerer: Any = hf.BertForQuestionAnswering.from_pretrained(qa, dtype=torch.float32)
        self.writer, self.answerer = writer.eval().to(device), answerer.eval().to(device)
        self.finder = SpanFinder("chunks", tagger=None, most=MOST, runtime=Runtime())

    def question(self, context: str, start: int, end: int, beams: int) -> str:
        """The question for an answer in its place."""
        import torch

        row = self.tokenizer(
            f"{context[:start]}<hl> {context[start:end]} <hl>{context[end:]}", truncation=True,
            return_tensors="pt", return_token_type_ids=False,
        ).to(self.device)  # fmt: skip
        with torch.inference_mode():
            ids = self.writer.generate(
                **row, num_beams=beams, do_sample=False, max_new_tokens=_QUESTION
            )
        text: str = self.tokenizer.decode(ids[0], skip_special_tokens=True)
        return text.strip()

    def answer(self, question: str, context: str) -> tuple[str, float, float]:
        """The answer, the probability that there is one, and that of the likeliest."""
        import torch

        row = self.tokenizer(
            question, context, return_tensors="pt", return_offsets_mapping=True
        ).to(self.device)  # fmt: skip
        spans = row.pop("offset_mapping")[0].tolist()
        inside = [place for place, side in enumerate(row.sequence_ids(0)) if side == 1]
        with torch.inference_mode():
            found = self.answerer(**row)
        start, end = found.start_logits[0], found.end_logits[0]
        table = start[inside][:, None] + end[inside]
        allowed = torch.ones_like(table).triu().tril(_ANSWER - 1) > 0
        best = table.masked_fill(~allowed, -torch.inf)
        first, last = divmod(int(best.argmax()), len(inside))
        margin = best[first, last] - start[0] - end[0]
        text = context[spans[inside[first]][0] : spans[inside[last]][1]] if margin > 0 else ""
        peaks = start.softmax(0)[inside].max() * end.softmax(0)[inside].max()
        return text, float(margin.sigmoid()), float(peaks)

    def asked(self, text: str, beams: int, *, sentence: bool) -> list[tuple[str, str]]:
        """Questions about a text, with the answers that they were written for."""
        (spans,) = self.finder([text])
        found = [
            (self.question(*span.within(None if sentence else text), beams), span.text)
            for span in spans
        ]
        return [each for each in found if each[0]]


def _work(size: Size) -> list[Example]:
    """Fewer examples than the other metrics get, whose reviews fit the networks uncut."""
    found = examples(max(1, size.products // _FEWER))
    return [example._replace(reviews=example.reviews[:2]) for example in found]


def _sides(spec: str, models_of: dict[str, str], work: list[Example], loop: Any) -> list[Side]:
    metric = get(f"{spec}:answers=chunks:most={MOST}", runtime=loop.runtime, **models_of)

    def ours() -> Any:
        # What is remembered of a text must not answer for the next round.
        models.forget()
        return metric.score(work)

    return [("prevalence", ours), ("loop", lambda: np.array([loop(e) for e in work]))]


class _Loop(ABC):
    """A plain loop over the questions of one example."""

    def __init__(self, qg: str, qa: str, device: str) -> None:
        self.runtime, self.plain = Runtime(device=device), _Plain(qg, qa, device)

    @abstractmethod
    def __call__(self, example: Example) -> float:
        """The value of the example."""


class _SummaQA(_Loop):
    def __call__(self, example: Example) -> float:
        (spans,) = self.plain.finder([" ".join(example.reviews)])
        return mean([self.plain.answer(cloze(s).text, example.summary)[2] for s in spans])


class _QuestEval(_Loop):
    def __call__(self, example: Example) -> float:
        source = " ".join(example.reviews)
        parts = [
            self._part(*each) for each in ((example.summary, source), (source, example.summary))
        ]
        return sum(parts) / 2

    def _part(self, text: str, read: str) -> float:
        scores = []
        for question, wanted in self.plain.asked(text, 1, sentence=False):
            given, answerable, _ = self.plain.answer(question, read)
            scores.append((answer_f1(wanted, given) + answerable) / 2)
        return mean(scores)


class _QAFactEval(_Loop):
    def __call__(self, example: Example) -> float:
        source, scores = " ".join(example.reviews), []
        for question, _ in self.plain.asked(example.summary, 4, sentence=True):
            given = self.plain.answer(question, source)[0]
            scores.append(float(bool(given)))
        return mean(scores)


def summaqa_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """The probability of SummaQA by us, and by one question a call."""
    qg, qa = _build(folder, size)
    work = _work(size)
    return _sides("summaqa-probability", {"qa": qa}, work, _SummaQA(qg, qa, device))


def questeval_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """QuestEval without BERTScore and weights by us, and by one question a call."""
    qg, qa = _build(folder, size)
    work = _work(size)
    spec = "questeval:compare=f1+answerability:combine=mean"
    return _sides(spec, {"qg": qg, "qa": qa}, work, _QuestEval(qg, qa, device))


def qafacteval_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """QAFactEval, the share of questions answered, by us, and by one question a call."""
    qg, qa = _build(folder, size)
    work = _work(size)
    spec = "qafacteval:overlap=answered:unfiltered"
    return _sides(spec, {"qg": qg, "qa": qa}, work, _QAFactEval(qg, qa, device))


SIDES = {
    "summaqa-probability": ("seq2seq", summaqa_sides),
    "questeval": ("seq2seq", questeval_sides),
    "qafacteval": ("seq2seq", qafacteval_sides),
}
"""Metric → what :func:`benchmarks.baseline_throughput.build` builds for it, and its sides."""
