"""Documents that commands put together read back as what they say."""

from __future__ import annotations

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.cli.kit.documents import (
    CodeEntry,
    Codes,
    ErrorBody,
    ErrorDocument,
    WrittenFile,
    WrittenFiles,
    WrittenPage,
)


def test_an_error_is_written_with_its_code_place_and_remedy() -> None:
    """The same four parts as on stderr."""
    document = ErrorDocument.of(BadInput("is wrong", where="file:3", fix="mend it", code="KB063")).to_json()
    assert document == {"error": {"code": "KB063", "message": "is wrong", "where": "file:3", "fix": "mend it"}}
    assert read(ErrorDocument, document).error == ErrorBody("KB063", "is wrong", "file:3", "mend it")


def test_what_a_table_of_codes_does_not_say_is_left_out() -> None:
    """A rule has no name and no remedy of its own."""
    codes = Codes(
        (CodeEntry("WK101", "wiki fault", "too large"), CodeEntry("KB001", "error", "bad", "bad input", "mend it"))
    )
    first, second = read(Codes, codes.to_json()).codes
    assert first.to_json() == {"code": "WK101", "kind": "wiki fault", "cause": "too large"}
    assert second.to_json()["remedy"] == "mend it"


def test_files_that_were_written_are_named() -> None:
    """One or several."""
    assert WrittenFile("a").to_json() == {"path": "a"}
    assert WrittenFiles(("a", "b")).to_json() == {"paths": ["a", "b"]}
    assert WrittenPage("a", ("x",)).to_json() == {"path": "a", "faults": ["x"]}
