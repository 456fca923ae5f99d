"""What is recorded, from words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.launch.record_request import call_request, lines_of, script_request
from kopt_kb.launch.record.request import CallRequest, ScriptRequest, TensorArgument


def test_a_call_with_all_kinds_of_arguments() -> None:
    """Tensors with and without values, lists of both kinds, numbers that JSON lacks, text, names of torch."""
    words = [
        "x=bf16[4,8]",
        "n=int32[3]=0,2,4",
        "s=fp32[]=0.5",
        "e=int32[3]=7",
        "many=[fp16[2,2],fp16[3,2]]",
        "sizes=[1,2]",
        "mixed=[[fp16[2,2],none],[i32[2]=[0,8]],0.5]",
    ]
    words += ["top=inf", "low=-inf", "how='mean'", "to=torch.float16", "eps=1e-6", "flag=true"]
    assert call_request("m:f", words) == CallRequest(
        "m:f",
        {
            "x": TensorArgument((4, 8), "bf16"),
            "n": TensorArgument((3,), "int32", None, (0, 2, 4)),
            "s": TensorArgument((), "fp32", None, (0.5,)),
            "e": TensorArgument((3,), "int32", None, (7, 7, 7)),
            "many": (TensorArgument((2, 2), "fp16"), TensorArgument((3, 2), "fp16")),
            "sizes": (1, 2),
            "mixed": ((TensorArgument((2, 2), "fp16"), None), (TensorArgument((2,), "i32", None, (0, 8)),), 0.5),
            "top": "float.inf",
            "low": "float.-inf",
            "how": "mean",
            "to": "torch.float16",
            "eps": 1e-6,
            "flag": True,
        },
    )


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("4", "NAME=VALUE"),
        ("n=int32[3]=0,2", "2 values"),
        ("n=int32[1]=x", "no numbers"),
        ("n=[fp16[2,2],b]", "no kernel argument"),
        ("n=[3,4", "no list"),
    ],
)
def test_bad_arguments(word: str, said: str) -> None:
    """Named with what would be right."""
    with pytest.raises(BadInput, match=said):
        call_request("m:f", [word])


def test_a_program_as_it_is_typed(tmp_path: Path) -> None:
    """With the interpreter's name or without; what is no program is refused."""
    here = str(tmp_path.resolve())
    assert script_request(["python3", "a.py", "--steps", "1"], tmp_path) == ScriptRequest(
        ("a.py", "--steps", "1"), here
    )
    assert script_request(["/usr/bin/python", "-m", "pytest"], tmp_path) == ScriptRequest(("-m", "pytest"), here)
    for words in (["ls", "-l"], ["python"], ["python", "-m"]):
        with pytest.raises(BadInput, match="no Python program"):
            script_request(words, tmp_path)


def test_lines_of_a_file(tmp_path: Path) -> None:
    """Comments and empty lines are none."""
    (tmp_path / "args").write_text("x=bf16[4]  # input\n\n# all\nn=3\n")
    assert lines_of(str(tmp_path / "args")) == ["x=bf16[4]", "n=3"]
