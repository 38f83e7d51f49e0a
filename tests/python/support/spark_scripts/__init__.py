"""Scripts that tests run in processes with a Spark of their own: by another time zone, cluster or client."""
