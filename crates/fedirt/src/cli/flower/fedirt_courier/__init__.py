"""Carries the messages of a fedirt study between the mailboxes of its sites and its coordinator."""
