"""Online learning that shows its receipts."""
