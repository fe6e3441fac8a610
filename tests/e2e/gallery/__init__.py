"""Figures as people draw them, each with what must be read from it.

A module holds figures of one library and of related kinds. Each figure is a function whose source
runs in a microVM; the function below it gets the chart that came back, and computes what it must
hold from the same data (data.py), never from a saved output.
"""
