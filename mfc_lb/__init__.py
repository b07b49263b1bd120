"""Mean-field control for load balancing with delayed information in large queuing systems.

A companion library to Tahir, Cui and Koeppl, *Learning Mean-Field Control for Delayed Information
Load Balancing in Large Queuing Systems*, ICPP 2022, doi 10.1145/3545008.3545025.
"""

import pkgutil
from importlib.metadata import PackageNotFoundError, version

import lazy_loader

# A public name is imported when it is first used: the compiler that the systems need takes a second
# to load, for which the help of the command line should not wait. `__init__.pyi` lists the names.
__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
# Packages are attributes, too, but `from mfc_lb import *` must not import what they need.
_packages = {module.name for module in pkgutil.iter_modules(__path__)}
__all__ = [name for name in _names if name not in _packages]

try:
    __version__ = version("mfc_lb")
except PackageNotFoundError:  # used from a source tree that is not installed
    __version__ = "0.0.0"
