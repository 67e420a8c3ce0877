"""The distributed engine with workers in this process: rows, order, resumption, failures."""

from __future__ import annotations

import gzip
import json
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.distributed import DistributedEngine, Reading
from prevalence.distributed.worker import Description, Failure, SplitScorer, WorkerFault
from prevalence.errors import BackendError, InputError, ModelError
from prevalence.nli.pairs import PairScorer
from prevalence.readers import read_products
from prevalence.readers.streams import EmptyInputError
from prevalence.runs.earlier import finished_rows
from prevalence.runs.resuming import Finished, skip_finished
from prevalence.scoring.engine import Engine, ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPTIONS = ScoringOptions(reviews_where="rating >= 3")


def record(n: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"p{n}",
        **({} if n % 3 else {"name": f"lamp {n}"}),
        "reviews": [{"text": f"Lamp {n} is warm, day {d}.", "rating": 2 + d} for d in range(3)],
        "summaries": {"a": f"Warm {n}. Bright {n}.", "b": f"It is {n} days old."},
        **more,
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Nine products, one twice, a broken line and a faulty summary."""
    records = [json.dumps(record(n)) for n in range(8)]
    records[3:3] = ["{broken", json.dumps(record(2))]
    records[6] = json.dumps(record(4, summaries={"a": "Fine.", "c": 7}))
    path = tmp_path / "input.jsonl"
    path.write_text("\n".join(records) + "\n")
    return path


@pytest.fixture
def open_engine(fake_scorer: Any) -> Callable[[], Engine]:
    return lambda: Engine(fake_scorer(), OPTIONS)


def lines(rows: Any) -> list[str]:
    return [row.to_json_line() for row in rows]


def local(open_engine: Callable[[], Engine], path: Path) -> list[str]:
    return lines(open_engine().run(read_products(path)))


@pytest.mark.parametrize("size", [1, 200, 10**6])
def test_rows_counts_and_signatures_are_those_of_the_engine(
    pool: Any, source: Path, open_engine: Callable[[], Engine], size: int
) -> None:
    engine = DistributedEngine(pool, [str(source)], open_engine, split_bytes=size)
    here = open_engine()
    expected = lines(here.run(read_products(source)))
    told: list[int] = []
    items = engine.items(lambda: told.append)
    assert lines(engine.run(items)) == expected
    assert pool.identified <= max(1, 400 // size)  # a fresh run reads no more than its beginning
    assert told[-1] == engine.read == source.stat().st_size
    assert engine.counts.naive == here.counts.naive
    assert engine.counts.planned == here.counts.planned
    assert (engine.counts.scored, engine.counts.failed) == (here.counts.scored, here.counts.failed)
    assert [mark for item in engine.items() for mark in item.marks] == [
        mark for item in read_products(source) for mark in here.marks(item)
    ]
    assert (engine.threshold, engine.calibrated) == (here.threshold, here.calibrated)
    assert engine.systems >= {"a", "b"}


def resumed(engine: DistributedEngine, output: Path) -> list[str]:
    kept: list[Any] = []
    left = skip_finished(
        engine.items(),
        Finished(path=output, rows=finished_rows(output)),
        marks=engine.marks,
        keep=kept.append,
        rest=engine.rest,
    )
    new = lines(engine.run(left))
    return lines(kept) + new


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 300, 10**6])
def test_a_run_goes_on_from_any_row(
    pool: Any, source: Path, open_engine: Callable[[], Engine], tmp_path: Path, size: int
) -> None:
    expected = local(open_engine, source)
    output = tmp_path / "rows.jsonl"
    for done in range(len(expected) + 1):
        output.write_text("".join(line + "\n" for line in expected[:done]))
        engine = DistributedEngine(pool, [str(source)], open_engine, split_bytes=size)
        pool.sent.clear()
        assert resumed(engine, output) == expected, done
        assert engine.counts.scored + engine.counts.failed == len(expected) - done
        assert engine.finished


def test_splits_that_are_done_are_not_sent_again(
    pool: Any, source: Path, open_engine: Callable[[], Engine], tmp_path: Path
) -> None:
    expected = local(open_engine, source)
    output = tmp_path / "rows.jsonl"
    output.write_text("".join(line + "\n" for line in expected[:9]))
    engine = DistributedEngine(pool, [str(source)], open_engine, split_bytes=300)
    resumed(engine, output)
    assert pool.sent[0] > 2
    assert engine.read == source.stat().st_size


def test_rows_of_other_settings_are_refused(
    pool: Any, source: Path, open_engine: Callable[[], Engine], fake_scorer: Any, tmp_path: Path
) -> None:
    output = tmp_path / "rows.jsonl"
    other = Engine(fake_scorer(threshold=0.6), OPTIONS)
    output.write_text(next(other.run(read_products(source))).to_json_line() + "\n")
    engine = DistributedEngine(pool, [str(source)], open_engine)
    with pytest.raises(InputError, match="scores of other settings"):
        resumed(engine, output)


def test_rows_before_a_damaged_place_are_given_first(
    pool: Any, open_engine: Callable[[], Engine], tmp_path: Path, source: Path
) -> None:
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(gzip.compress(source.read_bytes())[:-12])
    engine = DistributedEngine(pool, [str(damaged), str(source)], open_engine)
    assert lines(engine.run(engine.items())) == [
        *local(open_engine, damaged), *local(open_engine, source)
    ]  # fmt: skip


def test_a_file_gone_in_the_middle_ends_the_run_after_the_rows_before(
    pool: Any, open_engine: Callable[[], Engine], tmp_path: Path, source: Path
) -> None:
    second = tmp_path / "second.jsonl"
    second.write_text(json.dumps(record(1)) + "\n")
    engine = DistributedEngine(pool, [str(source), str(second)], open_engine)
    second.unlink()
    rows = engine.run(engine.items())
    expected = local(open_engine, source)
    assert [next(rows).to_json_line() for _ in expected] == expected
    with pytest.raises(InputError, match="a worker cannot open it"):
        next(rows)
    assert not engine.finished


def test_a_split_that_the_cluster_loses_ends_the_run(
    pool: Any, source: Path, open_engine: Callable[[], Engine]
) -> None:
    pool.lost.add(1)
    engine = DistributedEngine(pool, [str(source)], open_engine, split_bytes=300)
    with pytest.raises(BackendError, match="gave no rows of"):
        list(engine.run(engine.items()))


def test_an_engine_that_no_worker_can_open_is_the_workers_own_error(
    pool: Any, source: Path
) -> None:
    def nothing() -> Engine:
        raise ModelError("no such model; name another")

    with pytest.raises(ModelError, match="no such model; name another"):
        DistributedEngine(pool, [str(source)], nothing)


def test_rows_before_damage_in_the_first_split_are_given_first(
    pool: Any, open_engine: Callable[[], Engine], tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path, output = tmp_path / "input.parquet", tmp_path / "rows.jsonl"
    pq.write_table(pa.Table.from_pylist([record(n) for n in range(6)]), path, row_group_size=3)
    engine = DistributedEngine(pool, [str(path)], open_engine)
    expected = lines(engine.run(engine.items()))
    column = pq.read_metadata(path).row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[column.dictionary_page_offset : column.data_page_offset] = bytes(
        column.data_page_offset - column.dictionary_page_offset
    )
    path.write_bytes(data)
    for done in (0, 1, 6):
        output.write_text("".join(line + "\n" for line in expected[:done]))
        engine = DistributedEngine(pool, [str(path)], open_engine)
        kept: list[Any] = []
        left = skip_finished(
            engine.items(), Finished(path=output, rows=finished_rows(output)),
            marks=engine.marks, keep=kept.append, rest=engine.rest,
        )  # fmt: skip
        rows = engine.run(left)
        assert [next(rows).to_json_line() for _ in expected[done:6]] == expected[done:6]
        with pytest.raises(InputError, match="cannot be read") as caught:
            next(rows)
        assert "\n" not in str(caught.value)


class Faulty(PairScorer):
    """A scorer that fails on some hypotheses, or on all of them."""

    def __init__(
        self, inner: Any, bad: frozenset[str] | None, error: Exception | None = None
    ) -> None:
        super().__init__(inner.traits, inner)
        self._inner, self._bad = inner, bad
        self._error = error or RuntimeError("out of order\non device 0")

    def score(self, texts: Any, pairs: Any, *, progress: Any = None) -> Any:
        asked = {texts[number] for number in pairs[:, 1].tolist()}
        if self._bad is None or asked & self._bad:
            raise self._error
        return self._inner.score(texts, pairs, progress=progress)


class Unsure(Faulty):
    """A scorer with no number for some hypotheses."""

    def score(self, texts: Any, pairs: Any, *, progress: Any = None) -> Any:
        answers = self._inner.score(texts, pairs, progress=progress)
        for row, number in enumerate(pairs[:, 1].tolist()):
            if self._bad is None or texts[number] in self._bad:
                answers.entailment[row] = float("nan")
        return answers


MODEL_FAULT = ModelError("m: it gave no finite number for some pairs")


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (Faulty, "RuntimeError: out of order"),
        (partial(Faulty, error=MODEL_FAULT), f"ModelError: {MODEL_FAULT}"),
        (partial(Faulty, error=BackendError("out of memory")), "BackendError: out of memory"),
        (Unsure, "ModelError: probabilities must lie in [0, 1] and not be NaN"),
    ],
)
def test_a_summary_at_fault_becomes_an_error_row_and_costs_no_other(
    pool: Any,
    source: Path,
    fake_scorer: Any,
    *,
    capsys: pytest.CaptureFixture[str],
    spoilt: Callable[..., Faulty],
    said: str,
) -> None:
    bad = frozenset({"It is 2 days old.", "Bright 6."})
    engine = DistributedEngine(
        pool, [str(source)], lambda: Engine(spoilt(fake_scorer(), bad), OPTIONS)
    )
    rows = list(engine.run(engine.items()))
    expected = local(lambda: Engine(fake_scorer(), OPTIONS), source)
    assert len(rows) == len(expected)
    wrong = [row for row, right in zip(rows, expected, strict=True) if row.to_json_line() != right]
    assert [(row.id, row.system) for row in wrong] == [("p2", "b"), ("p2", "b"), ("p6", "a")]
    assert wrong[0].error == (
        f"{source}:3: summary by 'b': could not be scored ({said}); "
        "score it alone with --debug to see where"
    )
    assert [row.input_digest for row in rows] == [
        json.loads(line)["input_digest"] for line in expected
    ]
    assert (engine.counts.failed, engine.counts.scored) == (5, len(rows) - 5)
    # The row has one line of the fault; the worker's log has where it came from.
    assert capsys.readouterr().err.count("Traceback (most recent call last)") == 3


def test_a_foreign_product_counts_once_however_it_is_scored(
    pool: Any, tmp_path: Path, fake_scorer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    german = "Die Stiefel sind warm und halten die Füße trocken, aber der Reißverschluss klemmt. "
    path = tmp_path / "input.jsonl"
    records = [record(n, reviews=[german * 3]) for n in range(2)]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    for bad in ((), ("Bright 1.",)):
        engine = DistributedEngine(
            pool, [str(path)], lambda bad=bad: Engine(Faulty(fake_scorer(), frozenset(bad)))
        )
        assert len(list(engine.run(engine.items()))) == 4
        assert (engine.counts.foreign, engine.counts.failed) == (2, len(bad))
        assert engine.foreign == ["p0", "p1"]
    capsys.readouterr()


def test_reviews_count_once_however_their_product_is_scored(
    pool: Any, source: Path, fake_scorer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = replace(OPTIONS, first_reviews=1)
    found = []
    for bad in ((), ("Bright 6.",)):
        engine = DistributedEngine(
            pool, [str(source)],
            lambda bad=bad: Engine(Faulty(fake_scorer(), frozenset(bad)), options),
        )  # fmt: skip
        list(engine.run(engine.items()))
        found.append((engine.counts.given, engine.counts.kept))
    assert found[0] == found[1]
    assert found[0][0] > found[0][1] > 0
    capsys.readouterr()


def test_an_error_keeps_the_class_that_everybody_knows() -> None:
    with pytest.raises(InputError, match="nothing in it"):
        Failure.of(EmptyInputError("nothing in it")).throw()


def test_a_worker_that_can_score_nothing_has_to_start_anew(
    pool: Any, source: Path, fake_scorer: Any
) -> None:
    engine = DistributedEngine(
        pool, [str(source)], lambda: Engine(Faulty(fake_scorer(), None), OPTIONS)
    )
    with pytest.raises(WorkerFault, match="fails on any pair"):
        list(engine.run(engine.items()))


@pytest.mark.parametrize("kind", [Faulty, Unsure])
def test_a_model_without_a_number_for_any_pair_ends_the_run(
    pool: Any, source: Path, fake_scorer: Any, kind: type[Faulty]
) -> None:
    engine = DistributedEngine(
        pool, [str(source)], lambda: Engine(kind(fake_scorer(), None, MODEL_FAULT), OPTIONS)
    )
    with pytest.raises(ModelError, match=r"no finite number|not be NaN"):
        list(engine.run(engine.items()))


def test_the_names_of_foreign_products_are_few_and_each_stands_once(
    pool: Any, tmp_path: Path, fake_scorer: Any
) -> None:
    german = "Die Stiefel sind warm und halten die Füße trocken, aber der Reißverschluss klemmt. "
    path = tmp_path / "input.jsonl"
    records = [record(n, reviews=[german * 3]) for n in (0, 0, 1, 2, 3, 4)]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    here = Engine(fake_scorer())
    list(here.run(read_products(path)))
    engine = DistributedEngine(pool, [str(path)], lambda: Engine(fake_scorer()), split_bytes=1)
    list(engine.run(engine.items()))
    assert engine.foreign == here.foreign == ["p0", "p1", "p2"]
    assert engine.counts.foreign == here.counts.foreign == 6


def test_a_worker_with_another_engine_is_refused(
    fake_scorer: Any, open_engine: Callable[[], Engine]
) -> None:
    expected = Description.of(open_engine())
    with pytest.raises(ModelError, match="install the same packages and models"):
        SplitScorer(lambda: Engine(fake_scorer(threshold=0.7), OPTIONS), Reading(), expected)


class Rechecked(Faulty):
    """A scorer that counts as one with a recheck does, and warns."""

    def score(self, texts: Any, pairs: Any, *, progress: Any = None) -> Any:
        self._did.rechecked += 10
        self._did.turned += 1
        warnings.warn("rounding moved the log-odds of a pair", RuntimeWarning, stacklevel=2)
        warnings.warn("some library is old", UserWarning, stacklevel=2)
        return self._inner.score(texts, pairs, progress=progress)


def test_what_the_workers_scorers_count_and_warn_of_is_told(
    pool: Any, source: Path, fake_scorer: Any, open_engine: Callable[[], Engine]
) -> None:
    engine = DistributedEngine(
        pool, [str(source)], lambda: Engine(Rechecked(fake_scorer(), frozenset()), OPTIONS),
        split_bytes=300,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = lines(engine.run(engine.items()))
    assert rows == local(open_engine, source)
    counts = engine.scorer_counts
    assert counts.rechecked == 10 * counts.turned > 10
    assert not engine.cached
    told = [(found.category, str(found.message)) for found in caught]
    assert told.count((RuntimeWarning, "rounding moved the log-odds of a pair")) == 1
    assert (UserWarning, "some library is old") in told
