# SPDX-License-Identifier: Apache-2.0
"""Components of a run that are written in Python (docs/write_a_member_in_python.md).

    import trainyard

    class Smoother(trainyard.Component):
        "Smooths the loss."
        metrics = trainyard.Input("/metrics", "Metrics")
        smooth = trainyard.Output("smooth", "Smooth {\\n  u64 step\\n  f64 loss\\n}\\n")
        alpha = trainyard.Parameter(0.9, "the share of the old value", between=(0, 1), settable=True)

        @metrics.handler
        def on_metrics(self, message):
            self.smooth.send({"step": message["step"], "loss": ...})

    trainyard.run_member(Smoother)
"""
from .component import Component
from .entry import run_member
from .parameters import REQUIRED, Parameter
from .ports import Input, Output, service
from .state import StateReader, StateWriter
from .types import schema_of

__all__ = ["Component", "Input", "Output", "Parameter", "REQUIRED", "StateReader", "StateWriter", "run_member", "schema_of", "service"]
