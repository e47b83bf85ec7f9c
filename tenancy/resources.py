"""Where the data that ships with the package lies."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str) -> Path:
    """The folder `name` ("schemas", "templates" or "ci") of an installed wheel, else of the source checkout.

    The wheel holds it as `tenancy/_data/<name>` (force-include in pyproject.toml), a checkout as `<name>` in its root.
    Raises FileNotFoundError where neither exists: a broken installation, not an error of the user.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the data folder {name!r} is missing from this installation of tenancy")
