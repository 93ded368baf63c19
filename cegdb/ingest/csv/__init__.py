"""CSV text: encoding, dialect, records."""
