"""``report.html``: the report of a run as one page without any other file.

`confml.report.page.page` collects the content, and ``page.html`` turns it into HTML. The page has its
style and its script inside, and asks for nothing from a network.
"""
