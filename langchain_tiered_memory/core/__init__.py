"""The core: what a memory is and does, knowing no framework, no driver, no file and no socket."""
