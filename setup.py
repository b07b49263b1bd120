"""What pyproject.toml cannot say of the package: a README that is read alone, and its addresses."""

import os
import re
from pathlib import Path

from setuptools import setup

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https://)([^)]+)\)\n\n(\*[^*]+\*\n\n)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https://)([^)]+)\)")


def alone(readme: str, repository: str, commit: str) -> str:
    """Return the README without relative addresses, which lead nowhere from a package's page.

    Parameters
    ----------
    readme : str
        Its Markdown.
    repository : str
        Address of the public repository, to which they lead then; if it is empty, links become
        plain text, and pictures are left out with their captions.
    commit : str
        Commit, tag or branch there.
    """
    picture, link = "", r"\1"
    if repository:
        picture = rf"![\1]({repository}/raw/{commit}/\2)\n\n\3"
        link = rf"[\1]({repository}/blob/{commit}/\2)"
    return LINK.sub(link, PICTURE.sub(picture, readme))


if __name__ == "__main__":
    # The variables of `mfc-lb book build`.
    public = os.environ.get("MFC_LB_REPOSITORY", "")
    setup(
        long_description=alone(
            Path(__file__).with_name("README.md").read_text("utf-8"),
            public,
            os.environ.get("MFC_LB_BRANCH", "main"),
        ),
        long_description_content_type="text/markdown",
        project_urls={"Repository": public} if public else {},
    )
