"""Words and pages about objects, for those who read rather than query."""

from __future__ import annotations

from cegdb.report.summaries import check, summary

__all__ = ["check", "summary"]
