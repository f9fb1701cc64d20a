#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a trace with Perfetto's published schema, and compares it with the same events in Chrome's format.

    read_with_perfetto.py TRACE JSON
"""
import collections
import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

EVENT = schema.TrackEvent


def messages_in(message):
    """Yields the message and every message inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from messages_in(inner)


class Reader:
    """Reads the packets of a trace in the same way as Perfetto's trace processor, and fails if that program would drop
    something."""

    def __init__(self, trace):
        self.names, self.categories, self.annotations = {}, {}, {}
        self.processes, self.tracks = {}, {}  # By the number of the track: pid and name; pid and name of the row.
        self.events = collections.defaultdict(list)  # By track: time, order in the file, event.
        self.flows = collections.defaultdict(list)
        for packet in trace.packet:
            self.read(packet)

    def read(self, packet):
        assert packet.trusted_packet_sequence_id == 1
        first = not self.processes
        assert packet.sequence_flags == (packet.SEQ_INCREMENTAL_STATE_CLEARED if first else packet.SEQ_NEEDS_INCREMENTAL_STATE)
        for table, entries in ((self.names, packet.interned_data.event_names),
                               (self.categories, packet.interned_data.event_categories),
                               (self.annotations, packet.interned_data.debug_annotation_names)):
            for entry in entries:
                assert entry.iid not in table, "interned twice"
                table[entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            self.describe(packet.track_descriptor)
        if packet.HasField("track_event"):
            assert packet.track_event.track_uuid in self.tracks, "an event before its track"
            events = self.events[packet.track_event.track_uuid]
            events.append((packet.timestamp, len(events), packet.track_event))

    def describe(self, descriptor):
        assert descriptor.uuid not in self.processes and descriptor.uuid not in self.tracks
        if descriptor.HasField("process"):
            self.processes[descriptor.uuid] = (descriptor.process.pid, descriptor.process.process_name)
        else:
            pid, _ = self.processes[descriptor.parent_uuid]
            self.tracks[descriptor.uuid] = (pid, descriptor.name)

    def slices(self):
        """Returns how often there is each slice: pid, row, name, category, begin, end and annotations."""
        found = collections.Counter()
        for track, events in self.events.items():
            open_ = []
            for time, _, event in sorted(events, key=lambda entry: entry[:2]):
                if event.type == EVENT.TYPE_SLICE_BEGIN:
                    open_.append((time, event))
                elif event.type == EVENT.TYPE_SLICE_END:
                    begin, opened = open_.pop()
                    found[self.slice(track, opened, begin, time)] += 1
                else:
                    self.instant(track, event, time)
            assert not open_, "slices without an end"
        return found

    def slice(self, track, event, begin, end):
        pid, row = self.tracks[track]
        arguments = {}
        for one in event.debug_annotations:
            which = one.WhichOneof("value")
            arguments[self.annotations[one.name_iid]] = getattr(one, which)
        return (pid, row, event.name or self.names[event.name_iid], self.categories[event.category_iids[0]], begin, end,
                json.dumps(arguments, sort_keys=True))

    def instant(self, track, event, time):
        assert event.type == EVENT.TYPE_INSTANT
        for flow in [*event.flow_ids, *event.terminating_flow_ids]:
            self.flows[flow].append((time, *self.tracks[track], self.names[event.name_iid]))


def chrome(events):
    """Returns the slices, and the ends of all arrows, in the form of Chrome."""
    rows, processes, slices, arrows = {}, {}, collections.Counter(), collections.defaultdict(list)
    in_ns = lambda text: int(text.replace(".", ""))  # Three digits follow the point, so nothing is rounded.
    for event in events:
        row = (event["pid"], event["tid"]) if "tid" in event else None
        if event["ph"] == "M":
            if event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            else:
                rows[row] = event["args"]["name"]
        elif event["ph"] == "X":
            begin, duration = in_ns(event["ts"]), in_ns(event["dur"])
            slices[(event["pid"], rows[row], event["name"], event["cat"], begin, begin + duration,
                    json.dumps(event["args"], sort_keys=True))] += 1
        else:
            arrows[event["id"]].append((in_ns(event["ts"]), event["pid"], rows[row], event["name"]))
    return processes, slices, collections.Counter(tuple(sorted(ends)) for ends in arrows.values())


def main():
    trace = schema.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    for message in messages_in(trace):
        assert not list(unknown_fields.UnknownFieldSet(message)), f"the schema does not know all fields of {message}"
    reader = Reader(trace)
    slices = reader.slices()
    with open(sys.argv[2], encoding="utf-8") as file:
        processes, expected, arrows = chrome(json.load(file, parse_float=str)["traceEvents"])
    assert dict(reader.processes.values()) == processes, (reader.processes, processes)
    assert slices == expected, (list((slices - expected).items())[:5], list((expected - slices).items())[:5])
    assert collections.Counter(tuple(sorted(ends)) for ends in reader.flows.values()) == arrows
    names = {name for _, _, name, *_ in slices}
    assert {"forward", "backward", "update", "read"} <= names, names
    print(f"{sum(slices.values())} slices on {len(reader.tracks)} tracks of {len(processes)} processes, "
          f"{sum(arrows.values())} flows")


if __name__ == "__main__":
    main()
