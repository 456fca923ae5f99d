"""The judge's own kernels, as PTX that the driver compiles: a clock probe, a mask for contents at rest, nothing at all.

A kernel can read every allocation of its context. So contents of later launches lie there masked, by a stream of words
that a key makes, and are unmasked by the judge just before their launch; keys are drawn anew for each filling and stay
on the host. The stream is SplitMix64's finaliser applied twice (Steele, Lea and Flood, OOPSLA 2014): enough against a
kernel that has microseconds and does not know the key, no cipher.
"""

from __future__ import annotations

__all__ = ["IDLE", "MASK", "PROBE", "PROBE_NS", "PTX", "masked", "stream_word"]

PROBE, MASK, IDLE = "kopt_probe", "kopt_mask", "kopt_idle"
"""Entries: the probe takes an address for two 64-bit results (cycles, nanoseconds) and how long to run in nanoseconds;
the mask takes target, source, whole words, bytes behind them, two halves of the key, and the address of a 32-bit flag:
with one, it compares instead of writing, and sets it where target differs from the unmasked source."""

PROBE_NS = 20_000
"""Nanoseconds that a probe counts cycles for; both ends are edges of the global timer, whatever its resolution."""

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = (1 << 64) - 1


def _mixed(word: int) -> int:
    word = (word ^ word >> 30) * _FIRST & _WORD
    word = (word ^ word >> 27) * _SECOND & _WORD
    return word ^ word >> 31


def stream_word(key: tuple[int, int], index: int) -> int:
    """Return one 64-bit word of a key's stream."""
    return _mixed((_mixed((index * _STEP + key[0]) & _WORD) + key[1]) & _WORD)


def masked(data: bytes, key: tuple[int, int]) -> bytes:
    """Return data under a key's stream, as the kernel does; twice is the data again."""
    words = -(-len(data) // 8)
    stream = b"".join(stream_word(key, index).to_bytes(8, "little") for index in range(words))
    return bytes(one ^ two for one, two in zip(data, stream, strict=False))


def _finaliser(register: str) -> str:
    """Return instructions that mix a 64-bit register in place; %rd20 is spoilt."""
    lines = []
    for shift, factor in ((30, _FIRST), (27, _SECOND), (31, 0)):
        lines += [f"shr.u64 %rd20, {register}, {shift};", f"xor.b64 {register}, {register}, %rd20;"]
        lines += [f"mul.lo.u64 {register}, {register}, {factor:#x};"] if factor else []
    return "\n    ".join(lines)


def _word_of(index: str, target: str) -> str:
    """Return instructions that leave a word of the stream in a register; %rd8 and %rd9 hold the key."""
    return f"""mad.lo.u64 {target}, {index}, {_STEP:#x}, %rd8;
    {_finaliser(target)}
    add.u64 {target}, {target}, %rd9;
    {_finaliser(target)}"""


PTX = f"""
.version 7.0
.target sm_70
.address_size 64

.visible .entry {IDLE}()
{{
    ret;
}}

.visible .entry {PROBE}(.param .u64 out, .param .u64 ns)
{{
    .reg .u64 %rd<12>;
    .reg .u32 %r<4>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [ns];
    mov.u32 %r1, 0;
    mov.u64 %rd3, %globaltimer;
EDGE:
    add.u32 %r1, %r1, 1;
    mov.u64 %rd4, %globaltimer;
    setp.eq.u64 %p1, %rd4, %rd3;
    setp.lt.and.u32 %p2, %r1, 1000000, %p1;
    @%p2 bra EDGE;
    mov.u64 %rd5, %clock64;
    mov.u32 %r1, 0;
COUNT:
    add.u32 %r1, %r1, 1;
    mov.u64 %rd6, %globaltimer;
    mov.u64 %rd7, %clock64;
    sub.u64 %rd8, %rd6, %rd4;
    setp.lt.u64 %p1, %rd8, %rd2;
    setp.lt.and.u32 %p2, %r1, 1000000, %p1;
    @%p2 bra COUNT;
    sub.u64 %rd9, %rd7, %rd5;
    st.global.u64 [%rd1], %rd9;
    st.global.u64 [%rd1+8], %rd8;
    ret;
}}

.visible .entry {MASK}(.param .u64 target, .param .u64 source, .param .u64 words, .param .u32 tail,
                       .param .u64 key0, .param .u64 key1, .param .u64 flag)
{{
    .reg .u64 %rd<24>;
    .reg .u32 %r<12>;
    .reg .pred %p<8>;
    ld.param.u64 %rd1, [target];
    ld.param.u64 %rd2, [source];
    ld.param.u64 %rd3, [words];
    ld.param.u32 %r6, [tail];
    ld.param.u64 %rd8, [key0];
    ld.param.u64 %rd9, [key1];
    ld.param.u64 %rd4, [flag];
    setp.ne.u64 %p3, %rd4, 0;
    mov.u32 %r9, 1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %rd5, %r1, %r2;
    cvt.u64.u32 %rd6, %r3;
    add.u64 %rd5, %rd5, %rd6;
    mul.wide.u32 %rd7, %r4, %r2;
    mov.u64 %rd10, %rd5;
WORDS:
    setp.ge.u64 %p1, %rd10, %rd3;
    @%p1 bra TAIL;
    {_word_of("%rd10", "%rd11")}
    shl.b64 %rd12, %rd10, 3;
    add.u64 %rd13, %rd2, %rd12;
    add.u64 %rd14, %rd1, %rd12;
    ld.global.u64 %rd15, [%rd13];
    xor.b64 %rd15, %rd15, %rd11;
    @%p3 bra COMPARE;
    st.global.u64 [%rd14], %rd15;
    bra NEXT;
COMPARE:
    ld.global.u64 %rd16, [%rd14];
    setp.ne.u64 %p2, %rd15, %rd16;
    @%p2 st.global.u32 [%rd4], %r9;
NEXT:
    add.u64 %rd10, %rd10, %rd7;
    bra WORDS;
TAIL:
    setp.ne.u64 %p4, %rd5, 0;
    setp.eq.or.u32 %p4, %r6, 0, %p4;
    @%p4 bra END;
    {_word_of("%rd3", "%rd11")}
    shl.b64 %rd12, %rd3, 3;
    add.u64 %rd13, %rd2, %rd12;
    add.u64 %rd14, %rd1, %rd12;
    mov.u32 %r5, 0;
BYTES:
    ld.global.u8 %r7, [%rd13];
    cvt.u32.u64 %r8, %rd11;
    and.b32 %r8, %r8, 255;
    xor.b32 %r7, %r7, %r8;
    @%p3 bra COMPARE_BYTE;
    st.global.u8 [%rd14], %r7;
    bra NEXT_BYTE;
COMPARE_BYTE:
    ld.global.u8 %r10, [%rd14];
    setp.ne.u32 %p2, %r7, %r10;
    @%p2 st.global.u32 [%rd4], %r9;
NEXT_BYTE:
    shr.u64 %rd11, %rd11, 8;
    add.u64 %rd13, %rd13, 1;
    add.u64 %rd14, %rd14, 1;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r6;
    @%p1 bra BYTES;
END:
    ret;
}}
"""
"""PTX of ISA 7.0 for sm_70 and newer."""
