"""The core: values, ports and rules. It knows no framework and no driver, and opens no file or socket."""
