"""Checks of ``_config.yml`` and ``_toc.yml``: Jupyter Book ignores what it does not know."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mfc_lb.companion.location import Book
from mfc_lb.companion.parameters import did_you_mean
from mfc_lb.errors import InvalidInput

SUFFIXES = (".ipynb", ".md")


def read_config(book: Book) -> dict[str, Any]:
    """Return the settings in ``_config.yml``, all of whose keys are known to Jupyter Book.

    Where the book knows its repository, they have launch buttons, too.

    Raises
    ------
    InvalidInput
        If the file cannot be read, or a key is unknown or holds a value of the wrong kind.
    """
    from jupyter_book.config import get_validator

    config = read_yaml(book.config)
    _require_known(config, _known_keys(), "")
    for error in get_validator().iter_errors(config):
        key = ".".join(map(str, error.path))
        raise InvalidInput(f"_config.yml: the value of '{key}': {error.message}")
    return config | (book.repository.settings if book.repository else {})


def read_toc(book: Book) -> tuple[dict[str, Any], list[Path]]:
    """Return the table of contents, and the files of its pages in reading order.

    Raises
    ------
    InvalidInput
        If the file cannot be read, a key is unknown, or a page's file is missing.
    """
    from sphinx_external_toc.parsing import MalformedError, parse_toc_data

    toc = read_yaml(book.toc)
    try:
        site_map = parse_toc_data(toc)
    except (MalformedError, AttributeError) as error:
        raise InvalidInput(f"_toc.yml: {error}") from None
    _require_known_parts(toc)
    return toc, [_page_file(name, book) for name in site_map]


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the content of a YAML file with keys, or refuse it in one line."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInput(f"{path.name} is not YAML: {reason}") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"{path.name} must hold 'key: value' lines")
    return content


def _known_keys() -> dict[str, Any]:
    """Return the tree of keys in Jupyter Book's own schema and default settings."""
    import yaml
    from jupyter_book.config import PATH_JSON_SCHEMA, PATH_YAML_DEFAULT

    defaults = yaml.safe_load(PATH_YAML_DEFAULT.read_text("utf-8"))
    return _merged(_tree(json.loads(PATH_JSON_SCHEMA.read_text("utf-8"))), defaults)


def _tree(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tree(inner) for name, inner in schema.get("properties", {}).items()}


def _merged(known: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in defaults.items():
        inner = known.setdefault(name, {})
        if isinstance(value, dict):
            _merged(inner, value)
    return known


def _require_known(given: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    for key, value in given.items():
        if key not in known:
            raise InvalidInput(
                f"_config.yml: unknown key '{where}{key}'{did_you_mean(str(key), known)}"
            )
        if isinstance(value, dict) and known[key]:
            _require_known(value, known[key], f"{where}{key}.")


def _require_known_parts(toc: Mapping[str, Any]) -> None:
    """Refuse unknown keys of parts, which the parser of the table of contents lets pass."""
    from sphinx_external_toc.parsing import TOCTREE_OPTIONS

    known = {*TOCTREE_OPTIONS, "chapters", "sections", "entries"}
    for key in (key for part in _parts(toc) for key in part):
        if key not in known:
            raise InvalidInput(f"_toc.yml: unknown key '{key}'{did_you_mean(str(key), known)}")


def _parts(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("parts", "subtrees"):
        yield from item.get(key, ())


def _page_file(name: str, book: Book) -> Path:
    files = [book.root / name, *(book.root / f"{name}{suffix}" for suffix in SUFFIXES)]
    found = [path for path in files if path.is_file() and path.suffix in SUFFIXES]
    if not found:
        raise InvalidInput(f"_toc.yml: there is no file for {name!r} (.ipynb or .md)")
    if len(found) > 1:
        raise InvalidInput(f"_toc.yml: {name!r} is both a notebook and a Markdown page")
    return found[0]
