"""Tables as text: console, CSV, Markdown, LaTeX and HTML."""
