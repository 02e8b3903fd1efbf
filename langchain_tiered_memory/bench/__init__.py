"""Measurements that can be repeated: each module prints its data, its baseline and its command."""
