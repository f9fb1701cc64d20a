# SPDX-License-Identifier: Apache-2.0
"""The command line of this package: `python3 -m trainyard`."""
from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from typing import Any, Optional, Sequence

from .errors import TrainyardError, printable
from .run import Run, find_run
from .tensor import Tensor
from .generate import dataclasses_of


def _topics(run: Run, _: argparse.Namespace) -> None:
    for topic in run.topics():
        print(printable(f"{topic['topic']}  {topic['type']}"))


def _shown(value: Any) -> Any:
    """Converts a tensor for JSON: everything except its elements."""
    if isinstance(value, Tensor):
        return {name: value[name] for name in value.keys() if name != "data"}
    raise TypeError(f"{type(value).__name__} cannot be shown")


def _echo(run: Run, arguments: argparse.Namespace) -> None:
    with run.subscribe(arguments.topic, timeout=arguments.timeout) as messages:
        for header, message in itertools.islice(messages, arguments.count or None):
            line = {"sequence": header.sequence, "message": message}
            if len(arguments.topic) > 1:
                line = {"topic": header.topic, **line}
            print(json.dumps(line, default=_shown), flush=True)


def _types(run: Run, arguments: argparse.Namespace) -> None:
    known = {topic["topic"]: topic["schema"] for topic in run.topics()}
    run.endpoints(arguments.topic)  # If the topic does not exist, this raises an error that lists the existing topics.
    print(dataclasses_of(known[arguments.topic]), end="")


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(prog="trainyard", description="Look into a run of Trainyard.")
    words.add_argument("--run", help="the name of the run (default: the newest run), or KEY@tcp://HOST:PORT")
    commands = words.add_subparsers(required=True, metavar="COMMAND")
    topics = commands.add_parser("topics", help="print every topic and its type")
    topics.set_defaults(do=_topics)
    echo = commands.add_parser("echo", help="print messages, one JSON object per line")
    echo.add_argument("topic", nargs="+")
    echo.add_argument("--count", type=int, default=0, help="stop after this number of messages")
    echo.add_argument("--timeout", type=float, default=60.0, help="the longest silence, in seconds (default: 60)")
    echo.set_defaults(do=_echo)
    types = commands.add_parser("types", help="print Python dataclasses for the messages of a topic")
    types.add_argument("topic")
    types.set_defaults(do=_types)
    return words


def main(words: Optional[Sequence[str]] = None) -> None:
    """Runs the command line. Ends the program with a message if it fails."""
    arguments = parser().parse_args(words)
    try:
        arguments.do(find_run(arguments.run), arguments)
    except TrainyardError as error:
        sys.exit(f"trainyard: {error}")
    except BrokenPipeError:
        # The rest of the output is discarded, because otherwise Python would raise another error when it flushes stdout
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
