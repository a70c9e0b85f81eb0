"""The command line: options in, one library call, a table for people or `--json` for programs."""
