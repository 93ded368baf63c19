"""Codebooks: what each code means, drafts of them, and gates."""
