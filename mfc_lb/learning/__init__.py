"""Learning upper-level policies in the mean-field limit, and how good they are.

Importing this package needs neither torch nor gymnasium; training does. Where gymnasium is used,
it knows the environment as ``mfc_lb/MeanField-v0``.
"""

import lazy_loader

from mfc_lb.learning.registration import register as _register

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_register()
