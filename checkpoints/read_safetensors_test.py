# SPDX-License-Identifier: Apache-2.0
"""Reads a safetensors file with nothing but the format's description: prints one JSON object.

Used by safetensors_test.cpp. Shares no code with the writer; numbers are unpacked by the standard library.
"""
import json
import struct
import sys

CODES = {"U8": "B", "I8": "b", "I16": "h", "I32": "i", "I64": "q", "F16": "e", "F32": "f", "F64": "d", "BOOL": "?"}

with open(sys.argv[1], "rb") as file:
    data = file.read()
size = struct.unpack_from("<Q", data)[0]
assert size % 8 == 0 and data[8:9] == b"{", "header begins or ends wrongly"
header = json.loads(data[8:8 + size])
out = {"metadata": header.pop("__metadata__", {}), "order": list(header), "values": {}, "shapes": {}}
position = 0
for name, tensor in header.items():
    begin, end = tensor["data_offsets"]
    assert begin == position, f"{name} begins at {begin}, not {position}"
    code = CODES[tensor["dtype"]]
    assert (8 + size + begin) % struct.calcsize(code) == 0, f"{name} is not aligned"
    count = (end - begin) // struct.calcsize(code)
    out["values"][name] = struct.unpack_from(f"<{count}{code}", data, 8 + size + begin)
    out["shapes"][name] = tensor["shape"]
    position = end
assert 8 + size + position == len(data), "bytes are left over"
print(json.dumps(out))
