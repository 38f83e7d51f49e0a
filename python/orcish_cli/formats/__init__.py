"""Files of other formats, which pyarrow reads and writes."""
