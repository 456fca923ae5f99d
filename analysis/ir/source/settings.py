"""Values written into a Triton file in place of what it says: the file that comes out is one that a person could write.

A setting is named `kernel.NAME`; `kernel.config` stands for a whole configuration of the kernel's autotuner, as text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from kopt_kb.analysis.ir.source.tunables import OPTIONS, Setting, Span, TunableKernel, tunables_of
from kopt_kb.base.errors import BadInput

__all__ = ["CONFIG", "config_text", "parse_config", "settings_of", "with_settings"]

CONFIG = "config"
"""Name of the setting that is a whole configuration."""

_OPTIONS = (*OPTIONS, "num_ctas")


def config_text(config: Setting) -> str:
    """Return a configuration as one line: `BLOCK_M=128 num_warps=8`; the empty one as `default`."""
    return " ".join(f"{name}={value!r}" for name, value in config.items()) or "default"


def parse_config(text: str) -> dict[str, bool | int | float | str]:
    """Return what `config_text` wrote."""
    if text == "default":
        return {}
    pairs = (word.partition("=") for word in _words(text))
    return {name: ast.literal_eval(value) for name, _, value in pairs}


def _words(text: str) -> Iterator[str]:
    """Yield NAME=VALUE words; a value in quotes may hold spaces."""
    held = ""
    for word in text.split(" "):
        held = f"{held} {word}" if held else word
        if held.count("'") % 2 == 0 and held.count('"') % 2 == 0:
            yield held
            held = ""


def settings_of(source: bytes, laid: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return what a file says now, of several configurations the first: `kernel.NAME` → value, the named ones alone.

    `laid` are settings in whose place the file's own do not count, as `with_settings` writes them.
    """
    found: dict[str, object] = {}
    for kernel in tunables_of(source).values():
        first = kernel.own[0] if kernel.own and kernel.configs is not None else {}
        found |= {f"{kernel.name}.{name}": value for name, value in first.items()}
        found |= {f"{kernel.name}.{one.name}": one.value for one in kernel.knobs if one.value is not None}
    for word, value in (laid or {}).items():
        kernel_name, _, name = word.rpartition(".")
        if name == CONFIG:
            whole = parse_config(str(value))
            found |= {f"{kernel_name}.{one}": other for one, other in whole.items()}
        elif value is not None:
            found[word] = value
    return found


def with_settings(source: bytes, settings: Mapping[str, object]) -> bytes:
    """Return the file with these settings.

    Args:
        source: A Triton file.
        settings: `kernel.NAME` → value; None leaves what the file says.

    Raises:
        BadInput: The file has no such kernel, or no place for such a value.
    """
    kernels = tunables_of(source)
    grouped: dict[str, dict[str, object]] = {}
    for word, value in settings.items():
        kernel, _, name = word.rpartition(".")
        if kernel not in kernels:
            fix = f"it launches {', '.join(kernels) or 'no kernel'}"
            raise BadInput(f"the file launches no kernel {kernel!r}", where=word, fix=fix, code="KB081")
        grouped.setdefault(kernel, {})[name] = value
    edits = [edit for name, given in grouped.items() for edit in _edits(kernels[name], given, source)]
    out, end = bytearray(), 0
    for span, text in sorted(edits, key=lambda edit: edit[0].begin):
        out += source[end : span.begin] + text.encode()
        end = span.end
    return bytes(out + source[end:])


def _edits(kernel: TunableKernel, given: Mapping[str, object], source: bytes) -> Iterator[tuple[Span, str]]:
    """Yield what a kernel's settings replace."""
    chosen = {name: value for name, value in given.items() if name != CONFIG and value is not None}
    knobs = {one.name: one for one in kernel.knobs}
    whole = given.get(CONFIG)
    if kernel.configs is not None:
        held = parse_config(str(whole)) if whole is not None else dict((kernel.own or ({},))[0])
        own = {name: value for name, value in chosen.items() if name not in knobs or knobs[name].place == "keyword"}
        if whole is not None or own:
            yield kernel.configs, _config(kernel, {**held, **own})
        chosen = {name: value for name, value in chosen.items() if name not in own}
    behind = []
    for name, value in chosen.items():
        if name not in knobs:
            raise BadInput(f"{kernel.name} has no setting {name}", where=f"line {kernel.line}",
                           fix=f"it has {', '.join(knobs) or 'none'}", code="KB081")  # fmt: skip
        if knobs[name].place == "literal":
            yield knobs[name].span, repr(value)
        else:
            behind.append((knobs[name].span, f"{name}={value!r}"))
    if behind:
        span = behind[0][0]
        before = source[: span.begin].rstrip()
        comma = "" if before.endswith((b",", b"(")) else ", "
        yield span, comma + ", ".join(text for _, text in behind)


def _config(kernel: TunableKernel, setting: Mapping[str, object]) -> str:
    """Return the list of the one configuration; the hook of the first that was written goes with it."""
    table = {name: value for name, value in setting.items() if name not in _OPTIONS}
    options = [f"{name}={value!r}" for name, value in setting.items() if name in _OPTIONS]
    hook = [f"pre_hook={kernel.hook}"] if kernel.hook else []
    return f"[{kernel.maker}({', '.join([repr(table), *options, *hook])})]"
