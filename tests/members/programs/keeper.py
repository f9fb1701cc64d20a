# SPDX-License-Identifier: Apache-2.0
"""A component with state, for tests: like the plugin `contract_keeper` and keeper.mjs."""
import math

import numpy as np

import trainyard


class Keeper(trainyard.Component):
    """Keeps state of every kind; for tests."""

    per_rank = True
    orders = trainyard.Input("/orders", "Order", "not looked at")
    checkpoints = 0

    @orders.handler
    def on_order(self, order):
        pass

    def save_state(self, into):
        self.checkpoints += 1
        into.set("checkpoints", self.checkpoints)
        into.set("best", -math.inf)
        into.set("loss", 0.1)
        into.set("word", "ä\n")
        into.set("done", True)
        into.set("list", [1, [2.5, "x"]])
        into.set("small", np.array([1.5, -2, math.nan], np.float32))
        into.set("large", np.arange(100_000, dtype=np.int64).reshape(100, 1000))
        into.set("name", self.name, per_rank=True)

    def restore_state(self, saved):
        self.checkpoints = saved["checkpoints"]
        right = (saved.number("best") == -math.inf, saved.number("loss") == 0.1, saved["word"] == "ä\n", saved["done"] is True,
                 saved["list"] == [1, [2.5, "x"]], saved["small"].dtype == np.float32, saved["small"].shape == (3,),
                 list(saved["small"][:2]) == [1.5, -2], bool(np.isnan(saved["small"][2])),
                 bool((saved["large"] == np.arange(100_000).reshape(100, 1000)).all()), "nothing" not in saved,
                 saved["name"] == self.name)
        if not all(right):
            raise trainyard.TrainyardError(f"something else was restored: {right}")
        self.log.info(f"was in {self.checkpoints} checkpoints, the last at step {saved.step}")


trainyard.run_member(Keeper)
