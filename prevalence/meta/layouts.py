"""One decoded record → entries, for every layout in which scores and ratings are published.

A record's own keys tell its layout, never the names of systems, metrics or dimensions in it.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from prevalence.errors import InputError
from prevalence.llm.released_replies import UNREAD, method_name, reply_reader
from prevalence.meta.table import SummaryRatings
from prevalence.readers.fields import ID_KEYS, FieldError, describe, escaped, read_id
from prevalence.readers.jsonfiles import json_lines
from prevalence.readers.streams import EmptyInputError
from prevalence.readers.summeval_op import DIMENSIONS, NAMES_KEYS, snake, system_names
from prevalence.scored import PROFILE_FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "SYSTEM_KEYS",
    "Context",
    "Generations",
    "NoScoresError",
    "Repeated",
    "find_generations",
    "full_name",
    "read_generations",
    "read_replies",
    "record_entries",
    "unread_results",
]


_FOLDER = re.compile(r"eval_(?P<system>.+)_generations$")
_OLD = "_old"
"""Ends the name of a file whose replies its authors replaced by another one's."""
_SHOWN_RESULTS = 5

Repeated = Literal["first", "last"]
"""Which answer counts where a judge was asked twice about a summary."""


class Generations(NamedTuple):
    """One file of replies.

    Attributes:
        path: the file.
        evaluator: the judge, by the folder's name.
        system: whose summaries were judged.
        dimension: as the file is named.
        method: by our name of it (``mcq2`` for the files' ``altmcq``), in lower case; with
            ``-old`` behind it for a file that was replaced.
    """

    path: Path
    evaluator: str
    system: str
    dimension: str
    method: str


def find_generations(folder: Path) -> list[Generations]:
    """Every file of replies below a folder, which may itself be an evaluator's or a system's."""
    found = []
    for path in sorted(folder.resolve().rglob("*.txt")):
        match = _FOLDER.match(path.parent.name)
        dimension, _, released = path.stem.removesuffix(_OLD).rpartition("_")
        if match is not None and dimension:
            method = method_name(released) + ("-old" if path.stem.endswith(_OLD) else "")
            evaluator = path.parent.parent.name
            found.append(Generations(path, evaluator, match["system"], dimension, method))
    return found


def unread_results(folder: Path) -> str:
    """Which files of head-to-head results (``*.result``), in no layout known here, are in a folder.

    Returns:
        How many there are, with the names of the first, or "" where there are none.
    """
    found = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.result"))]
    if not found:
        return ""
    more = ", ..." if len(found) > _SHOWN_RESULTS else ""
    named = escaped(", ".join(found[:_SHOWN_RESULTS]))
    return (
        f"{len(found)} *.result files are not read ({named}{more}): the layout of head-to-head "
        "results is not known; write their verdicts as rows for prevalence meta preferences --duels"
    )


def read_generations(
    file: Generations,
    dimensions: Iterable[str],
    *,
    keep_unread: bool = False,
    repeated: Repeated = "last",
) -> Iterator[SummaryRatings]:
    """Read the scores out of one file of replies.

    Args:
        file: where it is, and what its place says.
        dimensions: the rated dimensions, in whose names a shortened one is written out.
        keep_unread: keep the -1 of a reply without a score, as the authors do, instead of taking
            it as missing.
        repeated: which answer about an id counts.

    Yields:
        An entry an item, with the metric EVALUATOR.METHOD.DIMENSION.

    Raises:
        InputError: a line is not ``{"id": ..., "resp": ...}``.
    """
    dimension = full_name(file.dimension, dimensions)
    metric = f"{file.evaluator}.{file.method}.{dimension}"
    read = reply_reader(file.method)
    for item, reply in read_replies(file.path, repeated=repeated).items():
        score = read(reply)
        unread = score == UNREAD and not keep_unread
        yield SummaryRatings(item, file.system, {metric: None if unread else score}, {}, {})


def full_name(short: str, names: Iterable[str]) -> str:
    """The one name that begins like a short one; the short one itself where none or several do.

    >>> [full_name(short, ["coherence", "consistency"]) for short in ("coh", "co")]
    ['coherence', 'co']
    """
    names = list(names)
    fitting = [name for name in names if name.casefold().startswith(short.casefold())]
    return short if short in names or len(fitting) != 1 else fitting[0]


