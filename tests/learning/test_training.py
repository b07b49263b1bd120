"""What both ways of training share."""

from dataclasses import asdict

import numpy as np
import pytest
import torch

from mfc_lb.learning import CurvePoint
from mfc_lb.learning.training import isolated_torch
from mfc_lb.systems import Estimate


@pytest.mark.usefixtures("_two_threads")
@pytest.mark.parametrize("fails", [False, True])
def test_a_block_leaves_no_trace(fails):
    def draw():
        with isolated_torch():
            assert torch.get_num_threads() == 1
            torch.manual_seed(1)
            torch.rand(3)
            np.random.seed(1)  # noqa: NPY002
            np.random.rand(3)  # noqa: NPY002
            if fails:
                raise KeyboardInterrupt

    if fails:
        with pytest.raises(KeyboardInterrupt):
            draw()
    else:
        draw()


def test_a_point_of_a_curve_is_read_as_it_was_written():
    point = CurvePoint(10, 1.5, Estimate(2.0, 0.1, 7))
    assert CurvePoint.from_dict(asdict(point)) == point
