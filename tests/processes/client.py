"""The command ``confml`` for shell scripts: ``python client.py SOCKET ARGUMENTS`` asks the server of a test.

It imports little, so that it starts in some hundredths of a second.
"""

import json
import os
import socket
import sys


def main() -> int:
    request = {"arguments": sys.argv[2:], "cwd": os.getcwd(), "env": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(sys.argv[1])
        socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
        connection.recv(20)
        code = int(connection.recv(20))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
