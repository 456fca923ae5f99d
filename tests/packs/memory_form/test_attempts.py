"""Readers see every attempt but the masked ones, whoever masked them, and no stray file confuses them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.memory_form.attempts import (
    MaskedVersionError,
    field_of,
    masked_versions,
    memory_file,
    parse_version,
    read_memory,
)
from kopt_kb.workspace.masks import hand_masked
from kopt_kb.workspace.views.render import render_workspace


def mask_by_hand(story, number):
    """Edit a rendered file as a person would."""
    render_workspace(story.workspace)
    path = story.workspace.layout.root / memory_file(number)
    path.write_text(path.read_text().replace('"masked": false', '"masked": true'))
    return path


def test_all_versions_are_read(played):
    """In order; the latest is the newest."""
    memory = read_memory(played.workspace)
    assert [one.version for one in memory.visible] == ["v0", "v1", "v2", "v3"]
    assert memory.latest.number == 3


def test_masked_versions_never_reach_a_reader(played):
    """Neither by number nor as the latest."""
    played.add("memory_masked", versions=[3], reason="busy machine", seed=None)
    memory = read_memory(played.workspace)
    assert memory.latest.number == 2
    with pytest.raises(MaskedVersionError, match="v3 is masked: busy machine"):
        memory.get(3)


def test_a_mask_set_by_hand_is_honoured_before_it_is_recorded(played):
    """The file alone says masked; the journal does not know yet."""
    mask_by_hand(played, 2)
    assert [one.number for one in read_memory(played.workspace).visible] == [0, 1, 3]
    assert masked_versions(played.workspace).keys() == {2}


def test_a_file_as_it_was_rendered_masks_nothing(played):
    """Unmasked by an event and killed before rendering: the old file still says masked, the journal decides."""
    played.add("memory_masked", versions=[2], reason="busy machine", seed=None)
    render_workspace(played.workspace)
    played.add("memory_unmasked", versions=[2], reason="again", seed=None)
    assert '"masked": true' in (played.workspace.layout.root / memory_file(2)).read_text()
    assert masked_versions(played.workspace) == {}


def test_a_hand_set_mask_in_a_broken_file_is_honoured(played):
    """A comma too many elsewhere doesn't unmask it."""
    path = mask_by_hand(played, 2)
    path.write_text(path.read_text().replace('"version"', ',"version"', 1))
    assert masked_versions(played.workspace).keys() == {2}


def test_the_baseline_and_the_best_can_not_be_masked_by_hand(played):
    """The files say so, readers don't follow."""
    mask_by_hand(played, 0)
    mask_by_hand(played, 1)
    assert masked_versions(played.workspace) == {}


@pytest.mark.parametrize("text", ['{"masked": 1}', '{"masked": "true"}', '["masked"]', "", '{"masked": false}'])
def test_only_true_masks(played, text):
    """Not 1, not a word, not an empty file."""
    path = played.workspace.layout.root / memory_file(2)
    path.write_text(text)
    assert hand_masked(played.workspace.layout, played.workspace.state()) == {}


def test_an_edit_is_seen_although_unchanged_files_are_read_once(played, monkeypatch):
    """The file is read again whenever it changed, also to one of the same size; else its content is remembered."""
    reads = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read_bytes(self))
    path, history = played.workspace.layout.root / memory_file(2), played.workspace.state()
    for at, (text, masked) in enumerate([('{"masked": true }', {2}), ('{"masked": false}', set())] * 2, start=1):
        path.write_text(text)
        os.utime(path, ns=(at, at))
        reads.clear()
        for _ in range(3):
            assert hand_masked(played.workspace.layout, history).keys() == masked
        assert reads.count(path) == 1


def test_stray_files_are_named_and_left_alone(played):
    """A junk name is not version 2, a version nobody played is none, a folder neither."""
    folder = played.workspace.layout.root / "memory"
    for name in ("v2junk.json", "vX.json", "v71_512.json", "v02.json", "v9.json", "notes.txt"):
        (folder / name).write_text("{not json")
    (folder / "v3").mkdir()
    memory = read_memory(played.workspace)
    assert memory.stray == ("notes.txt", "v02.json", "v2junk.json", "v3", "v71_512.json", "v9.json", "vX.json")
    assert len(memory.visible) == 4
    (folder / "v9.json").write_text(json.dumps({"masked": True}))
    assert read_memory(played.workspace).masked == {}


def test_a_missing_folder_has_no_stray_files(played):
    """Readers need the journal only."""
    (played.workspace.layout.root / "memory").rmdir()
    assert read_memory(played.workspace).stray == ()


@pytest.mark.parametrize("text", ["v2junk", "v02", "v-1", "", "v", "2.0", "v１", "v1_0", "v9999999999"])
def test_what_is_no_version(text):
    """Anchored, ASCII, no leading zero."""
    with pytest.raises(BadInput, match="is no version"):
        parse_version(text)


def test_versions_with_and_without_v():
    """`v3` and `3`."""
    assert (parse_version("v3"), parse_version("3")) == (3, 3)


def test_fields_are_found_by_dots(played):
    """Members and indices; a wrong one lists the right ones."""
    one = read_memory(played.workspace).get(1)
    assert field_of(one, "performance.records.1.id") == "a:v1:1024x512"
    assert field_of(one, "")["version"] == "v1"
    for wrong in (
        "performance.speed",
        "performance.records.7",
        "version.x",
        "performance.latency_us_by_shape.1",
        "notes.0",
    ):
        with pytest.raises(BadInput, match="there is no such field"):
            field_of(one, wrong)


def test_an_unknown_version_lists_the_known(played):
    """v9 was never played."""
    with pytest.raises(BadInput, match="no version v9.*v0, v1, v2, v3"):
        read_memory(played.workspace).get(9)
