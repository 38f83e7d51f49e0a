"""A file object that records which of its bytes are read."""

import io


class Counting(io.BytesIO):
    """A file that knows which of its bytes were read."""

    def __init__(self, data):
        super().__init__(data)
        self.ranges = []

    def read(self, size=-1):
        at = self.tell()
        found = super().read(size)
        self.ranges.append(range(at, at + len(found)))
        return found

    def taken(self, wanted):
        """How many bytes of some ranges were read."""
        seen = set()
        for part in self.ranges:
            for other in wanted:
                seen.update(range(max(part.start, other.start), min(part.stop, other.stop)))
        return len(seen)
