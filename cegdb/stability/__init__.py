"""How certain a staging is: bootstrap replicates, stages learnt again, intervals."""
