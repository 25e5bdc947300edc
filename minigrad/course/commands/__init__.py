"""The command `minigrad`: its subcommands, and what they make."""
