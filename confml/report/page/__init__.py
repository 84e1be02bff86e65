"""``report.html``: the report of one run, or of several, as one page without any other file.

`confml.report.page.material` collects the numbers of a run while its sections write their files,
`confml.report.page.run_page` and `confml.report.page.comparison` put them in order, and ``templates/`` turn
them into HTML. The page has its style, its script and its data inside, and asks for nothing from a network.
"""
