"""docs/torch_ops.md says what the table says."""

from tool import ROOT

from ingot.torch.text.ops_doc import page


def test_page_is_current() -> None:
    assert (ROOT / "docs/torch_ops.md").read_text() == page(), (
        "run: python -m ingot.torch.text.ops_doc docs/torch_ops.md (in the repository's root, with this package)"
    )
