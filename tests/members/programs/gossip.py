# SPDX-License-Identifier: Apache-2.0
"""Runs another program of this folder, and also reveals to tests what members normally keep secret: the keys of the
run, and which process has subscribed to each edge. The first argument is the name of the program."""
import importlib
import pathlib
import sys

from trainyard.member.edge import Edge
from trainyard.member.sockets import Keys

read, attach = Keys.read, Edge.attach


def tell_keys(text):
    pathlib.Path("keys").write_bytes(text)
    return read(text)


def tell_subscriber(edge, peer, request, pid=0):
    with open("subscribers", "a", encoding="utf-8") as file:
        file.write(f"{pid}\n")
    attach(edge, peer, request, pid)


Keys.read, Edge.attach = staticmethod(tell_keys), tell_subscriber
importlib.import_module(sys.argv.pop(1))
