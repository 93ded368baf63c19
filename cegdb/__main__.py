"""Run the command line as ``python -m cegdb``."""

from cegdb.cli import main

main()
