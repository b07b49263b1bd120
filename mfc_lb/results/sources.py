"""Digests of the code that numbers depend on: a definition, and each that it uses, and so on.

A name of the library stands for what it means and not for where that is: code that was moved or
renamed has the digest that it had. Comments, docstrings, annotations and layout have no part in it.

What no name leads to is not followed: functions that a decorator registers, attributes of a module
that is passed on as a value, star imports, and settings that a module makes of another one.
"""

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from mfc_lb.files import sha256
from mfc_lb.results.experiment import Experiment
from mfc_lb.results.folders import LIBRARY

_PACKAGE = LIBRARY.name
_IMPORTS = (ast.Import, ast.ImportFrom)
_CONDITIONS = (ast.If, ast.Try, ast.With, ast.For)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

#: What an imported name means: a module, and a name in it unless it is the module itself.
Meaning = tuple[str, str | None]


def code_digest(experiment: Experiment[Any]) -> str:
    """Return the digest of the code that an experiment's numbers depend on."""
    digests = _Digests()
    return sha256("\n".join(map(digests.of_root, roots(experiment))).encode())


def roots(experiment: Experiment[Any]) -> list[Callable[..., Any]]:
    """Return what an experiment names: functions, and the classes of its sizes."""
    sizes: set[type] = {type(size) for size in experiment.sizes.values()}
    return [experiment.cells, experiment.rows, *sorted(sizes, key=repr)]


def used_definitions(experiment: Experiment[Any]) -> set[tuple[Path, str]]:
    """Return the file and name of every definition that an experiment's numbers depend on."""
    digests = _Digests()
    for root in roots(experiment):
        digests.of_root(root)
    return {(module.path, name) for module, name in digests.known}


def library_digest() -> str:
    """Return the digest of all sources of the library."""
    lines = (
        f"{path.relative_to(LIBRARY).as_posix()} {sha256(path.read_bytes())}"
        for path in sorted(LIBRARY.rglob("*.py"))
    )
    return sha256("\n".join(lines).encode())


@dataclass(frozen=True)
class _Module:
    """A file's definitions, by name, and what its imported names mean."""

    path: Path
    definitions: dict[str, list[ast.stmt]] = field(compare=False, repr=False)
    imports: dict[str, Meaning] = field(compare=False, repr=False)


class _Digests:
    """Digests of definitions, each found once."""

    def __init__(self) -> None:
        self.known: dict[tuple[_Module, str], str] = {}
        self._begun: list[tuple[_Module, str]] = []

    def of_root(self, function: Callable[..., Any]) -> str:
        while isinstance(function, partial):
            function = function.func
        module = _read(Path(inspect.getfile(function)))
        name = function.__qualname__.split(".")[0]
        # A lambda has no name to be found by.
        names = [name] if name in module.definitions else list(module.definitions)
        return " ".join(self.of(module, name) for name in names)

    def of(self, module: _Module, name: str) -> str:
        place = (module, name)
        if place in self._begun:  # it uses itself, if only through others
            return f"{len(self._begun) - self._begun.index(place)} above"
        if place not in self.known:
            self._begun.append(place)
            self.known[place] = sha256(repr(self._plain(module, name)).encode())
            self._begun.pop()
        return self.known[place]

    def _plain(self, module: _Module, name: str) -> list[Any]:
        statements = module.definitions[name]
        imports = module.imports | _imports(statements)
        # A module's own definition comes before an import of its name, unless that is within.
        above = {one: what for one, what in imports.items() if one not in module.definitions}
        within = _Plain(self, module, above | _imports(statements), name)
        both = [self.of_meaning(*imports[name])] if name in imports else []
        return [within.of(statement) for statement in statements] + both

    def of_meaning(self, where: str, name: str | None) -> str:
        """Return the digest of an imported definition; of what others wrote, its full name."""
        if not _is_ours(where) or name is None:
            return f"{where}.{name}" if name else where
        module = _read(_file(where))
        if name in module.definitions:
            return self.of(module, name)
        if name.startswith("__"):  # every module has it
            return name
        return self.of_meaning(*module.imports[name])


