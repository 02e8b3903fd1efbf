"""What fills the ports of `core.ports`: one room per store. Each imports its driver; nothing here is imported early."""
