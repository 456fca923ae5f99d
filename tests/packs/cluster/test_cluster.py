"""Claims about the workers of a Ray cluster: a local one with two pretended GPUs, whose actors are killed."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.ranking import Ranking, WorkerGoneError
from kopt_kb.packs.cluster.cluster import RayWorker, ray_workers

Records = Callable[..., Path]
REFERENCE_TEXT = "reference = None\n"


class FakeMaker:
    """Makes a judge on a fake device inside an actor, whose process it names in a file."""

    def __init__(self, fake_gpu: str, folder: str) -> None:
        self.fake_gpu, self.folder = fake_gpu, folder

    def __call__(self) -> Any:
        spec = importlib.util.spec_from_file_location("fake_gpu", self.fake_gpu)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["fake_gpu"] = module
        spec.loader.exec_module(module)
        shown = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        Path(self.folder, f"actor-{os.getpid()}").write_text(shown)
        return DeviceJudging(module.programs(Path(self.folder, f"clock-{os.getpid()}")))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray on this machine, with two GPUs that are not there."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'kopt-kb[cluster]'")
    ray.init(num_cpus=2, num_gpus=2, log_to_driver=False, include_dashboard=False, configure_logging=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield ray
    ray.shutdown()


@pytest.fixture
def workers(cluster: Any, repo_root: Path, tmp_path: Path) -> Iterator[list[RayWorker]]:
    """Two of them."""
    actors = tmp_path / "actors"
    actors.mkdir()
    made = ray_workers("local", FakeMaker(str(repo_root / "tests" / "fake_gpu.py"), str(actors)))
    yield made
    for one in made:
        one.close()


def _pids(folder: Path) -> dict[int, str]:
    return {int(one.name.partition("-")[2]): one.read_text() for one in folder.glob("actor-*")}


@pytest.mark.cluster
def test_an_actor_a_gpu_ranks_and_a_killed_one_loses_nothing(
    workers: list[RayWorker], record: Records, tmp_path: Path
) -> None:
    """Each sees one device; after a kill its record is tried again and counted once."""
    assert len(workers) == 2
    reference = tmp_path / "reference.py"
    reference.write_text(REFERENCE_TEXT)
    assert {one.machine().name for one in workers} == {"Fake GPU"}
    actors = _pids(tmp_path / "actors")
    assert sorted(actors.values()) == ["0", "1"]
    names = [str(us) for us in range(10, 34, 2)]
    found = {}
    with Ranking(workers, record("plusone__us40"), reference, (4, 4), time.monotonic() + 60) as ranking:
        for name in names:
            ranking.submit(name.encode(), record(f"plusone__us{name}"))
            if name == "20":
                os.kill(min(actors), signal.SIGKILL)
            for one in ranking.ready(4):
                assert one.key not in found
                found[one.key] = one
        for one in ranking.ready(0):
            assert one.key not in found
            found[one.key] = one
    assert {one.problem for one in found.values()} == {""}
    assert sorted(found, key=lambda key: found[key].time_s) == [name.encode() for name in names]
    assert len(_pids(tmp_path / "actors")) == 3


@pytest.mark.cluster
def test_what_is_wrong_with_a_record_is_told(workers: list[RayWorker], record: Records, tmp_path: Path) -> None:
    """As on this machine, with the faults of its judges."""
    reference = tmp_path / "reference.py"
    reference.write_text(REFERENCE_TEXT)
    worker, ends_at = workers[0], time.monotonic() + 60
    assert "differs" in worker.time([record("wrong__us1")], reference, 2, ends_at, again=True)[0].problem
    assert worker.faults == 0
    assert "ILLEGAL_ADDRESS" in worker.time([record("fault__us1")], reference, 2, ends_at, again=True)[0].problem
    assert worker.faults == 1
    with pytest.raises(TimeoutError):
        worker.time([record("plusone__us1")], reference, 2, time.monotonic() - 1)


class Broken:
    """Raises in the actor."""

    def __call__(self) -> Any:
        raise MissingTool("no GPU here", where="replay", code="KB122")


@pytest.mark.cluster
def test_an_actor_that_can_not_start_is_given_up(cluster: Any) -> None:
    """Twice, then it is named."""
    worker = ray_workers("local", Broken(), 1)[0]
    for _ in range(2):
        with pytest.raises(WorkerGoneError):
            worker.machine()
    with pytest.raises(FindingError, match="went 2 times"):
        worker.machine()
    worker.close()


@pytest.mark.core
def test_without_ray_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra's name."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingTool, match="ray is not installed") as caught:
        ray_workers("auto")
    assert "cluster" in caught.value.fix


@pytest.mark.core
def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is bad input, without a traceback of Ray's."""

    class Ray:
        @staticmethod
        def is_initialized() -> bool:
            return False

        @staticmethod
        def init(**_: object) -> None:
            raise ConnectionError("Could not find any running Ray instance.\nmore")

    monkeypatch.setitem(sys.modules, "ray", Ray)
    with pytest.raises(BadInput, match="no cluster at auto: Could not find any running Ray instance"):
        ray_workers("auto")
