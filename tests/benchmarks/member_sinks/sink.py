# SPDX-License-Identifier: Apache-2.0
"""A sink for tests/benchmarks/members.py: it decodes every message, and reads every byte of the tensors."""
import numpy as np

import trainyard


class Sink(trainyard.Component):
    """Reads everything."""

    ticks = trainyard.Input("ticks", "ArenaBlock {\n  string name\n  Tensor data\n}\n")

    def on_configure(self):
        self.bytes, self.sum = 0, 0

    @ticks.handler
    def on_tick(self, tick):
        if tick["data"].shape:
            self.sum += int(np.sum(tick["data"].numpy().view(np.uint64)))


trainyard.run_member(Sink)
