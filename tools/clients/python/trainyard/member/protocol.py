# SPDX-License-Identifier: Apache-2.0
"""The messages of docs/wire_format.md that members exchange with the launcher and with each other."""
from __future__ import annotations

from typing import Any, Dict, List

from ..messages import Schema


def _message(name: str, fields: str, inner: str = "") -> Schema:
    lines = "".join(f"  {field.strip()}\n" for field in fields.split(","))
    return Schema(f"{name} {{\n{lines}}}\n{inner}")


_COMPONENT = ("ComponentPlan {\n  u32 index\n  string name\n  string plugin\n  string library\n  string process\n"
              "  string thread\n  u32 rank\n  u32 world_size\n  u32 host\n"
              "  u32 first_rank_of_host\n  u32 ranks_of_host\n  string parameters\n  map<string> places\n"
              "  map<string> topics\n  list<u32> cpus\n}\n")
_EDGE = ("EdgePlan {\n  u32 id\n  string topic\n  u32 from\n  string output\n  u32 to\n  string input\n  string policy\n"
         "  u64 window_messages\n  u64 window_bytes\n  string transport\n}\n")

#: The control protocol, by the name of the type.
CONTROL: Dict[str, Schema] = {schema.name: schema for schema in (
    _message("Hello", "string process, i32 pid, string abi_tag"),
    _message("ProcessPlan", "string run, string run_directory, string output_directory, string process, "
             "u32 process_index, u64 seed, string log_level, list<string> plugin_path, map<string> bind, "
             "list<ComponentPlan> components, list<EdgePlan> edges", _COMPONENT + _EDGE),
    _message("StateChanged", "string component, string state, string error"),
    _message("Configured", "string process, map<string> endpoints"),
    _message("Connect", "map<string> endpoints"),
    _message("Connected", "string process"),
    _message("Transition", "string component, string state"),
    _message("Heartbeat", "string process, u64 sequence"),
    _message("Request", "u64 id, string target, string method, string body"),
    _message("Reply", "u64 id, bool ok, string body"),
    _message("PeerGone", "string process, u32 process_index, i32 pid"),
    _message("RunFinished", "string component, string reason, bool success"))}

#: The control messages on the sockets of edges and of visitors.
EDGES: Dict[str, Schema] = {schema.name: schema for schema in (
    _message("Subscribe", "u32 subscription, string topic, u32 edge, u64 fingerprint, string policy, "
             "u64 window_messages, u64 window_bytes, string payloads, u32 process_index"),
    _message("RingOffer", "i32 ring_fd, u64 ring_inode, u64 ring_bytes, WakeOffer wake",
             "WakeOffer {\n  i32 pid\n  i32 state_fd\n  u64 state_inode\n  u64 state_bytes\n  i32 pipe\n}\n"),
    _message("Subscribed", "u32 subscription, string topic, string type, u64 fingerprint, string schema, string error"),
    _message("Credit", "u32 subscription, u64 messages, u64 bytes"),
    _message("Flush", "u32 subscription"),
    _message("Unsubscribe", "u32 subscription"),
    _message("Ended", "u32 subscription"))}

LOG_RECORD_TEXT = "LogRecord {\n  i64 time_ns\n  string level\n  string component\n  string text\n}\n"
LOG_RECORD = Schema(LOG_RECORD_TEXT)
LOG_TOPIC = "/log"
#: What a member says in its Hello.
WIRE = "wire 1"


def control_frames(name: str, **fields: Any) -> List[bytes]:
    """Returns the frames of a message to the launcher."""
    return [name.encode(), CONTROL[name].encode(fields)[0]]


def edge_frames(name: str, **fields: Any) -> List[bytes]:
    """Returns the frames of a control message on the socket of an edge."""
    return [b"", name.encode(), EDGES[name].encode(fields)[0]]


def ring_offer(pid: int) -> bytes:
    """Returns a message RingOffer without a ring, which only tells a publisher which process subscribes."""
    return EDGES["RingOffer"].encode({"ring_fd": -1, "ring_inode": 0, "ring_bytes": 0, "wake": {
        "pid": pid, "state_fd": -1, "state_inode": 0, "state_bytes": 0, "pipe": -1}})[0]
