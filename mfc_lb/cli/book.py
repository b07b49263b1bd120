"""`mfc-lb book`: the whole book."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from mfc_lb.cli.table_file import NewFile


class PdfFile(NewFile):
    """The name of a PDF."""

    suffix = ".pdf"


size_option = click.option(
    "--size",
    type=click.Choice(["paper", "quick"]),
    default="paper",
    show_default=True,
    help="paper: the paper's sizes, from stored results. quick: smaller, computed in seconds.",
)


@click.group(invoke_without_command=True)
@click.pass_context
def book(context: click.Context) -> None:
    """Build the book: all notebooks, executed, as web pages."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@book.command(epilog="\b\nExample:\n  mfc-lb book build --size quick --output my-book")
@size_option
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for the pages; it must be new, empty, or one that mfc-lb made.  [default: "
    "_build/html in the checkout]",
)
@click.option(
    "--repository",
    metavar="URL",
    envvar="MFC_LB_REPOSITORY",
    help="Address of the public repository, https://github.com/OWNER/NAME; pages of notebooks then "
    "have buttons that open them on Binder and Colab.  [default: $MFC_LB_REPOSITORY, else none]",
)
@click.option(
    "--branch",
    default="main",
    envvar="MFC_LB_BRANCH",
    show_default="$MFC_LB_BRANCH, else main",
    help="The repository's branch.",
)
@click.option("--pdf", is_flag=True, help="Make book.pdf, too, linked from the pages (Chromium).")
def build(size: str, output: Path | None, repository: str | None, branch: str, pdf: bool) -> None:
    """Run every notebook and build the book's pages; all of it, or nothing."""
    from mfc_lb import companion

    public = companion.Repository(repository, branch) if repository is not None else None
    book = replace(companion.find_book(), repository=public)
    pages = companion.build_book(size, output, book, pdf=pdf)
    click.echo(f"The book starts at {pages / 'index.html'}")


@book.command("pdf", epilog="\b\nExample:\n  mfc-lb book pdf --output book.pdf")
@size_option
@click.option(
    "--output",
    type=PdfFile(),
    metavar="FILE.pdf",
    default="book.pdf",
    show_default=True,
    help="The PDF.",
)
def pdf_of_book(size: str, output: Path) -> None:
    """Run every notebook and print the whole book as one PDF; needs Chromium."""
    from mfc_lb import companion
    from mfc_lb.companion.pdf import PDF_NAME

    with TemporaryDirectory() as scratch:
        pages = companion.build_book(size, Path(scratch) / "html", pdf=True)
        shutil.move(pages / PDF_NAME, output)
    click.echo(f"The book is {output}")
