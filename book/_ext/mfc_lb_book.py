"""The book's Sphinx extension; its logic is in the library, where it is typed and tested."""

from mfc_lb.companion.sphinx_extension import setup

__all__ = ["setup"]
