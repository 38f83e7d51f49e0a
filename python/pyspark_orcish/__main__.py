"""The jobs of ``orcish spark``, for spark-submit."""

import sys

from orcish.cli.spark import main

sys.exit(main())
