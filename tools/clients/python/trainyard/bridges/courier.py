# SPDX-License-Identifier: Apache-2.0
"""The thread that takes records from an outbox to a tracking service."""
from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any, Callable, Optional

from ..errors import printable
from .outbox import Outbox
from .records import Record
from .service import Facts, Service

_MOST_RECORDS = 500  # The largest number of records in one delivery.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_SLOW_S = 30.0  # How long a call of the service may take before a warning is logged.


def _said(error: BaseException) -> str:
    """Returns the first line of an error's text, cut to a length that is suitable for a log."""
    lines = str(error).strip().splitlines()
    return printable(f"{type(error).__name__}: {lines[0]:.300}" if lines else type(error).__name__)


class Courier:
    """A thread that delivers the records in the outbox, at most one batch every `interval_s` seconds. If the service
    raises an error, the courier tries again, after a pause that grows with each failure. `facts` is called before the
    first delivery; if it raises an error, it is called again later. `log` has the functions info and warning. `repeat`
    is the command with which the user can deliver remaining records, for the log."""

    def __init__(self, outbox: Outbox, service: Service, facts: Callable[[], Facts], log: Any, interval_s: float,
                 repeat: str) -> None:
        self._outbox, self._service, self._facts, self._log = outbox, service, facts, log
        self._interval_s, self._repeat = interval_s, repeat
        self._ending = threading.Event()
        self._open = self._closed = False
        self._pause_s, self._away_since = _FIRST_PAUSE_S, 0.0
        self._error, self._told_slow, self._told_refused, self._told_lost = "", False, False, False
        self._call_began: Optional[float] = None
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def watch(self) -> None:
        """Logs a warning if the service does not answer or records have been lost. The caller must call this from time
        to time, on a thread that does not wait for the service."""
        began = self._call_began
        if began is not None and time.monotonic() - began > _SLOW_S and not self._told_slow:
            self._told_slow = True
            self._log.warning(f"{self._service.title} has not answered for {_SLOW_S:g} s; training goes on, and the "
                              f"records are kept in {self._outbox.folder}")
        if self._outbox.trouble and not self._told_lost:
            self._told_lost = True
            self._log.warning(f"records for {self._service.title} are lost: {printable(self._outbox.trouble)}")

    def finish(self, end: Optional[Record], seconds: float) -> bool:
        """Delivers the remaining records and ends the run at the service, but waits no longer than `seconds`. Logs
        whether all records were delivered, and returns True if they were. `end` is the record of the end of the run, or
        None if the outbox already contains it."""
        if end is not None:
            self._outbox.put(end)
        deadline = time.monotonic() + seconds
        self._outbox.close(seconds)
        self._ending.set()
        self._thread.join(max(deadline - time.monotonic(), 0.0))
        self._report(seconds)
        return self._closed

    def _report(self, seconds: float) -> None:
        state, title = self._outbox.state, self._service.title
        refused = state.get("refused", 0)
        more = "".join([f"; {state['lost']} were lost ({self._outbox.trouble or 'in an earlier process'})"
                        if state["lost"] else "", f"; {refused} were refused" if refused else ""])
        if self._closed:
            self._log.info(f"{self._outbox.delivered()} records were delivered to {title}: {self._service.place()}{more}")
            return
        why = self._error or f"it did not answer within {seconds:g} s"
        hint = self._service.undelivered_hint() + " " if self._open and self._service.undelivered_hint() else ""
        self._log.warning(f"{self._outbox.undelivered()} records, after {self._outbox.delivered()} others, did not get to {title} "
                          f"({why}){more}. They are kept in {self._outbox.folder}. {hint}Deliver them later with: "
                          f"{self._repeat}")

    # The thread.

    def _run(self) -> None:
        while not self._outbox.finished():
            last_try = self._ending.is_set()
            try:
                count = self._deliver()
            except Exception as error:  # The package of the service may raise any exception.
                self._stumble(error)
                if last_try:
                    return
                self._ending.wait(self._pause_s)
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            else:
                if count < _MOST_RECORDS:
                    self._ending.wait(self._interval_s)
        self._outbox.clear()

    def _deliver(self) -> int:
        """Delivers a batch, and returns its size."""
        records = self._outbox.take(_MOST_RECORDS, 1.0)
        if not self._open:
            self._call(self._begin)
        end = next((record for record in records if record["kind"] == "end"), None)
        rest = [record for record in records if record["kind"] != "end"]
        if rest:
            self._refused(self._call(lambda: self._service.send(rest)))
        if end is not None:
            self._call(lambda: self._service.close(end))
            self._closed = self._outbox.state["closed"] = True
        self._outbox.confirm(keep=not self._closed)
        self._recover()
        return len(records)

    def _begin(self) -> None:
        state = self._outbox.state
        if "facts" not in state:
            state["facts"] = dataclasses.asdict(self._facts())
            self._outbox.save()
        known = str(state.get("service_run", ""))
        state["service_run"] = self._service.open(Facts(**state["facts"]), known)
        self._outbox.save()
        self._open, state["closed"] = True, False
        self._log.info(f"{self._service.title}: the metrics {'go on to' if known else 'go to'} {self._service.place()}")

    def _call(self, action: Callable[[], Any]) -> Any:
        """Calls the service, and notes when the call began, so that watch() can report a call that takes too long."""
        self._call_began = time.monotonic()
        try:
            return action()
        finally:
            self._call_began = None

    def _refused(self, reasons: Any) -> None:
        if not reasons:
            return
        self._outbox.state["refused"] = self._outbox.state.get("refused", 0) + len(reasons)
        if not self._told_refused:
            self._told_refused = True
            self._log.warning(f"{self._service.title} refused a record, and it is left out: {printable(reasons[0]):.300}")

    def _stumble(self, error: BaseException) -> None:
        self._error = _said(error)
        if not self._away_since:
            self._away_since = time.monotonic()
            if not self._ending.is_set():
                self._log.warning(f"{self._service.title} takes no records ({self._error}); training goes on, the records "
                                  f"are kept in {self._outbox.folder}, and they are tried again")

    def _recover(self) -> None:
        if self._away_since or self._told_slow:
            away = f" after {time.monotonic() - self._away_since:.0f} s" if self._away_since else ""
            self._log.info(f"{self._service.title} takes records again{away}; {self._outbox.pending} wait")
        self._error, self._away_since, self._pause_s, self._told_slow = "", 0.0, _FIRST_PAUSE_S, False
