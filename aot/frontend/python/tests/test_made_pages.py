"""Pages that are made from tables say what these say."""

import pytest
from tool import ROOT

from ingot.torch.base import replacements_doc
from ingot.torch.text import ops_doc

PAGES = {
    "torch_ops.md": ("ingot.torch.text.ops_doc", ops_doc.page),
    "replaced.md": ("ingot.torch.base.replacements_doc", replacements_doc.page),
}


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    module, page = PAGES[name]
    assert (ROOT / "docs" / name).read_text() == page(), (
        f"run: python -m {module} docs/{name} (in the repository's root, with this package)"
    )
