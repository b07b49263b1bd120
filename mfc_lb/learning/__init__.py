"""Learning upper-level policies in the mean-field limit, and how good they are.

Importing this package needs neither torch nor gymnasium; training does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
