"""UNIX compress and shell archives."""

import numpy as np
import pytest

from confml.data.unpack import shar_member, uncompress_z


def compress_z(data: bytes, widest: int = 16, clear_after: int = 10**9) -> bytes:
    """What compress 4.0 writes, code by code; slow and plain.

    A full table is cleared once ``clear_after`` bytes are read since it was new. Codes are written in groups
    of eight; a group that is not full is padded, with zeros here, where the width changes.
    """
    out, group, width = bytearray([0x1F, 0x9D, widest | 128]), [], 9

    def end_group(size: int):
        number = sum(code << (width * at) for at, code in enumerate(group))
        out.extend(number.to_bytes(width, "little")[: size if group else 0])
        group.clear()

    def emit(code: int):
        group.append(code)
        if len(group) == 8:
            end_group(width)

    letters = {bytes([byte]): byte for byte in range(256)}
    table, free, prefix, started = dict(letters), 257, b"", 0
    for read, byte in enumerate(data):
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
        elif read - started > clear_after:
            emit(256)
            end_group(width)
            table, free, width, started = dict(letters), 257, 9, read
        prefix = bytes([byte])
    if prefix:
        emit(table[prefix])
    end_group(-(-width * len(group) // 8))
    return bytes(out)


def text_like(n: int, seed: int = 0) -> bytes:
    rows = np.random.default_rng(seed).integers(0, 120, size=(n // 15, 5))
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


@pytest.mark.parametrize(("widest", "clear_after"), [(16, 10**9), (12, 20_000), (10, 3000)])
def test_uncompress_of_much_text_with_all_widths_and_cleared_tables(widest, clear_after):
    data = text_like(60_000)
    packed = compress_z(data, widest, clear_after)
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
