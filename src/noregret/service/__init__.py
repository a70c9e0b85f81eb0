"""The service: rounds over HTTP, each in a log on disk before the answer to its label; a page that shows them live."""
