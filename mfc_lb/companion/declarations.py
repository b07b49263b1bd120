"""Reading what a notebook declares about itself: its title and its parameters.

A parameter is one line of the notebook's cell tagged ``parameters``::

    delta_t: float = 5.0  # synchronisation delay, in mean service times; 0.1 to 50
    size: str = "quick"  # which results are shown; one of quick, paper

The part of the comment behind the last semicolon is the single source of what is allowed.
"""

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mfc_lb.companion.errors import CompanionError
from mfc_lb.companion.parameters import ANY_TEXT, Parameter, Value, as_type
from mfc_lb.errors import InvalidInput

if TYPE_CHECKING:
    import nbformat

_TITLE = re.compile(r"^#\s+(?P<title>.+)$", re.MULTILINE)
_RANGE = re.compile(r"(\S+) to (\S+)")


def read_title(markdown: str) -> str | None:
    """Return the first top-level heading of a Markdown text, if it has one."""
    found = _TITLE.search(markdown)
    return found["title"].strip() if found else None


def read_parameters(notebook: "nbformat.NotebookNode", where: str) -> tuple[Parameter, ...]:
    """Return the parameters that a notebook declares, in its order.

    Parameters
    ----------
    notebook : NotebookNode
        The notebook's content.
    where : str
        The notebook's name, for messages.

    Raises
    ------
    CompanionError
        If there is not exactly one ``parameters`` cell, or a line of it is not a typed literal
        that papermill reads in the same way, or its comment does not say what is allowed.
    """
    # Imported here since the library works without the extra "book".
    from papermill.inspection import inspect_notebook

    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise CompanionError(f"{where}: {len(cells)} cells are tagged 'parameters', not one")
    literals = _literals(cells[0].source, where)
    seen = inspect_notebook(notebook)
    return tuple(
        _parameter(name, literal, seen.get(name, {}), where) for name, literal in literals.items()
    )


def _literals(source: str, where: str) -> dict[str, Any]:
    """Return the names and literals of a parameters cell; refuse everything else in it."""
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise CompanionError(f"{where}: its parameters cell is not Python: {error}") from None
    literals: dict[str, Any] = {}
    for statement in statements:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) if name not in literals:
                literals[name] = _literal(statement)
            case _:
                line = f"`{ast.unparse(statement)}` in its parameters cell"
                raise CompanionError(f"{where}: {line} is not a new 'name: type = literal'")
    return literals


def _literal(statement: ast.AnnAssign) -> Any:
    """Return the literal that is assigned, or None where it is an expression."""
    assert statement.value is not None
    return _evaluate(ast.unparse(statement.value))


def _evaluate(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _parameter(name: str, literal: Any, seen: Mapping[str, str], where: str) -> Parameter:
    """Combine a declared literal with what papermill says of the same line."""
    line = f"{where}: the line of its parameter {name}"
    if not seen or _evaluate(seen["default"]) != literal:
        raise CompanionError(f"{line} is not read by papermill: use one line, one '=' and one '#'")
    type_name = seen["inferred_type_name"]
    default = as_type(literal, type_name)
    if default is None or isinstance(literal, str) != (type_name == "str"):
        raise CompanionError(f"{line} does not hold an int, float, str or bool as it declares")
    parameter = _with_allowed(name, type_name, default, seen["help"])
    if parameter is None:
        ending = f"'; LOW to HIGH', '; one of A, B' or '; {ANY_TEXT}'"
        raise CompanionError(f"{line} must have a comment that ends in {ending}")
    try:
        parameter.convert(default)
    except InvalidInput as error:
        raise CompanionError(f"{where}: its own default is refused: {error}") from None
    return parameter


def _with_allowed(name: str, type_name: str, default: Value, comment: str) -> Parameter | None:
    """Return the parameter, or None where the comment does not say what is allowed."""
    if type_name == "bool":
        return Parameter(name, type_name, default, comment)
    text, _, allowed = (part.strip() for part in comment.rpartition(";"))
    if allowed == ANY_TEXT and type_name == "str":
        return Parameter(name, type_name, default, text)
    if allowed.startswith("one of "):
        listed = allowed.removeprefix("one of ").split(",")
        choices = [as_type(choice, type_name) for choice in listed]
        known = tuple(choice for choice in choices if choice is not None)
        complete = len(known) == len(choices)
        return Parameter(name, type_name, default, text, choices=known) if complete else None
    bounds = _RANGE.fullmatch(allowed)
    if bounds is None or type_name == "str":
        return None
    low, high = (as_type(bound, "float") for bound in bounds.groups())
    if not isinstance(low, float) or not isinstance(high, float) or low > high:
        return None
    return Parameter(name, type_name, default, text, minimum=low, maximum=high)
