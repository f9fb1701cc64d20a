# SPDX-License-Identifier: Apache-2.0
"""Finds out facts about a run for tracking services: its parameters, its versions and launch files, and how it
ended."""
from __future__ import annotations

import json
import os
import time
from typing import Any, Dict, List, Tuple

from ..errors import Refused, Timeout, TrainyardError
from ..finder import read_run, start_ticks
from ..run import Run
from .service import Facts

_MOST_BYTES = 64 << 20  # The limit for a file; the plan of a run with a thousand ranks has about 10 MiB.


def gather(run: Run, own_name: str, log: Any) -> Facts:
    """Returns the facts about an active run, from the registry and the launch record. Raises TrainyardError if the run
    does not answer."""
    told = run.request("run")
    parameters = {"seed": told["seed"], "ranks": told["world_size"], **_parameters(run, own_name, log)}
    return _facts(told, launch_record(told["output_directory"], told["run"]), parameters)


def _facts(told: Dict[str, Any], record: Dict[str, Any], parameters: Dict[str, Any]) -> Facts:
    details = {"version": told["version"], "launch_file": told["file"],
               "output_directory": told["output_directory"], "host": record.get("host", ""),
               "arguments": " ".join(record.get("arguments", [])),
               "libtorch": record.get("versions", {}).get("libtorch", "")}
    git = record.get("git") or {}
    details.update({"git_commit": git.get("commit", ""), "git_branch": git.get("branch", ""),
                    "git_dirty": str(git["dirty"]).lower() if "dirty" in git else ""})
    return Facts(told["run"], told["name"], record.get("started_ns", time.time_ns()), told["output_directory"], parameters,
                 {name: str(value) for name, value in details.items() if value != ""})


def recorded_facts(output_directory: str, run: str) -> Facts:
    """Returns the facts about a run that has ended, from its launch record. The record contains only the parameters
    that were set explicitly. Raises TrainyardError if there is no record."""
    record = launch_record(output_directory, run)
    if not record:
        raise TrainyardError(f"{output_directory}/launches has no record of the run {run}")
    parameters: Dict[str, Any] = {"seed": record.get("seed"), "ranks": record.get("ranks")}
    for component in _read(os.path.join(record["folder"], "plan.json")).get("components", []):
        short = _short_name(component["name"])
        if short:
            _flatten(short, component["parameters"], parameters)
    told = {"run": run, "name": record.get("name", run), "file": record.get("file", ""),
            "version": record.get("versions", {}).get("trainyard", ""), "output_directory": output_directory}
    return _facts(told, record, parameters)


def launch_record(output_directory: str, run: str) -> Dict[str, Any]:
    """Returns the launch record of a run (docs/launch_files.md, "The record of a launch") with the additional key
    `folder`, the folder of the record. Returns an empty dictionary if there is no record."""
    folder = os.path.join(output_directory, "launches")
    try:
        numbers = sorted((int(name) for name in os.listdir(folder) if name.isdigit()), reverse=True)
    except OSError:
        return {}
    for number in numbers[:100]:
        record = _read(os.path.join(folder, str(number), "launch.json"))
        if record.get("run") == run:
            return {**record, "folder": os.path.join(folder, str(number))}
    return {}


def _read(path: str) -> Dict[str, Any]:
    """Returns the JSON object in a file, or an empty dictionary if the file does not contain one."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _short_name(name: str) -> str:
    """Returns the name of a component without its rank. For components of ranks other than 0, returns an empty text,
    because all ranks have the same parameters."""
    rank, _, rest = name.partition("/")
    if not rest or not rank.startswith("rank"):
        return name
    return rest if rank == "rank0" else ""


def _parameters(run: Run, own_name: str, log: Any) -> Dict[str, Any]:
    """Returns the values of all parameters of the run, including defaults, by names such as "optimizer.lr"."""
    found: Dict[str, Any] = {}
    silent: List[str] = []
    for node in run.nodes():
        name, short = node["component"], _short_name(node["component"])
        if not node["plugin"] or name == own_name or not short:
            continue
        try:
            for parameter in run.request("params", target=name):
                _flatten(f"{short}.{parameter['name']}", parameter["value"], found)
        except (Refused, Timeout):
            silent.append(name)
    if silent:
        log.warning(f"the parameters of {', '.join(silent)} are left out, because no answer came")
    return found


def _flatten(name: str, value: Any, found: Dict[str, Any]) -> None:
    """Adds the values of an object to `found`, under dotted names. Lists are not divided, because their elements have
    no names."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _flatten(f"{name}.{key}", inner, found)
    else:
        found[name] = value


def how_it_ends(run_directory: str) -> Tuple[str, str]:
    """Asks the launcher of a run that is about to end how it ends. Returns the state and the reason."""
    info = read_run(run_directory)
    try:
        told: Dict[str, Any] = {}
        if info is not None:
            with Run(info) as run:
                told = run.request("run", timeout=1.0)
    except TrainyardError:
        pass  # If the launcher is busy or gone, it cannot be asked, and no failure is known.
    state = told.get("state", "running")
    return ("ended" if state == "running" else state), told.get("reason", "")


def how_it_ended(output_directory: str, run: str, seconds: float) -> Tuple[str, str]:
    """Returns the state and the reason of a run that has ended, from its launch record. Waits up to `seconds` for the
    record. If the launcher has recorded no end, the run was killed."""
    deadline = time.monotonic() + seconds
    while True:
        record = launch_record(output_directory, run)
        state = record.get("state", "")
        if state in ("ended", "failed", "interrupted"):
            return state, str(record.get("reason", ""))
        alive = bool(record) and start_ticks(int(record.get("pid", 0))) == record.get("start_ticks")
        if not alive or time.monotonic() > deadline:
            return "killed", "no end was recorded"
        time.sleep(0.05)
