"""`mfc-lb cluster`: jobs of a trace through a balancer to workers, simulated or real."""

import click

from mfc_lb.cli.cluster_check_log import check_log
from mfc_lb.cli.cluster_compare import compare
from mfc_lb.cli.cluster_live import balancer, client, live, worker
from mfc_lb.cli.cluster_simulate import simulate


@click.group(invoke_without_command=True)
@click.pass_context
def cluster(context: click.Context) -> None:
    """Send work traces through a balancer to workers: simulated, or as real processes.

    A worker has cores and serves first come, first served. The balancer picks a worker for each
    job, from what it knows of the loads.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (compare, simulate, check_log, live, balancer, worker, client):
    cluster.add_command(command)
