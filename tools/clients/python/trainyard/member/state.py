# SPDX-License-Identifier: Apache-2.0
"""The state of components in checkpoints: the objects with which a component saves and restores its state, and the
messages for this (docs/wire_format.md, section 9). A component that overrides save_state() automatically has the ports
that this file declares."""
from __future__ import annotations

import json
import math
from typing import Any, Callable, Dict, List, Tuple

from ..errors import TrainyardError
from .memory import numpy
from .ports import Input, Output

# A message may refer to 64 buffers only, so arrays share buffers. Each array begins at a multiple of _ALIGNMENT bytes.
_ALIGNMENT, _BUFFER_BYTES = 64, 1 << 30
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _as_json(value: Any) -> Any:
    """Prepares a value for JSON. JSON has no infinite numbers and no NaN, so they become the words that all messages of
    Trainyard use."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _packed(arrays: Dict[Any, Any], allocate: Callable[[int], Any]) -> Dict[Any, Any]:
    """Moves arrays into as few buffers as possible. A buffer is larger than _BUFFER_BYTES only if a single array is."""
    places: Dict[Any, Tuple[int, int]] = {}  # The number of the buffer of each array, and the offset in it.
    sizes: List[int] = []
    for key, array in arrays.items():
        if not sizes or (sizes[-1] and sizes[-1] + array.nbytes > _BUFFER_BYTES):
            sizes.append(0)
        places[key] = len(sizes) - 1, sizes[-1]
        sizes[-1] += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    buffers, moved = [allocate(size) for size in sizes], {}
    for key, (number, start) in places.items():
        array = arrays.pop(key)  # Each original is freed at once, so that large state does not need twice its memory.
        moved[key] = buffers[number][start:start + array.nbytes].view(array.dtype).reshape(array.shape)
        moved[key][...] = array
    return moved


class StateWriter:
    """Collects the state of a component: values and arrays, each under a name."""

    def __init__(self, component: Any) -> None:
        self._component = component
        self._values: Dict[bool, Dict[str, Any]] = {}
        self._arrays: Dict[Tuple[bool, str], Any] = {}

    def set(self, name: str, value: Any, *, per_rank: bool = False) -> None:
        """Stores a number, a text, True or False, a list or dictionary of these, or a numpy array, which is copied.
        With `per_rank`, the value belongs to this rank only. Otherwise it must be the same on all ranks, and the value
        of rank 0 is saved."""
        if numpy is not None and isinstance(value, numpy.ndarray):
            self._arrays[per_rank, name] = numpy.array(value, value.dtype.newbyteorder("<"), order="C")
            return
        try:
            text = json.dumps(_as_json(value), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise TrainyardError(f"the state '{name}' cannot be saved: {error}; allowed are numpy arrays and what JSON "
                                 "has") from None
        self._values.setdefault(per_rank, {})[name] = json.loads(text)

    def take(self) -> List[Dict[str, Any]]:
        """Returns the state as a list of SavedState. The arrays are then no longer in this object."""
        arrays = _packed(self._arrays, lambda size: self._component.allocate(size, numpy.uint8))
        return [{"owner": owner_of(self._component), "rank": self._component.rank, "per_rank": per_rank,
                 "values": json.dumps(self._values[per_rank]) if per_rank in self._values else "",
                 "tensors": [{"name": name, "data": array} for (rank_only, name), array in arrays.items()
                             if rank_only == per_rank]}
                for per_rank in sorted({*self._values, *(rank_only for rank_only, _ in arrays)})]


class StateReader:
    """The state that a component had when a checkpoint was made."""

    def __init__(self, restored: Dict[str, Any], owner: str, rank: int) -> None:
        self._where = f"{restored['path']}: the state of '{owner}'"
        #: The step of the checkpoint.
        self.step = restored["step"]
        #: The number of ranks of the run that made the checkpoint; 0 if it is not known.
        self.ranks = restored["ranks"]
        self._found: Dict[str, Any] = {}
        for state in restored["states"]:
            if state["owner"] == owner and (not state["per_rank"] or state["rank"] == rank):
                self._found.update(self._values(state["values"]))
                # The component gets a copy that it may change, because the message refers to memory of the checkpoint
                # writer.
                self._found.update({one["name"]: one["data"].numpy().copy() for one in state["tensors"]})

    def _values(self, text: str) -> Dict[str, Any]:
        try:
            values = json.loads(text or "{}")
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise TrainyardError(f"{self._where}: the values are no JSON object")
        return values

    def empty(self) -> bool:
        """Returns True if the checkpoint contains no state of this component."""
        return not self._found

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> Any:
        """Returns the value that was stored under this name. Raises TrainyardError if there is none."""
        if name not in self._found:
            raise TrainyardError(f"{self._where} has no value '{name}'; it has {', '.join(sorted(self._found)) or 'none'}")
        return self._found[name]

    def number(self, name: str) -> float:
        """Returns a number that may be infinite or NaN. Checkpoints contain such numbers as words, which this method
        converts."""
        value = self[name]
        if isinstance(value, str) and value in _WORDS:
            return _WORDS[value]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TrainyardError(f"{self._where}: '{name}' is {value!r:.80}; a number is allowed")
        return float(value)


def owner_of(component: Any) -> str:
    """Returns the name under which the state of a component is saved. It does not contain the rank, because a resumed
    run may have another number of ranks."""
    prefix = f"rank{component.rank}/"
    name: str = component.name
    return name[len(prefix):] if name.startswith(prefix) else name


def _on_request(component: Any, request: Any) -> None:
    writer = StateWriter(component)
    component.save_state(writer)
    component._saved_states.send({"order": request["order"], "component": component.name, "states": writer.take()})


def _on_restored(component: Any, restored: Any) -> None:
    reader = StateReader(restored, owner_of(component), component.rank)
    if not reader.empty():
        component.restore_state(reader)
    component._states_taken.send({"component": component.name, "owners": [owner_of(component)]})


def add_ports(kind: Any) -> None:
    """Adds the ports through which a component saves and restores its state to the class `kind`."""
    kind._state_request = Input("/state_request", "StateRequest", "a request for the component's state, for a checkpoint",
                                optional=True, name="state_request")
    kind._state_request.handler(_on_request)
    kind._restored_states = Input("/restored_states", "RestoredStates", "the state of the checkpoint that the run resumes",
                                  optional=True, name="restored_states")
    kind._restored_states.handler(_on_restored)
    kind._saved_states = Output("/states", "StateAnswer", "the component's state, for a checkpoint", name="state")
    kind._states_taken = Output("/states_taken", "StatesTaken", "the component has taken its part of the restored state",
                                name="states_taken")
