"""The tiered memory in LlamaIndex."""
