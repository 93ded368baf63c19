"""Words and pages about objects, for those who read rather than query."""

from __future__ import annotations

from cegdb.report.summary import check, summary

__all__ = ["check", "summary"]
