"""Types, time zones and texts of Spark, and their Arrow counterparts."""
