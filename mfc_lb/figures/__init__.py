"""The book's figures: a tidy table in, a matplotlib Figure out, one look for all."""

from mfc_lb.figures.cluster import load_curves, refresh_curves
from mfc_lb.figures.comparison import (
    best_softmin,
    crossing_by_size,
    drops_by_delay,
    drops_by_size,
    policy_differences,
)
from mfc_lb.figures.convergence import agents_limit, distance_to_mean_field, drops_bias
from mfc_lb.figures.illustrations import arrival_rates_by_filling, chebyshev_decay, loss_check
from mfc_lb.figures.learned_comparison import (
    distance_by_size,
    drops_by_delay_and_size,
    learned_by_size,
    learned_differences,
    learned_population_gap,
)
from mfc_lb.figures.modelling_choices import choice_differences
from mfc_lb.figures.populations import drops_by_population, population_gap
from mfc_lb.figures.style import look, new_figure, styled
from mfc_lb.figures.traces import work_trace
from mfc_lb.figures.trajectories import (
    herd,
)

__all__ = [
    "agents_limit",
    "arrival_rates_by_filling",
    "best_softmin",
    "chebyshev_decay",
    "choice_differences",
    "crossing_by_size",
    "distance_by_size",
    "distance_to_mean_field",
    "drops_bias",
    "drops_by_delay",
    "drops_by_delay_and_size",
    "drops_by_population",
    "drops_by_size",
    "herd",
    "learned_by_size",
    "learned_differences",
    "learned_population_gap",
    "load_curves",
    "look",
    "loss_check",
    "new_figure",
    "policy_differences",
    "population_gap",
    "refresh_curves",
    "styled",
    "work_trace",
]
