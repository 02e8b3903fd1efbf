"""What finds facts in what was said: a plain extractor by rules, one that asks a language model, an adapter for others.

A model's judgement of importance stands beside it, for it asks the same models.
"""

from __future__ import annotations

from langchain_tiered_memory.extraction.adapt import as_extractor
from langchain_tiered_memory.extraction.model import ModelExtractor
from langchain_tiered_memory.extraction.models import as_model
from langchain_tiered_memory.extraction.rules import RuleExtractor
from langchain_tiered_memory.extraction.scoring import ModelScorer
from langchain_tiered_memory.extraction.summary import ModelSummarizer

__all__ = ["ModelExtractor", "ModelScorer", "ModelSummarizer", "RuleExtractor", "as_extractor", "as_model"]