def read_replies(path: Path, *, repeated: Repeated = "last") -> dict[str, str]:
    """Read one file of replies by item id; of a repeated id, the first or the last reply.

    Releases hold files without a reply, where a judge was never asked: they give none.

    Raises:
        InputError: a line is not ``{"id": ..., "resp": ...}``.
    """
    replies: dict[str, str] = {}
    with suppress(EmptyInputError):
        for position, record in json_lines(path):
            try:
                item, reply = _reply(record)
            except FieldError as fault:
                raise InputError(f"{position.source}: {fault.problem}; {fault.fix}") from None
            if repeated == "last" or item not in replies:
                replies[item] = reply
    return replies


def _reply(record: object) -> tuple[str, str]:
    if isinstance(record, dict):
        item, _ = read_id(record)
        reply = record.get("resp")
        if item is not None and isinstance(reply, str):
            return item, reply
    raise FieldError("", f"is {describe(record)}", 'give {"id": "...", "resp": "..."} a line')


SYSTEM_KEYS = ("system", "model_id", "model")
"""Names under which rows and tables say who wrote a summary; the first that is there counts."""
_SCORES = ("prevalence", "soft_prevalence")
_GROUP = re.compile(r"(?P<group>\w+?)_annotations$")
_JOINED_GROUPS = ("expert", "turker")
_ANNOTATOR = re.compile(r"annot(?:ator)?_?(?P<rater>\w+)$")
_OPINSUMMEVAL = ("asp_rel", "self_coh", "sent_con", "readblty")

_LARGEST = 1e15
"""Beyond it squares and sums of scores lose all meaning, and no scale or metric goes there."""

Ratings = dict[str, dict[str, float | None]]


class NoScoresError(FieldError):
    """The record has none of the layouts known here."""


class Context(NamedTuple):
    """What a record does not say itself.

    Attributes:
        item: id of a record that has none.
        case: its number in the file, which is the id in layouts that count cases.
        system: of annotations that name none, which come in a file a system; or None.
        raters: the group of raters to take where there are several, or None for the experts, or
            else the first group.
        keep_unread: whether a judge's reply that could not be read counts -1.
        repeated: which answer counts where a judge was asked twice.
    """

    item: str
    case: str
    system: str | None = None
    raters: str | None = None
    keep_unread: bool = False
    repeated: Repeated = "last"


def record_entries(record: object, context: Context) -> list[SummaryRatings]:
    """Take a record apart.

    Args:
        record: the decoded value.
        context: what the record does not say itself.

    Returns:
        An entry for each summary; none for a row that reports an error and has no value, and no
        rating or no system.

    Raises:
        NoScoresError: the record has no layout known here.
        FieldError: a value is no number, or of the wrong shape.
    """
    if not isinstance(record, dict):
        raise FieldError("", f"is {describe(record)}", "give one JSON object per line")
    if "verdict_ab" in record:
        raise FieldError("", "is a head-to-head row", "give it to `prevalence meta preferences`")
    found, _ = read_id(record)
    item = context.item if found is None else found
    summaries = record.get("summaries")
    if isinstance(summaries, dict):
        entries = list(_nested(summaries, item))
    elif isinstance(summaries, list):
        entries = list(_listed(record, summaries, item))
    elif _is_row(record):
        entries = _row(record, item, context)
    elif _is_case(record):
        entries = list(_case(record, context.case if found is None else found))
    else:
        entries = []
    if not entries and record.get("error") is None:
        fix = "give score rows, or a layout that `prevalence meta --help` names"
        raise NoScoresError("", "holds no scores and no ratings", fix)
    return entries


def _is_row(record: Mapping[str, Any]) -> bool:
    keys = {"metrics", "human", "samples", "eval", *_SCORES}
    return not keys.isdisjoint(record) or bool(_groups(record))


