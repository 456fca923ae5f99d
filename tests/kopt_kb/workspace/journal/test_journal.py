"""The writer acknowledges only what is durable, and leaves a good file after any failure."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError, canonical
from kopt_kb.workspace.journal.chain import GENESIS, Head, JournalError, seal
from kopt_kb.workspace.journal.disk import Files
from kopt_kb.workspace.journal.events import VERSION
from kopt_kb.workspace.journal.journal import MAX_LINE_BYTES, Journal, JournalBusyError, read_journal


class Recorder(Files):
    """Files that write down each call."""

    def __init__(self):
        self.calls = []

    def write(self, fd, data):
        self.calls.append("write")
        return super().write(fd, data)

    def fsync(self, fd):
        self.calls.append("fsync")
        super().fsync(fd)

    def truncate(self, fd, size_bytes):
        self.calls.append("truncate")
        super().truncate(fd, size_bytes)

    def sync_folder(self, path):
        self.calls.append("sync_folder")
        super().sync_folder(path)


class Failing(Recorder):
    """Files whose named calls fail; a write keeps only `kept_bytes`."""

    def __init__(self, *failing, kept_bytes=None, kind=OSError):
        super().__init__()
        self.failing, self.kept_bytes, self.kind = set(failing), kept_bytes, kind

    def _fail(self, name):
        if name in self.failing:
            self.calls.append(f"{name} fails")
            raise self.kind(errno.ENOSPC, "No space left on device")

    def write(self, fd, data):
        if self.kept_bytes is not None:
            os.write(fd, data[: self.kept_bytes])
            self._fail("write")
            return self.kept_bytes
        self._fail("write")
        return super().write(fd, data)

    def fsync(self, fd):
        self._fail("fsync")
        super().fsync(fd)

    def truncate(self, fd, size_bytes):
        self._fail("truncate")
        super().truncate(fd, size_bytes)


class Killed(BaseException):
    """Stands for the process's end: no handler of the journal may catch and repair it."""

    def __init__(self, *_):
        super().__init__()


class TestCreateAndOpen:
    def test_a_new_journal_is_empty_and_its_folder_synced(self, tmp_path):
        """The name survives a power cut before the first event."""
        files = Recorder()
        with Journal.create(tmp_path / "j", files=files) as journal:
            assert files.calls == ["sync_folder"]
            assert (journal.head, journal.events) == (Head(0, GENESIS), ())
        assert read_journal(tmp_path / "j") == ()

    def test_an_existing_journal_is_never_created_anew(self, small_journal):
        """Its bytes stay."""
        before = small_journal.read_bytes()
        with pytest.raises(JournalError, match="never overwritten"):
            Journal.create(small_journal)
        assert small_journal.read_bytes() == before

    def test_opening_nothing_makes_nothing(self, tmp_path):
        """A mistyped path leaves no file behind."""
        with pytest.raises(JournalError, match="no journal here"):
            Journal.open(tmp_path / "j")
        assert list(tmp_path.iterdir()) == []

    def test_the_file_is_opened_for_append_and_not_inherited(self, small_journal):
        """The flags the protocol names are on the descriptor."""
        seen = []

        class Watching(Files):
            def open(self, path, flags):
                seen.append(flags)
                return super().open(path, flags)

        Journal.open(small_journal, files=Watching()).close()
        wanted = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        assert seen[0] & wanted == wanted

    def test_the_chain_goes_on_where_it_ended(self, small_journal, note):
        """Sequence numbers equal line numbers over several writers."""
        with Journal.open(small_journal) as journal:
            event = journal.append("note_added", note)
            assert journal.head == Head(4, event.zh)
        assert [event.seq for event in read_journal(small_journal)] == [1, 2, 3, 4]

    def test_damage_is_refused_with_its_line_and_not_repaired(self, small_journal):
        """A bad line that ends in a newline is no torn write."""
        data = small_journal.read_bytes().replace(b'"incumbent"', b'"incumbenT"')
        small_journal.write_bytes(data)
        with pytest.raises(JournalError) as caught:
            Journal.open(small_journal)
        assert caught.value.where == f"{small_journal}:2"
        assert small_journal.read_bytes() == data

    def test_a_newer_version_s_journal_is_not_continued(self, tmp_path):
        """This version can't know what its events imply."""
        members = {"v": VERSION + 1, "seq": 1, "t": "2026-01-31T12:00:00.000000Z", "kind": "dreamt", "data": {}}
        (tmp_path / "j").write_bytes(seal(canonical(members), GENESIS)[0])
        with pytest.raises(JournalError, match=r"newer version.*update"):
            Journal.open(tmp_path / "j")


