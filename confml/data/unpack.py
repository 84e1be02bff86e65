"""Archives that no library reads: UNIX compress, and shell archives, which would otherwise be run."""

import re


def uncompress_z(data: bytes, member: str | None = None) -> bytes:
    """Return the content of a file of UNIX ``compress`` (``.Z``).

    Lempel-Ziv-Welch (Welch 1984) with codes of 9 bits that grow to at most ``data[2] & 31``, low bits first;
    code 256 clears the table. Codes are written in groups of eight, and the rest of a group is padding when
    the width of the codes changes or the table is cleared. Raises ValueError for broken data.
    """
    if data[:2] != b"\x1f\x9d" or not 0x89 <= data[2] <= 0x90:
        raise ValueError("it is not a file of UNIX compress, with codes of 9 to 16 bits in block mode")
    widest, table = data[2] & 31, [bytes([byte]) for byte in range(256)] + [b""]
    width, last, out = 9, b"", []
    bit = group = 24  # places of the next code and of its group of eight
    while bit + width <= 8 * len(data):
        code = int.from_bytes(data[bit >> 3 : (bit >> 3) + 4], "little") >> (bit & 7) & ((1 << width) - 1)
        bit += width
        if code > len(table) or (code == len(table) and not last):
            raise ValueError(f"broken compress data: code {code} is not in the table yet")
        if code == 256:
            del table[257:]
            last = b""
        else:
            entry = table[code] if code < len(table) else last + last[:1]  # the code that this step makes
            if last and len(table) < 1 << widest:
                table.append(last + entry[:1])
            out.append(entry)
            last = entry
        grows = code != 256 and len(table) == 1 << width and width < widest
        if grows or code == 256:
            bit = group = group - (group - bit) // (8 * width) * (8 * width)
            width = width + 1 if grows else 9
    return b"".join(out)


def shar_member(data: bytes, member: str | None) -> bytes:
    """Return a file of a shell archive: lines of its here-document, without the X that ``sed`` removes.

    Nothing of the archive is run. Raises ValueError for an archive without the file or its end.
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        name, end = (re.search(sign + rb"""\s*['"\\]?([^\s'"]+)""", line) for sign in (rb"[^>]>", b"<<"))
        if name and end and name[1] == str(member).encode():
            prefix = b"X" if b"sed" in line else b""
            body = lines[number : lines.index(end[1], number)]
            return b"".join(text.removeprefix(prefix) + b"\n" for text in body)
    raise ValueError(f"there is no file '{member}' in the shell archive")


READERS = {"compress-z": uncompress_z, "shar-member": shar_member}
"""Readers of the files that cards name with ``unpack``, which pooch does not have."""
