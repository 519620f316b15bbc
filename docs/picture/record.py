#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# record.py ROWSxCOLUMNS RECORDING COMMAND...: run it on a terminal and record that, asciicast v2.
import codecs
import fcntl
import json
import os
import pty
import struct
import sys
import termios
import time

rows, columns = map(int, sys.argv[1].split("x"))
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
decoder, begun = codecs.getincrementaldecoder("utf-8")("replace"), time.monotonic()
with open(sys.argv[2], "w", encoding="utf-8") as f:
    print(json.dumps({"version": 2, "width": columns, "height": rows}), file=f)
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        print(json.dumps([round(time.monotonic() - begun, 3), "o", decoder.decode(data)]), file=f)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
