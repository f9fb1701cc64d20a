# SPDX-License-Identifier: Apache-2.0
"""Answers calls to a component: calls that get and set parameters, and calls of its services."""
from __future__ import annotations

import difflib
import json
from typing import Any, Dict, Iterable, List

from ..errors import TrainyardError
from .component import Component
from .parameters import Parameter
from .ports import Service


def _suggestion(given: str, known: Iterable[str]) -> str:
    """Returns the end of an error message about an unknown name: the most similar known name, and all known names."""
    names = sorted(known)
    near = difflib.get_close_matches(given, names, 1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    return f"; {meant}known: {', '.join(names)}" if names else "; none is known"


class Calls:
    """Answers the calls to one component."""

    def __init__(self, component: Component) -> None:
        self._component, self._where = component, f"component '{component.name}'"
        self._parameters: Dict[str, Parameter] = {one.name: one for one in type(component)._declared(Parameter).values()}
        self._services: Dict[str, Service] = type(component)._declared(Service)

    def perform(self, method: str, body: Any) -> Any:
        """Carries out a call and returns the answer. If the method of the service raises an exception, it is raised
        here, too."""
        if method == "param.list":
            return [self._describe(one) for one in self._parameters.values()]
        if method in ("param.get", "param.set"):
            return self._about_parameter(method, body)
        if method in self._services:
            return self._services[method].serve(self._component, body)
        known = ["param.get", "param.list", "param.set", *self._services]
        raise TrainyardError(f"{self._where} has no service '{method:.80}'{_suggestion(method, known)}")

    def take_settings(self, settings: List[Dict[str, str]]) -> None:
        """See Component.take_settings()."""
        component, prefix = self._component, f"rank{self._component.rank}/"
        own = component.name[len(prefix):] if component.name.startswith(prefix) else component.name
        for setting in settings:
            parameter = self._parameters.get(setting["parameter"])
            if setting["component"] != own or parameter is None:
                continue
            value = component._values[parameter.name]
            if value == json.loads(setting["instead_of"]):
                self._set(parameter, json.loads(setting["value"]))
            else:
                component.log.warning(f"{parameter.name} = {json.dumps(value)}, as the launch file says now; the run that "
                                      f"is continued had {setting['value']}, set while it ran")

    def _describe(self, parameter: Parameter) -> Dict[str, Any]:
        return parameter.description(self._component._values[parameter.name])

    def _about_parameter(self, method: str, body: Any) -> Dict[str, Any]:
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(name, str) or (method == "param.set" and "value" not in body):
            wanted = '{"name": ..., "value": ...}' if method == "param.set" else '{"name": ...}'
            raise TrainyardError(f"{self._where}: {method}: {json.dumps(body):.100} is not allowed; {wanted}")
        if name not in self._parameters:
            raise TrainyardError(f"{self._where} has no parameter '{name:.80}'{_suggestion(name, self._parameters)}")
        if method == "param.set":
            self._set(self._parameters[name], body["value"])
        return self._describe(self._parameters[name])

    def _set(self, parameter: Parameter, value: Any) -> None:
        if not parameter.settable:
            raise TrainyardError(f"{self._where}: {parameter.name} cannot be changed while the component runs")
        try:
            value = parameter.check(value)
        except TrainyardError as error:
            raise TrainyardError(f"{self._where}: {error}") from None
        self._component._values[parameter.name] = value
        if parameter.on_change is not None:
            parameter.on_change(self._component, value)
