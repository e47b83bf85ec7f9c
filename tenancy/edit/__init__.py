"""Changes of an organization's files: where a value is written, and the smallest piece of text that says another."""
