"""`mfc-lb book`: the whole book."""

from pathlib import Path

import click


@click.group(invoke_without_command=True)
@click.pass_context
def book(context: click.Context) -> None:
    """Build the book: all notebooks, executed, as web pages."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@book.command(epilog="\b\nExample:\n  mfc-lb book build --size quick --output my-book")
@click.option(
    "--size",
    type=click.Choice(["paper", "quick"]),
    default="paper",
    show_default=True,
    help="paper: the paper's sizes, from stored results. quick: smaller, computed in seconds.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for the pages; it must be new, empty, or one that mfc-lb made.  [default: "
    "_build/html in the checkout]",
)
def build(size: str, output: Path | None) -> None:
    """Run every notebook and build the book's pages; all of it, or nothing."""
    from mfc_lb import companion

    pages = companion.build_book(size, output)
    click.echo(f"The book starts at {pages / 'index.html'}")
