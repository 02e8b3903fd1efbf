"""For applications that keep their own tables in the memory's database and generate migrations with Alembic.

```python
from langchain_tiered_memory.alembic import include_name

context.configure(connection=connection, target_metadata=target_metadata, include_name=include_name)  # in env.py
```

Our tables are in no metadata of yours. Alembic takes such tables for something to drop, unless it is told to look away.
"""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "ltm_"
"""Every table of ours begins so."""


def include_name(name: str | None, type_: str, parent_names: Mapping[str, str | None]) -> bool:  # noqa: ARG001 - Alembic's
    """Say whether a name that Alembic finds in the database is the application's own."""
    return not (type_ == "table" and name is not None and name.startswith(PREFIX))
