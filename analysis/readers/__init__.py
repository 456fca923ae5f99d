"""Profiler reports, recognised by content, into kernel profiles: `read_profiles(path, kernel=None)`.

A format is one module that exports a `Reader(id, what, sniff, read)` and one entry in `table.READERS`.
`sniff(head)` looks at `head.data` (first 256 KiB), `head.text`, `head.tables` (SQLite) or `head.is_folder`.
"""

from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import NoKernelMatches, ReportError
from kopt_kb.analysis.readers.read import read_profiles, reader_of

__all__ = ["NoKernelMatches", "Reader", "ReportError", "ReportHead", "read_profiles", "reader_of"]
