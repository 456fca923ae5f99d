"""Claims about importing files of somebody else: in their package, without a GPU, script or module."""

from __future__ import annotations

import sys

import pytest

from kopt_kb.base.errors import BadInput, MissingTool

pytestmark = pytest.mark.triton
pytest.importorskip("triton")

from kopt_kb.launch.compile.importing import import_name, load_published, place_of  # noqa: E402
from kopt_kb.launch.compile.loader import jit_functions  # noqa: E402

KERNEL = "import triton\n@triton.jit\ndef {name}(x):\n    pass\n"


@pytest.fixture(autouse=True)
def _modules():
    """Each test sees the modules that were there before."""
    before = dict(sys.modules)
    yield
    for name in [one for one in sys.modules if one not in before]:
        del sys.modules[name]


def tree(root, files):
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_relative_imports_work_inside_the_package(tmp_path):
    """The package is found by its __init__ files, or by how far the imports climb."""
    text = "from ..sizes import BLOCK\nfrom . import near\n" + KERNEL.format(name="k")
    tree(
        tmp_path, {"lib/__init__.py": "", "lib/sizes.py": "BLOCK = 8\n", "lib/ops/near.py": "", "lib/ops/one.py": text}
    )
    found = load_published(str(tmp_path / "lib/ops/one.py"))
    assert (found.module.__name__, found.module.BLOCK, list(jit_functions(found.module))) == ("lib.ops.one", 8, ["k"])
    assert place_of(tmp_path / "lib/sizes.py").name == "lib.sizes"
    assert place_of(tree(tmp_path, {"alone.py": ""}) / "alone.py") is None


def test_a_package_whose_init_fails_still_has_its_files(tmp_path):
    """What stands above a file may need what is not there; the file itself need not."""
    files = {
        "lib2/__init__.py": "import surely_not_installed\n",
        "lib2/one.py": "from .two import A\n" + KERNEL.format(name="k"),
        "lib2/two.py": "A = 1\n",
    }
    assert load_published(str(tree(tmp_path, files) / "lib2/one.py")).module.A == 1


def test_what_is_missing_is_named_with_who_asks(tmp_path):
    """The package and the line, and no extra of this program."""
    path = tree(tmp_path, {"needs.py": "A = 1\nimport surely_not_installed\n"}) / "needs.py"
    with pytest.raises(MissingTool, match="surely_not_installed is not installed") as caught:
        load_published(str(path))
    assert caught.value.where == f"{path}:2"
    assert "kopt-kb" not in caught.value.fix


def test_a_script_yields_its_kernels(tmp_path):
    """Launches, timings and plots at the top level fail and are noted; what stands behind them is defined."""
    text = KERNEL.format(name="first") + "first[(1,)](3)\nif True:\n    import surely_not_plotting\n    B = 2\n"
    path = tree(tmp_path, {"script.py": text + KERNEL.format(name="second")}) / "script.py"
    found = load_published(str(path))
    assert list(jit_functions(found.module)) == ["first", "second"]
    assert found.module.B == 2
    assert {line: why.partition(":")[0] for line, why in found.skipped.items()} == {
        5: "RuntimeError",
        7: "ModuleNotFoundError",
    }


def test_a_failed_import_leaves_nothing(tmp_path):
    """The next request meets the modules that were there before."""
    files = {
        "lib3/__init__.py": "",
        "lib3/bad.py": "from . import other\nraise ValueError('no')\n",
        "lib3/other.py": "",
    }
    with pytest.raises(BadInput, match="import fails: ValueError: no"):
        load_published(str(tree(tmp_path, files) / "lib3/bad.py"))
    assert not [name for name in sys.modules if name.startswith("lib3")]


def test_the_copy_at_hand_comes_before_another(tmp_path):
    """A file is imported with its own neighbours, whatever was loaded under that name before."""
    for copy in ("old", "new"):
        tree(
            tmp_path / copy,
            {
                "lib4/__init__.py": f"COPY = {copy!r}\n",
                "lib4/k.py": "from lib4 import COPY\n" + KERNEL.format(name="k"),
            },
        )
    assert [load_published(str(tmp_path / copy / "lib4/k.py")).module.COPY for copy in ("old", "new")] == ["old", "new"]


def test_a_module_by_name_needs_no_parents(tmp_path, monkeypatch):
    """As a file does; a name that is nowhere is said."""
    tree(tmp_path, {"lib5/__init__.py": "import surely_not_installed\n", "lib5/one.py": "A = 5\n"})
    monkeypatch.syspath_prepend(tmp_path)
    assert import_name("lib5.one").A == 5
    with pytest.raises(MissingTool, match="lib5_nowhere is not installed"):
        import_name("lib5_nowhere")
