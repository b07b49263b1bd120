"""The differentiable mean-field step as it is usually written: `torch.linalg.matrix_exp`.

Written for d = 2 and one class of servers, as in the paper.
"""

import torch


def step(
    nu: torch.Tensor, arrival_rate: torch.Tensor, scores: torch.Tensor, delta_t: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Advance a batch of distributions by one epoch under a score rule; service rate 1.

    Parameters
    ----------
    nu : Tensor, shape (n, B+1)
        Distributions over fillings.
    arrival_rate : Tensor, shape (n,)
        Arrival rate λ per queue.
    scores : Tensor, shape (B+1,)
        Scores of the fillings.
    delta_t : float
        Length of the epoch.

    Returns
    -------
    tuple of Tensor
        The distributions at the end, and the expected drops.
    """
    first = torch.sigmoid(scores[:, None] - scores)
    rates = 2.0 * arrival_rate[:, None] * (nu @ first.T)
    ends = torch.linalg.matrix_exp(rate_matrices(rates) * delta_t)
    own = torch.diagonal(ends[..., :-1], dim1=1, dim2=3)
    after = (own * nu[:, None]).sum(-1)
    return after[:, :-1], after[:, -1]


def rate_matrices(rates: torch.Tensor) -> torch.Tensor:
    """Return the extended rate matrices, shape (n, B+1, B+2, B+2), column convention."""
    num_fillings = rates.shape[-1]
    low = torch.arange(num_fillings - 1)
    up, down = torch.zeros((2, num_fillings + 1, num_fillings + 1), dtype=torch.float64)
    up[low + 1, low], up[low, low], up[-1, -2] = 1.0, -1.0, 1.0
    down[low, low + 1], down[low + 1, low + 1] = 1.0, -1.0
    return rates[..., None, None] * up + down
