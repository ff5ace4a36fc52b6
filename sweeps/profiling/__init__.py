"""The measuring protocol: interleaved rounds, block medians, paired comparisons, ties. It knows no device."""
