"""Probabilities, evidence, samples and rows answered by a CEG."""
