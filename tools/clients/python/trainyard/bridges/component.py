# SPDX-License-Identifier: Apache-2.0
"""The base class of components that are bridges. The module of each tracking service contains a derived class."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Type

from ..errors import TrainyardError
from ..finder import read_run
from ..member.component import Component
from ..member.parameters import Parameter
from ..member.ports import Input
from ..run import Run
from .bridge import Bridge, outbox_folder
from .facts import gather, how_it_ends
from .records import end_record
from .service import Facts, Service

_WATCH_S = 5.0
#: The launcher gives the components of a failed run two seconds.
_MOST_AFTER_FAILURE_S = 1.5


class BridgeComponent(Component):
    """Carries the metrics of a run to a tracking service."""

    #: The service that a derived class uses, and the module that derives it.
    service_class: Type[Service]
    module = ""

    # With the policy drop_oldest, the senders never wait for this process, whatever happens to it.
    metrics = Input("/metrics", "Metrics", "the metrics of the run", policy="drop_oldest", window_messages=4096)
    predictions = Input("/predictions", "Prediction", "generated text and other predictions", optional=True,
                        policy="drop_oldest")
    model = Input("/model", "ModelInfo", "the model that is trained", optional=True, policy="drop_oldest")

    every_steps = Parameter(1, "send the metrics of every n-th training step", positive=True, settable=True)
    notes = Parameter("", "a description of the run")
    tags = Parameter([], "words by which runs are found", kind=[str])
    run_id = Parameter("", "the id of a run of the service to go on with; empty begins a new one")
    interval_s = Parameter(1.0, "the least time between two deliveries; metrics gather meanwhile", at_least=0, unit="s")
    finish_s = Parameter(8.0, "how long the end of the run may wait for the service; less than stop_timeout_s",
                         at_least=0, unit="s")
    outbox_mib = Parameter(1024, "how much may wait on disk for a service that does not answer", positive=True,
                           unit="MiB")

    def on_configure(self) -> None:
        self.service_class.check_package()
        self._bridge: Optional[Bridge] = None

    def on_activate(self) -> None:
        settings = self.settings_of(self._values)
        service = self.make_service(settings, self.output_directory)
        # The name of the run directory is the full name of the run, which no other launch has.
        folder = outbox_folder(self.output_directory, self.name, os.path.basename(self.run_directory))
        self._bridge = Bridge(folder, self.module, service, settings, self._facts, self.log)
        self.after(_WATCH_S, self._watch)

    @metrics.handler
    def on_metrics(self, message: Dict[str, Any]) -> None:
        if self._bridge is not None:
            self._bridge.metrics(message, self.every_steps)

    @predictions.handler
    def on_prediction(self, message: Dict[str, Any]) -> None:
        if self._bridge is not None:
            self._bridge.prediction(message)

    @model.handler
    def on_model(self, message: Dict[str, Any]) -> None:
        if self._bridge is not None:
            self._bridge.model(message)

    def on_finalize(self) -> None:
        if self._bridge is None:
            return  # The run ended before this component became active.
        state, reason = how_it_ends(self.run_directory)
        patience = min(self.finish_s, _MOST_AFTER_FAILURE_S) if state == "failed" else self.finish_s
        bridge, self._bridge = self._bridge, None
        bridge.finish(end_record(state, reason), patience)

    @classmethod
    def make_service(cls, settings: Dict[str, Any], output_directory: str) -> Service:
        """Returns the service with these settings."""
        raise NotImplementedError

    @classmethod
    def settings_of(cls, values: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the values of all parameters. For parameters that are not in `values`, these are the defaults."""
        return {one.name: values.get(one.name, one.default) for one in cls._declared(Parameter).values()}

    def _watch(self) -> None:
        if self._bridge is not None:
            self._bridge.watch()
        self.after(_WATCH_S, self._watch)

    def _facts(self) -> Facts:
        with self._registry() as run:
            return gather(run, self.name, self.log)

    def _registry(self) -> Run:
        info = read_run(self.run_directory)
        if info is None:
            raise TrainyardError(f"the run in {self.run_directory} has not announced itself")
        return Run(info)
