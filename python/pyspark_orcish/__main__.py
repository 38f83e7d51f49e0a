"""The jobs of ``orcish spark``, for spark-submit."""

import sys

from orcish_cli.spark import main

sys.exit(main())
