"""`mfc-lb notebook`: the book's notebooks, with other parameters."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mfc_lb.cli.assignments import parameter_option

if TYPE_CHECKING:
    from mfc_lb.companion import Parameter


@click.group(invoke_without_command=True)
@click.pass_context
def notebook(context: click.Context) -> None:
    """List, inspect and rerun the book's notebooks.

    A notebook answers one question with text, computation and figures. Its parameters can be
    changed for a run; names, types and ranges are checked before anything runs.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@notebook.command("list", epilog="\b\nExample:\n  mfc-lb notebook list")
def list_all() -> None:
    """List the notebooks and their titles."""
    from mfc_lb import companion
    from mfc_lb.cli.terminal import console, new_table

    table = new_table("Notebooks", "name")
    table.add_column("title")
    for found in companion.list_notebooks():
        table.add_row(found.name, found.title)
    console().print(table)


@notebook.command(epilog="\b\nExample:\n  mfc-lb notebook show comparison")
@click.argument("name")
def show(name: str) -> None:
    """Show the parameters of the notebook NAME: defaults, what is allowed, meaning."""
    from mfc_lb import companion
    from mfc_lb.cli.terminal import console, new_table

    found = companion.find_notebook(name)
    table = new_table(f"{found.name}: {found.title}", "parameter")
    for column in ("type", "default", "allowed", "meaning"):
        table.add_column(column)
    for parameter in found.parameters:
        table.add_row(*_describe(parameter))
    console().print(table)


def _describe(parameter: "Parameter") -> tuple[str, ...]:
    default = str(parameter.default)
    return parameter.name, parameter.type_name, default, parameter.allowed, parameter.help


@notebook.command(
    epilog="\b\nExample:\n  mfc-lb notebook run comparison -p delta_t=3 -p num_queues=500"
)
@click.argument("name")
@parameter_option
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for the executed notebook, its page, figures and values; it must be new, empty, "
    "or one that mfc-lb made.  [default: _build/notebooks/NAME in the checkout]",
)
def run(name: str, assignments: tuple[str, ...], output: Path | None) -> None:
    """Run the notebook NAME and make a page of it, from any working directory.

    Leaves the executed notebook, an HTML page, the figures' files and the values; nothing if the
    run fails.
    """
    from mfc_lb import companion

    parameters = companion.parse_assignments(assignments)
    folder = output or companion.find_book().build / "notebooks" / name
    page = companion.build_page(name, parameters, folder)
    click.echo(f"Page:      {page}\nNotebook:  {page.with_suffix('.ipynb')}")
