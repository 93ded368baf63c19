"""Tables and texts as Markdown, HTML and LaTeX: the one place that writes them."""
