"""The chain binds each line to all before it, on bytes."""

from __future__ import annotations

import hashlib

import pytest

from kopt_kb.workspace.journal.chain import GENESIS, JournalError, good_end, scan, seal


def chain(*bodies: bytes) -> list[bytes]:
    lines, previous = [], GENESIS
    for body in bodies:
        line, previous = seal(body, previous)
        lines.append(line)
    return lines


LINES = chain(b'{"seq":1}', b'{"seq":2}', b'{"seq":3}')


def test_the_hash_covers_the_previous_hash_and_all_bytes_before_the_last_member():
    """Recomputed here by hand for two lines."""
    first = hashlib.sha256(b"0" * 64 + b'{"seq":1').hexdigest()
    second = hashlib.sha256(first.encode() + b'{"seq":2').hexdigest()
    assert LINES[1] == b'{"seq":2,"zh":"' + second.encode() + b'"}\n'


def test_good_lines_are_given_with_their_numbers():
    """Nothing else is needed to read them."""
    assert [(line.number, line.raw) for line in scan(b"".join(LINES), "j")] == [
        (number, line[:-1]) for number, line in enumerate(LINES, 1)
    ]


@pytest.mark.parametrize(
    ("lines", "bad"),
    [
        ([LINES[1]], 1),
        ([LINES[0], LINES[2]], 2),
        ([LINES[1], LINES[0]], 1),
        ([LINES[0], LINES[0]], 2),
        ([LINES[0], b"\n", LINES[1]], 2),
        ([LINES[0], b'{"seq":2}\n'], 2),
        ([LINES[0], LINES[1][:-1] + b" \n"], 2),
        ([LINES[0], LINES[1][:-1] + b"\r\n"], 2),
        ([LINES[0], b",\n"], 2),
    ],
)
def test_removed_moved_doubled_blank_and_respaced_lines_are_named(lines, bad):
    """The error gives file and line."""
    with pytest.raises(JournalError) as caught:
        list(scan(b"".join(lines), "j"))
    assert caught.value.where == f"j:{bad}"


def test_what_the_chain_can_not_find_is_a_missing_end_and_a_full_rewrite():
    """Both give a valid chain with another head: the commit trailer is the anchor for these."""
    assert len(list(scan(LINES[0], "j"))) == 1
    assert len(list(scan(b"".join(chain(b'{"seq":9}')), "j"))) == 1


def test_torn_bytes_follow_the_last_newline():
    """They are left out of the good end, and are no damage unless they hold a whole event."""
    torn = LINES[0] + LINES[1][:-1]
    assert good_end(torn) == len(LINES[0])
    assert len(list(scan(torn, "j"))) == 1
    with pytest.raises(JournalError, match="j:2"):
        list(scan(torn + b"\x0b", "j"))
