"""`prevalence claims`: claims by rule and by a language model, seen from outside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

LAMP: dict[str, Any] = {
    "id": "p1", "name": "lamp", "reviews": ["Good lamp."], "note": "kept",
    "summaries": {"a": "The lamp is bright and hums. It fits.", "b": "It is red."},
}  # fmt: skip
SOFA: dict[str, Any] = {"id": "p2", "reviews": ["Good."], "summaries": {"a": "Most say it sags."}}


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def claims(run: Run, tmp_path: Path) -> Run:
    def invoke(*arguments: object) -> Result:
        return run("claims", *arguments, "--output", tmp_path / "out.jsonl")

    return invoke


@pytest.fixture
def replies(tmp_path: Path) -> Callable[..., str]:
    """Record what a model says of the summaries of a product, and give the backend."""

    def record(said: dict[tuple[str, str], str]) -> str:
        path = tmp_path / "replies.jsonl"
        lines = [
            {
                "method": "claims",
                "dimension": "",
                "id": product,
                "system": system,
                "replies": [text],
            }
            for (product, system), text in said.items()
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"replay:{path}"

    return record


def test_rules_write_claims_beside_each_summary(claims: Run, write: Write, tmp_path: Path) -> None:
    given = {**SOFA, "id": "p3", "claims": {"a": ["It sags a bit."]}}
    result = claims(write(LAMP, SOFA, given))
    assert (result.exit_code, result.stdout) == (0, "")
    lamp, sofa, own = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"]["claims"] == ["The lamp is bright.", "The lamp hums.", "It fits."]
    assert lamp["summaries"]["b"] == {"claims": ["It is red."], "text": "It is red."}
    assert (lamp["reviews"], lamp["note"]) == (LAMP["reviews"], "kept")
    assert "claims:rules" in lamp["claims_by"]
    assert sofa["summaries"]["a"]["claims"] == [{"text": "It sags.", "quantity": "Most"}]
    assert own["summaries"]["a"]["claims"] == ["It sags a bit."]
    assert "3 products written: 5 claims of 3 summaries" in result.stderr


def test_a_quantity_keeps_whose_it_is(claims: Run, write: Write, tmp_path: Path) -> None:
    record = {"id": "p", "reviews": ["Great pool."], "summary": "Most families loved the pool."}
    assert claims(write(record)).exit_code == 0
    (found,) = records(tmp_path / "out.jsonl")
    (summary,) = found["summaries"].values()
    assert summary["claims"] == [{"text": "Families loved the pool.", "quantity": "Most families"}]


def test_claims_that_are_null_are_none(claims: Run, write: Write, tmp_path: Path) -> None:
    result = claims(write({**SOFA, "claims": {"a": None}}))
    assert result.exit_code == 0
    (sofa,) = records(tmp_path / "out.jsonl")
    assert sofa["summaries"]["a"]["claims"] == [{"text": "It sags.", "quantity": "Most"}]


def test_the_output_is_continued_and_other_settings_are_refused(
    claims: Run, write: Write, tmp_path: Path
) -> None:
    source = write(LAMP, SOFA)
    claims(source)
    whole = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "out.jsonl").write_bytes(whole.splitlines(keepends=True)[0])
    again = claims(source)
    assert (again.exit_code, (tmp_path / "out.jsonl").read_bytes()) == (0, whole)
    assert "1 product was in" in again.stderr
    other = claims(source, "--splitter", "lines")
    assert other.exit_code == 2
    assert "claims of other settings" in other.stderr
    assert claims(source, "--splitter", "lines", "--overwrite").exit_code == 0


def test_a_model_writes_claims(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    said = {
        ("p1", "a"): "1: The lamp is bright.\n1: The lamp hums.\n\n2: It fits.",
        ("p1", "b"): "<think>There is one:\n1: It is blue.</think>\n1: It is red.",
    }
    result = claims(write(LAMP), "--backend", replies(said))
    assert result.exit_code == 0, result.stderr
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"]["claims"] == ["The lamp is bright.", "The lamp hums.", "It fits."]
    assert lamp["summaries"]["b"]["claims"] == ["It is red."]
    assert "claims:model@" in lamp["claims_by"]


@pytest.mark.parametrize("reply", [
    "1. The lamp is bright.\n1. The lamp hums.\n2. It fits.",
    "1) The lamp is bright.\n1) The lamp hums.\n2) It fits.",
    "1:  The lamp is bright.\n1 : The lamp hums.\n2:It fits.",
    "**1:** The lamp is bright.\n**1**: The lamp hums.\n**2: It fits.**",
    "- 1: The lamp is bright.\n* 1: The lamp hums.\n- **2.** It fits.",
    "Sure! Here are the 3 statements:\n\n1: The lamp is bright.\n1: The lamp hums.\n2: It fits.",
    "```text\n1: The lamp is bright.\n1: The lamp hums.\n2: It fits.\n```\nNote: I left out none.",
    "1: The lamp is bright.\n1: The lamp hums.\n1: (none)\n2: It fits.\n2: -",
])  # fmt: skip
def test_usual_layouts_of_replies_are_read(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path, reply: str
) -> None:
    backend = replies({("p1", "a"): reply, ("p1", "b"): "1: It is red"})
    result = claims(write(LAMP), "--backend", backend)
    assert result.exit_code == 0, result.stderr
    assert "share" not in result.stderr
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"]["claims"] == ["The lamp is bright.", "The lamp hums.", "It fits."]


@pytest.mark.parametrize("nothing", [
    "None", "none.", "(no statement)", "N/A", "\u2014", "No statements are made.",
    "**None**", "The sentence makes no claim.",
])  # fmt: skip
def test_a_sentence_that_states_nothing_has_no_claim(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path, nothing: str
) -> None:
    said = {("p1", "a"): f"1: It hums.\n2: {nothing}", ("p1", "b"): f"1: {nothing}"}
    result = claims(write(LAMP), "--backend", replies(said))
    assert "summary by 'b': the reply says that no sentence makes a statement" in result.stderr
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"]["claims"] == ["It hums."]
    assert "claims" not in lamp["summaries"]["b"]


def test_claims_that_share_no_word_with_their_sentence_are_counted(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    # "fit" and "fits" are one word; "the" and "is" are in many sentences.
    said = {("p1", "a"): "1: The lamp hums.\n1: The price is low.\n2: Fit is good.",
            ("p1", "b"): "1: Aliens built it."}  # fmt: skip
    result = claims(write(LAMP), "--backend", replies(said))
    assert result.exit_code == 0
    assert "2 claims share no word with the sentence, such as" in result.stderr
    assert "summary by 'a': 'The price is low.'" in result.stderr
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["b"]["claims"] == ["Aliens built it."]


def test_statements_without_a_full_stop_are_whole_where_none_is_expected(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    record = {**LAMP, "summaries": {"a": LAMP["summaries"]["a"], "b": "It is red. Great price"}}
    said = {("p1", "a"): "1: It is bright\n1: It hums\n2: It fits",
            ("p1", "b"): "1: It is red.\n2: Great price"}  # fmt: skip
    assert claims(write(record), "--backend", replies(said)).exit_code == 0
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"]["claims"] == ["It is bright", "It hums", "It fits"]


def test_mended_replies_fill_what_is_missing_and_keep_what_was_edited(
    claims: Run, run: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    source, output = write(LAMP), tmp_path / "out.jsonl"
    said = {("p1", "a"): "1: It hums.\n2: It fits.", ("p1", "b"): "It is red."}
    claims(source, "--backend", replies(said))
    output.write_text(output.read_text().replace("It hums.", "It buzzes."))
    mended = replies({**said, ("p1", "b"): "1: It is red."})
    refused = claims(source, "--backend", mended)
    assert refused.exit_code == 2
    assert "--overwrite drops the claims in it, also those edited by hand; with this file as" in (
        refused.stderr
    )
    filled = tmp_path / "filled.jsonl"
    assert run("claims", output, "--backend", mended, "--output", filled).exit_code == 0
    (lamp,) = records(filled)
    made = {name: summary["claims"] for name, summary in lamp["summaries"].items()}
    assert made == {"a": ["It buzzes.", "It fits."], "b": ["It is red."]}


@pytest.mark.parametrize("reply", [
    "The lamp is bright.",          # no number
    "1: It hums.\nIt is bright.\n2: It fits.",
    "1: It hums.\n2: It fits.\n- It is small.",
    "1: It hums.\n2: It fits\nand is small.",
    "1: It hums.\n2: It fits.\n2",
    "1: It hums.\n2: It fi",        # cut
    "1: It hums.\n2: 5 of 5",
    "1: The lamp is bright.\n2:30 is late.",
    "1: The lamp is bright.",       # sentence 2 is left out
    "2: It fits.\n1: It hums.",     # out of order
    "1: Bright.\n3: It fits.",      # there is no sentence 3
    "1: Bright.\n2:",               # no statement
    "",
])  # fmt: skip
def test_a_reply_that_cannot_be_read_leaves_no_claims(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path, reply: str
) -> None:
    backend = replies({("p1", "a"): reply, ("p1", "b"): "1: It is red."})
    result = claims(write(LAMP), "--backend", backend)
    assert result.exit_code == 1
    assert "summary by 'a'" in result.stderr
    assert "1 reply could not be read" in result.stderr
    (lamp,) = records(tmp_path / "out.jsonl")
    assert lamp["summaries"]["a"] == LAMP["summaries"]["a"]
    assert lamp["summaries"]["b"]["claims"] == ["It is red."]


def test_what_an_earlier_run_left_without_claims_still_fails(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    words = (write(SOFA), "--backend", replies({("p2", "a"): "It sags."}))
    assert [claims(*words).exit_code for _ in range(2)] == [1, 1]
    again = claims(*words)
    assert "p2: summary by 'a': an earlier run could not read the reply" in again.stderr
    (sofa,) = records(output)
    sofa["summaries"]["a"] = {"text": SOFA["summaries"]["a"], "claims": ["It sags."]}
    output.write_text(json.dumps(sofa) + "\n")
    assert claims(*words).exit_code == 0


def test_a_record_without_a_reply_is_tried_again(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    source = write(LAMP, SOFA)
    half = {("p2", "a"): "1: It sags."}
    assert claims(source, "--backend", replies(half)).exit_code == 1
    assert [record["id"] for record in records(tmp_path / "out.jsonl")] == ["p2"]


def test_nothing_is_asked_in_a_dry_run(
    claims: Run, write: Write, replies: Callable[..., str], tmp_path: Path
) -> None:
    result = claims(write(LAMP), "--backend", replies({("p1", "a"): "1: x"}), "--dry-run")
    assert (result.exit_code, (tmp_path / "out.jsonl").exists()) == (0, False)
    assert "2 replies to generate" in result.stderr


@pytest.mark.parametrize(("options", "message"), [
    (["--dry-run"], "--dry-run goes with --backend"),
    (["--budget", "3"], "goes with --backend"),
    (["--backend", "magic:x"], "is none of"),
])  # fmt: skip
def test_wrong_options_are_one_line(
    claims: Run, write: Write, options: list[str], message: str
) -> None:
    result = claims(write(LAMP), *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_bad_record_is_told_and_left_out(claims: Run, write: Write, tmp_path: Path) -> None:
    result = claims(write({**LAMP, "claims": {"a": [3]}}, SOFA))
    assert result.exit_code == 1
    assert "summaries.a.claims[0]: is the number 3" in result.stderr
