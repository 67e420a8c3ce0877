"""Products in, score rows out: every dimension of every summary put to a judge."""

from __future__ import annotations

import hashlib
import json
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from prevalence.baselines.judges.packs import dimension_set_names, load_dimensions
from prevalence.baselines.judges.parsers import spoken
from prevalence.baselines.judges.prompts import Prompter, missing_inputs, steps_prompt
from prevalence.baselines.judges.scoring import Judged, merged
from prevalence.baselines.rows import ScoreRow, finished_scores
from prevalence.errors import BackendError
from prevalence.llm.protocol import Request, Sampling, Subject
from prevalence.records import BadRecord, Product, Summary
from prevalence.runs.resuming import Mark, rest_of, summary_marks
from prevalence.runs.running import chunks
from prevalence.signature import package_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prevalence.baselines.judges.packs import Dimension, Method
    from prevalence.baselines.judges.scoring import Plan
    from prevalence.llm.protocol import Backend, Response

__all__ = ["EMPTY", "JudgeRun", "judge_signature", "material_digest", "text_digest", "write_steps"]

EMPTY = "the summary is empty, so the judge was not asked"
"""Why an empty summary has no value."""
_STEPS_TOKENS = 512


class _Work(NamedTuple):
    """A summary and the requests about it, each with the dimensions that it asks for.

    There is none about an empty summary.
    """

    product: Product
    summary: Summary
    asked: Sequence[tuple[Sequence[Dimension], Request]]


