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
    "The lamp is bright.",          # no number
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
