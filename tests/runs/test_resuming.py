"""What an earlier run has finished is kept to the byte, or refused; nothing is made twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prevalence.errors import InputError
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.earlier import finished_rows
from prevalence.runs.resuming import Finished, rest_of, skip_finished
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.writers import JsonLinesWriter

ITEMS = [
    Product("p1", (Review("It fits."), Review("Größe 😀")),
            (Summary("a", "It fits. Très bien 😀."), Summary("b", "Runs small.")), "boot"),
    BadRecord("in.jsonl:2: reviews: missing", "p2", None, "in.jsonl:2"),
    Product("p3", (Review("x"),), (Summary("a", ""), Summary("b", "Sehr schön.")),
            extra={"ключ": "\u2028"}),
    Product("p4", (), (Summary("a", "No reviews."),)),
]  # fmt: skip


def run(path, scorer, items=ITEMS, **options):
    """One run of a scoring command: continue what is there, append the rest."""
    engine = Engine(scorer, ScoringOptions(**options))
    kept = []
    todo = skip_finished(
        items,
        Finished(path=path, rows=finished_rows(path)),
        marks=engine.marks,
        keep=kept.append,
    )
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = JsonLinesWriter(file)
        for row in engine.run(todo):
            writer.write(row)
        writer.close()
    return kept


@pytest.fixture
def finished(fake_scorer, tmp_path):
    """The lines of an undisturbed run."""
    path = tmp_path / "undisturbed.jsonl"
    run(path, fake_scorer())
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 6
    return lines


def test_every_prefix_is_mended_to_whole_lines(finished, tmp_path):
    path, finished = tmp_path / "out.jsonl", finished[2:4]
    whole = b"".join(finished)
    assert max(whole) > 127  # so that some cuts fall inside a character
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        rows = [row.to_json_line().encode() + b"\n" for row in finished_rows(path)]
        # A row that lacks only its line break is whole.
        assert rows == finished[: (whole[:size] + b"\n").count(b"}\n")]
        assert path.read_bytes() == b"".join(rows)


@pytest.mark.parametrize("tail", [b"", b'{"schema": 1, "id": "caf\xc3'])
@pytest.mark.parametrize("lines", range(7))
def test_a_killed_run_is_continued_to_the_same_bytes(fake_scorer, finished, tmp_path, lines, tail):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(finished[:lines]) + tail)
    kept = run(path, fake_scorer(work_unit=1))
    assert path.read_bytes() == b"".join(finished)
    assert [row.to_json_line().encode() + b"\n" for row in kept] == finished[:lines]


def test_finished_summaries_are_not_scored_again(fake_scorer, tmp_path):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer())
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    scorer = fake_scorer()
    run(path, scorer)
    hypotheses = {hypothesis for _, hypothesis in scorer.asked}
    assert hypotheses == {"Runs small.", "Sehr schön."}


def refused(path, scorer, items=ITEMS, **options):
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        run(path, scorer, items, **options)
    assert path.read_bytes() == before
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith("choose another --output, or --overwrite")
    return message


@pytest.mark.parametrize(
    "options",
    [{"threshold": 0.25}, {"full_matrix": True}, {"trivial": None}, {"splitter": "lines"}],
)
def test_rows_of_other_settings_are_refused(fake_scorer, tmp_path, options):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer())
    assert "holds scores of other settings (prev|nli:fake@1|" in refused(
        path, fake_scorer(), **options
    )


def test_rows_of_bad_records_name_their_settings_too(fake_scorer, tmp_path):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer(), ITEMS[1:2])
    assert "other settings" in refused(path, fake_scorer(), ITEMS[1:2], threshold=0.25)


@pytest.mark.parametrize(
    "items",
    [
        ITEMS[1:],
        ITEMS[:1],
        [],
        [ITEMS[0].with_summaries(ITEMS[0].summaries[::-1]), *ITEMS[1:]],
        [ITEMS[0], BadRecord("in.jsonl:2: other"), *ITEMS[2:]],
    ],
    ids=["shifted", "shorter", "empty", "reordered", "another fault"],
)
def test_rows_of_other_input_are_refused(fake_scorer, tmp_path, items):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer())
    assert "which is not what this input has in its place" in refused(path, fake_scorer(), items)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (
            [Product("p1", (Review("It fits!"),), ITEMS[0].summaries, "boot"), *ITEMS[1:]],
            "holds 'p1' by 'a', whose input has changed since; choose",
        ),
        (
            [ITEMS[0], BadRecord("in.jsonl:2: other", "p2"), *ITEMS[2:]],
            "holds 'p2', whose error is another one now; choose",
        ),
        (
            [ITEMS[0], BadRecord("in.jsonl:3: reviews: missing", "p2"), *ITEMS[2:]],
            "holds 'p2', whose error is another one now; choose",
        ),
    ],
    ids=["edited", "another fault of the same record", "another line"],
)
def test_rows_whose_input_has_changed_say_so(fake_scorer, tmp_path, items, said):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer())
    assert said in refused(path, fake_scorer(), items)


@pytest.mark.parametrize("name", ["./in.jsonl", "/data/day 1/in.jsonl", "a[2]/in:3.jsonl"])
def test_an_input_may_be_named_otherwise(fake_scorer, finished, tmp_path, name):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(finished[:4]))
    bad = replace(ITEMS[1], error=f"{name}:2: reviews: missing", source=f"{name}:2")
    assert len(run(path, fake_scorer(), [ITEMS[0], bad, *ITEMS[2:]])) == 4
    assert path.read_bytes() == b"".join(finished)


@pytest.mark.parametrize(
    "line",
    [
        b"{}\n", b"null\n", b"[1]\n", b"\n", b"not json\n", b"\xff\n", b'{"schema": 1}\n',
        pytest.param(b"[" * 100_000 + b"\n", id="deep"),
    ],
)  # fmt: skip
def test_files_of_something_else_are_refused_and_left_alone(fake_scorer, tmp_path, line):
    path = tmp_path / "out.jsonl"
    run(path, fake_scorer(), ITEMS[:1])
    path.write_bytes(path.read_bytes() + line + b"unfinished")
    assert f"{path}:3: not a row of an earlier run" in refused(path, fake_scorer())


def test_the_rest_of_a_record_is_counted_as_the_whole():
    summaries = (Summary("a", "Warm.", {"claims": ["Warm."]}), Summary("b", "Dry."))
    rest = rest_of(Product("p", (Review("x"),), summaries), [1])
    assert rest.summaries == summaries[1:]
    assert rest.gives_claims
