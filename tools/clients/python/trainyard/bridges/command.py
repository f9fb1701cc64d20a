# SPDX-License-Identifier: Apache-2.0
"""The main function of a bridge. Without the launcher, it attaches to a run or delivers what an earlier run has left."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import sys
from typing import Any, Dict, List, NoReturn, Type

from ..errors import Timeout, TrainyardError
from ..member.entry import run_member
from ..member.log import Log
from ..member.parameters import Parameter
from ..run import Run, find_run
from .bridge import Bridge, outbox_folder
from .component import BridgeComponent
from .courier import Courier
from .facts import gather, how_it_ended, recorded_facts
from .outbox import Outbox
from .records import end_record

_WATCH_S = 5.0
# How long the program may deliver records after the run has ended. No run waits for it, so this can be long.
_FINISH_S = 60.0
_DELIVER_S = 24 * 3600.0
_TYPES = {"integer": int, "number": float}


def main(kind: Type[BridgeComponent]) -> None:
    """Runs the program. Ends it with a message if it fails."""
    if len(sys.argv) > 1 and sys.argv[1] in ("--describe", "--control", "--process"):
        return run_member(kind)
    # If the user presses Ctrl-C twice, no traceback is shown.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    arguments = _parser(kind).parse_args()
    try:
        done = arguments.do(kind, arguments)
    except (TrainyardError, OSError) as error:
        print(f"{kind.module}: {error}", file=sys.stderr)
        done = False
    except KeyboardInterrupt:
        _end(130)
    _end(0 if done else 1)


def _end(code: int) -> NoReturn:
    """Ends the process, even if threads are still waiting for a service."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _parser(kind: Type[BridgeComponent]) -> argparse.ArgumentParser:
    title = kind.service_class.title
    words = argparse.ArgumentParser(prog=f"python3 -m {kind.module}", description=f"Sends the metrics of runs to {title}.",
                                    epilog="As a component of a run, this program is named in the launch file; see "
                                           "docs/send_metrics_to_wandb_or_mlflow.md.")
    commands = words.add_subparsers(required=True, metavar="COMMAND")
    attach = commands.add_parser("attach", help="send the metrics of a run that is going on, until it ends")
    attach.add_argument("--run", help="the name of the run (default: the newest run)")
    attach.set_defaults(do=_attach)
    deliver = commands.add_parser("deliver", help="send what did not get to the service during the run")
    deliver.add_argument("folder", help="the output directory of a run, or an outbox")
    deliver.set_defaults(do=_deliver)
    for command in (attach, deliver):
        _add_settings(kind, command)
    return words


def _add_settings(kind: Type[BridgeComponent], parser: argparse.ArgumentParser) -> None:
    """Adds an option to the command line for each parameter of the component."""
    group = parser.add_argument_group("settings, as in a launch file")
    for one in kind._declared(Parameter).values():
        option, help = "--" + one.name.replace("_", "-"), one.help.replace("%", "%%")
        if one.kind == "bool":
            group.add_argument(option, help=help, default=None, action=argparse.BooleanOptionalAction)
        elif one.kind.startswith("list"):
            group.add_argument(option, help=help, nargs="*", metavar="WORD")
        else:
            group.add_argument(option, help=help, type=_TYPES.get(one.kind, str), metavar="VALUE")


def _given(kind: Type[BridgeComponent], arguments: argparse.Namespace) -> Dict[str, Any]:
    """Returns the settings of the command line. Raises TrainyardError for a value that is not allowed."""
    return {one.name: one.check(value) for one in kind._declared(Parameter).values()
            if (value := getattr(arguments, one.name)) is not None}


def _name(kind: Type[BridgeComponent]) -> str:
    return kind.module.rpartition(".")[2]


def _log(kind: Type[BridgeComponent]) -> Log:
    return Log(_name(kind), "info", lambda record: None)


