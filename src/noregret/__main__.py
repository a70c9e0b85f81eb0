"""`python -m noregret`: the command."""

from noregret.cli.start import main

main()