class TestAppend:
    def test_the_line_holds_the_event(self, tmp_path, note, clock):
        """Data as plain JSON or as dataclass, the clock's time, the file's bytes: all agree."""
        with Journal.create(tmp_path / "j", clock=clock) as journal:
            first = journal.append("note_added", note)
            second = journal.append("note_added", first.data)
        assert (first.t, second.t) == ("2026-01-31T12:00:00.000000Z", "2026-01-31T12:00:01.000000Z")
        assert read_journal(tmp_path / "j") == (first, second)
        lines = (tmp_path / "j").read_bytes().splitlines()
        assert lines == [canonical(event.to_json()) for event in (first, second)]

    def test_write_comes_before_fsync_and_fsync_before_the_acknowledgement(self, tmp_path, note):
        """One write an event, never two."""
        files = Recorder()
        with Journal.create(tmp_path / "j", files=files) as journal:
            for _ in range(2):
                journal.append("note_added", note)
                files.calls.append("acknowledged")
        assert files.calls == ["sync_folder", *["write", "fsync", "acknowledged"] * 2]

    def test_wrong_data_writes_nothing(self, small_journal, note):
        """Unknown kinds, wrong fields and lines that are too long leave the file as it was."""
        before = small_journal.read_bytes()
        with Journal.open(small_journal) as journal:
            with pytest.raises(BadInput, match="unknown event kind"):
                journal.append("dreamt", {})
            with pytest.raises(WireError, match=r"note_added\.topic"):
                journal.append("note_added", {**note, "topic": "gossip"})
            with pytest.raises(WireError, match="store the content as a blob"):
                journal.append("note_added", {**note, "by": "x" * MAX_LINE_BYTES})
        assert small_journal.read_bytes() == before

    def test_a_closed_journal_takes_nothing(self, small_journal, note):
        """Closing twice is harmless."""
        journal = Journal.open(small_journal)
        journal.close()
        journal.close()
        with pytest.raises(JournalError, match="is closed"):
            journal.append("note_added", note)

    def test_a_file_changed_by_another_program_is_not_continued(self, small_journal, note):
        """Appending would put a valid line behind foreign bytes."""
        with Journal.open(small_journal) as journal:
            with small_journal.open("ab") as other:
                other.write(b"x\n")
            with pytest.raises(JournalError, match="another program changed"):
                journal.append("note_added", note)

    def test_a_removed_file_acknowledges_nothing(self, small_journal, note):
        """Bytes in a file without a name are lost."""
        with Journal.open(small_journal) as journal:
            small_journal.unlink()
            with pytest.raises(JournalError, match="removed"):
                journal.append("note_added", note)

    def test_a_forked_child_can_not_write(self, small_journal, note, monkeypatch):
        """It shares the lock, so only the process id tells it from the writer."""
        with Journal.open(small_journal) as journal:
            monkeypatch.setattr(os, "getpid", lambda: -1)
            with pytest.raises(JournalError, match="forked child"):
                journal.append("note_added", note)


