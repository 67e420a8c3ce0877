"""What may import what, and the limits on size and danger, read off the source of every module."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import prevalence

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("prevalence", "kernels", "baselines")
HEAVY = ("torch", "transformers", "numba", "scipy", "nltk", "rich", "click")

# From the bottom to the top. A part imports its own modules, those of its line and of lower lines,
# at any depth; no two files import each other.
LAYERS = (
    {
        "kernels",
        "errors",
        "files",
        "lazy",
        "notebook",
        "options",
        "stats",
        "text",
        "toml_files",
        "wording",
    },
    {"records", "row_values", "scored", "nli", "models", "metric", "signature", "claims"},
    {"readers", "writers"},
    {"labelled", "llm", "scorers", "runs"},
    {"scoring", "summarize"},
    {
        "api",
        "distributed",
        "rewards",
        "integrations",
        "calibration",
        "meta",
        "training",
        "simplify",
    },
    {"report"},
    {"cli", "__main__"},
)
# Baselines stand beside the layers: they may use the core, which may load them lazily.
ABOVE_BASELINES = {"report", "cli"}
KERNELS_MAY_IMPORT = {"numpy", "torch", "numba", "triton", "prevalence.kernels"}


class Import(NamedTuple):
    """One import: the module that holds it, what it names, and whether it waits in a function."""

    holder: str
    target: str
    lazy: bool


def sources():
    """Every module of ours by its dotted name, symlinks left aside."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if package == "prevalence" and relative.parts[1] in PACKAGES:
                continue
            parts = relative.with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            yield ".".join(parts if package == "prevalence" else ("prevalence", *parts)), path


MODULES = dict(sources())


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def tree(module):
    return parsed(MODULES[module])


def imports_in(module, node, lazy=False):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(module, alias.name, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, f"{module}:{child.lineno}: a relative import"
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield Import(module, whole if whole in MODULES else child.module, lazy)
        inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports_in(module, child, inside)


def imports():
    for module in MODULES:
        yield from imports_in(module, tree(module))


def part(module):
    """The part of the package that a module belongs to: nli, metric, cli, ..."""
    return [*module.split("."), ""][1]


def is_ours(target):
    return target.partition(".")[0] == "prevalence"


def level(name):
    return next((place for place, names in enumerate(LAYERS) if name in names), None)


def functions(module):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree(module)) if isinstance(node, kinds)]


def length(node):
    return node.end_lineno - node.lineno + 1


def test_the_walk_finds_what_it_should():
    assert {"prevalence", "prevalence.nli.cache", "prevalence.kernels.assembly"} <= set(MODULES)
    found = set(imports())
    assert Import("prevalence.metric", "numpy", False) in found
    assert Import("prevalence.scoring.job", "prevalence.metric", False) in found
    assert Import("prevalence.text.sentences", "punkt", True) in found


def test_every_part_has_a_place_in_the_order():
    parts = {part(module) for module in MODULES} - {"", "baselines"}
    assert parts == set().union(*LAYERS), "give a new part its line in LAYERS"


def test_dependencies_point_one_way():
    upward = [
        entry
        for entry in imports()
        if is_ours(entry.target)
        and {part(entry.holder), part(entry.target)}.isdisjoint({"", "baselines"})
        and part(entry.holder) != part(entry.target)
        and level(part(entry.target)) > level(part(entry.holder))
    ]
    assert upward == []


def circles():
    """Files each of which reaches the others by imports, those for types included."""
    graph = {}
    for module in MODULES:
        graph[module] = {entry.target for entry in imports_in(module, tree(module))} & set(MODULES)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_files_import_each_other():
    assert circles() == []


def test_the_package_itself_imports_nothing_but_lazily_and_for_types():
    runtime = [node for node in tree("prevalence").body if isinstance(node, ast.ImportFrom)]
    assert {node.module for node in runtime} == {"__future__", "typing"}


