"""The log of a table: which files it has at one moment, and repair after processes have died."""
