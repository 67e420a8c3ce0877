"""Files beside the records: reviews alone, product names, and summaries without reviews."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import (
    FieldError,
    Item,
    Position,
    ReadOptions,
    describe,
    escaped,
    read_review,
    scrub,
)
from prevalence.readers.jsonfiles import (
    decode_document,
    decoded_or_none,
    document_items,
    document_text,
    line_values,
)
from prevalence.readers.products import (
    detect_container,
    detect_summaries,
    first_text,
    iterate,
    packed_items,
)
from prevalence.readers.streams import STDIN, Line, Source, check_readable, display, open_source
from prevalence.readers.summaries_by_id import joined_by_id
from prevalence.readers.tables import open_summary_table
from prevalence.records import BadRecord, Product, Review, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["author_of", "own_system", "read_authors", "read_product_names", "read_reviews"]


_NAMES = 'write one object {"ID": "name"}, or a line "ID name" for each product'


def read_product_names(path: str | Path) -> dict[str, str]:
    """Read product names by id.

    Args:
        path: a file of lines "ID name...", split at the first tab, or the first white space where
            there is none, or one JSON object ``{"ID": "name"}``; "-" is stdin; gzip is recognised.

    Returns:
        The names; where an id stands twice, the last one.

    Raises:
        InputError: the file cannot be read, a line has no name, or it is a table or a JSON list.
    """
    with open_source(path) as source:
        first = first_text(source)
        if first.startswith("{"):
            return _from_object(source)
        if first.startswith("["):
            raise InputError(f"{source.path}: is a JSON list; {_NAMES}")
        names = dict(_from_lines(source))
        if names and all("," in identity for identity in names):
            raise InputError(f"{source.path}: has commas after its ids; {_NAMES}")
        return names


def _from_lines(source: Source) -> list[tuple[str, str]]:
    pairs = []
    for number, text in source.texts():
        line = text.lstrip()
        if not line:
            continue
        # Ids may hold spaces; then a tab ends them.
        identity, _, name = line.partition("\t") if "\t" in line else _cut_at_space(line)
        if not name.strip():
            where, shown = f"{source.path}:{number}", escaped(identity.strip()[:40])
            raise InputError(f"{where}: no name after the id {shown!r}; write one")
        pairs.append((identity.strip(), name.strip()))
    return pairs


def _cut_at_space(line: str) -> tuple[str, str, str]:
    identity, *name = line.split(None, 1)
    return identity, " ", "".join(name)


def _from_object(source: Source) -> dict[str, str]:
    elements = list(decode_document(document_text(source), source.path))
    try:
        names = scrub(elements[0][1])
    except FieldError as fault:
        raise InputError(f"{source.path}: {fault.where}: {fault.problem}; {fault.fix}") from None
    for key, name in names.items():
        if not isinstance(name, str) or not name.strip():
            found = describe(name)
            raise InputError(f"{source.path}: {escaped(key)}: the name is {found}; give a string")
    return {key: name.strip() for key, name in names.items()}


_OPTIONS = ReadOptions(reviews_only=True)
_LISTED = 5


def read_reviews(path: str | Path, *, product: str | None = None) -> tuple[Review, ...]:
    """Read the reviews of one product.

    Args:
        path: plain text with one review a line (blank lines are skipped), JSON Lines or a JSON
            list of texts or of objects with a "text", a table with a column "review" or "text", or
            any file of products; "-" is stdin.
        product: the id of the product to take; needed where the file holds several.

    Returns:
        The reviews in source order, at least one.

    Raises:
        InputError: nothing can be read, the product is not there or is faulty, or the file holds
            several products and none was chosen.
    """
    with open_source(path) as source:
        container = detect_container(source, allow_text=True)
        if container == "text":
            _refuse_choice(product, source.path)
            return _text_reviews(source)
        if container == "lines" and _is_review(decoded_or_none(first_text(source))):
            _refuse_choice(product, source.path)
            return tuple(_reviews(line_values(source)))
        if container == "document":
            text = document_text(source)
            listed = decoded_or_none(text)
            if isinstance(listed, list) and listed and all(map(_is_review, listed)):
                _refuse_choice(product, source.path)
                return tuple(_reviews(_placed(listed, source.path)))
            return _chosen(document_items(text, source.path, _OPTIONS, None), product, source.path)
        return _chosen(packed_items(source, container, _OPTIONS, None), product, source.path)


def _refuse_choice(product: str | None, path: str) -> None:
    if product is not None:
        raise InputError(
            f"{path}: holds reviews without product ids, so {escaped(product)!r} cannot be "
            "chosen; leave the choice out"
        )


def _text_reviews(source: Source) -> tuple[Review, ...]:
    return tuple(Review(_unended(text)) for _, text in source.texts() if text.strip())


def _unended(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")


def _is_review(value: Any) -> bool:
    """Whether a value is a review by itself, and no product."""
    return isinstance(value, str) or (
        isinstance(value, dict) and "text" in value and value.keys().isdisjoint(("reviews", "revs"))
    )


def _placed(values: list[Any], path: str) -> Iterator[tuple[Position, Any]]:
    for index, value in enumerate(values):
        position = Position(path, f"[{index}]")
        try:
            yield position, scrub(value)
        except FieldError as fault:
            yield position, fault


def _reviews(values: Iterator[tuple[Position, Any]]) -> Iterator[Review]:
    for position, value in values:
        try:
            if isinstance(value, FieldError):
                raise value
            yield read_review("review", value)
        except FieldError as fault:
            raise InputError(fault.at(position).error) from None


def _chosen(items: Iterator[Item], product: str | None, path: str) -> tuple[Review, ...]:
    """The reviews of the product asked for, or of the only one."""
    first: Product | None = None
    # Of the others only the ids are kept: the file may be larger than the memory.
    ids: dict[str, None] = {}
    for item in items:
        if product not in (None, item.id):
            ids |= {} if item.id is None else {item.id: None}
            continue
        if isinstance(item, BadRecord):
            raise InputError(item.error)
        ids[item.id] = None
        if first is not None and first.id == item.id:
            raise InputError(
                f"{first.source} and {item.source} both belong to the product "
                f"{escaped(item.id)!r}; put its reviews into one record"
            )
        first = first or item
    if first is None or (len(ids) > 1 and product is None):
        raise InputError(_choices(list(ids), product, path))
    return first.reviews


def _choices(found: list[str], product: str | None, path: str) -> str:
    if not found:
        return f"{path}: holds no record; there is nothing to read"
    ids = ", ".join(escaped(identity) for identity in found[:_LISTED])
    ids += ", ..." if len(found) > _LISTED else ""
    if product is None:
        return f"{path}: holds {len(found)} products; choose one by its id: {ids}"
    return f"{path}: holds no product {escaped(product)!r}; its ids are: {ids}"


def read_authors(
    summaries: str | Path,
    *,
    reviews: str | Path,
    names: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Item]:
    """Read summaries whose reviews are in another file.

    Args:
        summaries: one summary a line, in the order of the products; or a table or JSON with the
            product's id, "summary" and "system" in every record. The file's stem is the system of
            those that name none. An empty line is an empty summary.
        reviews: Copycat's TSV or any other file of products; its own summaries are left aside.
        names: product names by id.
        progress: called with the bytes of the reviews file taken so far.

    Returns:
        An iterator over products and bad records. Where one file has more lines than the other
        products, each without a partner is a bad record that says both counts. Table rows without
        an id are no products and come last. Of summaries with ids, those of no product are bad
        records, which come last, and products without one are left out with a warning.

    Raises:
        InputError: one of the files cannot be read, or both are stdin.
    """
    if str(summaries) == STDIN and str(reviews) == STDIN:
        raise InputError("summaries and reviews cannot both come from stdin; name one file")
    check_readable(summaries)
    check_readable(reviews)
    options = ReadOptions({} if names is None else names, reviews_only=True)
    return _joined(summaries, iterate(reviews, "auto", options, progress), display(reviews))


def _joined(summaries: str | Path, products: Iterator[Item], reviews: str) -> Iterator[Item]:
    system = author_of(summaries)
    with open_source(summaries) as source:
        container = detect_summaries(source)
        if container == "text":
            yield from _joined_by_line(source, products, system)
        else:
            yield from joined_by_id(source, container, products, reviews=reviews, system=system)


def _joined_by_line(source: Source, products: Iterator[Item], system: str) -> Iterator[Item]:
    matched = 0
    lines = source.lines()
    for item in products:
        line = next(lines, None)
        if line is None:
            rest = [item, *products]
            counts = (matched, matched + sum(isinstance(one, Product) for one in rest))
            for one in rest:
                if isinstance(one, BadRecord):
                    yield replace(one, system=system)
                else:
                    problem = "the product has no summary"
                    yield _unmatched(one.source, problem, counts, system, identity=one.id)
            return
        matched += 1
        yield _paired(item, line, Position(source.path, f":{line.number}"), system)
    spare = [f"{source.path}:{line.number}" for line in lines]
    counts = (matched + len(spare), matched)
    for place in spare:
        yield _unmatched(place, "the summary has no product", counts, system)


def own_system(path: str | Path) -> str | None:
    """The system that all summaries in a file without reviews are by, after the file's name.

    Args:
        path: the file; only its first lines are read, and of a pipe none.

    Returns:
        The system; None where records may name others.

    Raises:
        InputError: it is a table that lacks a needed column, or cannot be read.
    """
    if not Path(path).is_file():
        return author_of(path)
    with open_source(path) as source:
        container = detect_summaries(source)
        if container in ("csv", "tsv"):
            _, columns = open_summary_table(source, "\t" if container == "tsv" else None)
            named = columns.system is not None or columns.summary is None
            return None if named else author_of(path)
        return author_of(path) if container == "text" else None


def author_of(path: str | Path) -> str:
    """The system after which a file of summaries is named: the stem of its name."""
    if str(path) == STDIN:
        return "stdin"
    name = PurePath(display(path).removesuffix(".gz"))
    return name.stem or name.name


def _paired(item: Item, line: Line, position: Position, system: str) -> Item:
    if isinstance(item, BadRecord):
        return replace(item, system=system)
    try:
        text = _unended(line.text())
    except FieldError as fault:
        return replace(fault.at(position, identity=item.id, extra=item.extra), system=system)
    return replace(item, summaries=(Summary(system, text),))


def _unmatched(
    place: str, problem: str, counts: tuple[int, int], system: str, *, identity: str | None = None
) -> BadRecord:
    """A bad record for a line or product without a partner."""
    fix = (
        f"there are {counts[0]} summary lines and {counts[1]} products, so the others may be of "
        "the wrong products too; give one line a product, or a table with id and summary if "
        "summaries have line breaks"
    )
    fault = FieldError("", problem, fix, system=system)
    return fault.at(Position(place, ""), identity=identity)
