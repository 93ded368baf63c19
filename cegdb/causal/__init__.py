"""Interventions, their effects, and whether adjustment identifies them."""