def _attach(kind: Type[BridgeComponent], arguments: argparse.Namespace) -> bool:
    kind.service_class.check_package()
    run, log = find_run(arguments.run), _log(kind)
    told = run.request("run")
    settings = kind.settings_of({"finish_s": _FINISH_S, **_given(kind, arguments)})
    output = told["output_directory"]
    bridge = Bridge(outbox_folder(output, f"{_name(kind)}-visitor", told["run"]), kind.module,
                    kind.make_service(settings, output), settings, lambda: gather(find_run(told["run"]), "", log), log)
    try:
        _listen(run, bridge, settings["every_steps"], log)
        state, reason = how_it_ended(output, told["run"], 10.0)
    except KeyboardInterrupt:
        state, reason = "interrupted", "the bridge was ended; the run may have gone on"
    return bridge.finish(end_record(state, reason), settings["finish_s"])


def _listen(run: Run, bridge: Bridge, every_steps: int, log: Log) -> None:
    handlers = {"/metrics": lambda message: bridge.metrics(message, every_steps), "/predictions": bridge.prediction,
                "/model": bridge.model}
    known = {topic["topic"] for topic in run.topics()}
    topics = [topic for topic in handlers if topic == "/metrics" or topic in known]
    with run.subscribe(topics, window=1024) as messages:
        while True:
            try:
                arrived = messages.receive(_WATCH_S)
            except Timeout:
                bridge.watch()
                continue
            if arrived is None:
                break
            handlers[arrived[0].topic](arrived[1])
        if messages.missed:
            log.warning(f"{messages.missed} messages were missed")


def _deliver(kind: Type[BridgeComponent], arguments: argparse.Namespace) -> bool:
    kind.service_class.check_package()
    folders = _outboxes(arguments.folder, kind.module)
    if not folders:
        raise TrainyardError(f"no outbox of {kind.module} in {arguments.folder}")
    return all([_try_to_deliver(kind, folder, _given(kind, arguments)) for folder in folders])


def _try_to_deliver(kind: Type[BridgeComponent], folder: str, given: Dict[str, Any]) -> bool:
    """Delivers the records of one outbox. If the outbox is in use or damaged, prints why, so that the other outboxes
    are still delivered."""
    try:
        return _deliver_one(kind, folder, given)
    except (TrainyardError, OSError) as error:
        _log(kind).error(str(error))
        return False


def _outboxes(folder: str, module: str) -> List[str]:
    """Returns the folders of the outboxes for one service: `folder` itself, or the outboxes in it or in its folder
    `outbox`."""
    below = os.path.join(folder, "outbox")
    top = pathlib.Path(below if os.path.isdir(below) else folder)
    candidates = [top, *sorted(top.glob("*")), *sorted(top.glob("*/*"))]
    return [str(one) for one in candidates if _state(str(one)).get("module") == module]


def _state(folder: str) -> Dict[str, Any]:
    try:
        with open(os.path.join(folder, "outbox.json"), encoding="utf-8") as file:
            state = json.load(file)
        return state if isinstance(state, dict) else {}
    except (OSError, ValueError):
        return {}


def _deliver_one(kind: Type[BridgeComponent], folder: str, given: Dict[str, Any]) -> bool:
    folder, log = os.path.abspath(folder), _log(kind)
    output, run = os.path.dirname(os.path.dirname(os.path.dirname(folder))), os.path.basename(folder)
    outbox = Outbox(folder, 1 << 60, kind.service_class.uncertain)
    if outbox.pending == 0 and outbox.state.get("closed"):
        log.info(f"{folder}: everything has been delivered")
        return True
    settings = kind.settings_of({**outbox.state.get("settings", {}), **given})
    courier = Courier(outbox, kind.make_service(settings, output), lambda: recorded_facts(output, run), log, 0.0,
                      f"python3 -m {kind.module} deliver {folder}")
    end = None if outbox.has_end else end_record(*how_it_ended(output, run, 0.0))
    courier.start()
    return courier.finish(end, _DELIVER_S)
