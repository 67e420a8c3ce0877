"""Training on a tiny corpus, and both commands from end to end."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import torch
from click import Context
from click.testing import CliRunner, Result
from safetensors.torch import load_file

from prevalence.cli import main
from prevalence.errors import ConfigurationError, InputError
from prevalence.readers import read_products
from prevalence.records import Product
from prevalence.simplify.asset import read_asset
from prevalence.simplify.checkpoint import load_seq_to_seq
from prevalence.simplify.training import STATE, SimplifierSettings, train_simplifier

if TYPE_CHECKING:
    from pathlib import Path

SHORT = SimplifierSettings(epochs=2, batch_size=3, learning_rate=1e-3, checkpoint_every=2)


class StopError(Exception):
    """Stands for a crash."""


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def test_a_step_is_that_of_a_loop_written_from_the_paper(
    tiny_t5: Path, corpus_file: Path, tmp_path: Path
) -> None:
    # Without dropout: Adam by torch, cross-entropy over the tokens of the targets, linear decay.
    corpus = read_asset(corpus_file)
    base = tmp_path / "base"
    loaded = load_seq_to_seq(tiny_t5, device="cpu")
    loaded.model.config.dropout_rate = 0.0
    loaded.model.save_pretrained(base)
    loaded.tokenizer.save_pretrained(base)
    settings = SimplifierSettings(epochs=2, batch_size=8, learning_rate=1e-3, prefix="do: ")
    train_simplifier(corpus, base=base, output=tmp_path / "out", settings=settings, device="cpu")

    reference = load_seq_to_seq(base, device="cpu")
    model, tokenizer = reference.model.train(), reference.tokenizer
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    for step in range(2):
        adam.param_groups[0]["lr"] = 1e-3 * (2 - step) / 2
        losses, tokens = [], 0
        for source, target in corpus.pairs:
            ids = tokenizer("do: " + source, return_tensors="pt")["input_ids"]
            labels = tokenizer(target, return_tensors="pt")["input_ids"]
            before = torch.cat([torch.zeros(1, 1, dtype=torch.long), labels[:, :-1]], 1)
            logits = model(input_ids=ids, decoder_input_ids=before).logits[0]
            losses.append(torch.nn.functional.cross_entropy(logits, labels[0], reduction="sum"))
            tokens += labels.shape[1]
        (torch.stack(losses).sum() / tokens).backward()
        adam.step()
        adam.zero_grad()
    trained = weights(tmp_path / "out")
    for name, parameter in model.named_parameters():
        assert torch.allclose(trained[name], parameter, atol=2e-5), name


def test_a_resumed_run_equals_an_undisturbed_one(
    tiny_t5: Path, corpus_file: Path, tmp_path: Path
) -> None:
    corpus = read_asset(corpus_file)
    seen: list[int] = []

    def run(folder: Path, stop: int = 0) -> None:
        def progress(event: Any) -> None:
            seen.append(event.step)
            if event.step == stop:
                raise StopError

        train_simplifier(corpus, base=tiny_t5, output=folder, settings=SHORT, device="cpu",
                         progress=progress, progress_every=1)  # fmt: skip

    run(tmp_path / "whole")
    with pytest.raises(StopError):
        run(tmp_path / "broken", stop=3)
    assert (tmp_path / "broken" / STATE).is_file()
    with pytest.raises(InputError, match="other data, base or settings"):
        train_simplifier(
            corpus, base=tiny_t5, output=tmp_path / "broken", settings=SimplifierSettings()
        )
    run(tmp_path / "broken")
    run(tmp_path / "broken")  # finished: there is nothing left to do
    assert seen == [1, 2, 3, 4, 5, 6, 1, 2, 3, 3, 4, 5, 6]
    assert not (tmp_path / "broken" / STATE).exists()
    whole, broken = weights(tmp_path / "whole"), weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    base = weights(tiny_t5)
    assert not torch.equal(whole["shared.weight"], base["shared.weight"])


def test_a_run_continues_with_another_interval_between_states(
    tiny_t5: Path, corpus_file: Path, tmp_path: Path
) -> None:
    seen: list[int] = []

    def run(every: int, stop: int = 0) -> None:
        def progress(event: Any) -> None:
            seen.append(event.step)
            if event.step == stop:
                raise StopError

        train_simplifier(
            read_asset(corpus_file), base=tiny_t5, output=tmp_path / "out", device="cpu",
            settings=replace(SHORT, checkpoint_every=every), progress=progress, progress_every=1,
        )  # fmt: skip

    with pytest.raises(StopError):
        run(2, stop=3)
    run(4)
    assert seen == [1, 2, 3, 3, 4, 5, 6]


def test_a_folder_that_lacks_its_card_is_not_finished(
    tiny_t5: Path, corpus_file: Path, tmp_path: Path
) -> None:
    def run() -> dict[str, torch.Tensor]:
        corpus, output = read_asset(corpus_file), tmp_path / "out"
        train_simplifier(corpus, base=tiny_t5, output=output, settings=SHORT, device="cpu")
        return weights(output)

    whole = run()
    for name in ("model.safetensors", "README.md"):  # written after the configuration
        (tmp_path / "out" / name).unlink()
    again = run()
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert (tmp_path / "out" / "README.md").is_file()


def test_another_checkpoint_is_not_written_over(tiny_t5: Path, corpus_file: Path) -> None:
    before = weights(tiny_t5)
    with pytest.raises(InputError, match="holds a checkpoint of other data"):
        train_simplifier(read_asset(corpus_file), base=tiny_t5, output=tiny_t5, device="cpu")
    assert torch.equal(weights(tiny_t5)["shared.weight"], before["shared.weight"])


@pytest.mark.parametrize("name", ["epochs", "learning_rate", "batch_size", "max_length"])
def test_settings_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="must be positive, not 0"):
        SimplifierSettings(**{name: 0})
    with pytest.raises(ConfigurationError, match="unknown precision 'half'"):
        SimplifierSettings(precision="half")


@pytest.mark.parametrize(
    ("length", "prefix", "told"),
    [
        (65, "", r"--max-length 65 is above the 64 tokens that tiny-t5\w* reads"),
        (8, "word " * 20, "leaves no room for a sentence; raise --max-length .8. or shorten"),
    ],
)
def test_lengths_that_a_base_cannot_be_trained_with(
    length: int, prefix: str, told: str, tiny_t5: Path, corpus_file: Path
) -> None:
    settings = SimplifierSettings(max_length=length, prefix=prefix)
    corpus, output = read_asset(corpus_file), corpus_file.parent / "out"
    with pytest.raises(ConfigurationError, match=told):
        train_simplifier(corpus, base=tiny_t5, output=output, settings=settings, device="cpu")


def test_the_defaults_are_the_papers() -> None:
    settings = SimplifierSettings()
    assert (settings.epochs, settings.learning_rate, settings.max_length) == (30, 5e-5, 64)
    assert (settings.batch_size, settings.prefix) == (8, "hypothesis: ")


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Taught(NamedTuple):
    """A model that was trained on the command line, and what the command printed."""

    model: Path
    result: Result


@pytest.fixture(scope="module")
def taught(tiny_t5: Path, asset_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Taught:
    model = tmp_path_factory.mktemp("taught") / "model"
    result = call(
        "train-simplifier", asset_file, "--base", tiny_t5, "--output", model, "--epochs", 150,
        "--learning-rate", 5e-3, "--device", "cpu",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return Taught(model, result)


class Simplified(NamedTuple):
    """Records, their rewriting, and the command that made it."""

    source: Path
    output: Path
    words: tuple[object, ...]
    result: Result


@pytest.fixture
def simplified(taught: Taught, tmp_path: Path) -> Simplified:
    reviews = [
        {"id": "r1", "text": "It fits and it is warm.", "rating": 5},
        "It leaks and it is cold. It fits and it is warm.",
    ]
    first = {"id": "p1", "reviews": reviews, "summaries": {"s": "It is warm."}, "shop": "x"}
    lines = [first, {"id": "p2", "reviews": ["It leaks and it is warm."]}]
    source, output = tmp_path / "in.jsonl", tmp_path / "simple.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("simplify", source, "--model", taught.model, "--output", output, "--device", "cpu",
             "--top-p", 0.5)  # fmt: skip
    result = call(*words)
    assert result.exit_code == 0, result.stderr
    return Simplified(source, output, words, result)


@pytest.mark.slow
def test_a_trained_model_says_what_it_was_made_of(taught: Taught) -> None:
    assert taught.result.stdout == f"checkpoint: {taught.model}\n"
    assert "step 150/150" in taught.result.stderr
    card = (taught.model / "README.md").read_text()
    assert "4 sentences with 2 rewritings each" in card
    assert "prefix `hypothesis: `" in card
    config = json.loads((taught.model / "config.json").read_text())
    assert (config["prevalence_prefix"], config["prevalence_max_length"]) == ("hypothesis: ", 64)


@pytest.mark.slow
def test_rewritings_stand_beside_the_reviews(simplified: Simplified) -> None:
    said = "2 products written; of 3 distinct sentences 3 were rewritten"
    assert said in simplified.result.stderr
    one, two = records(simplified.output)
    first, second = one["reviews"]
    assert (first["id"], first["rating"]) == ("r1", 5)
    assert first["text"] == "It fits and it is warm."
    # What training taught: one sentence of two statements becomes two sentences.
    assert first["simplified"].count(".") == 2
    assert second["simplified"].count(".") == 4
    assert one["shop"] == "x"
    assert "|prefix:hypothesis%3A%20|samples:10|p:0.5|len:64|" in one["simplified_by"]
    assert two["summaries"] == {}
    (product, bare) = read_products(simplified.output, summaries=False)
    assert isinstance(product, Product)
    assert isinstance(bare, Product)
    assert product.reviews[0].simplified == first["simplified"]


@pytest.mark.slow
def test_rewritten_records_score_as_the_originals(simplified: Simplified) -> None:
    lexical = ("--model", "rouge1-precision", "--threshold", "0.5", "--no-cache",
               "--format", "jsonl")  # fmt: skip
    before, after = (
        json.loads(call("score", path, *lexical).stdout.splitlines()[0])
        for path in (simplified.source, simplified.output)
    )
    assert before["prevalence"] == 1.0
    assert {**before, "simplified_by": records(simplified.output)[0]["simplified_by"]} == after


@pytest.mark.slow
def test_a_killed_rewriting_continues_to_the_same_bytes(simplified: Simplified) -> None:
    output, words = simplified.output, simplified.words
    whole = output.read_bytes()
    output.write_bytes(whole[: whole.index(b"\n") + 20])
    assert "1 product written" in call(*words).stderr
    assert output.read_bytes() == whole
    assert "0 products written" in call(*words).stderr
    refused = call(*words, "--seed", 1)
    assert refused.exit_code == 2
    assert "choose another --output, or --overwrite" in refused.stderr
    assert output.read_bytes() == whole
    assert call(*words, "--seed", 1, "--overwrite", "--quiet").stderr == ""
    assert output.read_bytes() != whole


def test_the_examples_of_the_help_texts_run(
    tiny_t5: Path, corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    (place / "examples").mkdir(parents=True)
    (place / "asset").mkdir()
    for file in corpus_file.parent.iterdir():
        (place / "asset" / file.name.replace("tiny", "asset")).write_bytes(file.read_bytes())
    (place / "t5-base").symlink_to(tiny_t5)
    record = {"id": "p", "reviews": ["It fits and it is warm."], "summary": "It fits."}
    (place / "examples" / "summaries.jsonl").write_text(json.dumps(record) + "\n")
    monkeypatch.chdir(place)
    shorter = {"train-simplifier": ["--epochs", "1"], "score": ["--model", "rouge1-precision"]}
    lines = []
    for name in ("train-simplifier", "simplify"):
        command = main.get_command(Context(main), name)
        epilog = command.epilog.replace("\\\n", "")
        lines += re.findall(r"^  (prevalence .*)$", epilog, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        _, command, *words = shlex.split(line)
        result = call(command, *words, *shorter.get(command, []))
        assert result.exit_code == 0, (line, result.stderr)


def test_simplify_reports_faulty_records_and_usage(tiny_t5: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    good = json.dumps({"id": "p1", "reviews": ["Warm."]})
    source.write_text('{"id": "p0", "reviews": 3}\n' + good + "\n")
    words = ("simplify", source, "--model", tiny_t5, "--max-length", 8, "--samples", 2)
    result = call(*words, "--output", output)
    assert result.exit_code == 1
    assert f"error: {source}:1: reviews: is the number 3" in result.stderr
    assert len(records(output)) == 1
    # A damaged archive: what was read before is written, and the fault is reported.
    archive = tmp_path / "in.jsonl.gz"
    archive.write_bytes(gzip.compress((good + "\n").encode())[:-6])
    kept = call("simplify", archive, *words[2:], "--output", tmp_path / "kept.jsonl")
    assert kept.exit_code == 1, kept.stderr
    assert len(records(tmp_path / "kept.jsonl")) == 1
    source.write_text('{"id": "p0", "reviews": 3}\n')
    assert call(*words, "--output", tmp_path / "none.jsonl").exit_code == 2
    for wrong, message in (
        (("--output", source), "is an input, which would be overwritten"),
        (("--output", tmp_path / "no" / "x.jsonl"), "no folder"),
        (("--output", output, "--top-p", 0), "0"),
    ):
        result = call(*words, *wrong)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
