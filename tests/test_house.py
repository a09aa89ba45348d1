"""The rules of the house, held by walking the imports of every file of nbprof."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "nbprof"
FILES = sorted(PACKAGE.rglob("*.py"))

# From the ground up: a file imports only from its own floor or from those before it.
FLOORS = [
    "errors",
    "settings",
    "markers",
    "metadata",
    "writing",
    "schema",
    "intervals",
    "structure",
    "fx",
    "capture",
    "reader",
    "analysis",
    "view.quantities",
    "view.frontend",
    "view.charts",
    "view.report",
    "view.panels",
    "view.progress",
    "view",
    "tables",
    "trace",
    "comparison",
    "magics",
    "__init__",
]
# Who may import a heavy package; nobody else.
ALLOWED = {
    "torch": ("capture", "fx"),
    "matplotlib": ("view.charts",),
    "ipywidgets": ("view.panels",),
    "pyarrow": ("reader",),
    "IPython": ("magics", "view.charts", "view.report", "view.panels", "view.progress", "view"),
}
HEAVY = ("torch", "pandas", "numpy", "matplotlib", "ipywidgets")


def module_name(path: Path) -> str:
    """Dotted name inside the package: `capture.regions`, `capture` for its `__init__`, `__init__` for the root."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


def floor(module: str) -> str:
    """The floor that a module stands on."""
    parts = module.split(".")
    for length in (2, 1):
        if (name := ".".join(parts[:length])) in FLOORS:
            return name
    raise AssertionError(f"nbprof.{module} has no floor: give it one in FLOORS")


def imports(tree: ast.AST, module: str, *, is_package: bool) -> Iterator[str]:
    """Absolute dotted names that a file imports (inside functions and TYPE_CHECKING too) or takes from `nbprof.`."""
    here = ("nbprof" if module == "__init__" else f"nbprof.{module}").split(".")
    package = here if is_package else here[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (start, node.module or "") if part)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nbprof":
            yield f"nbprof.{node.attr}"


MODULES = {module_name(path) for path in FILES}
SOURCES = {module_name(path): (path, path.read_text(encoding="utf-8")) for path in FILES}
IMPORTS = {
    module: set(imports(ast.parse(text), module, is_package=path.name == "__init__.py"))
    for module, (path, text) in SOURCES.items()
}


def own(name: str) -> str | None:
    """The module of nbprof that an imported name belongs to; None for other packages, and for the bare version."""
    if not name.startswith("nbprof.") or name == "nbprof.__version__":
        return None
    parts = name.split(".")[1:]
    while parts and ".".join(parts) not in MODULES:
        parts.pop()
    return ".".join(parts) or "__init__"


OWN_IMPORTS = {
    module: {found for name in names if (found := own(name))} - {module} for module, names in IMPORTS.items()
}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_file_imports_only_from_the_floors_below_it(module: str) -> None:
    level = FLOORS.index(floor(module))
    above = {name for name in OWN_IMPORTS[module] if FLOORS.index(floor(name)) > level}
    assert not above, f"nbprof.{module} reaches up to {sorted(above)}"


def test_no_import_cycles() -> None:
    path: list[str] = []
    finished: set[str] = set()

    def visit(module: str) -> None:
        if module in path:
            raise AssertionError("cycle: " + " -> ".join([*path[path.index(module) :], module]))
        if module in finished:
            return
        path.append(module)
        for target in sorted(OWN_IMPORTS[module]):
            visit(target)
        finished.add(path.pop())

    for module in sorted(MODULES):
        visit(module)


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_heavy_packages_are_imported_only_in_their_rooms(package: str) -> None:
    users = {module for module, names in IMPORTS.items() if any(name.split(".")[0] == package for name in names)}
    strangers = {module for module in users if floor(module) not in ALLOWED[package]}
    assert not strangers, f"{package} is imported in {sorted(strangers)}; only {ALLOWED[package]} may"


def test_only_settings_reads_the_environment() -> None:
    readers = set()
    for module, (_, text) in SOURCES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "putenv"):
                readers.add(module)
    readers |= {module for module, names in IMPORTS.items() if names & {"os.environ", "os.getenv", "os.putenv"}}
    assert readers <= {"settings"}


def test_no_file_is_over_300_lines() -> None:
    long = {module: text.count("\n") for module, (_, text) in SOURCES.items() if text.count("\n") > 300}
    assert not long


def test_every_file_says_what_flows_in_and_out() -> None:
    documents = {module: ast.get_docstring(ast.parse(text)) or "" for module, (_, text) in SOURCES.items()}
    packages = {module for module, (path, _) in SOURCES.items() if path.name == "__init__.py"}
    assert not [module for module, text in documents.items() if not text]
    assert not [
        module
        for module, text in documents.items()
        if module not in packages and not ("In:" in text and "Out:" in text)
    ]


def test_importing_nbprof_loads_nothing_heavy() -> None:
    code = f"import sys, nbprof; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_everything_promised_by_the_package_exists() -> None:
    code = "import nbprof as n; print(len([getattr(n, name) for name in n.__all__ if name != 'last']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(done.stdout) > 0
