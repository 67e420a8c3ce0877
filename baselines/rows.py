"""Score rows: what baselines write, one for each summary."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.row_values import check, each, maybe, natural, number, of
from prevalence.runs.earlier import finished_rows
from prevalence.runs.resuming import Finished
from prevalence.scored import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from prevalence.records import BadRecord

__all__ = ["ScoreRow", "finished_scores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """The values of one summary.

    Attributes:
        id: the product's id; None only for a record that could not be read.
        system: who wrote the summary.
        metrics: value by metric name; None where the metric has none, and ``error`` says why.
        signature: what produced the values.
        error: one line, or None.
        human: human ratings that the input holds for the summary, passed through.
        input_digest: digest of everything in the input that the values depend on.
        samples: every score behind a mean, by metric, None for a reply without one.
        judge: what became of the replies, by metric; see ``baselines.judges.scoring``.
    """

    id: str | None
    system: str | None
    metrics: Mapping[str, float | None]
    signature: str
    error: str | None = None
    human: Mapping[str, Any] | None = None
    input_digest: str | None = None
    samples: Mapping[str, Any] | None = None
    judge: Mapping[str, Any] | None = None

    @classmethod
    def bad(cls, record: BadRecord, names: Iterable[str], signature: str) -> ScoreRow:
        """The row of a record that could not be read: no metric has a value."""
        metrics = dict.fromkeys(names)
        return cls(
            id=record.id, system=record.system, metrics=metrics, signature=signature,
            error=record.error,
        )  # fmt: skip

    def to_json_line(self) -> str:
        """The contract's JSON object on one line, without the newline."""
        row: dict[str, Any] = {
            "schema": SCHEMA,
            "id": self.id,
            "system": self.system,
            "metrics": dict(self.metrics),
        }
        optional = {"samples": self.samples, "judge": self.judge, "human": self.human}
        row |= {key: value for key, value in optional.items() if value is not None}
        row |= {
            "signature": self.signature,
            "input_digest": self.input_digest,
            "error": self.error,
        }
        return json.dumps(row, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> ScoreRow:
        """Rebuild a row from its JSON object.

        Raises:
            InputError: the object is no score row of this schema.
        """
        if row.get("schema") != SCHEMA or not isinstance(row.get("metrics"), dict):
            raise InputError(f"not a score row of schema {SCHEMA}")
        check(row, _VALUES, "a score row of baselines")
        for account in (row.get("judge") or {}).values():
            check(account, _COUNTS, "a score row of baselines")
        try:
            return cls(**{key: value for key, value in row.items() if key != "schema"})
        except TypeError as error:
            raise InputError(f"not a score row of baselines: {error}") from error


_text = maybe(of(str))
_object = maybe(of(dict))
# What a value may be, by key.
_VALUES = {
    "id": _text, "system": _text, "metrics": each(maybe(number)), "signature": of(str),
    "error": _text, "human": _object, "input_digest": _text, "samples": _object, "judge": _object,
}  # fmt: skip
_COUNTS = dict.fromkeys(
    ("asked", "read", "unparsable", "several", "out_of_range", "failed", "cut", "distinct",
     "contradictions", "without_percentage"), natural,
)  # fmt: skip


def finished_scores(path: Path) -> Finished[ScoreRow]:
    """The rows that an earlier run of the same output has written."""
    return Finished(path=path, rows=finished_rows(path, ScoreRow.from_json))
