"""The tuned configurations a kernel file carries: a block at its end that people can read and any tool can replace.

A file that takes no configuration, somebody's own Triton, has them written into its text: names such as `kernel.BLOCK`.
"""

from __future__ import annotations

import ast
import json
import pprint
import tomllib
from collections.abc import Mapping

from kopt_kb.analysis.ir.source.settings import with_settings
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel.declared import has_header, kernel_name

__all__ = ["Configs", "configs_of", "configured", "structure_of", "with_chosen", "with_configs"]

Configs = Mapping[str, Mapping[str, object]]
"""Shape as written on the command line → values laid over the file's own start."""

_BEGIN = "# kb tuned configurations: begin\n"
_END = "# kb tuned configurations: end\n"
_CUDA_BEGIN, _CUDA_END = "/* kb-tuned\n", "*/"
_QUOTES = '"""'
_BODY = '''TUNED_CONFIGS = {table}
_untuned_config = default_config


def default_config(shape, dtype):  # noqa: F811 - overlays the file's own
    """Return the tuned configuration of a shape over the file's own start."""
    return _untuned_config(shape, dtype) | TUNED_CONFIGS.get("x".join(map(str, shape)), {{}})


'''


def _begin(source: bytes) -> bytes:
    return (_quoted(source) + _CUDA_BEGIN if has_header("", source) else _BEGIN).encode()


def _quoted(source: bytes) -> str:
    """Return what stands around a comment: quotes in a Python file, whose header is in its docstring."""
    return _QUOTES if kernel_name(source) == "kernel.py" else ""


def _toml(value: object) -> str:
    return str(int(value)) if isinstance(value, int) else json.dumps(str(value))


def _of_cuda(rest: bytes) -> dict[str, Mapping[str, object]]:
    try:
        table = tomllib.loads(rest.decode().partition("*/")[0])
    except (ValueError, RecursionError) as error:  # TOML's own errors and those of UTF-8 are ValueErrors
        what = f"tuned configurations are no TOML: {error}"
        raise BadInput(what, where="kernel.cu", fix="restore them", code="KB077") from error
    if not all(isinstance(one, dict) for one in table.values()):
        raise BadInput("tuned configurations are no table", where="kernel.cu", fix="restore them", code="KB077")
    return table


def structure_of(source: bytes) -> bytes:
    """Return the file without its tuned configurations."""
    head, found, _ = source.partition(_begin(source))
    return head.rstrip(b"\n") + b"\n" if found else source


def with_configs(source: bytes, configs: Configs) -> bytes:
    """Return the file with these tuned configurations in place of those it has."""
    head = structure_of(source)
    if not configs:
        return head
    plain = {shape: dict(values) for shape, values in sorted(configs.items())}
    if has_header("", source):
        lines = [f'"{shape}" = {{ {", ".join(f"{name} = {_toml(one)}" for name, one in values.items())} }}\n'
                 for shape, values in plain.items()]  # fmt: skip
        quotes = _quoted(source)
        return head + f"\n{quotes}{_CUDA_BEGIN}{''.join(lines)}{_CUDA_END}{quotes}\n".encode()
    table = pprint.pformat(plain, width=100, sort_dicts=True)
    return head + f"\n\n{_BEGIN}{_BODY.format(table=table)}{_END}".encode()


def configured(source: bytes, config: Mapping[str, object]) -> tuple[bytes, Mapping[str, object]]:
    """Return the file and the configuration that it is launched with: settings are written into the file itself."""
    return (with_settings(source, config), {}) if _are_settings(config) else (source, config)


def _are_settings(config: Mapping[str, object]) -> bool:
    return any("." in name for name in config)


def with_chosen(source: bytes, chosen: Configs) -> tuple[bytes, Configs]:
    """Return the file with these configurations of some shapes beside those that it has of others, and all of them.

    Settings hold for all shapes: those of the last one are written.
    """
    if any(map(_are_settings, chosen.values())):
        return configured(source, list(chosen.values())[-1])[0], chosen
    configs = {**configs_of(source), **chosen}
    return with_configs(source, configs), configs


def configs_of(source: bytes) -> dict[str, Mapping[str, object]]:
    """Return the tuned configurations of a file; empty when it has none.

    Raises:
        BadInput: The block is there and its table is no literal.
    """
    _, found, rest = source.partition(_begin(source))
    if not found:
        return {}
    if has_header("", source):
        return _of_cuda(rest)
    try:
        first = ast.parse(rest.decode()).body[0]
        table = ast.literal_eval(first.value) if isinstance(first, ast.Assign) else None
    except (SyntaxError, ValueError, IndexError) as error:
        raise BadInput(
            "tuned configurations are no literal", where="kernel.py", fix="restore them", code="KB077"
        ) from error
    if not isinstance(table, dict):
        raise BadInput("tuned configurations are no table", where="kernel.py", fix="restore them", code="KB077")
    return table
