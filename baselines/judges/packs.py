"""Prompt packs: judging methods and rating dimensions, read from TOML files.

A method is sections of a prompt with placeholders; a set of dimensions fills them. Both ship with
the package under ``packs/`` and both may be files of the user's own.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from prevalence.errors import ConfigurationError, InputError
from prevalence.readers.summeval_op import DIMENSIONS
from prevalence.toml_files import read_text, read_toml, taken, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "PACKS",
    "SECTIONS",
    "Answer",
    "Dimension",
    "DimensionSet",
    "Method",
    "Preset",
    "dimension_set_names",
    "known_texts",
    "load_dimensions",
    "load_method",
    "method_names",
    "placeholders",
]

PACKS = Path(__file__).with_name("packs")
"""The folder of the packs that ship with the package."""

Answer = Literal["tag", "plain", "letter", "stars", "verdict", "table"]
"""What a reply looks like: ``<score>4</score>``, "Score: 4", "D", "4 stars", "A", a line each."""

SECTIONS = (
    "system", "task", "criteria", "metric", "source", "summary", "options", "steps", "output",
)  # fmt: skip
"""Sections of a prompt in their order; source and summary are written from the record."""

_FROM_RECORD = ("source", "summary")
_REVIEWS_FIRST = (
    "system", "source", "task", "criteria", "metric", "summary", "options", "steps", "output",
)  # fmt: skip
_VARIANT = "reviews-first"
_ANSWERS = ("tag", "plain", "letter", "stars", "verdict", "table")
_METHOD_KEYS = {"name", "about", "citation", "dimensions", "inputs", "answer", "preset", "sections"}
_OPTIONAL_KEYS = {"writer", "probabilities", "together", "percentage", "dimensions_of"}
_SET_KEYS = {"name", "about", "citation", "source", "like"}
_LISTS = {"choices": 5, "grades": 5, "bands": 5, "procedure": 0}
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Preset:
    """How a method's paper draws its replies.

    Attributes:
        samples: replies to each prompt.
        temperature: of sampling; 0 is greedy.
        max_tokens: most tokens of a reply.
    """

    samples: int = 1
    temperature: float = 0.0
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is rated.

    Attributes:
        key: its name in metrics, ``aspect_coverage``.
        set: name of the set that it belongs to.
        source: what is summarised, in prompts: ``reviews``, ``article``, ``material``.
        texts: its texts by placeholder: title, definition, brief, low, choices, bands, ...
    """

    key: str
    set: str
    source: str
    texts: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Its name in prompts."""
        return str(self.texts["title"])


@dataclass(frozen=True, slots=True)
class DimensionSet:
    """Dimensions that were defined together."""

    name: str
    about: str
    citation: str
    dimensions: Mapping[str, Dimension]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to ask a judge.

    Attributes:
        name: as ``--method`` takes it, with its variant.
        about: one line.
        citation: where its structure was published.
        sets: names of the sets of dimensions that it has texts for; the first is the default.
        inputs: what the judge is shown beside the summary, in order.
        answer: what a reply looks like.
        preset: how the paper draws replies.
        sections: text of each section that the pack writes.
        order: the sections in the order of the prompt.
        writer: prompt by which the judge writes the evaluation steps once, or None.
        probabilities: output section for reading token probabilities, or None.
        together: whether one reply rates every dimension.
        percentage: whether a reply estimates a percentage that must match its score.
        extra: further texts by set, dimension and placeholder.
        templates: whole prompts by dimension with two ``{}``, as released by authors; then there
            are no sections.
        digest: of everything above that a prompt or a score depends on, 8 hex digits.
    """

    name: str
    about: str
    citation: str
    sets: tuple[str, ...]
    inputs: tuple[str, ...]
    answer: Answer
    preset: Preset = Preset()
    sections: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = SECTIONS
    writer: str | None = None
    probabilities: str | None = None
    together: bool = False
    percentage: bool = False
    extra: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    templates: Mapping[str, str] | None = None
    digest: str = ""

    @property
    def compares(self) -> bool:
        """Whether the judge is shown two summaries."""
        return self.answer == "verdict"

    @property
    def reasons_first(self) -> bool:
        """Whether replies give reasons first, so that a reply that was cut has no score yet."""
        return self.answer in ("tag", "plain") and self.probabilities is None


def method_names() -> tuple[str, ...]:
    """Names of the methods that ship with the package."""
    return tuple(sorted(path.stem for path in (PACKS / "methods").glob("*.toml")))


def dimension_set_names() -> tuple[str, ...]:
    """Names of the sets of dimensions that ship with the package."""
    return tuple(sorted(path.stem for path in (PACKS / "dimensions").glob("*.toml")))


