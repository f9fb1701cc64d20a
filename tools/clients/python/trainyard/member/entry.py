# SPDX-License-Identifier: Apache-2.0
"""The main function of a program that is a member, that is, a component of a run in a separate program."""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from typing import Type

from ..errors import TrainyardError
from .component import Component
from .host import Host
from .parameters import Parameter
from .ports import Input, Output
from .sockets import Keys


def _check(kind: Type[Component]) -> None:
    """Raises TrainyardError if the class of the component is not valid."""
    for what in (Input, Output, Parameter):
        for attribute in kind._declared(what):
            if hasattr(Component, attribute) or attribute in Component.__annotations__:
                raise TrainyardError(f"{kind.__name__}.{attribute}: every component has '{attribute}' already; choose "
                                     f"another attribute and give it name=\"{attribute}\"")
    if (kind.save_state is Component.save_state) != (kind.restore_state is Component.restore_state):
        raise TrainyardError(f"{kind.__name__} overrides only one of save_state() and restore_state(); both are needed")
    for port in kind._declared(Input).values():
        if port.method is None:
            raise TrainyardError(f"{kind.__name__}.{port.name}: the input has no handler; decorate a method with "
                                 f"@{port.name}.handler")


def _print_declaration(kind: Type[Component]) -> None:
    """Prints the declaration. Other output of the program is redirected, so that it does not mix with the
    declaration."""
    with contextlib.redirect_stdout(sys.stderr):
        text = json.dumps(kind.declaration())
    print(text)


def run_member(kind: Type[Component]) -> None:
    """Runs a component of the class `kind` as a member of a run, and ends the program. The launcher passes the
    command-line arguments: `--describe` requests the declaration of the class, and `--control` and `--process` identify
    the run and the process."""
    parser = argparse.ArgumentParser(description=(kind.__doc__ or kind.__name__).strip().split("\n\n")[0],
                                     epilog="This program is a member of a Trainyard run; `trainyard launch` starts it.")
    parser.add_argument("--describe", action="store_true", help="print what the component declares, as JSON")
    parser.add_argument("--control", metavar="ENDPOINT", help="the address of the launcher")
    parser.add_argument("--process", metavar="NAME", help="the name of this process in the run")
    arguments = parser.parse_args()
    if not arguments.describe and not (arguments.control and arguments.process):
        parser.error("name this program in a launch file, with `command` and `declaration`, and launch that")
    # The launcher decides when this process ends. Its signals must end the process without a traceback. It has ignored
    # those that an engine, such as Slurm, sends to all processes.
    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, signal.SIG_DFL)
    try:
        _check(kind)
        if arguments.describe:
            return _print_declaration(kind)
        # stdout is a pipe to the launcher, so it is flushed after every line.
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        keys = Keys.read(sys.stdin.buffer.read(4096))
        Host(kind, arguments.process, arguments.control, keys).run()
    except TrainyardError as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
    sys.stdout.flush()
    sys.stderr.flush()
    # The process ends even if threads of the user's program are still running.
    os._exit(0)
