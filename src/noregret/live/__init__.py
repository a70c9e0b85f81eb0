"""The service: rounds over HTTP, each in a log on disk before the answer to its label; pages that show them live."""
