"""The one kind of error that is meant for the person at the keyboard."""


class LongtrekError(Exception):
    """A fault that the user can mend: the message says what, where, what was expected and what to do."""
