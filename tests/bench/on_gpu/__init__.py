"""Parts of the benchmark on a GPU; each has `measure`, which gives rows, and `table`, which writes them down."""
