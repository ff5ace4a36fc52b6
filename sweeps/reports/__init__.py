"""What a size sweep hands out: `size_report.json`, the bundle of binaries and configs, CSV rows."""

from sweeps.reports.about import about_sweep
from sweeps.reports.bundle import REPORT_FILE, BundleFile, bundle_files, remove_stale, write_bundle
from sweeps.reports.csv_table import csv_rows
from sweeps.reports.sizes import ram_breakdown, size_report

__all__ = [
    "REPORT_FILE",
    "BundleFile",
    "about_sweep",
    "bundle_files",
    "csv_rows",
    "ram_breakdown",
    "remove_stale",
    "size_report",
    "write_bundle",
]
