# SPDX-License-Identifier: Apache-2.0
"""A component for tests, like the plugin `tally`. It receives numbers and tensors, and checks that they arrive
completely and in order."""
import os
import signal
import time

import trainyard

ADDED = "AddReply {\n  u64 total\n}\n"


class Tally(trainyard.Component):
    """Counts and checks numbers; for tests."""

    ticks = trainyard.Input("ticks", "ArenaBlock {\n  string name\n  Tensor data\n}\n", "numbers to count")
    counts = trainyard.Output("counts", "Count {\n  u64 count\n  map<f64> values\n}\n", "how many have come")

    finish_after = trainyard.Parameter(0, "end the run after so many; 0 = never", at_least=0)
    strict = trainyard.Parameter(True, "fail when a number is missing")
    slow_ms = trainyard.Parameter(0.0, "how long each takes", at_least=0, unit="ms", settable=True)
    factor = trainyard.Parameter(0.5, "a share", between=(0, 1), settable=True)
    kind = trainyard.Parameter("plain", "a word", one_of=["plain", "kept"])
    fail_at = trainyard.Parameter(-1, "raise an exception at this number")
    die_at = trainyard.Parameter(-1, "be killed at this number")
    hang_at = trainyard.Parameter(-1, "be in one handler for ever at this number")

    def on_configure(self):
        self.received, self.kept, self.traces = 0, [], 0
        if self.run != os.environ["TRAINYARD_RUN"]:
            raise trainyard.TrainyardError(f"the full name of the run is '{os.environ['TRAINYARD_RUN']}', not '{self.run}'")

    @ticks.handler
    def on_tick(self, tick):
        number = int(tick["name"])
        if self.strict and number != self.received:
            raise trainyard.TrainyardError(f"tick {number} came when {self.received} was due")
        if tick["data"].shape:
            array = tick["data"].numpy()
            if array[0] != number % 251 or array[-1] != number % 251 or array.flags.writeable:
                raise trainyard.TrainyardError(f"tensor of tick {number} holds {array[0]} and {array[-1]}")
            if self.kind == "kept":
                self.kept = [*self.kept[-4:], (number, array)]
                for older, kept in self.kept:
                    if kept.min() != older % 251 or kept.max() != older % 251:
                        raise trainyard.TrainyardError(f"tensor of tick {older} was changed while it was kept")
        if number == self.fail_at:
            {}["no such key"]
        if number == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        while number == self.hang_at:
            time.sleep(1)
        time.sleep(self.slow_ms / 1000)
        self.received += 1
        self.counts.send({"count": self.received, "values": {"factor": self.factor}})
        if self.received == self.finish_after:
            self.finish_run(f"counted {self.received}")

    @factor.changed
    def on_factor(self, value):
        self.log.info(f"the factor is {value}")

    @trainyard.service(request="AddRequest {\n  u64 number\n}\n", reply=ADDED)
    def add(self, request):
        """Adds a number to the count, without sending."""
        if request["number"] == 13:
            raise ValueError("13 is not wanted")
        return {"total": self.received + request["number"]}

    def on_finalize(self):
        os.makedirs(self.output_directory, exist_ok=True)
        with open(f"{self.output_directory}/{self.name}.count", "w") as file:
            file.write(str(self.received))


trainyard.run_member(Tally)
