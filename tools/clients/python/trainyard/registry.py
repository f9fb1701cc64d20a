# SPDX-License-Identifier: Apache-2.0
"""Questions to the registry of a run and their answers (docs/wire_format.md, section 2), without sockets."""
from __future__ import annotations

import difflib
import json
from typing import Any, Dict, List, Optional, Tuple, TypedDict

from .bounds import QUESTION_BYTES
from .errors import BadMessage, Refused, TrainyardError
from .finder import SAME_DOOR, check_address, is_door


class Publisher(TypedDict):
    component: str
    process: str
    endpoint: str  # The address of the publisher; empty while its process is still starting.


class Subscriber(TypedDict):
    component: str
    process: str
    policy: str


class Topic(TypedDict):
    """The registry's description of a topic."""

    topic: str
    type: str
    fingerprint: str  # 16 hexadecimal digits.
    schema: str
    latched: bool  # True if visitors that come later receive the last message.
    publishers: List[Publisher]
    subscribers: List[Subscriber]


Node = Dict[str, Any]


class Questions:
    """Numbers questions, and reads answers."""

    def __init__(self) -> None:
        self._last_id = 0

    def ask(self, op: str, arguments: Dict[str, Any]) -> Tuple[int, bytes]:
        """Returns the number of a new question and its frame."""
        self._last_id += 1
        frame = json.dumps({"id": self._last_id, "op": op, **arguments}).encode()
        if len(frame) > QUESTION_BYTES:
            raise TrainyardError(f"{op}: the question has {len(frame)} bytes; at most {QUESTION_BYTES}")
        return self._last_id, frame

    @staticmethod
    def number(frame: bytes) -> Tuple[Optional[int], Dict[str, Any]]:
        """Returns the number of the question that a frame answers, and the answer. Raises BadMessage."""
        try:
            answer = json.loads(frame)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise BadMessage(f"the registry's answer is not a JSON object: {frame[:80]!r}")
        number = answer.get("id")
        return number if isinstance(number, int) else None, answer

    @staticmethod
    def result(op: str, answer: Dict[str, Any]) -> Any:
        """Returns the result in an answer. Raises Refused, with the registry's reason, if the question was refused."""
        if answer.get("ok") is True and "result" in answer:
            return answer["result"]
        raise Refused(f"{op}: {answer.get('error')}", str(answer.get("code", "")))


def call_arguments(target: str, method: str, body: Any) -> Dict[str, Any]:
    return {"target": target, "method": method, "body": {} if body is None else body}


def endpoints_of(topics: List[Topic], topic: str, run: str, registry: str = "") -> Optional[List[str]]:
    """Returns the addresses at which a topic is published, or None if a publisher is still starting. `registry` is the
    address of the registry; if it is a front door, the topic is published there, too. Raises TrainyardError if the run
    does not have the topic."""
    try:
        known = {entry["topic"]: entry["publishers"] for entry in topics}
        if topic not in known:
            hint = "".join(f"; did you mean '{near}'?" for near in difflib.get_close_matches(topic, known, 1))
            raise TrainyardError(f"no topic '{topic}' in run {run}{hint}; it has: {', '.join(sorted(known))}")
        found = {publisher["endpoint"] for publisher in known[topic]}
        if found == {SAME_DOOR} and is_door(registry):
            return [registry]
        # Duplicates are removed, because the components of a process share an endpoint.
        return sorted(check_address(endpoint) for endpoint in found) if found and all(found) else None
    except (KeyError, TypeError):
        raise BadMessage("the registry's list of topics is not one") from None
