"""Conditional independence: read off the graph, and tested on the rows."""
