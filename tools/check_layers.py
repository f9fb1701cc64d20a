#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies point one way: messages <- { core, checkpoints, streams } <- visitors <- recordings <- plugins <- launch <- tools, tests see all.

Reads the `#include "..."` lines of every source file. Prints each line that breaks a rule and exits with 1 if there is one.
Plugin folders must not include each other. A plugin may include the files directly in its parent folder (the interface
and helpers of its kind of plugin), and a test may include the folder `testing` there.

With `--libraries BUILD` it looks at what was built instead. The layers that each layer's CMake target links, directly or
through others, are those that its folder may include, no fewer and no more. The libraries that a built library or plugin
names (DT_NEEDED), which are those that it calls, are among them.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = ("devices", "collectives", "accelerators", "strategies", "models", "datasets", "transforms", "environments", "components")
# The layers that each layer may include, besides itself.
ALLOWED = {
    "messages": set(),
    "checkpoints": {"messages"},
    "images": {"messages"},
    "timeline": {"messages"},
    "streams": {"messages"},
    "core": {"messages"},
    "devices": {"messages", "core"},
    "visitors": {"messages", "core"},
    "archive": {"messages", "core"},
    "recordings": {"messages", "core", "visitors"},
    "web": {"messages", "core"},
    "viewer": {"messages", "core", "visitors", "archive", "recordings", "web", "timeline"},
    "collectives": {"messages", "streams", "core"},
    "tensors": {"messages", "core", "devices"},
    "accelerators": {"messages", "core", "devices", "tensors"},
    "strategies": {"messages", "streams", "core", "devices", "tensors", "collectives", "models"},
    "models": {"messages", "streams", "core", "devices", "tensors", "collectives"},
    "datasets": {"messages", "core"},
    "transforms": {"messages", "core", "datasets"},
    "components": {"messages", "streams", "checkpoints", "images", "archive", "recordings", "core", "devices", "visitors", "tensors", "collectives", "accelerators", "strategies", "models", "datasets", "transforms", "web", "viewer", "timeline"},
    "environments": {"messages", "core"},
    "launch": {"messages", "core", "visitors", "archive", "environments"},
    "tools": {"messages", "checkpoints", "recordings", "core", "visitors", "archive", "launch", "web", "viewer", "timeline", "environments"},
}
# Libraries that are not layers, with the layer whose rules apply to them. No layer may call their functions.
PARTS = {"test_device": "devices"}
# The layers that must not use LibTorch.
WITHOUT_TORCH = {"messages", "streams", "checkpoints", "images", "recordings", "core", "visitors", "datasets", "transforms", "archive", "launch", "tools", "web", "viewer", "timeline", "environments", "devices"}
INCLUDE = re.compile(r'^\s*#include\s+(["<])([^">]+)[">]')


def violations(path):
    """Yields (line number, include, why) for each include of `path` that a rule forbids."""
    parts = path.relative_to(ROOT).parts
    layer = parts[0]
    own_plugin = parts[1] if layer in FAMILIES and len(parts) > 2 else None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, name = found.groups()
        if quote == "<":
            if layer in WITHOUT_TORCH and name.startswith(("torch/", "ATen/", "c10/")):
                yield number, name, f"{layer} does without LibTorch"
            continue
        target = name.split("/")
        if target[0] not in ALLOWED:
            yield number, name, "includes are written from the root of the tree"
        elif target[0] != layer and target[0] not in ALLOWED[layer]:
            yield number, name, f"{layer} may include only {', '.join(sorted(ALLOWED[layer] | {layer}))}"
        elif target[0] in FAMILIES and len(target) > 2:
            helper_of_tests = target[1] == "testing" and (path.stem.endswith("_test") or path.parent.name == "testing")
            if not helper_of_tests and (target[0] != layer or target[1] != own_plugin):
                yield number, name, "a plugin's folder is nobody else's business"


def includes():
    """Prints the includes that break a rule, and returns their number."""
    bad = 0
    for layer in ALLOWED:
        for path in sorted((ROOT / layer).rglob("*")):
            # The folder node_modules, which npm fills for the JavaScript client, contains sources of other projects.
            if path.suffix not in (".h", ".cpp") or "node_modules" in path.parts:
                continue
            for number, name, why in violations(path):
                print(f'{path.relative_to(ROOT)}:{number}: #include "{name}": {why}')
                bad += 1
    return bad


def needed_by(library):
    """Returns the layers whose libraries this library needs directly (DT_NEEDED)."""
    text = subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[libtrainyard_([a-z_]+)\.so", text))


def declared_links(build):
    """Maps each layer to the layers that its CMake target links, according to the exported targets."""
    links = {}
    for path in build.glob("CMakeFiles/Export/**/trainyard-targets.cmake"):
        for layer, text in re.findall(
            r"set_target_properties\(trainyard::([a-z]+) PROPERTIES(.*?)\n\)", path.read_text(encoding="utf-8"), re.S
        ):
            if layer in ALLOWED:
                links[layer] = set(re.findall(r"trainyard::([a-z]+)", text)) & ALLOWED.keys()
    return links


def reached_from(layer, links):
    """Returns all layers that a layer links, directly or indirectly."""
    found, open_layers = set(), set(links[layer])
    while open_layers:
        next_layer = open_layers.pop()
        if next_layer not in found:
            found.add(next_layer)
            open_layers |= links[next_layer]
    return found


def links(build):
    """Prints the libraries in the build folder that link layers which they may not include, and returns their
    number."""
    declared = declared_links(build)
    bad = 0
    for layer in sorted(declared):
        linked, included = reached_from(layer, declared), ALLOWED[layer] & declared.keys()
        if linked != included:
            print(f"trainyard::{layer} links {sorted(linked)}, and may include {sorted(included)}")
            bad += 1
    libraries = {path: path.stem.removeprefix("libtrainyard_") for path in build.glob("lib/libtrainyard_*.so")}
    plugins = {path: path.parent.name for path in build.glob("plugins/*/*.so")}
    for path, layer in sorted((libraries | plugins | {build / "bin" / "trainyard": "tools"}).items()):
        layer = PARTS.get(layer, layer)
        strange = needed_by(path) - ALLOWED[layer] - {layer}
        if strange:
            print(f"{path.relative_to(build)} calls {sorted(strange)}, which {layer} may not include")
            bad += 1
    if not declared or not libraries:
        print(f"{build} holds no library of a layer: build it first")
        bad += 1
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--libraries", metavar="BUILD", type=pathlib.Path)
    build = parser.parse_args().libraries
    bad = links(build) if build else includes()
    good = "every library links what its folder may include" if build else "every include points the right way"
    print(f"layers: {bad} violation(s)" if bad else f"layers: {good}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
