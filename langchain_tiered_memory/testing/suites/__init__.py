"""The suites of `testing.contracts`, by port. Import them from there."""
