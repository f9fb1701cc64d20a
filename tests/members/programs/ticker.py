# SPDX-License-Identifier: Apache-2.0
"""A component for tests, like the plugin `ticker`. It sends the numbers 0, 1, 2, ... and, if its parameters request it,
a tensor with each number."""
import numpy as np

import trainyard


class Ticker(trainyard.Component):
    """Sends numbers; for tests."""

    ticks = trainyard.Output("ticks", "ArenaBlock {\n  string name\n  Tensor data\n}\n", "numbers as text")
    last = trainyard.Output("last", "Last {\n  u64 number\n}\n", "the newest number", latched=True)

    count = trainyard.Parameter(1000, "how many; 0 = until it is stopped", at_least=0)
    tensor_bytes = trainyard.Parameter(0, "size of the tensor sent along", at_least=0)
    shared = trainyard.Parameter(True, "whether the tensor is made in shared memory")

    fail_at = trainyard.Parameter(-1, "raise an exception at this number")

    def on_activate(self):
        self.sent, self.stopped = 0, False
        self.ticks.on_ready(self.send_while_ready)
        self.post(self.send_while_ready)

    def on_deactivate(self):
        self.stopped = True

    def send_while_ready(self):
        while not self.stopped and self.ticks.ready() and (not self.count or self.sent < self.count):
            self.send_one()

    def send_one(self):
        if self.sent == self.fail_at:
            raise ValueError("enough")
        data = trainyard.Tensor("uint8", [])
        if self.tensor_bytes:
            data = self.allocate(self.tensor_bytes, np.uint8) if self.shared else np.empty(self.tensor_bytes, np.uint8)
            data[:] = self.sent % 251
        self.trace = self.sent + 1
        self.ticks.send({"name": str(self.sent), "data": data})
        self.last.send({"number": self.sent})
        self.trace = 0
        self.sent += 1


trainyard.run_member(Ticker)
