"""Every shell and Python block of the README and of docs/ runs, or says why it does not.

The blocks of a page run in order, in a folder of their own that starts with the example data; what
pages call `my-model` and the like is a tiny checkpoint there. Python blocks find `reviews`,
`summary` and `records` of the example. Comments right before a block leave it out, or only the
lines that hold a text, or make a file that it needs:

    <!-- not run: needs a GPU -->
    <!-- not run `roberta-large-mnli`: needs a model hub -->
    <!-- run first: prevalence score summaries.jsonl --output scores.jsonl -->

Of a Python block that does not run, what it imports from this package is there for the next one.
Lines that install are left to CI, which begins with them.
Lines of a console block that are no command are the output of the command above them, in which
"..." stands for anything. Every command line must parse, whether it runs or not.
"""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import pytest
from click.testing import CliRunner

from prevalence.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
STAND_INS = {
    "examples/summaries.jsonl": ("products.jsonl", "data.jsonl", "unlabelled.jsonl"),
    "examples/judgments.jsonl": ("more.jsonl",),
    "tests/golden/inputs/unlabelled.jsonl": ("reviews.jsonl",),
    "tests/golden/inputs/tiny-nli": (
        "my-model", "my-checkpoint", "my-roberta", "my-teacher", "my-encoder",
    ),
    "tests/golden/inputs/tiny-seq2seq": ("my-simplifier",),
}  # fmt: skip
"""What files and folders of the repository are called on the pages."""

MARKER = re.compile(r"<!-- not run(?: `([^`\n]+)`)?: [^\n]+? -->")
FIRST = re.compile(r"<!-- run first: ([^\n]+?) -->")
INSTALLS = re.compile(r"(make|pip|python -m venv|python -m pip) ")
BLOCK = re.compile(
    r"^(?P<marks>(?:<!-- (?:not run|run first)[^\n]+ -->\s+)*)"
    r"```(?P<kind>console|shell|bash|sh|python|pycon)\n(?P<body>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(prevalence [^`]+)`")
SHELL_WORDS = re.compile(r"[|<>;&$]")
OUTPUT = doctest.OutputChecker()


class Command(NamedTuple):
    """A command line of a page, and the output that the page shows for it."""

    line: str
    output: str


class Block(NamedTuple):
    """A block of a page: its place and text, what of it is left out, and what must run first."""

    at: int
    python: bool
    body: str
    left_out: tuple[str, ...]
    first: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether any of it runs."""
        return "" not in self.left_out

    def commands(self) -> list[Command]:
        """The command lines of a shell block; in console blocks they follow a dollar sign."""
        body = self.body.replace("\\\n", " ")
        if not re.search(r"^\$ ", body, re.MULTILINE):
            lines = [line for line in body.splitlines() if line.strip()]
            return [Command(line, "") for line in lines if not line.startswith("#")]
        parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
        return [Command(*part.partition("\n")[::2]) for part in parts]

    def leaves_out(self, line: str) -> bool:
        """Whether a marker leaves a line out, or it installs."""
        return any(text in line for text in self.left_out) or bool(INSTALLS.match(line))


def blocks(page: Path) -> list[Block]:
    """The shell and Python blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            at=text[: match.start("kind")].count("\n") + 1,
            python=match["kind"] in ("python", "pycon"),
            body=match["body"],
            left_out=tuple(MARKER.findall(match["marks"])),
            first=tuple(FIRST.findall(match["marks"])),
        )
        for match in BLOCK.finditer(text)
    ]


def name_of(page: Path) -> str:
    """How a test is called."""
    return page.relative_to(ROOT).as_posix()


pages = pytest.mark.parametrize("page", PAGES, ids=name_of)


# --- without running ------------------------------------------------------------------------------


def parse(words: list[str]) -> None:
    """Parse a command line as click does, but open no file and check no value but choices.

    Raises:
        click.UsageError: it names a command, an option or a choice that is not there.
    """
    command, context = main, click.Context(main, info_name="prevalence")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            raise click.UsageError(f"no command {words[0]!r}")
        command, context = found, click.Context(found, info_name=words[0], parent=context)
        words = words[1:]
    values, _, _ = command.make_parser(context).parse_args(list(words))
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice) and parameter.name in values:
            parameter.type_cast_value(context, values[parameter.name])


def check_line(line: str) -> None:
    """Check that what a command line names is there."""
    words = shlex.split(line, comments=True)
    match words:
        case ["prevalence", *rest]:
            end = next((n for n, word in enumerate(rest) if SHELL_WORDS.match(word)), len(rest))
            parse(rest[:end])
        case ["python", "-m", module, *_] if module.startswith("benchmarks"):
            assert find_spec(module) is not None, f"no module {module}"
        case ["make", target, *_]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"no target {target}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"prevalence\[([\w,-]+)\]", line):
        assert set(extras.split(",")) <= set(project["optional-dependencies"]), extras


def check_imports(code: str) -> None:
    """Check that what is imported from this package is there, by its source: imports take long."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "prevalence":
            spec = find_spec(node.module)
            assert spec is not None, node.module
            there = set(declared(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))))
            assert {alias.name for alias in node.names} <= there, node.module


def declared(tree: ast.Module) -> Iterator[str]:
    """The names that a module declares or imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pages
