"""The rules that every store keeps are shipped; their assertions should speak as ours do."""

import pytest

pytest.register_assert_rewrite("abstrag.testing.stores")
