"""What each operation's printed form says: attributes, result types and the details outside the dictionary."""

from __future__ import annotations

import ast
import re
import struct

from kopt_kb.analysis.ir.triton.irtypes import IrType, parse_type, split_top
from kopt_kb.analysis.ir.triton.lines import IrLine

__all__ = ["attributes_of", "constant_value", "details_of", "result_types", "split_signature"]

_FLOAT_FORMATS = {"f16": ("<H", "<e"), "f32": ("<I", "<f"), "f64": ("<Q", "<d")}
_COMPARES = ("arith.cmpi", "arith.cmpf")


def attributes_of(inside: str, line: IrLine) -> dict[str, str]:
    """The dictionary `{axis = 0 : i32, reverse}` as text by key; a bare key maps to `unit`."""
    found: dict[str, str] = {}
    for item in split_top(inside):
        key, equals, value = item.partition("=")
        found[key.strip()] = line.string(value) if equals else "unit"
    return found


def split_signature(text: str) -> tuple[str, str]:
    """The part before the last top-level ` : ` and the type signature after it."""
    depth, cut = 0, -1
    for position, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
        elif char == ":" and depth == 0 and text[position - 1 : position] in ("", " "):
            cut = position
            break
    return (text, "") if cut < 0 else (text[:cut], text[cut + 1 :].strip())


def _type_list(text: str) -> list[IrType]:
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return [parse_type(item) for item in split_top(text)]


def _descriptor_type(signature: str) -> IrType:
    last = split_top(signature)[-1]
    return parse_type(last if last.startswith("!tt.tensordesc") else f"!tt.tensordesc{last}")


def result_types(name: str, signature: str, operands: list[IrType], count: int) -> list[IrType]:
    """The types of an operation's results, from its signature and its operands' types.

    `ValueError` when the signature names something that is no type.
    """
    if count == 0:
        return []
    for arrow in ("→", " to "):
        if arrow in signature:
            return _repeated(_type_list(signature.rpartition(arrow)[2]), count)
    special = _special_result(name, signature, operands)
    return [special] if special is not None else _repeated(_type_list(signature), count)


def _special_result(name: str, signature: str, operands: list[IrType]) -> IrType | None:
    """Results whose type the signature does not print as it is."""
    if name == "tt.make_tensor_descriptor":
        return _descriptor_type(signature)
    if name in ("tt.make_tensor_ptr", "tt.advance"):
        return parse_type(f"!tt.ptr{signature}" if signature.startswith("<") else signature)
    if name == "tt.addptr":
        return operands[0]
    if name == "tt.load":
        return operands[0].pointee()
    if name in _COMPARES:
        return operands[0].with_element("i1")
    if name == "tt.unsplat":
        return IrType("scalar", operands[0].element)
    return IrType("scalar", "i1") if name == "arith.constant" and not signature else None


def _repeated(types: list[IrType], count: int) -> list[IrType]:
    return types if len(types) == count else [types[-1]] * count


def details_of(name: str, head: str) -> dict[str, str]:
    """The words of a custom form that decide what is computed."""
    if name in _COMPARES:
        return {"predicate": split_top(head)[0]}
    if name in ("tt.get_program_id", "tt.get_num_programs"):
        return {"axis": head.strip() or "x"}
    if name == "tt.dot":
        match = re.search(r"inputPrecision\s*=\s*(\w+)", head)
        return {"precision": match.group(1) if match else "ieee"}
    if name == "tt.dot_scaled":
        parts = split_top(head)
        elements = dict(re.findall(r"\b(lhs|rhs)\s*=\s*(\w+)", head))
        scaled = {f"{side}_scaled": str(" scale " in part) for side, part in zip("ab", parts, strict=False)}
        return {**elements, **scaled}
    if name == "tt.atomic_rmw":
        return {"kind": split_top(head)[0]}
    if name == "tt.descriptor_reduce":
        return {"kind": head.partition(",")[0].partition("%")[0].strip()}
    return {}


def _scalar(text: str, element: str) -> float | int | bool:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and element in _FLOAT_FORMATS:
        pack, unpack = _FLOAT_FORMATS[element]
        return float(struct.unpack(unpack, struct.pack(pack, int(text, 16)))[0])
    if text.startswith("0x") and element == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", int(text, 16) << 16))[0])
    if element[0] in "fb":
        return float("nan") if text.startswith("0x") else float(text)
    return int(text, 0)


def constant_value(head: str, kind: IrType) -> object:
    """The value of `arith.constant`: a number, or nested lists of integers for an element list.

    None for a blob printed as a string: its lanes are not needed by any count.
    """
    text = head.strip()
    if text.startswith("dense<"):
        text = text[len("dense<") : text.rindex(">")]
    if text.startswith('"'):
        return None
    if text.startswith("["):
        return ast.literal_eval(text.replace("true", "True").replace("false", "False"))
    return _scalar(text, kind.element)
