"""The one base error of the package."""


class SdkError(Exception):
    """Base of every error this package raises on purpose. The message says what was expected and what came."""