class TestFailures:
    @pytest.mark.parametrize("kept_bytes", [0, 1, 100])
    @pytest.mark.parametrize("failing", [(), ("write",)])
    def test_a_short_or_failed_write_is_cut_off_and_the_writer_goes_on(self, small_journal, note, failing, kept_bytes):
        """The file ends at the last good event; when there is room again, the next append works."""
        before = small_journal.read_bytes()
        files = Failing(*failing, kept_bytes=kept_bytes)
        with Journal.open(small_journal, files=files) as journal:
            with pytest.raises(JournalError, match="can't be written"):
                journal.append("note_added", note)
            assert small_journal.read_bytes() == before
            assert journal.head.seq == 3
            files.failing, files.kept_bytes = set(), None
            assert journal.append("note_added", note).seq == 4
        assert len(read_journal(small_journal)) == 4

    def test_a_failed_fsync_is_not_tried_again(self, small_journal, note):
        """The line is cut off and the writer takes nothing more: a second fsync could lie."""
        before = small_journal.read_bytes()
        files = Failing()
        with Journal.open(small_journal, files=files) as journal:
            files.failing, files.calls = {"fsync"}, []
            with pytest.raises(JournalError, match="No space left"):
                journal.append("note_added", note)
            assert files.calls == ["write", "fsync fails", "truncate"]
            files.failing = set()
            with pytest.raises(JournalError, match="a failed fsync; reopen it"):
                journal.append("note_added", note)
        assert small_journal.read_bytes() == before

    def test_when_even_truncation_fails_the_rest_is_torn_and_the_next_writer_cuts_it(self, small_journal, note):
        """Nothing is written behind half a line."""
        files = Failing("write", "truncate", kept_bytes=20)
        with Journal.open(small_journal, files=files) as journal:
            for says in ("can't be written", "failed truncation"):
                with pytest.raises(JournalError, match=says):
                    journal.append("note_added", note)
        with Journal.open(small_journal) as journal:
            assert journal.events[-1].data.torn_bytes == 20

    @pytest.mark.parametrize("call", ["write", "fsync"])
    def test_an_interrupt_inside_an_append_leaves_the_writer_unusable(self, small_journal, note, call):
        """The file may hold a line nobody acknowledged; only a new writer can tell."""
        files = Failing(kind=Killed)
        with Journal.open(small_journal, files=files) as journal:
            files.failing = {call}
            with pytest.raises(Killed):
                journal.append("note_added", note)
            with pytest.raises(JournalError, match="interrupted append"):
                journal.append("note_added", note)

    def test_a_failed_folder_sync_gives_the_lock_back(self, tmp_path):
        """Creation failed, so nobody holds the file."""

        class NoFolder(Files):
            def sync_folder(self, _path):
                raise OSError(errno.EIO, "I/O error")

        with pytest.raises(JournalError, match="I/O error"):
            Journal.create(tmp_path / "j", files=NoFolder())
        Journal.open(tmp_path / "j").close()

    def test_a_read_only_folder_is_a_clear_error(self, as_nobody):
        """Creating in it and writing a file in it are both refused without a traceback."""
        as_nobody.folder.joinpath("j").write_bytes(b"")
        with as_nobody, pytest.raises(JournalError, match="Permission denied"):
            Journal.create(as_nobody.folder / "new")
        with as_nobody, pytest.raises(JournalError, match="Permission denied"):
            Journal.open(as_nobody.folder / "j")


