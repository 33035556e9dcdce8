"""Contacts and what binds coordinates as rows in the coordinates that whiten M, and what each is to reach."""
