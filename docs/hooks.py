"""What MkDocs adds to the pages of this folder: the README, the reference and linked files.

The reference is made from the code on every build and never stored: a page for each command, one
for each public package, and one for the fields of rows and signatures.
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "examples": "examples.md",
    "CHANGELOG.md": "changelog.md",
    "docs": "index.md",
}
"""Files and folders outside docs/ that are pages, and the names of those pages."""

PACKAGES = (
    "prevalence",
    "prevalence.baselines",
    "prevalence.calibration",
    "prevalence.claims",
    "prevalence.distributed",
    "prevalence.labelled",
    "prevalence.readers",
    "prevalence.rewards",
    "prevalence.scorers",
    "prevalence.errors",
)
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>~?([^<]*)</code>")
FIELD = re.compile(r"^ {4}([\w, ]+): (.*(?:\n {8}.*)*)", re.MULTILINE)


# --- what MkDocs calls ----------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference into the navigation."""
    (reference,) = (part["Reference"] for part in config.nav if "Reference" in part)
    reference += [
        {"Commands": [f"commands/{name}.md" for name in commands()]},
        {"Python": [f"python/{name}.md" for name in PACKAGES]},
        "rows.md",
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that do not lie in docs/."""
    made = {page: (ROOT / path).read_text("utf-8") for path, page in OUTSIDE.items() if "." in path}
    made |= {f"commands/{name}.md": page for name, page in command_pages()}
    made |= {f"python/{name}.md": python_page(name) for name in PACKAGES}
    made["rows.md"] = rows_page()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files of the repository into links to pages, or to copies in the site."""
    homes = {uri: Path(path).parent for path, uri in OUTSIDE.items() if "." in path}
    home = homes.get(page.file.src_uri, Path("docs"))

    def replaced(match: re.Match[str]) -> str:
        target = site_name(normpath(home / match[2]), config, files)
        return match[1] + (target or match[2]) + match[3]

    return markdown if "/" in page.file.src_uri else LINK.sub(replaced, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Show the names that docstrings refer to as code."""
    return ROLE.sub(r"<code>\1</code>", html)


def site_name(path: str, config: MkDocsConfig, files: Files) -> str | None:
    """Where the site has a file of the repository; None for what is no file, a dead link."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if not (ROOT / path).is_file():
        return None
    copy = f"files/{path}" + (".txt" if path.endswith((".md", ".py")) else "")
    if files.get_file_from_path(copy) is None:
        content = (ROOT / path).read_bytes()
        files.append(File.generated(config, copy, content=content))
    return copy


# --- commands -------------------------------------------------------------------------------------


def commands() -> dict[str, click.Command]:
    """The commands by name, in the order of their help."""
    from prevalence.cli import main

    context = click.Context(main, info_name="prevalence")
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def command_pages() -> Iterator[tuple[str, str]]:
    """A page for each command."""
    for name, command in commands().items():
        parts = described(command, click.Context(click.Group("prevalence"), info_name="prevalence"))
        yield name, "\n\n".join(parts)


def described(command: click.Command, above: click.Context, level: int = 1) -> Iterator[str]:
    """A command and those below it: what it does, its arguments and options, its examples."""
    context = click.Context(command, info_name=command.name, parent=above)
    yield f"{'#' * level} {context.command_path}"
    yield prose(command.help)
    yield fenced(" ".join([context.command_path, *command.collect_usage_pieces(context)]))
    options = [o.get_help_record(context) for o in command.params if isinstance(o, click.Option)]
    yield table(("option", "what it does"), ((f"`{o[0]}`", o[1]) for o in options if o))
    yield prose(command.epilog)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from described(inner, context, level + 1)


def prose(text: str | None) -> str:
    r"""Help text as Markdown; paragraphs after ``\b`` keep their lines."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    kept = [
        fenced(part.removeprefix("\b\n")) if part.startswith("\b") else escaped(part)
        for part in parts
    ]
    return "\n\n".join(kept)


# --- Python ---------------------------------------------------------------------------------------


def python_page(package: str) -> str:
    """The public names of a package, each where it is declared."""
    module = import_module(package)
    places = [f"::: {home(module, name)}.{name}" for name in module.__all__]
    return "\n\n".join(
        [f"# {package}", (inspect.getdoc(module) or "").partition("\n\n")[0], *places]
    )


def home(module: ModuleType, name: str) -> str:
    """The module of ours that declares a class or function; other names stay where they are."""
    value = getattr(module, name)
    return value.__module__ if getattr(value, "__name__", None) == name else module.__name__


# --- rows and signatures --------------------------------------------------------------------------


def rows_page() -> str:
    """The fields of rows, as they are written, and the parts of signatures."""
    from prevalence.signature import SIGNATURE_PARTS

    parts = [
        "# Fields of rows and signatures",
        "One JSON object per line. Fields that were not asked for are left out or null.",
    ]
    for title, row in sample_rows().items():
        parts += [f"## {title}", table(("field", "what it holds"), row_fields(row))]
    named = ((f"`{name}`", text) for name, text in SIGNATURE_PARTS.items())
    parts += ["## Signatures", "Parts are joined by `|`, in this order. The version comes last."]
    return "\n\n".join([*parts, table(("part", "what it names"), named)])


def sample_rows() -> dict[str, Any]:
    """A full row of each kind, whose keys are the fields."""
    from prevalence.baselines.judges.duels import PairRow
    from prevalence.baselines.rows import ScoreRow
    from prevalence.scored import LeftOut, Passage, Profile, ScoredSentence, ScoredSummary

    summary = ScoredSummary(
        "", "", 0.0, 1, (), "", warning="", soft_prevalence=0.0, restriction={}, ceiling=1.0,
        corrected=0.0, profile=Profile(),
    )  # fmt: skip
    return {
        "A scored summary (`prevalence score`)": summary,
        "Its `sentences`": ScoredSentence("", 0, 0, False, None, quantity={}, evidence=()),
        "Passages in `evidence`": Passage(0, 0, 0, "", 0.0),
        "Its `profile`": Profile(),
        "Statements in `left_out`": LeftOut(
            text="", review=0, start=0, end=0, support=0, asked=0, supporting_reviews=()
        ),
        "A score row (`prevalence baselines`, `prevalence judge`)": ScoreRow(
            id="", system="", metrics={}, signature="", human={}, samples={}, judge={}
        ),
        "A duel (`prevalence judge` head to head)": PairRow(
            id="", a="", b="", dimension="", verdict_ab=0, verdict_ba=0, signature=""
        ),
    }


def row_fields(row: Any) -> list[tuple[str, str]]:
    """The keys of a row as they are written, and what its class says of each."""
    stated = {"schema": "version of the layout: 1"}
    for names, text in FIELD.findall(inspect.getdoc(row) or ""):
        stated |= dict.fromkeys(names.split(", "), text)
    for name, value in inspect.getmembers(type(row), lambda member: isinstance(member, property)):
        stated.setdefault(name, inspect.getdoc(value) or "")
    return [(f"`{key}`", stated[key]) for key in json_keys(row)]


def json_keys(row: Any) -> Iterable[str]:
    """The keys of a row's JSON object."""
    if hasattr(row, "to_json_line"):
        return json.loads(row.to_json_line()).keys()
    return row.to_json().keys() if hasattr(row, "to_json") else row.__dataclass_fields__.keys()


# --- Markdown -------------------------------------------------------------------------------------


def table(headers: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """A table of two columns."""
    lines = [headers, ("---", "---"), *((cell(a), cell(escaped(b))) for a, b in rows)]
    return "\n".join(f"| {first} | {second} |" for first, second in lines)


def cell(text: str) -> str:
    """Text on one line, without what ends a cell."""
    return " ".join(text.split()).replace("|", r"\|")


def escaped(text: str) -> str:
    """Text of a help or docstring as Markdown: placeholders are no tags."""
    return re.sub(r"<(?=[a-z/])", "&lt;", text.replace("``", "`").replace("*", r"\*"))


def fenced(text: str) -> str:
    """Text as it stands."""
    return f"```text\n{inspect.cleandoc(text)}\n```"