class TestRecovery:
    def test_a_journal_cut_at_any_byte_keeps_all_whole_lines_and_says_what_it_lost(self, small_journal):
        """The `resumed` event holds the number of torn bytes and the run nobody waits for."""
        good = small_journal.read_bytes()
        for size in range(len(good) + 1):
            small_journal.write_bytes(good[:size])
            lines = good.count(b"\n", 0, size)
            torn_bytes = size - (good.rfind(b"\n", 0, size) + 1)
            with Journal.open(small_journal) as journal:
                assert len(journal.events) == lines + bool(torn_bytes)
                if torn_bytes:
                    assert journal.events[-1].data.torn_bytes == torn_bytes
            assert small_journal.read_bytes().startswith(good[: size - torn_bytes])
            assert len(read_journal(small_journal)) == lines + bool(torn_bytes)

    def test_a_torn_tail_names_the_abandoned_runs(self, small_journal):
        """r1 was started and never finished."""
        with small_journal.open("ab") as file:
            file.write(b'{"data"')
        with Journal.open(small_journal) as journal:
            assert journal.events[-1].kind == "resumed"
            assert journal.events[-1].data.abandoned_runs == ("r1",)

    def test_the_tail_is_gone_before_anything_is_written(self, small_journal):
        """Truncated and synced first, then the `resumed` event by the ordinary protocol."""
        with small_journal.open("ab") as file:
            file.write(b"{")
        files = Recorder()
        Journal.open(small_journal, files=files).close()
        assert files.calls == ["truncate", "fsync", "write", "fsync"]

    def test_what_a_killed_writer_left_is_made_durable_before_it_is_believed(self, small_journal):
        """Its last whole line may have been written and never synced."""
        files = Recorder()
        Journal.open(small_journal, files=files).close()
        assert files.calls == ["fsync"]
        with pytest.raises(JournalError, match="No space"):
            Journal.open(small_journal, files=Failing("fsync"))

    def test_recovery_that_fails_changes_nothing_and_frees_the_lock(self, small_journal):
        """The next writer finds the same torn tail."""
        with small_journal.open("ab") as file:
            file.write(b"{")
        with pytest.raises(JournalError, match="No space"):
            Journal.open(small_journal, files=Failing("truncate"))
        with Journal.open(small_journal) as journal:
            assert journal.events[-1].data.torn_bytes == 1

    @pytest.mark.parametrize("call", ["write", "fsync", "truncate"])
    @pytest.mark.parametrize("kept_bytes", [None, 0, 60])
    def test_dying_at_any_call_loses_nothing_acknowledged(self, small_journal, note, call, kept_bytes):
        """The process ends inside a call of recovery or append; the next writer has all of before."""
        with small_journal.open("ab") as file:
            file.write(b"{")
        acknowledged = 3
        files = Failing(call, kept_bytes=kept_bytes, kind=Killed)
        with contextlib.suppress(Killed, JournalError), Journal.open(small_journal, files=files) as journal:
            acknowledged = journal.append("note_added", note).seq
            journal.append("note_added", note)
        with Journal.open(small_journal) as again:
            assert [event.seq for event in again.events][:acknowledged] == list(range(1, acknowledged + 1))
            assert again.append("note_added", note).seq == again.head.seq


class TestOneWriter:
    def test_a_second_writer_in_this_process_is_refused(self, small_journal):
        """The lock belongs to the open file, not to the process."""
        with Journal.open(small_journal), pytest.raises(JournalBusyError, match="another process"):
            Journal.open(small_journal)
        Journal.open(small_journal).close()

    def test_a_writer_in_another_process_is_refused_until_the_first_dies(self, small_journal, note):
        """A killed writer leaves no lock behind."""
        program = (
            "import sys\nfrom kopt_kb.workspace.journal.journal import Journal\n"
            "journal = Journal.open(sys.argv[1])\nprint('open', flush=True)\nsys.stdin.read()\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(small_journal)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout.readline() == b"open\n"
            with pytest.raises(JournalBusyError):
                Journal.open(small_journal)
            child.kill()
            child.wait()
        with Journal.open(small_journal) as journal:
            journal.append("note_added", note)

    def test_a_child_process_does_not_inherit_the_lock(self, small_journal):
        """The writer's children may outlive it without keeping the journal busy."""
        with Journal.open(small_journal):
            child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        Journal.open(small_journal).close()
        child.communicate(b"\n")


def test_events_are_read_by_number(tmp_path):
    """One by its number from 1, and all after a number; the same events as all of them."""
    with Journal.create(tmp_path / "journal.jsonl") as journal:
        for text in ("a", "b", "c"):
            journal.append("note_added", {"topic": "tip", "text": "ab" * 32, "by": text})
        assert journal.event(2) is journal.events[1]
        assert journal.events_after(1) == journal.events[1:]
        assert (journal.events_after(0), journal.events_after(3)) == (journal.events, ())


def test_a_journal_can_be_held_without_being_touched(tmp_path):
    """A torn end stays as it is; nobody else writes meanwhile, and the holder can't either."""
    path = tmp_path / "journal.jsonl"
    Journal.create(path).close()
    path.write_bytes(b'{"torn')
    with Journal.hold(path) as held:
        for other in (Journal.open, Journal.hold):
            with pytest.raises(JournalBusyError):
                other(path)
        with pytest.raises(JournalError, match="lock only"):
            held.append("blocked", {"needs": ["x"]})
    assert path.read_bytes() == b'{"torn'
    Journal.hold(path).close()
    with pytest.raises(JournalError, match="no journal here"):
        Journal.hold(tmp_path / "absent")
