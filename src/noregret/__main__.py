"""`python -m noregret`: the command."""

from noregret.cli.main import main

main()