def _row(record: Mapping[str, Any], item: str, context: Context) -> list[SummaryRatings]:
    """A score row, a prevalence row, or a row of LLM_summeval's annotations."""
    metrics = _numbers(record.get("metrics"), "metrics")
    metrics |= _judged(record.get("eval"), context.repeated)
    metrics |= {key: _number(record[key], key) for key in _SCORES if key in record}
    metrics |= _profiled(record.get("profile"))
    samples = _samples(record.get("samples"))
    values = _sampled(samples) | metrics
    if context.keep_unread:
        unread = _unread(_objects(record.get("judge"), "judge"), samples)
        samples, values = samples | unread, values | _sampled(unread)
    human = _ratings(record.get("human"), "human") | _annotated(record, context.raters)
    named = (record[key] for key in SYSTEM_KEYS if isinstance(record.get(key), str | int))
    system = next(map(str, named), context.system if _groups(record) else None)
    # A row tells of an error as soon as one metric of several failed; the others stand, and what
    # people rated.
    if record.get("error") is not None and all(value is None for value in values.values()):
        rated = (value for ratings in human.values() for value in ratings.values())
        if system is None or all(value is None for value in rated):
            return []
    if system is None:
        raise FieldError("system", "is missing", "name the system that wrote the summary")
    text = _text(record.get("decoded", record.get("summary")))
    return [SummaryRatings(item, system, values, samples, human, text)]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _profiled(value: object) -> dict[str, float | None]:
    """The figures of a prevalence row's profile, without those that it does not have."""
    profile = _objects(value, "profile")
    return {
        f"prevalence.{name}": _number(profile[name], f"profile.{name}")
        for name in PROFILE_FIGURES
        if profile.get(name) is not None
    }


