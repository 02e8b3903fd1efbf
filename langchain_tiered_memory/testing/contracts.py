"""The ports as suites of cases: what a backend subclasses to know that it may be trusted. Needs pytest.

```python
from langchain_tiered_memory.testing.contracts import ItemStoreContract


class TestMyItems(ItemStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = MyItemStore(tmp_path)  # empty, one per test
        yield store
        store.close()

    def raw_ids(self, store, user_id):
        return my_database.ids_of(user_id)  # read without the store
```

Where another object can be opened on the same data, override `reopened(store)` too.
"""

from __future__ import annotations

from langchain_tiered_memory.testing.suites.agenda import AgendaContract
from langchain_tiered_memory.testing.suites.items import ItemStoreContract
from langchain_tiered_memory.testing.suites.records import RecordStoreContract
from langchain_tiered_memory.testing.suites.transcripts import TranscriptStoreContract
from langchain_tiered_memory.testing.suites.vectors import VectorIndexContract

__all__ = [
    "AgendaContract",
    "ItemStoreContract",
    "RecordStoreContract",
    "TranscriptStoreContract",
    "VectorIndexContract",
]
