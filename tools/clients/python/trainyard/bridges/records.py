# SPDX-License-Identifier: Apache-2.0
"""The records that a bridge delivers. A record is a small dictionary that is made from a message, and stored as one
line of JSON."""
from __future__ import annotations

import time
from typing import Any, Dict

#: The key "kind" is "metrics", "text", "facts" or "end".
Record = Dict[str, Any]

# The largest number of characters in a text record, because a model may generate a very long text.
_MOST_TEXT = 1 << 20


def metrics_record(message: Dict[str, Any]) -> Record:
    """Makes a record from a message of the type Metrics."""
    return {"kind": "metrics", "stage": message["stage"], "step": message["step"], "epoch": message["epoch"],
            "samples": message["samples"], "time_ns": message["time_ns"],
            "values": {value["name"]: value["value"] for value in message["values"]}}


def text_record(message: Dict[str, Any]) -> Record:
    """Makes a record from a message of the type Prediction."""
    text = message["text"]
    if len(text) > _MOST_TEXT:
        text = f"{text[:_MOST_TEXT]}\n[{len(text) - _MOST_TEXT} more characters]"
    return {"kind": "text", "step": message["step"], "time_ns": time.time_ns(), "title": message["title"], "text": text}


def model_record(message: Dict[str, Any]) -> Record:
    """Makes a record from a message of the type ModelInfo."""
    return {"kind": "facts", "values": {"model.parameters": message["parameters"], "model.device": message["device"],
                                        "model.precision": message["precision"]}}


def end_record(state: str, reason: str) -> Record:
    """Makes the last record of a run. `state` is "ended", "failed", "interrupted" or "killed"."""
    return {"kind": "end", "state": state, "reason": reason, "time_ns": time.time_ns()}
