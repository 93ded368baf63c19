"""Search over the orders of variables for the staged tree of best score."""