class _Plain:
    """A definition as nested lists, with digests in the place of the library's names."""

    def __init__(
        self, digests: _Digests, module: _Module, scope: dict[str, Meaning], name: str
    ) -> None:
        self._digests, self._module, self._scope, self._name = digests, module, scope, name

    def of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.of(one) for one in node if not isinstance(one, _IMPORTS)]
        if not isinstance(node, ast.AST):
            return repr(node)
        meaning = self._meaning(node)
        if meaning is not None:
            return meaning
        parts = ([name, self.of(part)] for name, part in _parts(node, self._name))
        return [type(node).__name__, *parts]

    def _meaning(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return self._name_meaning(node.id)
        if isinstance(node, ast.Attribute):
            where = _dotted(node.value, self._scope)
            if where is not None and _is_ours(where):
                return self._digests.of_meaning(*_import_from(where, node.attr))
        return None

    def _name_meaning(self, name: str) -> str | None:
        if name == self._name:
            return "this"
        if name in self._scope:
            return self._digests.of_meaning(*self._scope[name])
        return self._digests.of(self._module, name) if name in self._module.definitions else None


def _parts(node: ast.AST, own: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a node on which numbers can depend, without its own name."""
    for name, part in ast.iter_fields(node):
        # What is empty is left out: newer versions of Python know more fields.
        if part is None or part == [] or name in ("annotation", "returns", "type_comment"):
            continue
        if name == "name" and isinstance(node, _DEFINITIONS) and part == own:
            continue
        documented = isinstance(node, _Owner) and name == "body" and _has_docstring(node)
        yield name, part[1:] if documented else part


def _has_docstring(node: _Owner) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def _dotted(node: ast.AST, scope: dict[str, Meaning]) -> str | None:
    """Return the full name of a module that is written as a name or with dots."""
    if isinstance(node, ast.Name) and node.id in scope:
        where, name = scope[node.id]
        return where if name is None else None
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value, scope)
        whole = None if above is None else f"{above}.{node.attr}"
        return whole if whole and _is_ours(whole) and _is_module(whole) else None
    return None


def _imports(statements: Sequence[ast.stmt], package: tuple[str, ...] = ()) -> dict[str, Meaning]:
    """Return what names mean that are imported anywhere in statements of a package."""
    found: dict[str, Meaning] = {}
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.split(".")[0]
                found[one.asname or first] = (one.name if one.asname else first, None)
        elif isinstance(node, ast.ImportFrom):
            where = ".".join([*package[: len(package) * (node.level > 0)], node.module or ""])
            for one in node.names:
                found[one.asname or one.name] = _import_from(where.strip("."), one.name)
    return found


def _import_from(where: str, name: str) -> Meaning:
    whole = f"{where}.{name}"
    return (whole, None) if _is_ours(whole) and _is_module(whole) else (where, name)


def _is_ours(where: str) -> bool:
    return where.split(".", maxsplit=1)[0] == _PACKAGE


def _is_module(where: str) -> bool:
    return _file(where).is_file()


def _file(where: str) -> Path:
    place = LIBRARY.parent.joinpath(*where.split("."))
    # What a package imports when it is needed is said in its stub.
    choices = (place / "__init__.pyi", place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in choices if path.is_file()), choices[-1])


def _package_of(path: Path) -> tuple[str, ...]:
    inside = path.is_relative_to(LIBRARY)
    return path.parent.relative_to(LIBRARY.parent).parts if inside else ()


def _read(path: Path) -> _Module:
    return _parse(path, path.read_text("utf-8"))


@cache
def _parse(path: Path, source: str) -> _Module:
    statements = ast.parse(source).body
    importing = [one for one in statements if isinstance(one, (*_IMPORTS, *_CONDITIONS))]
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in statements:
        for name in _bound(statement):
            definitions.setdefault(name, []).append(statement)
    for statement in statements:
        # What binds no name may still change what a name stands for, as a call of its method does.
        for name in () if _bound(statement) else _names(statement) & definitions.keys():
            definitions[name].append(statement)
    return _Module(path, definitions, _imports(importing, _package_of(path)))


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines in its module."""
    if isinstance(statement, _DEFINITIONS):
        return {statement.name}
    inner = {node.name for node in ast.walk(statement) if isinstance(node, _DEFINITIONS)}
    return inner | _names(statement, ast.Store)


def _names(statement: ast.stmt, context: type[ast.expr_context] = ast.Load) -> set[str]:
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, context)}
