"""The option with which parameters of a notebook are set."""

import click

parameter_option = click.option(
    "-p",
    "--parameter",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter; may be given again. See mfc-lb notebook show NOTEBOOK. A file is named "
    "from the working directory.",
)
