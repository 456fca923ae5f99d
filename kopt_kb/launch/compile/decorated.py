"""What stands above a `@triton.jit` function: heuristics, autotuners and wrappers of libraries, in any order.

Triton's own `run` of each layer calls the next one, times configurations, or does whatever a library put there. Here
the layers are read instead: a layer with `configs` chooses values, a layer with `values` computes them, any other is
stepped through by its `fn`, down to the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kopt_kb.base.errors import BadInput

__all__ = ["chosen_config", "computed_names", "configurations", "described", "layers", "unwrap", "values_of"]


def layers(kernel: Any) -> Iterator[Any]:
    """Yield a decorated function's layers from the outermost to the function itself."""
    from triton.runtime.jit import JITFunction

    while kernel is not None:
        yield kernel
        kernel = None if isinstance(kernel, JITFunction) else getattr(kernel, "fn", None)


def unwrap(kernel: Any) -> Any:
    """Return the JITFunction under all decorators, or None for anything else."""
    from triton.runtime.jit import JITFunction

    *_, innermost = layers(kernel)
    return innermost if isinstance(innermost, JITFunction) else None


def configurations(kernel: Any) -> list[Any]:
    """Return the configurations that an autotuner among the layers chooses from; none without one."""
    for layer in layers(kernel):
        found = getattr(layer, "configs", None)
        if isinstance(found, list | tuple) and found:
            return list(found)
    return []


def chosen_config(kernel: Any, number: int, where: str) -> Any:
    """Return one of a kernel's configurations; raises `BadInput` with how many there are."""
    known = configurations(kernel)
    if not 0 <= number < len(known):
        raise BadInput(f"no autotune config {number}", where=where, fix=f"the kernel has {len(known)}", code="KB082")
    return known[number]


def described(config: Any) -> dict[str, bool | int | float | str]:
    """Return what a configuration sets, by name, as plain values; what it leaves to Triton is left out."""
    values = {name: value for name, value in config.all_kwargs().items() if value is not None}
    return {
        name: value if isinstance(value, bool | int | float | str) else str(value) for name, value in values.items()
    }


def computed_names(kernel: Any) -> tuple[str, ...]:
    """Return the parameters that heuristics among the layers fill in at a launch."""
    return tuple(name for layer in layers(kernel) for name in _rules(layer))


def _rules(layer: Any) -> Mapping[str, Callable[..., object]]:
    values = getattr(layer, "values", None)
    return values if isinstance(values, dict) else {}


def values_of(kernel: Any, given: Mapping[str, object], config: Any, where: str) -> dict[str, object]:
    """Return the arguments and options of a launch: what was given, then what the layers choose and compute.

    Args:
        kernel: The decorated function.
        given: Parameter or option → value; these are never overwritten.
        config: The configuration that an autotuner among the layers takes; None leaves it out.
        where: Named by errors.

    Raises:
        BadInput: A heuristic fails on what is known where it stands.
    """
    known = dict(given)
    for layer in layers(kernel):
        if config is not None and getattr(layer, "configs", None):
            known = {**config.all_kwargs(), **known}
        for name, rule in _rules(layer).items():
            if name not in given:
                known[name] = _computed(name, rule, known, where)
    return known


def _computed(name: str, rule: Any, known: Mapping[str, object], where: str) -> object:
    try:
        return rule(dict(known))
    except KeyError as error:
        what = f"the heuristic of {name} needs {error.args[0] if error.args else 'an argument'}"
        fix = "give it, or choose an autotune configuration that has it with --autotune N"
        raise BadInput(what, where=where, fix=fix, code="KB081") from error
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        what = f"the heuristic of {name} fails: {text}"
        raise BadInput(what, where=where, fix=f"give {name} itself with --constexpr", code="KB081") from error
