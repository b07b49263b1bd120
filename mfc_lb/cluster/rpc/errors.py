"""The error of a live cluster that could not go on."""


class ClusterFailure(RuntimeError):
    """A process was lost, does not answer or refuses; the message is one clear line."""
