"""The progress bar: what it counts, and where it is shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from prevalence.cli.progress import RunProgress, pair_bar
from prevalence.scoring.engine import WorkCounts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """Two files of 100 and 300 bytes."""
    for name, size in (("a", 100), ("b", 300)):
        (tmp_path / name).write_bytes(b"x" * size)
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_share_follows_bytes_read_and_pairs_scored_and_never_falls(inputs: list[str]) -> None:
    counts = WorkCounts()
    bar = RunProgress(inputs, admitted=lambda: counts.naive, quiet=True)
    shares = [bar.share]
    read = bar.reader()
    read(100)
    counts.naive = 40  # the equations name 40 pairs for what was read: a quarter of the input
    bar.planned(10)
    bar.done(10)
    shares.append(bar.share)
    assert bar.share == pytest.approx(0.25 * 10 / 40)
    bar.planned(10)  # early stopping leaves 10 more, so 10 of 20 are done
    assert bar.share == pytest.approx(0.25 * 10 / 20)
    shares.append(bar.share)
    bar.done(10)
    shares.append(bar.share)
    bar.row()
    shares.append(bar.share)
    assert bar.share == pytest.approx(0.25)
    bar.reader()(150)
    counts.naive = 60
    bar.planned(20)
    bar.done(10)
    shares.append(bar.share)
    assert bar.share == pytest.approx(0.25 + 0.375 * 10 / 20)
    assert shares == sorted(shares)


def test_status_counts_summaries_and_pairs_by_time(
    inputs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("prevalence.cli.progress.time.monotonic", lambda: now)
    bar = RunProgress(inputs, quiet=True)
    assert bar.status == "0 summaries · 0 pairs · 0 pairs/s"
    bar.planned(5000)
    now = 102.0
    bar.done(5000)
    bar.row()
    assert bar.status == "1 summaries · 5,000 pairs · 2,500 pairs/s"


@pytest.mark.parametrize("missing", ["-", "no-such-file"])
def test_an_input_of_unknown_size_has_no_share(inputs: list[str], missing: str) -> None:
    bar = RunProgress([*inputs, missing], admitted=lambda: 5, quiet=True)
    bar.reader()(100)
    bar.planned(5)
    bar.done(5)
    assert bar.share == 0.0


@pytest.mark.parametrize(
    ("watched", "quiet", "term", "shown"),
    [
        (True, False, "xterm", True),
        (True, True, "xterm", False),
        (True, False, "dumb", False),
        (False, False, "xterm", False),
    ],
)
def test_it_is_shown_only_to_a_person_who_did_not_ask_for_quiet(
    inputs: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    watched: bool,
    quiet: bool,
    term: str,
    shown: bool,
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    before = sys.stdout
    with RunProgress(inputs, quiet=quiet) as bar:
        bar.reader()(50)
        bar.planned(5)
        bar.done(5)
        assert sys.stdout is before
        bar.row()
        print("a row")
    output = capsys.readouterr()
    assert output.out == "a row\n"
    assert ("5 pairs" in output.err) is shown
    assert bool(output.err) is shown


@pytest.mark.parametrize("watched", [True, False])
def test_pairs_of_a_known_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, watched: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    with pair_bar(8) as scored:
        scored(5)
    output = capsys.readouterr()
    assert not output.out
    assert ("5/8" in output.err) is watched
    assert bool(output.err) is watched
