"""What a release is made of, for the tests that look at it and install it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import release


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything of a release but the site."""
    folder = tmp_path_factory.mktemp("release")
    with release.fixed_time() as seconds:
        release.make_python(folder)
        release.make_npm(folder, seconds)
    return folder