def load_method(spec: str) -> Method:
    """Open a method.

    Args:
        spec: a name of :func:`method_names`, a TOML file, or a folder of authors' prompts; with
            ``:reviews-first`` after it, the variant whose prompt begins with the reviews. A folder
            of the same name hides no method.

    Returns:
        The method.

    Raises:
        ConfigurationError: there is no such method or variant.
        InputError: a file is no prompt pack.

    >>> load_method("op-i").answer, load_method("h2h").compares
    ('tag', True)
    """
    name, _, variant = spec.partition(":")
    if variant not in ("", _VARIANT):
        raise ConfigurationError(f"method {spec!r}: the one variant is {name}:{_VARIANT}")
    path, known = Path(name), method_names()
    if name not in known and path.is_dir():
        if variant:
            raise ConfigurationError(f"method {spec!r}: released prompts have their own order")
        return _released(path)
    if not name.endswith(".toml"):
        if name not in known:
            raise ConfigurationError(
                f"unknown judging method {name!r}; choose from {', '.join(known)}, or "
                "give a TOML file or a folder of prompts"
            )
        path = PACKS / "methods" / f"{name}.toml"
    method = _method(read_toml(path), path)
    if not variant:
        return method
    return _with(method, name=spec.replace(name, method.name), order=_REVIEWS_FIRST)


def load_dimensions(spec: str) -> DimensionSet:
    """Open a set of dimensions: a name of :func:`dimension_set_names`, or a TOML file.

    Raises:
        ConfigurationError: there is no such set.
        InputError: the file is none.

    >>> sorted(load_dimensions("summeval").dimensions)
    ['coherence', 'consistency', 'fluency', 'relevance']
    """
    if not spec.endswith(".toml"):
        if spec not in dimension_set_names():
            raise ConfigurationError(
                f"unknown set of dimensions {spec!r}; choose from "
                f"{', '.join(dimension_set_names())}, or give a TOML file"
            )
        return _shipped_set(spec)
    return _dimension_set(Path(spec))


def placeholders(text: str) -> set[str]:
    """Names in braces in a text.

    >>> sorted(placeholders("{title}: {definition}, not {} or { x }"))
    ['definition', 'title']
    """
    return set(_PLACEHOLDER.findall(text))


@cache
def _shipped_set(name: str) -> DimensionSet:
    return _dimension_set(PACKS / "dimensions" / f"{name}.toml")


def _dimension_set(path: Path) -> DimensionSet:
    row = read_toml(path)
    source = _text(row, "source", path)
    name = _text(row, "name", path)
    like = taken(row, "like", str, path, None)
    if like not in (None, *dimension_set_names()):
        names = ", ".join(dimension_set_names())
        raise InputError(f"{path}: like is {like!r}; give the name of a set: {names}")
    base = {} if like is None else _shipped_set(like).dimensions
    found = {}
    for key, texts in row.items():
        if key in _SET_KEYS:
            continue
        if not isinstance(texts, dict):
            raise InputError(f"{path}: {key!r} is no table; write [{key}] with title, definition")
        inherited = base[key].texts if key in base else {}
        whole = {**inherited, **_checked_texts(texts, f"{path}: [{key}]")}
        for needed in ("title", "definition"):
            if needed not in whole:
                raise InputError(f'{path}: [{key}] has no {needed}; write {needed} = "..."')
        found[key] = Dimension(key, name, source, whole)
    if not found:
        raise InputError(f"{path}: defines no dimension; write [fluency] with title, definition")
    about, citation = (taken(row, key, str, path, "") for key in ("about", "citation"))
    return DimensionSet(name, about, citation, found)


