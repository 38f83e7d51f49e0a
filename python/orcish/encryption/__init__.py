"""Keys of encrypted columns, and where they come from.

>>> import os
>>> os.environ["ORDERS_KEYS"] = '{"pii@0": "00112233445566778899aabbccddeeff"}'
>>> keys = orcish.encryption.EnvironmentKeys("ORDERS_KEYS")
>>> keys("pii", 0).hex()
'00112233445566778899aabbccddeeff'
>>> keys("pii", 1) is None
True

Readers take keys with the keyword ``keys``: a mapping from the name and the version of each master key to its bytes, a
function that has a name and a version and returns the bytes or ``None``, or a :class:`KeyProvider`, such as
:class:`HadoopKMS`.

No message, ``repr``, plan or pickle has bytes of a key. Other processes, such as the workers of Spark, get keys from a
function or an object that can be pickled: :class:`KeyFile`, :class:`EnvironmentKeys`, :class:`HadoopKMS`, or your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orcish.encryption.keys import EnvironmentKeys, KeyFile, KeyProvider, Keys, provider_of
from orcish.hints import missing_attribute
from orcish.lazy import lazy_names

if TYPE_CHECKING:
    from orcish.encryption.hadoop_kms import HadoopKMS, KMSError

__all__ = ["EnvironmentKeys", "HadoopKMS", "KMSError", "KeyFile", "KeyProvider", "Keys", "provider_of"]

_HOMES = {"orcish.encryption.hadoop_kms": ("HadoopKMS", "KMSError")}
"""Names by the modules that define them, as the imports for type checkers have them."""

if not TYPE_CHECKING:

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})

    def _missing(name: str) -> AttributeError:
        return missing_attribute("module 'orcish.encryption'", name, {}, __all__)

    # The client of a server takes modules that few programs need.
    __getattr__ = lazy_names(globals(), _HOMES, _missing)
