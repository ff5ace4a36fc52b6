"""What pages show of a sweep, computed once for the page and for its live parts."""
