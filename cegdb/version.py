"""The version of cegdb, and the columns of a catalog row that say how it was made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

__version__: Final = "0.2.0.dev0"


def made_by(seconds: float) -> dict[str, object]:
    """Return the catalog columns that say when, by which version and in what time.

    Examples
    --------
    >>> sorted(made_by(0.5))
    ['cegdb_version', 'created_at', 'seconds']
    """
    now = datetime.now(UTC).replace(tzinfo=None)
    return {"seconds": seconds, "created_at": now, "cegdb_version": __version__}
