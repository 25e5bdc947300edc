"""The plugin of pytest: filled in below."""
