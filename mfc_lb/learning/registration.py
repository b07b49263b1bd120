"""The environment's name in gymnasium, which calls `register` when it is imported itself."""

ENVIRONMENT = "mfc_lb/MeanField-v0"
SINGLE, VECTOR = (f"mfc_lb.learning.environment:MeanField{one}Env" for one in ("", "Vector"))


def register() -> None:
    """Let ``gymnasium.make`` and ``gymnasium.make_vec`` know the environment."""
    from gymnasium.envs import registration

    if ENVIRONMENT not in registration.registry:
        registration.register(ENVIRONMENT, SINGLE, vector_entry_point=VECTOR)
