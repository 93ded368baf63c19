"""Survey files and frames of every format as one relation of text cells."""