class JudgeRun:
    """Scores products by one method on some dimensions.

    Args:
        plan: the method, and how replies are drawn and read.
        dimensions: what is rated.
        backend: who answers.
        steps: evaluation steps by dimension, for methods whose judge writes them;
            see :func:`write_steps`.
        record: told every request with its replies.
    """

    def __init__(
        self,
        plan: Plan,
        dimensions: Sequence[Dimension],
        backend: Backend,
        *,
        steps: Mapping[str, str] | None = None,
        record: Callable[[Request, Sequence[Response]], None] | None = None,
    ) -> None:
        self.plan = plan
        self.dimensions = tuple(dimensions)
        self._backend = backend
        self._record = record
        self._prompter = Prompter(
            plan.method, dimensions, steps=steps, probabilities=plan.form == "probabilities"
        )
        self.signature = judge_signature(plan, dimensions, backend, steps)
        self._groups: list[Sequence[Dimension]] = (
            [self.dimensions] if plan.method.together else [(one,) for one in self.dimensions]
        )

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Every value of a row, in order."""
        return tuple(name for one in self.dimensions for name in self.plan.metric_names(one))

    def rows(
        self,
        items: Iterable[Product | BadRecord],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[ScoreRow]:
        """Judge the summaries of products, in input order.

        Args:
            items: products and records that could not be read.
            progress: called with the number of replies just read.

        Yields:
            One row for each summary and bad record. When the input fails, what was read before
            is judged first and the failure raised then.
        """
        for chunk in chunks(items, size=self._replies, full=self._backend.work_unit):
            asked = [item for item in chunk if isinstance(item, Product)]
            work = [self._work(item, summary) for item in asked for summary in item.summaries]
            judged = self._judged(work, progress)
            for item in chunk:
                if isinstance(item, BadRecord):
                    yield ScoreRow.bad(item, self.metric_names, self.signature)
                else:
                    yield from islice(judged, len(item.summaries))

    def marks(self, item: Product | BadRecord) -> list[Mark]:
        """What tells the rows of an item from those of other input or other settings."""
        return summary_marks(item, self.signature, material_digest)

    named: tuple[str, ...] = ()
    listed: frozenset[str] = frozenset()
    rest = staticmethod(rest_of)
    finished = staticmethod(finished_scores)

    @staticmethod
    def items(records: Iterable[Product | BadRecord]) -> Iterable[Product | BadRecord]:
        """What :meth:`rows` takes."""
        return records

    def _replies(self, item: Product | BadRecord) -> int:
        count = 0 if isinstance(item, BadRecord) else len(item.summaries)
        return count * len(self._groups) * self.plan.samples

    def _work(self, product: Product, summary: Summary) -> _Work:
        groups = self._groups if summary.text.strip() else ()
        return _Work(
            product, summary, [(group, self._request(group, product, summary)) for group in groups]
        )

    def _request(
        self, dimensions: Sequence[Dimension], product: Product, summary: Summary
    ) -> Request:
        plan = self.plan
        name = "" if plan.method.together else dimensions[0].key
        return Request(
            messages=self._prompter.messages(dimensions[0], product, summary.text),
            sampling=plan.sampling,
            indices=plan.indices,
            answers=tuple(plan.answers),
            subject=Subject(plan.method.name, name, product.id, summary.system),
        )

    def _judged(
        self, work: Sequence[_Work], progress: Callable[[int], None] | None
    ) -> Iterator[ScoreRow]:
        requests = [request for entry in work for _, request in entry.asked]
        answered = iter(self._backend.complete(requests)) if requests else iter(())
        for entry in work:
            parts: list[Judged] = []
            for dimensions, request in entry.asked:
                responses = next(answered)
                if self._record is not None:
                    self._record(request, responses)
                if progress is not None:
                    progress(len(responses))
                parts.append(self.plan.judge(dimensions, responses))
            nothing = Judged(dict.fromkeys(self.metric_names), errors=[EMPTY])
            yield self._row(entry, merged(parts) if parts else nothing)

    def _row(self, entry: _Work, judged: Judged) -> ScoreRow:
        product, summary = entry.product, entry.summary
        human = summary.extra.get("human")
        report = dict(judged.report)
        lacking = missing_inputs(self.plan.method.inputs, product)
        if lacking:
            report["missing_inputs"] = lacking  # type: ignore[assignment]
        error = f"{product.where_of(summary.system)}: {'; '.join(judged.errors)}"
        return ScoreRow(
            id=product.id,
            system=summary.system,
            metrics=judged.metrics,
            signature=self.signature,
            error=error if judged.errors else None,
            human=human if isinstance(human, dict) else None,
            input_digest=material_digest(product, summary),
            samples=judged.samples or None,
            judge=report,
        )


def write_steps(
    method: Method,
    dimensions: Sequence[Dimension],
    backend: Backend,
    *,
    max_tokens: int = _STEPS_TOKENS,
    record: Callable[[Request, Sequence[Response]], None] | None = None,
) -> dict[str, str]:
    """Have the judge write its evaluation steps, once for each dimension, at temperature 0.

    Args:
        method: the judging method.
        dimensions: what is rated.
        backend: the judge.
        max_tokens: most tokens of a score's reply; steps may have 512 in any case.
        record: told every request with its replies.

    Returns:
        The steps by dimension; nothing for methods whose steps are in the pack.

    Raises:
        BackendError: a reply failed, was cut or holds no steps.
    """
    requests = [
        Request(
            messages=messages,
            sampling=Sampling(max_tokens=max(_STEPS_TOKENS, max_tokens)),
            subject=Subject(method.name, dimension.key),
        )
        for dimension in dimensions
        if (messages := steps_prompt(method, dimension)) is not None
    ]
    answered = backend.complete(requests) if requests else []
    steps = {}
    for request, responses in zip(requests, answered, strict=True):
        (response,) = responses
        dimension = request.subject.dimension
        text = spoken(response.text).strip()
        if response.cut:
            raise BackendError(
                f"the judge's evaluation steps for {dimension} were cut at "
                f"{request.sampling.max_tokens:,} tokens; give a higher --max-tokens"
            )
        if response.error is not None or not text:
            raise BackendError(
                f"the judge wrote no evaluation steps for {dimension}: "
                f"{response.error or 'its reply holds none'}"
            )
        steps[dimension] = text
        if record is not None:
            record(request, responses)
    return steps


def judge_signature(
    plan: Plan,
    dimensions: Sequence[Dimension],
    backend: Backend,
    steps: Mapping[str, str] | None = None,
) -> str:
    """What produces the scores, on one line."""
    method = plan.method
    named = ",".join(f"{one.set}/{one.key}" for one in dimensions)
    texts = text_digest([_named_texts(one) for one in dimensions])
    parts = [f"judge:{method.name}@{method.digest}", f"dims:{named}@{texts}"]
    parts += [f"{key}:{value}" for key, value in plan.signature.items()]
    if steps:
        parts.append(f"steps:{text_digest(sorted(steps.items()))}")
    parts += [f"{key}:{value}" for key, value in backend.signature.items()]
    return "|".join([*parts, f"v:{package_version()}"])


def _named_texts(dimension: Dimension) -> Sequence[object]:
    """A dimension's texts; one that does not ship with the package names its source too."""
    texts = sorted((key, repr(value)) for key, value in dimension.texts.items())
    name = dimension.set
    shipped = load_dimensions(name).dimensions if name in dimension_set_names() else {}
    return texts if dimension in shipped.values() else [dimension.source, *texts]


def text_digest(value: object) -> str:
    """Digest of texts in lists, 8 hex digits."""
    data = json.dumps(value, ensure_ascii=True).encode()
    return hashlib.blake2b(data, digest_size=4).hexdigest()


def material_digest(product: Product, *summaries: Summary) -> str:
    """Digest of everything in the input that a judge may be shown, 16 hex digits."""
    whole = [
        product.name,
        [review.text for review in product.reviews],
        product.metadata,
        [summary.text for summary in summaries],
    ]
    data = json.dumps(whole, ensure_ascii=True, sort_keys=True, default=repr).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()
