"""What spark-submit runs: the jobs of ``orcish spark``."""

import sys

from orcish.cli.spark import main

sys.exit(main())