def _checked_texts(texts: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    for key, value in texts.items():
        if key not in _LISTS:
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{where} {key} is not a text")
        elif not isinstance(value, list) or len(value) != (_LISTS[key] or len(value)) or not value:
            raise InputError(f"{where} {key} is not a list of {_LISTS[key] or 'steps'}")
        elif key == "bands":
            for number in range(len(value)):
                texts_of(dict(enumerate(value)), number, f"{where} bands", ())
        else:
            texts_of(texts, key, where, ())
    return texts


def _method(row: dict[str, Any], path: Path) -> Method:
    unknown = set(row) - _METHOD_KEYS - _OPTIONAL_KEYS
    if unknown:
        raise InputError(f"{path}: unknown {', '.join(sorted(unknown))}; remove or correct it")
    answer = row.get("answer")
    if answer not in _ANSWERS:
        raise InputError(f"{path}: answer is {answer!r}; write one of {', '.join(_ANSWERS)}")
    extra = taken(row, "dimensions_of", dict, path, {})
    for name in extra:
        dimensions = taken(extra, name, dict, f"{path}: [dimensions_of]", {})
        for key in dimensions:
            where = f"{path}: [dimensions_of.{name}]"
            _checked_texts(taken(dimensions, key, dict, where, {}), f"{where} {key}")
    inputs = texts_of(row, "inputs", path, ("reviews",))
    if unknown := set(inputs) - {"reviews"} - set(read_toml(PACKS / "common.toml")["inputs"]):
        raise InputError(f"{path}: inputs has unknown {', '.join(sorted(unknown))}")
    method = Method(
        name=_text(row, "name", path),
        about=taken(row, "about", str, path, ""),
        citation=taken(row, "citation", str, path, ""),
        sets=texts_of(row, "dimensions", path, ()),
        inputs=inputs,
        answer=answer,
        preset=_preset(taken(row, "preset", dict, path, {}), f"{path}: [preset]"),
        sections=_sections(row.get("sections"), path),
        writer=_only(row, "writer", "prompt", path),
        probabilities=_only(row, "probabilities", "output", path),
        together=taken(row, "together", bool, path, False),
        percentage=taken(row, "percentage", bool, path, False),
        extra=extra,
    )
    if method.together and answer != "table":
        raise InputError(f'{path}: together = true needs answer = "table", a line a dimension')
    if (method.compares or method.together) and method.writer is not None:
        other = 'answer = "verdict"' if method.compares else "together = true"
        raise InputError(
            f"{path}: [writer] and {other} do not go together; write the steps in [sections]"
        )
    return _with(method)


def _preset(table: dict[str, Any], where: str) -> Preset:
    usual = Preset()
    found = Preset(
        samples=taken(table, "samples", int, where, usual.samples),
        temperature=taken(table, "temperature", float, where, usual.temperature),
        max_tokens=taken(table, "max_tokens", int, where, usual.max_tokens),
    )
    if not set(table) <= {"samples", "temperature", "max_tokens"}:
        raise InputError(f"{where} takes samples, temperature, max_tokens")
    if min(found.samples, found.max_tokens) < 1 or not 0 <= found.temperature <= 2:
        raise InputError(
            f"{where} samples and max_tokens must be at least 1, temperature from 0 to 2"
        )
    return found


def _only(row: Mapping[str, Any], table: str, key: str, path: Path) -> str | None:
    """The one text of a table that need not be there."""
    if table not in row:
        return None
    whole = taken(row, table, dict, path, {})
    if set(whole) != {key}:
        raise InputError(f"{path}: [{table}] takes {key}, a text, and nothing else")
    text: str = taken(whole, key, str, f"{path}: [{table}]", None)
    return text


def _sections(sections: object, path: Path) -> Mapping[str, str]:
    allowed = [name for name in SECTIONS if name not in _FROM_RECORD]
    if not isinstance(sections, dict) or not {"task", "output"} <= set(sections) <= set(allowed):
        raise InputError(f"{path}: [sections] needs task and output, of {', '.join(allowed)}")
    if not all(isinstance(text, str) for text in sections.values()):
        raise InputError(f"{path}: [sections] holds something that is not a text")
    return sections


def _text(row: Mapping[str, Any], key: str, path: Path) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f'{path}: has no {key}; write {key} = "..."')
    return value


def _with(method: Method, **changes: Any) -> Method:
    """The method with changes, and a digest that names its texts."""
    changed = replace(method, **changes, digest="")
    shared = read_toml(PACKS / "common.toml")
    data = repr([shared, changed.inputs, changed.answer, changed.sections, changed.order,
                 changed.writer, changed.probabilities, changed.together, changed.percentage,
                 changed.extra, changed.templates]).encode()  # fmt: skip
    return replace(changed, digest=hashlib.blake2b(data, digest_size=4).hexdigest())


def _released(folder: Path) -> Method:
    """A folder of prompts as SummEval-OP's authors released them, one text file a dimension."""
    templates = {}
    for path in sorted(folder.glob("*.txt")):
        text = read_text(path)
        if text.count("{}") != 2:
            raise InputError(
                f"{path}: has {text.count('{}')} places {{}}; two are needed, for reviews and "
                "summary"
            )
        templates[DIMENSIONS.get(path.stem, path.stem)] = text
    if not templates:
        raise InputError(f"{folder}: holds no prompts; give a folder of DIMENSION.txt")
    method = Method(
        name=folder.resolve().name,
        about="prompts as their authors released them",
        citation="the folder's own",
        sets=(),
        inputs=("reviews",),
        answer="tag",
        templates=templates,
    )
    return _with(method)


def known_texts(method: Method, dimension: Dimension) -> dict[str, Any]:
    """A dimension's texts with those that a method adds to them."""
    return {**dimension.texts, **method.extra.get(dimension.set, {}).get(dimension.key, {})}
