"""The calibration file: a threshold and a map for one scorer, and where they come from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.calibration.maps import ScoreMap, read_map
from prevalence.errors import InputError, ModelError
from prevalence.metric import check_threshold
from prevalence.signature import package_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.nli.protocol import PairScorer

__all__ = ["Calibration", "read_calibration"]

_SCHEMA = 1
_KIND = "prevalence-calibration"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What `prevalence calibrate` found for one scorer.

    Attributes:
        scorer: name that opens it.
        scorer_digest: of everything that changes a score of it, in hexadecimal.
        scorer_signature: its part of the signature, for people to read.
        threshold: on the scorer's own scores; a decision is strictly greater.
        score_map: from scores to probabilities, or None.
        source: files, relation, rule and seed, for people to read.
        dev: figures on the set that chose.
        test: figures on the other set, or None.
    """

    scorer: str
    scorer_digest: str
    scorer_signature: Mapping[str, str]
    threshold: float
    score_map: ScoreMap | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    dev: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)

    @property
    def digest(self) -> str:
        """Names what the calibration does to scores: twelve hexadecimal digits."""
        parts = [self.scorer_digest, self.threshold, self._map_json()]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()

    def check(self, scorer: PairScorer) -> None:
        """Refuse another scorer than the one that was calibrated.

        Raises:
            ModelError: the digests differ.
        """
        if scorer.digest.hex() != self.scorer_digest:
            raise ModelError(
                f"the calibration is of {self.scorer!r} with digest {self.scorer_digest[:12]}, and "
                f"this scorer has {scorer.digest.hex()[:12]}: use the same weights and options "
                "(windows, length, labels, dtype), or run `prevalence calibrate` again"
            )

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "schema": _SCHEMA,
            "kind": _KIND,
            "scorer": self.scorer,
            "scorer_digest": self.scorer_digest,
            "scorer_signature": dict(self.scorer_signature),
            "threshold": self.threshold,
            "map": self._map_json(),
            "source": dict(self.source),
            "dev": dict(self.dev),
            "test": None if self.test is None else dict(self.test),
            "version": package_version(),
        }

    def _map_json(self) -> dict[str, Any] | None:
        return None if self.score_map is None else self.score_map.to_json()


def read_calibration(path: Path | str) -> Calibration:
    """Read a calibration file.

    Raises:
        InputError: the file cannot be read, or is none of ours, or of a later schema.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a calibration file ({error})") from error
    if not isinstance(record, dict) or record.get("kind") != _KIND:
        raise InputError(
            f"{path}: not a calibration file; `prevalence calibrate --output` writes one"
        )
    if record.get("schema") != _SCHEMA:
        raise InputError(
            f"{path}: calibration schema {record.get('schema')!r} is not {_SCHEMA}; use the "
            f"version of prevalence that wrote it ({record.get('version')})"
        )
    try:
        return Calibration(
            scorer=str(record["scorer"]),
            scorer_digest=str(record["scorer_digest"]),
            scorer_signature=dict(record["scorer_signature"]),
            threshold=float(record["threshold"]),
            score_map=read_map(record["map"]),
            source=dict(record["source"]),
            dev=dict(record["dev"]),
            test=record["test"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged calibration file ({error})") from error
