# SPDX-License-Identifier: Apache-2.0
"""The base class of components in Python."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, List

from .parameters import Parameter
from .ports import Input, Output, Service
from .state import StateReader, StateWriter, add_ports


class Component:
    """The base class of components. A derived class declares inputs, outputs, parameters and services as attributes, and
    overrides the hooks that it needs. Its name in the declaration is `component_name`, by default the name of the class
    in lower case; its description is the first paragraph of the docstring.

    All methods run on the main thread, one at a time. If a method raises an exception, the error is reported with the
    component's name, and the run ends."""

    #: The name of the kind of component, as a plugin has one. By default, made from the name of the class.
    component_name = ""
    #: True if a run has one such component for every rank.
    per_rank = False
    #: False if a run cannot continue with a new instance of this component.
    restartable = True
    #: The least memory that the process needs, apart from the model and the data.
    memory_bytes = 0

    # These are set before on_configure() is called.
    name: str  #: The full name in the run, such as "rank0/smoother".
    rank: int
    world_size: int
    seed: int
    run: str  #: The full name of the run.
    run_directory: str
    output_directory: str
    log: Any  #: Has the functions debug, info, warning and error, each with one text.
    trace: int  #: The number of the batch that caused the message that is being handled; what is sent gets it, too.

    def on_configure(self) -> None:
        """Override this to check parameters, open files and allocate memory. Messages cannot be sent yet."""

    def on_activate(self) -> None:
        """Called when all connections of the run have been made, before any message is handled."""

    def on_deactivate(self) -> None:
        """Override this to finish work that has begun, and to stop sending. Messages that arrive later are still
        handled."""

    def on_finalize(self) -> None:
        """Override this to close files. Not called if the component has failed."""

    def save_state(self, into: StateWriter) -> None:
        """Override this to save state in checkpoints, with into.set(name, value). Called for every checkpoint, while
        all ranks wait between two steps. A class that overrides this method must also override restore_state()."""

    def restore_state(self, saved: StateReader) -> None:
        """Override this to restore the state that save_state() has stored: saved[name]. Called before training begins,
        if the run resumes from a checkpoint that contains state of this component. If the earlier run did not have this
        rank, `saved` contains only the state that is the same on all ranks."""

    def finish_run(self, reason: str, success: bool = True) -> None:
        """Ends the run, successfully or as a failure. `reason` is shown to the user."""
        self._host.finish_run(reason, success)

    def post(self, action: Callable[[], None]) -> None:
        """Calls the function `action` later on the main thread, where all methods of the component run. Any thread may
        call post()."""
        self._host.post(lambda: self._host.guarded(action))

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Calls the function `action` on the main thread after `seconds` seconds. Any thread may call after()."""
        self._host.after(seconds, action)

    def allocate(self, shape: Any, dtype: Any) -> Any:
        """Returns a numpy array in shared memory, whose elements are not initialized. If the array is sent in a
        message, it is not copied, so it must not be changed afterwards."""
        return self._host.allocate(shape, dtype, permanent=False)

    def allocate_permanent(self, shape: Any, dtype: Any) -> Any:
        """Returns a numpy array of zeros in shared memory that is not reused for other arrays. It may be changed after
        it has been sent; receivers see the changes. This suits, for example, the state of an optimizer."""
        return self._host.allocate(shape, dtype, permanent=True)

    def take_settings(self, settings: List[Dict[str, str]]) -> None:
        """Sets the parameters of this component that were changed during the earlier run, before the checkpoint from
        which this run resumes. `settings` is the field of this name in the message RunState."""
        self._host.take_settings(settings)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.save_state is not Component.save_state:
            add_ports(cls)

    @classmethod
    def _declared(cls, kind: type) -> Dict[str, Any]:
        """Returns the attributes of the class that declare an object of type `kind`, in the order of declaration,
        beginning with those of base classes."""
        found: Dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found.update({name: one for name, one in vars(base).items() if isinstance(one, kind)})
        return {name: one for name, one in found.items() if getattr(cls, name, None) is one}

    @classmethod
    def declaration(cls) -> Dict[str, Any]:
        """Returns the declaration of the class, which the launcher needs to plan a run (docs/wire_format.md, section
        9)."""
        paragraph = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
        return {"kind": "component", "name": cls.component_name or _snake_case(cls.__name__), "description": paragraph,
                "traits": {"per_rank": cls.per_rank, "restartable": cls.restartable, "memory_bytes": cls.memory_bytes},
                "parameters": [one.declaration() for one in cls._declared(Parameter).values()],
                "inputs": [one.declaration() for one in cls._declared(Input).values()],
                "outputs": [one.declaration() for one in cls._declared(Output).values()],
                "services": [one.declaration() for one in cls._declared(Service).values()]}

    _host: Any
    _ports: Dict[str, Any]
    _values: Dict[str, Any]


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
