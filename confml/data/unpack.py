"""Archives that no library reads: UNIX compress, and shell archives, which would otherwise be run."""

import re
from collections.abc import Callable


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
    bit, group = 24, 24  # places of the next code and of its group of eight
    while bit + width <= 8 * len(data):
        at = bit >> 3
        code = int.from_bytes(data[at : at + 4], "little") >> (bit & 7) & ((1 << width) - 1)
        bit += width
        if code == 256:
            del table[257:]
            entry = b""
        else:
            if code > len(table) or (code == len(table) and not last):
                raise ValueError(f"broken compress data: code {code} near byte {at} is not in the table yet")
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


_SHAR_FILE = re.compile(
    rb"""^\s*(?:sed\s+(?:-e\s+)?(['"]?)s/\^X//\1|cat)\s+   # what each line is passed through
    (?:<<\s*(?P<mark1>\S+)\s*>\s*(?P<name1>\S+)|>\s*(?P<name2>\S+)\s*<<\s*(?P<mark2>\S+))""",
    re.VERBOSE,
)


def shar_member(data: bytes, member: str | None) -> bytes:
    """Return a file of a shell archive: lines of its here-document, without the X that ``sed`` removes.

    Nothing of the archive is run. Raises ValueError for an archive without the file or its end.
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        match = _SHAR_FILE.match(line)
        if match and (match["name1"] or match["name2"]).strip(b"'\"") == str(member).encode():
            end = lines.index((match["mark1"] or match["mark2"]).strip(b"'\"\\"), number)
            sed = b"sed" in match[0]
            return b"".join(body.removeprefix(b"X" if sed else b"") + b"\n" for body in lines[number:end])
    raise ValueError(f"there is no file '{member}' in the shell archive")


READERS: dict[str, Callable[[bytes, str | None], bytes]] = {
    "compress-z": uncompress_z,
    "shar-member": shar_member,
}
"""Readers of the files that cards name with ``unpack``, which pooch does not have."""
