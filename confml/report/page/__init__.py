"""``report.html``: the report of one run, or of several, as one page without any other file.

`confml.report.page.material` finds the numbers of a run for its page,
`confml.report.page.run_page` and `confml.report.page.comparison` put them in order, and ``templates/`` turn
them into HTML. The page has its style, its script and its data inside, and asks for nothing from a network.
"""