def _groups(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The ratings of each group of people: a list with one object of dimensions a rater."""
    named = {match["group"]: value for key, value in record.items() if (match := _GROUP.match(key))}
    named |= {key: record[key] for key in _JOINED_GROUPS if key in record}
    return {group: value for group, value in named.items() if _holds_ratings(value)}


def _holds_ratings(value: object) -> bool:
    """Whether it is a list of objects, a null for each rater who did not rate."""
    found = {type(ratings) for ratings in value} if isinstance(value, list) else {object}
    return dict in found or found <= {type(None)}


def _annotated(record: Mapping[str, Any], raters: str | None) -> Ratings:
    groups = _groups(record)
    if not groups:
        return {}
    chosen = raters or ("expert" if "expert" in groups else next(iter(groups)))
    if chosen not in groups:
        raise FieldError(chosen, "is not a group of raters", f"choose one of {', '.join(groups)}")
    human: Ratings = {}
    for number, ratings in enumerate(groups[chosen], start=1):
        where = f"{chosen}[{number - 1}]"
        for dimension, value in _numbers(ratings, where).items():
            human.setdefault(dimension, {})[str(number)] = value
    return human


def _unread(
    reports: Mapping[str, Any], samples: Mapping[str, Sequence[float | None]]
) -> dict[str, Any]:
    """Samples in which a reply that could not be read is -1.

    A reply that never came is a gap too, and not told apart: where some failed, all gaps stay.
    """
    return {
        metric: [UNREAD if value is None else value for value in values]
        for metric, values in samples.items()
        if isinstance(report := reports.get(metric, {}), dict) and not report.get("failed")
    }


def _judged(value: object, repeated: Repeated) -> dict[str, float | None]:
    """Scores of judges in the joined layout: evaluator → method → dimension → score."""
    return {
        f"{evaluator}.{method}.{dimension}": _answered(answer, f"eval.{evaluator}", repeated)
        for evaluator, methods in _objects(value, "eval").items()
        for method, dimensions in _objects(methods, f"eval.{evaluator}").items()
        for dimension, answer in _objects(dimensions, f"eval.{evaluator}.{method}").items()
        if isinstance(answer, dict)
    }


def _answered(answer: Mapping[str, Any], where: str, repeated: Repeated) -> float | None:
    """The score of an answer, or of the first one that it replaced."""
    earlier = answer.get("earlier")
    if repeated == "first" and isinstance(earlier, list) and earlier:
        answer = _objects(earlier[0], f"{where}.earlier")
    return _number(answer.get("score"), where)


def _nested(summaries: Mapping[str, Any], item: str) -> Iterator[SummaryRatings]:
    """Objects by system: SummEval-OP's mean file, or ratings and metrics beside each text."""
    for system, value in summaries.items():
        if not isinstance(value, dict):
            continue
        where = f"summaries.{system}"
        means = _ratings(value.get("dimensions"), f"{where}.dimensions")
        human = _ratings(value.get("human"), f"{where}.human")
        human |= {snake(name): ratings for name, ratings in means.items()}
        metrics = _numbers(value.get("metrics"), f"{where}.metrics")
        samples = _samples(value.get("samples"))
        if metrics or human or samples:
            values = _sampled(samples) | metrics
            yield SummaryRatings(item, system, values, samples, human, _text(value.get("summary")))


def _listed(record: Mapping[str, Any], summaries: list[Any], item: str) -> Iterator[SummaryRatings]:
    """SummEval-OP's detailed file: for each dimension a list of ratings a summary."""
    count = len(summaries)
    rated: dict[str, list[Any]] = {}
    for key, value in record.items():
        if key in {"summaries", "reviews", *ID_KEYS, *NAMES_KEYS} or not isinstance(value, list):
            continue
        if len(value) != count:
            problem = f"rates {len(value)} summaries where there are {count}"
            raise FieldError(key, problem, "give one list of ratings for each summary")
        rated[DIMENSIONS.get(key, key)] = value
    if not rated:
        return
    for place, system in enumerate(system_names(record, count)[0]):
        human = _ratings({name: values[place] for name, values in rated.items()}, f"[{place}]")
        yield SummaryRatings(item, system, {}, {}, human, _text(summaries[place]))


def _is_case(record: Mapping[str, Any]) -> bool:
    """Whether it is OpinSummEval's: scores alone could as well be of metrics by their systems."""
    objects = [value for key, value in record.items() if key not in ID_KEYS]
    if not objects or not all(isinstance(value, dict) for value in objects):
        return False
    rated = any(_ANNOTATOR.match(key) for value in objects for key in value)
    return rated or len(objects) < len(record)


def _case(record: Mapping[str, Any], item: str) -> Iterator[SummaryRatings]:
    """OpinSummEval's scores: an object a system, with metrics and annot1, annot2, ... in it."""
    for system, values in record.items():
        if system in ID_KEYS:
            continue
        human: Ratings = {}
        metrics: dict[str, float | None] = {}
        for key, value in values.items():
            match = _ANNOTATOR.match(key)
            if match is not None:
                for dimension, rating in _annotation(value, f"{system}.{key}").items():
                    human.setdefault(dimension, {})[match["rater"]] = rating
            elif not isinstance(value, str | list):
                metrics |= dict(_flat(key, value))
        if metrics or human:
            yield SummaryRatings(item, system, metrics, {}, human)


def _annotation(value: object, where: str) -> dict[str, float | None]:
    if isinstance(value, list) and len(value) == len(_OPINSUMMEVAL):
        value = dict(zip(_OPINSUMMEVAL, value, strict=True))
    return _numbers(value, where)


def _flat(name: str, value: object) -> Iterator[tuple[str, float | None]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{name}.{key}", item)
    elif not isinstance(value, str | list):
        yield name, _number(value, name)


def _ratings(value: object, where: str) -> Ratings:
    """Ratings by dimension: one number, a list with one a rater, or an object by rater."""
    human: Ratings = {}
    for dimension, given in _objects(value, where).items():
        by_rater = given if isinstance(given, dict) else _numbered(given)
        human[dimension] = _numbers(by_rater, f"{where}.{dimension}")
    return human


def _numbered(given: object) -> dict[str, object]:
    ratings = given if isinstance(given, list) else [given]
    return {str(number): rating for number, rating in enumerate(ratings, start=1)}


def _samples(value: object) -> dict[str, list[float | None]]:
    samples = {}
    for metric, drawn in _objects(value, "samples").items():
        if not isinstance(drawn, list):
            problem = f"is {describe(drawn)}"
            raise FieldError(f"samples.{metric}", problem, "give a list of numbers")
        samples[metric] = [_number(item, f"samples.{metric}") for item in drawn]
    return samples


def _sampled(samples: Mapping[str, Sequence[float | None]]) -> dict[str, float | None]:
    """The value of a metric that gives samples alone: their mean."""
    present = {name: [v for v in drawn if v is not None] for name, drawn in samples.items()}
    return {name: sum(drawn) / len(drawn) if drawn else None for name, drawn in present.items()}


def _numbers(value: object, where: str) -> dict[str, float | None]:
    return {key: _number(item, f"{where}.{key}") for key, item in _objects(value, where).items()}


def _objects(value: object, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FieldError(where, f"is {describe(value)}", "give an object")
    return value


def _number(value: object, where: str) -> float | None:
    """A number, a number in a string as some releases have it, or None for null and "NaN"."""
    if value is None:
        return None
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            pass
        else:
            if math.isfinite(number) and abs(number) > _LARGEST:
                fix = f"give a number of at most {_LARGEST:.0e}"
                raise FieldError(where, f"is {number:g}, too large for a score", fix)
            return number if math.isfinite(number) else None
    raise FieldError(where, f"is {describe(value)}", "give a number, or null where there is none")
