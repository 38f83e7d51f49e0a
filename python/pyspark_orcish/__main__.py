"""What spark-submit runs: the jobs of ``orcish spark``."""

import sys

from orcish.spark.submit import main

sys.exit(main())
