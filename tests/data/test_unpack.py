"""UNIX compress and shell archives."""

from __future__ import annotations

import numpy as np
import pytest

from confml.data.unpack import shar_member, uncompress_z


def compress_z(data: bytes, widest: int = 16, check_every: int = 10_000) -> bytes:
    """What compress 4.0 writes, code by code; slow and plain.

    Once the table is full, the ratio of bytes read to bytes written is looked at after every ``check_every``
    bytes read, and the table cleared when it has fallen (0: at every look). The padding of a group not full
    holds what the buffer held before, as in the original.
    """
    out = bytearray([0x1F, 0x9D, widest | 128])
    buffer = bytearray(32)
    bits, width = 0, 9  # of the present group of codes: how much is filled, and of each code

    def emit(code: int):
        nonlocal bits
        at, shift = divmod(bits, 8)
        number = code << shift | buffer[at] & ((1 << shift) - 1)
        for i in range(-(-(width + shift) // 8)):
            buffer[at + i] = number >> (8 * i) & 255
        bits += width
        if bits == 8 * width:
            end_group(width)

    def end_group(size: int):
        nonlocal bits
        out.extend(buffer[:size] if bits else b"")
        bits = 0

    letters = {bytes([byte]): byte for byte in range(256)}
    first = 257
    table, free = dict(letters), first
    prefix, ratio, next_check = b"", 0, check_every
    for read, byte in enumerate(data, start=1):
        longer = prefix + bytes([byte])
        if longer in table:
            prefix = longer
            continue
        emit(table[prefix])
        if free < 1 << widest:
            # The reader makes each entry one code later than the writer, so the width grows one code later.
            table[longer] = free
            free += 1
            if free - 1 == 1 << width and width < widest:
                end_group(width)
                width += 1
        elif read >= next_check:
            next_check = read + check_every
            now = read * 256 // len(out)
            if now > ratio and check_every:
                ratio = now
            else:
                emit(256)
                end_group(width)
                table, free, width, ratio = dict(letters), first, 9, 0
        prefix = bytes([byte])
    if prefix:
        emit(table[prefix])
    end_group(-(-bits // 8))
    return bytes(out)


def text_like(n: int, seed: int = 0) -> bytes:
    rows = np.random.default_rng(seed).integers(0, 120, size=(n // 15, 5))
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


@pytest.mark.parametrize(("widest", "check_every"), [(16, 10_000), (12, 500), (10, 0)])
def test_uncompress_of_much_text_with_all_widths_and_cleared_tables(widest, check_every):
    data = text_like(60_000)
    packed = compress_z(data, widest, check_every)
    assert len(packed) < len(data)
    assert uncompress_z(packed) == data


def test_uncompress_of_a_known_file():
    # What gzip -dc reads as this text.
    packed = bytes.fromhex("1f9d90549e0829f2448a932754020e2ca890a04184")
    assert uncompress_z(packed) == b"TOBEORNOTTOBEORTOBEORNOT"
    assert packed == compress_z(b"TOBEORNOTTOBEORTOBEORNOT")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x1f\x8b\x08", "not a file of UNIX compress"),
        (b"\x1f\x9d\x88aa", "not a file of UNIX compress, with codes of 9 to 16 bits"),
        (b"\x1f\x9d\x90\x61\xfe\x03", "code 511 is not in the table yet"),
    ],
)
def test_broken_compress_data_are_said(data, said):
    with pytest.raises(ValueError, match=said):
        uncompress_z(data)


GNU_SHAR = b"""#!/bin/sh
# This is a shell archive (produced by shar 3.50)
# ============= synth.tr ==============
if test -f 'synth.tr' -a X"$1" != X"-c"; then
\techo 'x - skipping synth.tr (File already exists)'
else
echo 'x - extracting synth.tr (Text)'
sed 's/^X//' << 'SHAR_EOF' > 'synth.tr' &&
xs ys yc
X 0.1 0.2 0
XX marks one
X
SHAR_EOF
chmod 0644 synth.tr ||
fi
sed 's/^X//' << 'SHAR_EOF' > 'dir/other' &&
sed 's/^X//' << 'MARK' > 'inside' &&
SHAR_EOF
exit 0
"""

OLD_SHAR = b"""sed "s/^X//" >'a.txt' <<'END_OF_FILE'
X1 2
X3 4
END_OF_FILE
cat << \\END > b.txt
X5
END
"""


def test_shar_member():
    """What looks like an archive inside a file of one is not opened."""
    assert shar_member(GNU_SHAR, "synth.tr") == b"xs ys yc\n 0.1 0.2 0\nX marks one\n\n"
    assert shar_member(GNU_SHAR, "dir/other") == b"sed 's/^X//' << 'MARK' > 'inside' &&\n"
    assert shar_member(OLD_SHAR, "a.txt") == b"1 2\n3 4\n" and shar_member(OLD_SHAR, "b.txt") == b"X5\n"
    for archive, name in [(GNU_SHAR, "none"), (GNU_SHAR[: GNU_SHAR.index(b"SHAR_EOF\nchmod")], "synth.tr")]:
        with pytest.raises(ValueError):
            shar_member(archive, name)
