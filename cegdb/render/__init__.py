"""Documents and tables as Markdown, HTML, LaTeX and plain text: the one place for it."""
