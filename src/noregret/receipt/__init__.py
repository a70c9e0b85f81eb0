"""Receipts: `certify` a run, `save` the receipt, and let anyone `verify` it."""

from noregret.receipt.check import Verification, verify
from noregret.receipt.form import Receipt
from noregret.receipt.make import certify, receipt_of

__all__ = ["Receipt", "Verification", "certify", "receipt_of", "verify"]
