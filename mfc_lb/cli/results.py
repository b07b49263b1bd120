"""`mfc-lb results`: the tables behind the book's figures."""

import logging
from importlib import import_module
from typing import Any

import click

from mfc_lb.cli.mistakes import naming_options


class _Deferred(click.Group):
    """A group whose commands, which need NumPy, are imported when one of them is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer meets them."""
        import_module("mfc_lb.cli.results_commands")
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, if there is one."""
        import_module("mfc_lb.cli.results_commands")
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the library refuses is named as it was given here."""
        with naming_options(experiment="experiment", name="NAME", policies="policies"):
            return super().invoke(ctx)


@click.group(cls=_Deferred, invoke_without_command=True)
@click.pass_context
def results(context: click.Context) -> None:
    """Compute the tables behind the book's figures, and check what is stored of them.

    A run that is killed goes on where it stopped when it is started again.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
