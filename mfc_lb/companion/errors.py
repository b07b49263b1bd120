"""The error of a run or a build that failed after it was allowed to start."""


class CompanionError(RuntimeError):
    """A notebook or a book that could not be finished; nothing of it was kept.

    Parameters
    ----------
    message : str
        One clear line (one more per problem, where several were found at once).
    details : str
        The long version, such as a cell's traceback or Sphinx's warnings.
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details
