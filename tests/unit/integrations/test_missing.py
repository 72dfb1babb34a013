import sys
from importlib import import_module

import pytest

from abstrag.errors import ResourceMissing


@pytest.mark.parametrize(
    ("module", "needs", "extra"),
    [
        ("langchain", "langchain_core.callbacks", "langchain"),
        ("llama_index", "llama_index.core.postprocessor.types", "llama-index"),
        ("haystack", "haystack", "haystack"),
        ("pyterrier", "pyterrier", "pyterrier"),
    ],
)
def test_a_missing_framework_is_one_sentence_with_the_extra_to_install(
    module: str, needs: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, needs, None)
    monkeypatch.delitem(sys.modules, f"abstrag.integrations.{module}", raising=False)
    with pytest.raises(ResourceMissing, match="cannot be imported") as caught:
        import_module(f"abstrag.integrations.{module}")
    assert caught.value.hint == f"pip install 'abstrag[{extra}]'"
