"""These tests need the frameworks and have an environment of their own: make frameworks-check."""

from importlib.util import find_spec

_NEEDED = ("langchain_core", "llama_index", "haystack", "pyterrier", "opentelemetry.sdk")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it would be part of
        return False


# elsewhere they are no part of the suite; what is asked for by name and finds no test still fails
collect_ignore_glob = [] if all(map(_is_there, _NEEDED)) else ["test_*.py"]
