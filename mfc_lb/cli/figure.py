"""`mfc-lb figure`: the book's figures, one by one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mfc_lb.cli.assignments import parameter_option

if TYPE_CHECKING:
    from mfc_lb.companion import BookFigure

#: What `make` can write: the picture, its data, or its card.
FORMATS = ("svg", "pdf", "png", "csv", "json")


@click.group(invoke_without_command=True)
@click.pass_context
def figure(context: click.Context) -> None:
    """List, inspect, make and cite the book's figures.

    Each figure has a name that does not change, such as drops-by-delay. The book's pages show it
    below the figure.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@figure.command("list", epilog="\b\nExample:\n  mfc-lb figure list")
def list_all() -> None:
    """List the figures: their names, numbers in the book, notebooks and titles."""
    from mfc_lb import companion
    from mfc_lb.cli.terminal import console, new_table
    from mfc_lb.companion.citations import in_words

    table = new_table("Figures", "name")
    for column in ("number", "notebook", "title"):
        table.add_column(column)
    for found in companion.list_figures():
        title = in_words(found.label.title)
        table.add_row(found.identifier, found.number, found.notebook.name, title)
    console().print(table)


@figure.command(epilog="\b\nExample:\n  mfc-lb figure show drops-by-delay")
@click.argument("identifier", metavar="NAME")
def show(identifier: str) -> None:
    """Show what the book says of the figure NAME, and how it is made."""
    from mfc_lb import companion
    from mfc_lb.cli.terminal import console, new_table

    found = companion.find_figure(identifier)
    table = new_table(f"Figure {found.number}: {found.identifier}", "")
    table.add_column("")
    for name, text in _describe(found):
        table.add_row(name, text)
    console().print(table)


def _describe(found: "BookFigure") -> list[tuple[str, str]]:
    from mfc_lb.companion.citations import in_words

    own = (f"{parameter.name} = {parameter.default}" for parameter in found.notebook.parameters)
    return [
        ("caption", in_words(found.label.caption)),
        ("shows", found.label.alt),
        ("page", found.address),
        ("notebook", f"{found.notebook.name}: {found.notebook.title}"),
        ("parameters", ", ".join(own)),
        ("allowed", f"mfc-lb notebook show {found.notebook.name}"),
        ("made by", found.command({})),
    ]


@figure.command(
    epilog="\b\nExample:\n  mfc-lb figure make drops-by-delay --format pdf -p routing=per_packet"
)
@click.argument("identifier", metavar="NAME")
@click.option(
    "--format",
    "suffix",
    type=click.Choice(FORMATS),
    default="svg",
    show_default=True,
    help="svg, pdf, png: the picture. csv: the data that it shows. json: its card, with "
    "parameters, versions, checksums and citation.",
)
@parameter_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; one that exists is replaced.  [default: NAME.FORMAT]",
)
def make(identifier: str, suffix: str, assignments: tuple[str, ...], output: Path | None) -> None:
    """Make the figure NAME by a run of its notebook.

    Writes one file; none if the run fails. A run that was made before with the same parameters,
    code and data is used again.
    """
    from mfc_lb import companion

    parameters = companion.parse_assignments(assignments)
    target = output or Path(f"{identifier}.{suffix}")
    companion.make_figure(identifier, suffix, parameters, target)
    click.echo(f"Figure: {target}")


@figure.command(epilog="\b\nExample:\n  mfc-lb figure cite drops-by-delay --style text")
@click.argument("identifier", metavar="NAME")
@click.option(
    "--style",
    type=click.Choice(["bibtex", "text"]),
    default="bibtex",
    show_default=True,
    help="bibtex: an entry for a bibliography. text: one line.",
)
@parameter_option
def cite(identifier: str, style: str, assignments: tuple[str, ...]) -> None:
    """Say how to cite the figure NAME; parameters that you changed are named."""
    from mfc_lb import companion

    given = companion.parse_assignments(assignments)
    found = companion.find_figure(identifier)
    click.echo(found.cite(found.notebook.convert(given))[style])
