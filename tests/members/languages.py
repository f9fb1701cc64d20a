# SPDX-License-Identifier: Apache-2.0
"""The same components in every language: a source `ticker`, a sink `tally`, and `keeper`, which has state. The environment variable
TRAINYARD_MEMBER_LANGUAGES names the languages to test, by default those that need nothing of npm."""
import os
import shutil
from typing import NamedTuple


class Language(NamedTuple):
    """How launch files refer to the components in one language, and how errors in them are shown."""

    name: str
    source: str
    sink: str
    keeper: str
    plugin: str  # The kind of component that users see for the sink.
    no_such_key: str  # What is reported for the exception of the sink, as a regular expression.
    enough: str  # And for that of the source.
    not_wanted: str  # And for that of the service.


_NAMES = ("ticker", "tally", "keeper")


def _component(name, words, params):
    return f"\n[component.{name}]\n{words}\nparams = {{ {params} }}\n"


def _all(source, sink, keeper):
    return (_component("ticker", source, "count = 0"), _component("tally", sink, "finish_after = 300"),
            f"\n[component.keeper]\n{keeper}\n")


def _plugins():
    return (f'plugin = "contract_{name}"' for name in _NAMES)


def _programs(program, ending):
    return (f'command = ["{program}", "PROGRAMS/{name}.{ending}"]\ndeclaration = "describe"' for name in _NAMES)


_KNOWN = {language.name: language for language in (
    Language("c++", *_all(*_plugins()), "contract_tally",
             r"no such key", r"enough", r"13 is not wanted"),
    Language("python", *_all(*_programs("PYTHON", "py")), "tally",
             r"KeyError: 'no such key' \(tally\.py:\d+\)", r"ValueError: enough \(ticker\.py:\d+\)",
             r"ValueError: 13 is not wanted \(tally\.py:\d+\)"),
    Language("javascript", *_all(*_programs("node", "mjs")), "tally",
             r"TypeError: Cannot read properties of undefined \(reading 'no such key'\) \(tally\.mjs:\d+\)",
             r"RangeError: enough \(ticker\.mjs:\d+\)", r"RangeError: 13 is not wanted \(tally\.mjs:\d+\)"))}

CPP = _KNOWN["c++"]
_chosen = os.environ.get("TRAINYARD_MEMBER_LANGUAGES", "c++ python").split()
if unknown := set(_chosen) - set(_KNOWN):
    raise SystemExit(f"TRAINYARD_MEMBER_LANGUAGES: no language {', '.join(sorted(unknown))}; there are: {', '.join(_KNOWN)}")
#: The languages to test.
LANGUAGES = [_KNOWN[name] for name in _chosen]
#: A source and a sink in languages of which at least one is to be tested, in every combination.
PAIRS = [(source, sink) for source in _KNOWN.values() for sink in _KNOWN.values()
         if {source, sink} <= {CPP, *LANGUAGES} and {source, sink} & set(LANGUAGES)]

if any(language.name == "javascript" for language in LANGUAGES) and shutil.which("node") is None:
    raise SystemExit("TRAINYARD_MEMBER_LANGUAGES names javascript, but there is no program 'node'")
