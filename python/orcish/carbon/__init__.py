"""Tables and files of Apache CarbonData."""
