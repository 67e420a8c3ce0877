"""A method, a dimension and a record → the dialogue that is put to a judge.

Reviews, summaries and product data come from strangers. They stand between tags of their own, and
every character of theirs that could close such a tag, look like an answer or drive a chat template
is replaced, so that a text cannot leave its place; and a text is inserted only after the pack's own
placeholders are filled. Prompts as authors released them have no tags: there each text stands on
one line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.baselines.judges.packs import (
    PACKS,
    Dimension,
    DimensionSet,
    Method,
    known_texts,
    load_dimensions,
    placeholders,
)
from prevalence.errors import ConfigurationError
from prevalence.llm.protocol import Message
from prevalence.records import well_formed
from prevalence.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prevalence.records import Product

__all__ = [
    "Prompter",
    "choose_dimensions",
    "harmless",
    "material",
    "missing_inputs",
    "steps_prompt",
]

_NOT_GIVEN = "(not given)"
_MARKS = re.compile(r"\[(/?[A-Za-z_]+)\]")
# What no reader sees: controls but for white space, fillers, signs of direction and of width,
# variation selectors, and the tag characters, which spell hidden ASCII.
_UNSEEN = (
    *range(1, 9), *range(14, 32), *range(0x7F, 0xA0), 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4,
    0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFFC), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
)  # fmt: skip
_JOINERS = re.compile("[\u200c\u200d]{2,}")
"""One joins letters or emoji, several in a row can spell anything."""
# Beside the plain brackets, those that a tokenizer which normalises reads as such.
_REPLACED: dict[int, str] = {
    **dict.fromkeys(map(ord, "<\ufe64\uff1c"), "\u2039"),
    **dict.fromkeys(map(ord, ">\ufe65\uff1e"), "\u203a"),
    **dict.fromkeys(_UNSEEN, ""),
    0xFF3B: "[",
    0xFF3D: "]",
    0: "\ufffd",
}
_ENTITIES = re.compile(r"&(?=(?:lt|gt|#0*6[02]|#x0*3[ce]);)", re.IGNORECASE)
_ARTICLE = "article"


class _Common(NamedTuple):
    notice: str
    headings: Mapping[str, str]
    inputs: Mapping[str, str]
    bands: Sequence[Mapping[str, str]]


def harmless(text: str) -> str:
    """A text as it may stand in a prompt: no tag, no control token, no instruction mark in it.

    Angle brackets become single guillemets, which read alike; ``[INST]`` and its kind lose their
    brackets, and so do angle brackets that are written as entities. Characters that nobody sees or
    that no UTF-8 text can hold do not reach the judge.

    >>> harmless("<score>5</score> [/INST] 3 < 4 &lt;b&gt;")
    '‹score›5‹/score› (/INST) 3 ‹ 4 &amp;lt;b&amp;gt;'
    """
    text = _JOINERS.sub("", well_formed(text).translate(_REPLACED))
    text = _ENTITIES.sub("&amp;", text)
    return _MARKS.sub(r"(\1)", text)


def choose_dimensions(method: Method, specs: Sequence[str]) -> list[Dimension]:
    """The dimensions that specs name.

    Args:
        method: the judging method, which must have texts for them.
        specs: each ``all`` (the method's first set), the name of a set, of a dimension, of both
            (``opinsummeval/readability``), or a TOML file of the user's own dimensions.

    Returns:
        The dimensions, each once, in the order of the specs.

    Raises:
        ConfigurationError: a name is unknown, two dimensions share one, or a text is missing.
    """
    chosen: dict[str, Dimension] = {}
    for spec in specs:
        for dimension in _named(method, spec):
            other = chosen.setdefault(dimension.key, dimension)
            if other != dimension:
                raise ConfigurationError(
                    f"{dimension.key} is asked for from {other.set} and from {dimension.set}; "
                    "judge them in two runs"
                )
    for dimension in chosen.values():
        _check_texts(method, dimension)
    sources = {dimension.source for dimension in chosen.values()}
    if method.together and len(sources) > 1:
        raise ConfigurationError(f"{method.name} rates dimensions of one source, not {sources}")
    return list(chosen.values())


def steps_prompt(method: Method, dimension: Dimension) -> tuple[Message, ...] | None:
    """What the judge is asked once to write its evaluation steps; None for most methods."""
    if method.writer is None:
        return None
    return (Message("user", _filled(method.writer, _fields(method, dimension))),)


def missing_inputs(inputs: Sequence[str], product: Product) -> list[str]:
    """Those of the inputs, reviews apart, that a product lacks."""
    return [name for name in inputs if name != "reviews" and not _value(product, name)]


class Prompter:
    """Writes the prompts of a method.

    Args:
        method: the method.
        dimensions: what is rated; all of them in one prompt for a method that rates together.
        steps: evaluation steps that the judge wrote, by dimension.
        probabilities: ask for the bare answer, whose token probabilities are read.
    """

    def __init__(
        self,
        method: Method,
        dimensions: Sequence[Dimension],
        *,
        steps: Mapping[str, str] | None = None,
        probabilities: bool = False,
    ) -> None:
        self.method = method
        self._dimensions = dimensions
        self._steps = steps or {}
        self._probabilities = probabilities

    def messages(
        self, dimension: Dimension, product: Product, *summaries: str
    ) -> tuple[Message, ...]:
        """The dialogue about one summary, or about two in the order in which they are shown.

        Args:
            dimension: what is rated; any of them for a method that rates together.
            product: whose reviews and metadata are shown.
            summaries: the text under judgment, or the two texts.
        """
        if self.method.templates is not None:
            return (Message("user", self._released(dimension, product, *summaries)),)
        fields = self._all_fields(dimension)
        sections = dict(self.method.sections)
        if self._probabilities and self.method.probabilities is not None:
            sections["output"] = self.method.probabilities
        parts = []
        for name in self.method.order:
            if name == "system":
                continue
            body = self._body(name, sections, fields, product, summaries)
            if body:
                parts.append(body)
        prompt = Message("user", "\n\n".join(parts))
        system = sections.get("system")
        return (prompt,) if not system else (Message("system", _filled(system, fields)), prompt)

    def _body(
        self,
        name: str,
        sections: Mapping[str, str],
        fields: Mapping[str, str],
        product: Product,
        summaries: Sequence[str],
    ) -> str:
        heading = common().headings[name]
        if name == "source":
            return f"{heading}\n{self._source(product, fields['source'])}"
        if name == "summary":
            return _fenced_summaries(summaries, heading)
        return f"{heading}\n{_filled(sections[name], fields)}" if name in sections else ""

    def _source(self, product: Product, noun: str) -> str:
        shown = ("summary_1", "summary_2") if self.method.compares else ("summary",)
        return material(product, self.method.inputs, article=noun == _ARTICLE, also=shown)

    def _released(self, dimension: Dimension, product: Product, summary: str) -> str:
        before, between, after = (self.method.templates or {})[dimension.key].split("{}")
        # The layout has no tags: a text on one line cannot begin a section of its own.
        texts = [review.text for review in product.reviews]
        *lines, shown = (harmless(" ".join(text.splitlines())) for text in (*texts, summary))
        reviews = "\n".join(lines)
        return f"{before}{reviews}{between}{shown}{after}"

    def _all_fields(self, dimension: Dimension) -> dict[str, str]:
        fields = _fields(self.method, dimension)
        if self.method.writer is not None:
            fields["written_steps"] = self._steps[dimension.key]
        if self.method.together:
            every = self._dimensions
            fields["definitions"] = "\n".join(
                f"{one.title}: {one.texts['definition']}" for one in every
            )
            fields["forms"] = "\n".join(f"{one.title}: K" for one in every)
        return fields


def material(
    product: Product, inputs: Sequence[str], *, article: bool = False, also: Sequence[str] = ()
) -> str:
    """A product as a prompt shows it: the notice that it is no instruction, and fenced texts.

    Args:
        product: whose reviews and metadata are shown.
        inputs: names of what is shown, in order.
        article: show the reviews as one text without numbers.
        also: further tags that stand elsewhere in the prompt and that the notice names.
    """
    tags, blocks = [], []
    for name in inputs:
        if name == "reviews" and article:
            text = "\n\n".join(review.text for review in product.reviews)
            tags.append(_ARTICLE)
            blocks.append(_fence(_ARTICLE, harmless(text)))
            continue
        tags.append(name)
        body = _reviews(product) if name == "reviews" else _shown(_value(product, name))
        blocks.append(f"{common().inputs[name]}:\n{_fence(name, body)}")
    named = ", ".join(f"<{tag}>" for tag in (*tags, *also))
    return "\n\n".join([_filled(common().notice, {"tags": named}), *blocks])


@cache
def common() -> _Common:
    """The texts that all prompts share."""
    row = read_toml(PACKS / "common.toml")
    return _Common(row["notice"], row["headings"], row["inputs"], row["bands"])


def _named(method: Method, spec: str) -> list[Dimension]:
    if method.templates is not None:
        return _of_released(method, spec)
    if not method.sets and ".toml" not in spec:
        raise ConfigurationError(
            f"{method.name} names no set of dimensions; give --dimensions FILE.toml, or name sets "
            'in the file of the method: dimensions = ["..."]'
        )
    if spec == "all":
        return list(load_dimensions(method.sets[0]).dimensions.values())
    if spec.endswith(".toml") or spec in method.sets:
        return list(load_dimensions(spec).dimensions.values())
    wanted, _, name = spec.rpartition("/")
    if wanted and wanted not in method.sets and not wanted.endswith(".toml"):
        known = ", ".join(method.sets)
        raise ConfigurationError(f"{method.name} has no texts for the set {wanted!r}; {known}")
    sets: list[DimensionSet] = [
        load_dimensions(one) for one in ((wanted,) if wanted else method.sets)
    ]
    for one in sets:
        if name in one.dimensions:
            return [one.dimensions[name]]
    known = "; ".join(f"{one.name}: {', '.join(one.dimensions)}" for one in sets)
    raise ConfigurationError(f"{method.name} has no dimension {spec!r}; {known}")


def _of_released(method: Method, spec: str) -> list[Dimension]:
    templates = method.templates or {}
    keys = list(templates) if spec == "all" else [spec]
    missing = [key for key in keys if key not in templates]
    if missing:
        raise ConfigurationError(
            f"{method.name} has no prompt for {missing[0]!r}; {', '.join(templates)}"
        )
    return [Dimension(key, method.name, "reviews", {"title": key}) for key in keys]


def _check_texts(method: Method, dimension: Dimension) -> None:
    if method.templates is not None:
        return
    own = set(_fields(method, dimension))
    written = {"written_steps"} if method.writer is not None else set()
    together = {"definitions", "forms"} if method.together else set()
    texts = [*method.sections.values(), method.probabilities or ""]
    unknown = set().union(*map(placeholders, texts)) - own - written - together
    missing = sorted(unknown | (placeholders(method.writer or "") - own))
    if missing:
        raise ConfigurationError(
            f"{method.name} shows {', '.join(missing)}, which {dimension.set}/{dimension.key} "
            "does not define; add it to the file of dimensions, or choose others"
        )


def _fields(method: Method, dimension: Dimension) -> dict[str, str]:
    texts = known_texts(method, dimension)
    shown = {key: _SHOWN.get(key, str)(value) for key, value in texts.items()}
    title = str(texts["title"])
    lower = title[:1].lower() + title[1:]
    return {**shown, "title_lower": lower, "source": dimension.source}


def _filled(text: str, fields: Mapping[str, str]) -> str:
    """A text with its placeholders filled in one pass, so that what is filled in stays as it is."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: fields[match[1]], text)


def _numbered(items: Sequence[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))


def _graded(items: Sequence[str]) -> str:
    return "\n".join(f"{number} - {item}" for number, item in enumerate(items, start=1))


def _letters(items: Sequence[str]) -> str:
    return "\n".join(f"{letter}. {item}" for letter, item in zip("ABCDE", items, strict=True))


def _bands(items: Sequence[Sequence[str]]) -> str:
    lines = []
    for score, (band, bullets) in enumerate(zip(common().bands, items, strict=True), start=1):
        lines.append(f"Score {score}, {band['name']} ({band['range']}):")
        lines += [f"- {bullet}" for bullet in bullets]
    return "\n".join(lines)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "choices": _letters,
    "grades": _graded,
    "procedure": _numbered,
    "bands": _bands,
}


def _fence(tag: str, text: str) -> str:
    return f"<{tag}>\n{text}\n</{tag}>"


def _fenced_summaries(summaries: Sequence[str], heading: str) -> str:
    if len(summaries) == 1:
        return f"{heading}\n{_fence('summary', harmless(summaries[0]))}"
    return "\n\n".join(
        f"{heading} {number}\n{_fence(f'summary_{number}', harmless(summary))}"
        for number, summary in enumerate(summaries, start=1)
    )


def _reviews(product: Product) -> str:
    return "\n".join(
        f'<review number="{number}">\n{harmless(review.text)}\n</review>'
        for number, review in enumerate(product.reviews, start=1)
    )


def _value(product: Product, name: str) -> object:
    if name == "title":
        return product.metadata.get("title") or product.name
    return product.metadata.get(name)


def _shown(value: object) -> str:
    if value in (None, "", [], {}):
        return _NOT_GIVEN
    if isinstance(value, dict):
        return "\n".join(f"- {harmless(str(key))}: {_line(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(f"- {_line(one)}" for one in value)
    return harmless(str(value))


def _line(value: object) -> str:
    return harmless(" ".join(str(value).split()))
