"""Tables of Apache CarbonData."""
