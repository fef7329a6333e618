"""A local AWS on 127.0.0.1: MiniStack, with what it lacks and with the refusals that AWS gives."""
