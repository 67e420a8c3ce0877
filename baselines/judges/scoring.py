"""Replies → a score, with an account of every reply that gave none.

There are three forms and none turns into another: the mean of sampled replies, one greedy reply,
and the mean of the grades weighted by the probabilities that the model gives to each of them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from prevalence.baselines.judges.parsers import (
    Reading,
    before_cut,
    contradicts_percentage,
    parser_for,
    read_table,
)
from prevalence.errors import ConfigurationError
from prevalence.llm.protocol import Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.baselines.judges.packs import Dimension, Method
    from prevalence.llm.protocol import Response

__all__ = ["Form", "Judged", "Plan", "make_plan", "merged"]

Form = Literal["samples", "direct", "probabilities"]
"""Mean of sampled replies, one greedy reply, or weighting by token probabilities."""

_DIGITS = {str(grade): float(grade) for grade in range(1, 6)}
_LETTERS = {letter: float(grade) for grade, letter in enumerate("ABCDE", start=1)}


@dataclass(frozen=True, slots=True)
class Judged:
    """What the replies about one summary and dimension amount to.

    Attributes:
        metrics: value by metric name; None where no reply has a score.
        samples: the score of each reply, None for one without, by metric name.
        report: what became of the replies, by metric name.
        errors: why a value is missing.
    """

    metrics: Mapping[str, float | None]
    samples: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    report: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """How replies are drawn and read.

    Attributes:
        method: whose replies they are.
        form: how they become a score.
        samples: replies to each prompt.
        sampling: how they are drawn.
        rules: the parser's rules.
        note: what was changed of what was asked for, in words; None for nothing.
    """

    method: Method
    form: Form
    samples: int
    sampling: Sampling
    rules: str
    note: str | None = None

    @property
    def answers(self) -> Mapping[str, float]:
        """Texts whose probability is asked for, and the grade of each; none in other forms."""
        if self.form != "probabilities":
            return {}
        return _LETTERS if self.method.answer == "letter" else _DIGITS

    @property
    def indices(self) -> tuple[int, ...]:
        """Numbers of the replies that are wanted."""
        return tuple(range(self.samples))

    @property
    def signature(self) -> Mapping[str, str]:
        """Everything here that changes a value."""
        drawn = self.sampling
        parts = {"form": self.form, "parser": self.rules, "n": str(self.samples)}
        parts |= {"temp": f"{drawn.temperature:g}", "max": str(drawn.max_tokens)}
        if drawn.temperature > 0:
            limit = drawn.top_k or "all"
            parts |= {"top-p": f"{drawn.top_p:g}", "top-k": str(limit), "seed": str(drawn.seed)}
        return parts

    def metric_names(self, dimension: Dimension) -> tuple[str, ...]:
        """Names of the values of a dimension."""
        name = self.method.name
        if self.form == "probabilities":
            return (f"{name}-weighted.{dimension.key}", f"{name}-weighted-raw.{dimension.key}")
        return (f"{name}.{dimension.key}",)

    def judge(self, dimensions: Sequence[Dimension], responses: Sequence[Response]) -> Judged:
        """Read the replies to one prompt.

        Args:
            dimensions: what the prompt asks to rate; several only where a method rates together.
            responses: one for each index.
        """
        if self.form == "probabilities":
            return self._weighted(dimensions[0], responses[0])
        read = [self._readings(dimensions, response) for response in responses]
        each = [
            self._mean(dimension, responses, [readings[place] for readings in read])
            for place, dimension in enumerate(dimensions)
        ]
        return merged(each)

    def _readings(self, dimensions: Sequence[Dimension], response: Response) -> list[Reading]:
        text = response.text
        if response.cut and self.rules == "strict":
            if self.method.reasons_first:
                # What is read in it would be some number of the reasons.
                return [Reading(None, "unparsable") for _ in dimensions]
            # A closed tag is whole; a letter or number at the end may be the beginning of another.
            text = text if self.method.answer == "tag" else before_cut(text)
        if self.method.answer == "table":
            return read_table(text, [dimension.title for dimension in dimensions])
        title = dimensions[0].title
        parse = parser_for(self.method.answer, self.rules, method=self.method.name, title=title)
        return [parse(text)]

    def _mean(
        self, dimension: Dimension, responses: Sequence[Response], readings: Sequence[Reading]
    ) -> Judged:
        (name,) = self.metric_names(dimension)
        failed = [response.error is not None for response in responses]
        values = [
            None if lost else reading.value for lost, reading in zip(failed, readings, strict=True)
        ]
        known = [value for value in values if value is not None]
        report = _counts(responses, readings)
        if self.method.percentage:
            report |= _contradictions(responses, values)
        mean = math.fsum(known) / len(known) if known else None
        errors = [] if known else [f"{name} has no value: {_why(responses, report)}"]
        return Judged({name: mean}, {name: values}, {name: report}, errors)

    def _weighted(self, dimension: Dimension, response: Response) -> Judged:
        name, raw = self.metric_names(dimension)
        grades = self.answers
        seen = response.logprobs
        why = response.error
        if why is None and seen is None:
            why = "the backend gives no log-probabilities; choose another form or another backend"
        if why is not None or seen is None:
            return Judged(
                {name: None, raw: None}, {}, {name: {"asked": 1, "failed": 1}},
                [f"{name} has no value: {why}"],
            )  # fmt: skip
        shares = {grade: math.exp(seen[grade]) for grade in grades if grade in seen}
        mass = math.fsum(shares.values())
        total = math.fsum(share * grades[grade] for grade, share in shares.items())
        report = {
            "asked": 1,
            "mass": mass,
            "unseen": [grade for grade in grades if grade not in seen],
            "probabilities": shares,
        }
        if mass <= 0.0:
            errors = [f"{name} has no value: no grade has any probability"]
            return Judged({name: None, raw: None}, {}, {name: report}, errors)
        return Judged({name: total / mass, raw: total}, {}, {name: report})


def make_plan(
    method: Method,
    *,
    form: Form = "samples",
    samples: int | None = None,
    temperature: float | None = None,
    top_p: float = 1.0,
    top_k: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    rules: str = "strict",
    recorded: bool = False,
) -> Plan:
    """Settle how replies are drawn; what is None is as the method's paper has it.

    Args:
        method: whose replies they are.
        form: how they become a score.
        samples: replies to each prompt, at least 1.
        temperature: 0 to 2. At 0 one reply is asked for, because all are alike.
        top_p: nucleus, in (0, 1].
        top_k: most tokens to draw from.
        max_tokens: most tokens of a reply.
        seed: of the first sample.
        rules: the parser's.
        recorded: replies come from a recording that has several for a prompt; they may differ at
            temperature 0 too.

    Raises:
        ConfigurationError: the settings contradict each other or the method.
    """
    preset = method.preset
    if form != "samples":
        _check_form(method, form, samples, temperature)
        samples, temperature = 1, 0.0
    told = samples is not None
    samples = preset.samples if samples is None else samples
    temperature = preset.temperature if temperature is None else temperature
    if method.compares and (samples != 1 or form == "probabilities"):
        raise ConfigurationError(f"{method.name} takes one reply in each order: --samples 1")
    note = None
    if temperature == 0.0 and samples > 1 and not (recorded and told):
        if not recorded:
            note = (
                f"at temperature 0 all {samples:,} replies are the same one, which is asked for "
                "once"
            )
        samples = 1
    drawn = Sampling(
        temperature=temperature, top_p=top_p, top_k=top_k,
        max_tokens=preset.max_tokens if max_tokens is None else max_tokens, seed=seed,
    )  # fmt: skip
    if method.answer not in ("table", "verdict") or rules != "strict":
        parser_for(method.answer, rules, method=method.name)
    return Plan(method, form, samples, drawn, rules, note)


def merged(parts: Sequence[Judged]) -> Judged:
    """The values of several dimensions as one."""
    whole = Judged({}, {}, {}, [])
    for part in parts:
        whole = Judged(
            {**whole.metrics, **part.metrics},
            {**whole.samples, **part.samples},
            {**whole.report, **part.report},
            [*whole.errors, *part.errors],
        )
    return whole


def _check_form(method: Method, form: Form, samples: int | None, temperature: float | None) -> None:
    if samples not in (None, 1) or temperature not in (None, 0.0):
        raise ConfigurationError(f"--form {form} is one reply at temperature 0")
    able = method.probabilities is not None or method.answer == "letter"
    if form == "probabilities" and not able:
        raise ConfigurationError(
            f"{method.name} has the judge explain first, so that no token probability is its "
            "score; g-eval, mcq and mcq2 answer at once"
        )


def _counts(responses: Sequence[Response], readings: Sequence[Reading]) -> dict[str, Any]:
    faults: Counter[str] = Counter(
        reading.fault or "read"
        for response, reading in zip(responses, readings, strict=True)
        if response.error is None
    )
    names = ("read", "unparsable", "several", "out_of_range")
    return {
        "asked": len(responses),
        **{name: faults[name] for name in names},
        "failed": sum(response.error is not None for response in responses),
        "cut": sum(response.cut for response in responses),
        "distinct": len({response.text for response in responses if response.error is None}),
    }


def _contradictions(
    responses: Sequence[Response], values: Sequence[float | None]
) -> dict[str, Any]:
    found = [
        contradicts_percentage(response.text, value)
        for response, value in zip(responses, values, strict=True)
        if value is not None
    ]
    return {
        "contradictions": sum(answer is True for answer in found),
        "without_percentage": sum(answer is None for answer in found),
    }


def _why(responses: Sequence[Response], report: Mapping[str, Any]) -> str:
    failure = next((response.error for response in responses if response.error), None)
    if report["failed"] == report["asked"] and failure is not None:
        return failure
    parts = [
        f"{report[name]:,} {name.replace('_', ' ')}"
        for name in ("unparsable", "several", "out_of_range", "failed")
        if report[name]
    ]
    why = f"of {report['asked']:,} replies none has a score ({', '.join(parts)})"
    cut = report["cut"]
    return f"{why}; {cut:,} cut at the limit: raise --max-tokens" if cut else why
