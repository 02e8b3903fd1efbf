"""What finds durable statements in memories."""

from __future__ import annotations

from langchain_tiered_memory.extraction.rules import RuleExtractor

__all__ = ["RuleExtractor"]
