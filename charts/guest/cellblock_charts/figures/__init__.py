"""Figures that are JSON: plotly's, Vega-Lite's (altair) and bokeh's, read from what was published.

Nothing of these libraries is imported; a figure is read as the browser would get it. What the
browser would compute (bins, quartiles, densities) is computed here by the library's own rules, or
the layer says that it was not.
"""
