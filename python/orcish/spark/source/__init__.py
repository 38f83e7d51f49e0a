"""The data sources ``orcish`` and ``carbondata`` of Spark."""
