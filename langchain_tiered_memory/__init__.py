"""A memory for LLM applications in three tiers: working, short-term and long-term."""
