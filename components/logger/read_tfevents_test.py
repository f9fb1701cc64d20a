# SPDX-License-Identifier: Apache-2.0
"""Reads a TensorBoard event file, with no code of the encoder, and prints one JSON object per event.

Used by tensorboard_test.cpp. Only the fields that the logger writes are decoded; an unknown field is an error.
"""
import json
import struct
import sys


def crc32c(data):
    """Returns the CRC-32C of `data`, computed bit by bit: slow, but simpler than with a table."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def pairs(data):
    """Yields the number and the value of each field: an int, a float, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif wire == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        yield number, value


def fields(data):
    """Returns the value of each field by number, for messages without repeated fields."""
    return dict(pairs(data))


def tensor(data):
    """Returns the type, the shape and the values of a tensor."""
    raw = list(pairs(data))
    one = dict(raw)
    shape = [fields(size)[1] for number, size in pairs(one[2]) if number == 2]
    values = [value.decode("latin-1") for number, value in raw if number == 8]
    if 4 in one:
        code = {1: "f", 2: "d"}[one[1]]
        values = list(struct.unpack(f"<{len(one[4]) // struct.calcsize(code)}{code}", one[4]))
    return {"dtype": one[1], "shape": shape, "values": values}


def hyperparameters(data):
    """Returns the hyper-parameters in the event that begins a session."""
    found = {}
    for number, entry in pairs(fields(data)[3]):
        if number == 1:
            pair = fields(entry)
            value = list(pairs(pair[2]))[0]
            found[pair[1].decode()] = value[1].decode() if value[0] == 3 else bool(value[1]) if value[0] == 4 else value[1]
    return found


def event(data):
    raw = fields(data)
    out = {"wall_time": raw.pop(1), "step": raw.pop(2, 0)}
    if 3 in raw:
        out["version"] = raw.pop(3).decode()
    if 5 in raw:
        value = fields(fields(raw.pop(5))[1])
        out["tag"] = value.pop(1).decode()
        if 2 in value:
            out["value"] = value.pop(2)
        if 8 in value:
            metadata = fields(value.pop(9))
            plugin = fields(metadata[1])
            out["plugin"] = plugin[1].decode()
            out |= tensor(value.pop(8))
            if 2 in plugin:
                out["hyperparameters"] = hyperparameters(plugin[2])
        assert not value, f"unknown value fields {value}"
    assert not raw, f"unknown event fields {raw}"
    return out


def main():
    data = open(sys.argv[1], "rb").read()
    at = 0
    while at < len(data):
        length = data[at:at + 8]
        size = struct.unpack("<Q", length)[0]
        body = data[at + 12:at + 12 + size]
        assert len(body) == size, "short record"
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(length), "checksum of the length"
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked(body), "checksum of the data"
        print(json.dumps(event(body)))
        at += 16 + size


main()