def test_kernels_import_nothing_of_ours():
    wrong = [
        entry
        for entry in imports()
        if part(entry.holder) == "kernels"
        and not any(
            entry.target == name or entry.target.startswith(f"{name}.")
            for name in KERNELS_MAY_IMPORT
        )
        and entry.target.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert wrong == []


def test_baselines_are_loaded_lazily_and_know_no_report():
    found = list(imports())
    eager = [
        entry
        for entry in found
        if part(entry.target) == "baselines"
        and part(entry.holder) not in {"baselines", *ABOVE_BASELINES}
        and not entry.lazy
    ]
    upward = [
        entry
        for entry in found
        if part(entry.holder) == "baselines" and part(entry.target) in ABOVE_BASELINES
    ]
    assert eager == upward == []


def test_no_module_imports_a_bare_folder_name():
    folders = [ROOT / name for name in ("tests", "benchmarks", "examples")]
    others = [path for folder in folders for path in folder.rglob("*.py")]
    nodes = {name: tree(name) for name in MODULES} | {str(path): parsed(path) for path in others}
    bare = [
        entry
        for name, node in nodes.items()
        for entry in imports_in(name, node)
        if entry.target.partition(".")[0] in {"kernels", "baselines"}
    ]
    assert bare == []


def exported(module):
    for node in tree(module).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in top_level_names([node]):
            return ast.literal_eval(node.value)
    return None


def top_level_names(body):
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from top_level_names(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for t in targets for name in ast.walk(t) if hasattr(name, "id"))


def in_order(name):
    """Constants, then classes, then functions, each by the alphabet."""
    return (0 if name.isupper() else 1 if name.lstrip("_")[:1].isupper() else 2, name)


def holds_code(module):
    """Whether a module holds what others import, and not only a docstring or a command."""
    rest = [node for node in tree(module).body if not isinstance(node, ast.Expr)]
    others = [node for node in rest if getattr(node, "module", None) != "__future__"]
    return part(module) != "__main__" and bool(others)


@pytest.mark.parametrize("module", [*filter(holds_code, MODULES)])
def test_all_is_explicit_sorted_and_true(module):
    names = exported(module)
    assert names is not None, "write __all__"
    assert names == sorted(set(names), key=in_order)
    assert set(names) <= set(top_level_names(tree(module).body))


@pytest.mark.parametrize("module", MODULES)
def test_modules_and_functions_stay_small(module):
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= 700
    assert [(f.name, length(f)) for f in functions(module) if length(f) > 60] == []


def test_most_functions_are_short():
    lengths = sorted(length(node) for module in MODULES for node in functions(module))
    assert statistics.median(lengths) <= 15
    assert lengths[len(lengths) * 9 // 10] <= 45


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(tree(module))


UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
UNSAFE_CALLS = {"eval", "exec", "torch.load", "os.system", "pd.read_pickle"}
UNSAFE_OPTIONS = {"trust_remote_code", "allow_pickle", "shell"}


def loads_weights_alone(call):
    """Whether it is torch.load with its unpickler that builds tensors and nothing else."""
    stated = {option.arg: ast.unparse(option.value) for option in call.keywords}
    return ast.unparse(call.func) == "torch.load" and stated.get("weights_only") == "True"


def unsafe_calls(module):
    for node in ast.walk(tree(module)):
        if not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func) in UNSAFE_CALLS and not loads_weights_alone(node):
            yield ast.unparse(node)
        for option in node.keywords:
            value = option.value.value if isinstance(option.value, ast.Constant) else None
            if option.arg in UNSAFE_OPTIONS and value is True:
                yield ast.unparse(node)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_runs_what_it_reads(module):
    imported = {entry.target.partition(".")[0] for entry in imports_in(module, tree(module))}
    assert imported.isdisjoint(UNSAFE_MODULES)
    assert list(unsafe_calls(module)) == []


@pytest.mark.parametrize("module", MODULES)
def test_no_assertion_validates_input(module):
    # Assertions vanish under python -O.
    asserted = [node.lineno for node in ast.walk(tree(module)) if isinstance(node, ast.Assert)]
    assert asserted == []


# Private names that tests reach for all the same, by file. It only gets shorter: a test asks what
# any user of a module can ask, so that code can move, and a knob that it turns is an argument or a
# constant with a name of its own.
REACHED = {
    # A head's copy in float32 would exchange the content that torch's fakes do not have.
    "nli/test_dry_run.py": {"_in_float32"},
}  # fmt: skip
REACHING = {"delattr", "getattr", "patch", "setattr"}
OF_OTHERS = {"_asdict", "_fields", "_make", "_replace", "_repr_html_"}
"""Protocols of named tuples and notebooks."""


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@cache
def own_private_names():
    """What modules of ours, benchmarks included, keep to themselves; no other library's names."""
    paths = [*MODULES.values(), *(ROOT / "benchmarks").rglob("*.py")]
    found = set()
    for node in (node for path in paths for node in ast.walk(parsed(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in found - OF_OTHERS if is_private(name)}


def names_reached(node):
    """Names that a piece of a test reads, writes, imports or patches on something else."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in {"self", "cls"}:
        return {node.attr}
    if isinstance(node, ast.ImportFrom):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in REACHING:
        values = [part.value for part in node.args if isinstance(part, ast.Constant)]
        return {value.rpartition(".")[2] for value in values if isinstance(value, str)}
    return set()


def test_private_names_are_told_from_those_of_other_libraries():
    assert {"_in_float32", "_reader"} <= own_private_names()
    assert own_private_names().isdisjoint({"_replace", "_fields", "__init__", "greedy"})
    source = "from a import _b; monkeypatch.setattr('a._c', 1); setattr(a, '_d', 1); a._e; self._f"
    found = set().union(*map(names_reached, ast.walk(ast.parse(source))))
    assert {name for name in found if is_private(name)} == {"_b", "_c", "_d", "_e"}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.stem)
def test_tests_leave_private_names_alone(path):
    found = set().union(*map(names_reached, ast.walk(parsed(path)))) & own_private_names()
    assert found <= REACHED.get(path.relative_to(ROOT / "tests").as_posix(), set())


def loaded_after(statement):
    code = f"import sys; {statement}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import prevalence") == []
    assert loaded_after("import prevalence; prevalence.__version__") == []


def test_the_public_names_load_no_model_library():
    loaded = loaded_after("from prevalence import *")
    assert not {"torch", "transformers", "numba", "scipy"} & set(loaded)


def test_a_score_by_sentence_loads_only_what_it_needs():
    code = (
        "from prevalence import OpinionPrevalence; import sys; "
        "OpinionPrevalence('rouge1-precision').score(['Warm boots.'], 'Warm boots.', name='boot'); "
        "print(*(name for name in sys.modules if name.startswith('prevalence.')))"
    )
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "prevalence.scoring.engine" in loaded
    assert not {
        "prevalence.claims.cutter",
        "prevalence.notebook",
        "prevalence.readers.products",
        "prevalence.scoring.ceiling",
        "prevalence.scoring.profile",
        "prevalence.summarize",
    } & set(loaded)


def test_the_public_names_resolve():
    for name in prevalence.__all__:
        assert getattr(prevalence, name).__name__ == name
    assert set(prevalence.__all__) <= set(dir(prevalence))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        prevalence.nothing  # noqa: B018
