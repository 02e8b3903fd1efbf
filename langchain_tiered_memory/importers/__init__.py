"""What other programs remember, as memories of ours.

```python
from langchain_tiered_memory import MemorySystem, importers

reading = importers.read("conversations.json")
with MemorySystem.open("./memory").sync as memory:
    print(importers.remember(memory, "ada", reading))
```

`remember` goes batch by batch; a reading is also an iterable that `remember_many` takes. Nothing here imports the
frameworks whose files it reads.
"""

from __future__ import annotations

from langchain_tiered_memory.importers.found import Format, Limits, Skipped
from langchain_tiered_memory.importers.reading import Reading, ReadingReport, read
from langchain_tiered_memory.importers.remembering import ImportReport, remember

__all__ = ["Format", "ImportReport", "Limits", "Reading", "ReadingReport", "Skipped", "read", "remember"]
