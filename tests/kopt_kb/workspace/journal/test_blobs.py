"""Blobs are named by their hash, written once, verified at each read."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore

HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture
def store(tmp_path):
    return ObjectStore(tmp_path)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_what_was_put_is_what_is_got(store, data):
    """The name is the sha256, whatever the bytes."""
    sha = store.put(data)
    assert sha == hashlib.sha256(data).hexdigest()
    assert store.get(sha) == data


def test_the_same_bytes_are_stored_once(store):
    """The file is not written a second time; it is read-only."""
    assert store.put(b"hello") == HELLO
    before = store.path(HELLO).stat()
    assert store.put(b"hello") == HELLO
    assert store.path(HELLO).stat().st_ino == before.st_ino
    assert before.st_mode & 0o777 == 0o444
    assert store.names() == (HELLO,)


def test_a_missing_blob_is_named(store):
    """The place is its file."""
    assert not store.has(HELLO)
    with pytest.raises(ObjectError, match="missing") as caught:
        store.get(HELLO)
    assert caught.value.where == str(store.root / HELLO)


def test_a_changed_blob_is_never_returned_and_repaired_by_storing_it_again(store):
    """One flipped letter is enough."""
    store.put(b"hello")
    store.path(HELLO).chmod(0o644)
    store.path(HELLO).write_bytes(b"hallo")
    with pytest.raises(ObjectError, match="do not have the hash"):
        store.get(HELLO)
    store.put(b"hello")
    assert store.get(HELLO) == b"hello"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", HELLO.upper(), HELLO[:-1], HELLO + "\n"])
def test_only_a_sha256_is_a_name(store, name):
    """No path can be smuggled in."""
    with pytest.raises(ObjectError, match="not a sha256"):
        store.get(name)


def test_other_files_and_a_missing_folder_are_passed_over(tmp_path):
    """A temporary file of an interrupted write is no blob."""
    (tmp_path / ".kb-tmp-1").write_bytes(b"half")
    assert ObjectStore(tmp_path).names() == ()
    assert ObjectStore(tmp_path / "none").names() == ()


def test_a_folder_that_can_not_be_written_is_a_clear_error(tmp_path, as_nobody):
    """Read-only and missing alike; nothing is left behind."""
    with as_nobody, pytest.raises(ObjectError, match="Permission denied"):
        ObjectStore(as_nobody.folder).put(b"hello")
    assert list(as_nobody.folder.iterdir()) == []
    with pytest.raises(ObjectError, match="No such file"):
        ObjectStore(tmp_path / "none").put(b"hello")


def test_a_link_or_folder_in_a_blob_s_place_is_a_clear_error(store):
    """It is neither followed nor replaced."""
    store.path(HELLO).mkdir()
    with pytest.raises(ObjectError, match="can't be read"):
        store.get(HELLO)
    with pytest.raises(ObjectError, match="can't be stored"):
        store.put(b"hello")
