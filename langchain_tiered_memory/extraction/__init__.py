"""What finds facts in what was said: a plain extractor by rules, and an adapter for others."""

from __future__ import annotations

from langchain_tiered_memory.extraction.adapt import as_extractor
from langchain_tiered_memory.extraction.rules import RuleExtractor

__all__ = ["RuleExtractor", "as_extractor"]
