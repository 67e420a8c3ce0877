"""Options of all commands: said once, with one meaning a word."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pytest

from prevalence.cli import main
from prevalence.cli.options import field_options
from prevalence.errors import ConfigurationError
from prevalence.llm.backends import BackendOptions
from prevalence.options import described_fields, shared_out
from prevalence.scorers.registry import ScorerOptions
from prevalence.scoring.options import ScoringOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

ROOT = Path(__file__).resolve().parents[2] / "prevalence" / "cli"


def leaves(group: Any, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path}{name} ")
        else:
            yield path + name, command


COMMANDS = dict(leaves(main))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_h_whoever_asks_it_first(name: str) -> None:
    command = COMMANDS[name]
    option = command.get_help_option(click.Context(command))
    assert option is not None
    assert option.opts == ["-h", "--help"]


def options_of(command: click.Command) -> dict[str, click.Option]:
    return {str(p.name): p for p in command.params if isinstance(p, click.Option)}


def declared(kind: type) -> dict[str, click.Option]:
    return options_of(field_options(kind)(click.command("x")(lambda **_: None)))


@pytest.mark.parametrize("words", [["score"], ["summarize"], ["summarize", "--method", "centroid"]])
def test_an_empty_name_is_no_model(
    words: list[str], run: Run, write: Write, tmp_path: Path
) -> None:
    path = write({"id": "p", "reviews": ["Warm boots."], "summary": "Warm boots."})
    result = run(*words, path, "--model", "", "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the model has no name; give a checkpoint folder")


NUMBERS = [
    (name, each)
    for name, command in COMMANDS.items()
    for each in options_of(command).values()
    if isinstance(each.type, click.types.IntParamType | click.types.FloatParamType)
]


@pytest.mark.parametrize(("name", "each"), NUMBERS, ids=lambda x: getattr(x, "name", str(x)))
def test_no_option_takes_a_number_that_is_none(name: str, each: click.Option, run: Run) -> None:
    is_float = isinstance(each.type, click.types.FloatParamType)
    for value in ("nan", "inf", "-inf") if is_float else (f"{1 << 63}", f"-{1 << 64}"):
        result = run(*name.split(), f"{each.opts[-1]}={value}")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
        assert f"Invalid value for '{each.opts[0]}'" in result.stderr


def test_a_number_of_hundreds_of_digits_is_one_line_too(run: Run) -> None:
    result = run("report", "rows.jsonl", "-o", "r.html", "--limit", "1" + 400 * "0")
    assert result.exit_code == 2
    assert "Invalid value for '--limit': 1.00e+400 is beyond 64 bits" in result.stderr


def test_options_of_python_take_finite_numbers_within_their_bounds() -> None:
    for kind in (BackendOptions, ScoringOptions, ScorerOptions):
        for each, said in described_fields(kind):
            if isinstance(said.least or said.above, float) or "float" in str(each.type):
                with pytest.raises(ConfigurationError, match=r"finite|threshold must lie"):
                    kind(**{each.name: float("nan")})
    with pytest.raises(ConfigurationError, match="retries must be at least 0, not -1"):
        BackendOptions(retries=-1)
    with pytest.raises(ConfigurationError, match=r"timeout must be above 0.0, not 0"):
        BackendOptions(timeout=0)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (ScoringOptions, {"threshold": "0.5"}, r"threshold must lie in \[0, 1\), not '0.5'"),
        (ScorerOptions, {"threshold": "0.5"}, "threshold must be a number, not '0.5'"),
        (ScoringOptions, {"first_reviews": 2.5}, "first_reviews must be a whole number, not 2.5"),
        (ScoringOptions, {"coverage_statements": 2.5}, "must be a whole number, not 2.5"),
        (ScoringOptions, {"max_sentences": "5"}, "must be a whole number, not '5'"),
        (ScoringOptions, {"max_sentences": True}, "must be a whole number, not True"),
        (BackendOptions, {"timeout": "9"}, "timeout must be a number, not '9'"),
    ],
)
def test_options_of_python_refuse_what_is_no_number(
    kind: Callable[..., Any], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        kind(**options)


def test_options_of_python_take_the_numbers_of_numpy() -> None:
    known = ScoringOptions(threshold=np.float32(0.5), first_reviews=np.int64(2))
    assert (known.threshold, known.first_reviews) == (0.5, 2)


@pytest.mark.parametrize("kind", [ScorerOptions, ScoringOptions, BackendOptions])
def test_help_texts_and_defaults_are_those_of_the_fields(kind: type) -> None:
    made = declared(kind)
    for each, said in described_fields(kind):
        spelling = (said.spelling or f"--{each.name.replace('_', '-')}").partition("/")[0]
        found = next(found for found in made.values() if spelling in found.opts)
        assert found.help == said.help
        assert found.default == each.default
        assert f"{each.name}: {said.help}" in str(kind.__doc__)


@pytest.mark.parametrize(
    ("command", "kind", "but"),
    [
        ("score", ScorerOptions, ()),
        ("score", ScoringOptions, ()),
        ("support", ScorerOptions, ("check_cuts",)),
        ("distill", ScorerOptions, ("threshold", "check_cuts")),
        ("summarize", ScorerOptions, ("check_cuts",)),
        (
            "calibrate",
            ScorerOptions,
            ("model", "threshold", "calibration", "recheck", "check_cuts"),
        ),
        ("judge", BackendOptions, ()),
    ],
)
def test_commands_show_the_definitions(command: str, kind: type, but: tuple[str, ...]) -> None:
    found = options_of(COMMANDS[command])
    for name, made in declared(kind).items():
        if name not in but:
            assert (found[name].help, found[name].default) == (made.help, made.default)


def test_no_command_declares_a_scorer_option_by_hand() -> None:
    own = {"packing", "windows", "max_length", "labels", "batch_tokens", "recheck", "calibration"}
    own |= {each.name for each in fields(ScoringOptions)} - {"threshold"}
    own |= {each.name for each in fields(BackendOptions)} - {"device", "dtype", "cache"}
    for path in ROOT.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in own - ({"max_length"} if "simpl" in path.name else set()):
            # `meta significance --groups` deals samples, and is no option of scores.
            if (path.name, name) != ("meta_metrics.py", "groups"):
                assert f'"--{name.replace("_", "-")}"' not in text, (path.name, name)


def test_a_word_means_one_thing_in_every_command() -> None:
    every = [(name, found) for name, c in COMMANDS.items() for found in options_of(c).values()]
    tests = [found for _, found in every if "--test" in found.opts]
    assert tests
    assert all(isinstance(found.type, click.Choice) for found in tests)
    assert {name for name, found in every if "--confidence" in found.opts} == {
        "meta correlate",
        "meta key-points",
    }
    assert all(found.default == "auto" for _, found in every if "--dtype" in found.opts)
    # Finished work of these is found again by its seed.
    stored = {"judge", "simplify", "summarize", "train-simplifier"}
    seeds = {name: found.default for name, found in every if "--seed" in found.opts}
    assert seeds == {name: 0 if name in stored else 12345 for name in seeds}
    silent = {"models", "cache info", "cache clear", "conv convert", "conv alignscore"}
    quiet = {name for name, found in every if {"--quiet", "-q"} <= set(found.opts)}
    assert set(COMMANDS) - quiet == silent


def test_the_model_of_judges_has_the_name_of_all_models(
    run: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write(boots)
    words = ("judge", path, "-m", "rts", "-d", "fluency")
    said = [run(*words, name, "nothing:x").stderr for name in ("--backend", "--model")]
    assert said[0] == said[1]
    assert "'nothing:x' is none of" in said[0]
    written = run("summarize", path, "--method", "llm", "--model", "nothing:x", "-o", "out.jsonl")
    assert "'nothing:x' is none of" in written.stderr


def test_a_misspelt_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="no option 'treshold'; did you mean threshold"):
        shared_out({"treshold": 0.1}, ScoringOptions, ScorerOptions)
    with pytest.raises(ConfigurationError, match="no option 'soft'"):
        shared_out({"soft": True}, ScoringOptions, but=("soft",))
    assert shared_out({"threshold": 0.1, "packing": "padded"}, ScoringOptions, ScorerOptions) == [
        {"threshold": 0.1},
        {"threshold": 0.1, "packing": "padded"},
    ]


def test_the_prompts_offered_are_those_that_there_are():
    from prevalence.baselines.judges.writing import PROMPTS
    from prevalence.cli.summarize import summarize

    (prompt,) = (each for each in summarize.params if each.name == "prompt")
    assert tuple(prompt.type.choices) == PROMPTS
