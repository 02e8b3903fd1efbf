"""Short-term memory in Redis 6.2 or later, or in Valkey; no module is needed.

All keys of a user share one hash tag, so that they lie in one slot of a cluster (`T` is a digest of the user's id):

| key | type | what |
|---|---|---|
| `ltm:{T}:index` | sorted set | by version: `+id` for a row, `-id` for a removed one, `#floor`, `#gone` |
| `ltm:{T}:item:id` | hash | one item: text, head, counts, terms, a field per vector |
| `ltm:{T}:same:digest` | sorted set | ids of the items with one duplicate key, by `created_at` |
| `ltm:{T}:version` | string | the newest version in the index, for one `GET` |
| `ltm:users` | set | ids of users, as they are |
| `ltm:life` | string | a name that is lost when everything is |

A row is there when the index names it *and* its hash is there: what Redis expired or evicted is gone, wherever it
went first. An item's keys expire 7 days after the item does; those of pinned items and the index never before the
last of the user's items. Every operation is one script, but for reading the version. With a `maxmemory-policy` that
evicts, short-term memory is what eviction leaves of it; what it took is noticed by whoever looks for it, and counted.
"""

from __future__ import annotations

from langchain_tiered_memory.backends.redis.items import RedisItemStore

__all__ = ["RedisItemStore"]