def test_every_block_names_what_is_there(page: Path) -> None:
    for block in blocks(page):
        if block.python:
            check_imports(source(block))
        lines = [] if block.python else [command.line for command in block.commands()]
        for line in (*block.first, *lines):
            try:
                check_line(line)
            except (click.UsageError, AssertionError) as error:
                pytest.fail(f"{name_of(page)}:{block.at}: {line}: {error}", pytrace=False)


@pages
def test_every_command_in_the_text_is_there(page: Path) -> None:
    for line in INLINE.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        try:
            check_line(" ".join(line.split()))
        except click.BadOptionUsage:
            pass  # prose names options without their values
        except click.UsageError as error:
            pytest.fail(f"{name_of(page)}: `{line}`: {error.format_message()}", pytrace=False)


@pages
def test_every_marker_stands_before_a_block(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    stated = len(re.findall(r"<!-- (?:not run|run first)", text))
    assert stated == sum(len(block.left_out) + len(block.first) for block in blocks(page))


@pages
def test_every_marked_line_is_there(page: Path) -> None:
    for block in blocks(page):
        assert [text for text in block.left_out if text not in block.body] == []


@pytest.mark.parametrize(
    "line", ["prevalence scor", "prevalence score --no-such", "prevalence meta nothing"]
)
def test_a_wrong_line_is_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        check_line(line)


def test_markers_and_output_are_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text.\n\n<!-- not run `b`: no b here -->\n```console\n$ a \\\n  1\nfound\n$ b\n```\n"
        "<!-- run first: a -->\n<!-- not run: no GPU -->\n\n```python\nx = 1\n```\n",
        encoding="utf-8",
    )
    shell, python = blocks(page)
    assert shell.commands() == [Command("a    1", "found\n"), Command("b", "")]
    assert [shell.leaves_out(command.line) for command in shell.commands()] == [False, True]
    assert (shell.runs, python.runs, python.python, python.at) == (True, False, True, 13)
    assert (shell.first, python.first) == ((), ("a",))


# --- running --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of answers that all pages share: most ask about the same reviews."""
    return tmp_path_factory.mktemp("answers")


@pytest.fixture
def folder(page: Path, tmp_path: Path, answers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a page runs."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    if not shows_output(page):
        shorten(tmp_path / "examples" / "summaries.jsonl")
    for path in tmp_path.glob("examples/*.*"):
        shutil.copy(path, tmp_path)
    for path, names in STAND_INS.items():
        here = tmp_path if path.startswith("examples/") else ROOT
        for name in names:
            (tmp_path / name).symlink_to(here / path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREVALENCE_CACHE", str(answers))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    # A dry run wants a key and sends nothing; with this one nothing else could cost money.
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def shows_output(page: Path) -> bool:
    """Whether a page shows what a command prints, for which it needs the whole example."""
    shell = (block for block in blocks(page) if not block.python)
    return any(command.output.strip() for block in shell for command in block.commands())


def shorten(path: Path) -> None:
    """Keep two products: the others take the model long and try nothing else."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]), encoding="utf-8")


def names_of_the_example() -> dict[str, object]:
    """What Python blocks may use without saying where it comes from."""
    lines = (ROOT / "examples" / "summaries.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {
        "__name__": "page",
        "records": records,
        "reviews": records[0]["reviews"],
        "summary": records[0]["summaries"]["balanced"],
    }


def run_command(line: str) -> tuple[int, str, str]:
    """Run a command line, in this process where it is one of ours alone."""
    if not line.startswith("prevalence ") or SHELL_WORDS.search(re.sub(r"'[^']*'", "", line)):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        words = shlex.split(line, comments=True)[1:]
        result = CliRunner().invoke(main, words, prog_name="prevalence")
    return result.exit_code, result.stdout, result.stderr


def source(block: Block) -> str:
    """The code of a Python block; an interactive one without what it prints."""
    if not block.body.lstrip().startswith(">>>"):
        return block.body
    return "".join(example.source for example in doctest.DocTestParser().get_examples(block.body))


def our_imports(code: str) -> str:
    """The lines that import from this package."""
    ours = (node for node in ast.parse(code).body if isinstance(node, ast.ImportFrom))
    return "\n".join(ast.unparse(node) for node in ours if node.module.startswith("prevalence"))


def run_python(block: Block, names: dict[str, object], place: str) -> None:
    """Run a Python block; an interactive one must print what it shows."""
    if not block.runs:
        exec(our_imports(source(block)), names)
    elif block.body.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block.body, names, place, place, block.at)
        runner = doctest.DebugRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    else:
        exec(compile("\n" * block.at + block.body, place, "exec"), names)


@pages
@pytest.mark.slow
def test_every_block_runs(page: Path, folder: Path) -> None:
    names = names_of_the_example()
    for block in blocks(page):
        place = f"{name_of(page)}:{block.at}"
        if block.runs:
            for line in block.first:
                check_run(Command(line, ""), place)
        if block.python:
            run_python(block, names, place)
        elif block.runs:
            for command in block.commands():
                if not block.leaves_out(command.line):
                    check_run(command, place)


def check_run(command: Command, place: str) -> None:
    """Run a command line; it must succeed, and print what the page shows."""
    status, told, errors = run_command(command.line)
    assert status == 0, f"{place}: {command.line}\n{told}{errors}"
    if command.output.strip():
        wanted, found = cleaned(command.output), cleaned(told)
        matches = OUTPUT.check_output(wanted, found, doctest.ELLIPSIS)
        assert matches, f"{place}: {command.line}\nshown:\n{wanted}\nprinted:\n{found}"


def cleaned(text: str) -> str:
    """Text without the space at the ends of lines and around it."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
