# SPDX-License-Identifier: Apache-2.0
"""Connects to runs on other hosts through their front door, an encrypted TCP port (docs/keys.md). The address of a
front door contains the name of the key to use, as in "laptop@tcp://node7:7401"."""
from __future__ import annotations

import json
import os
import re
import stat
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

import zmq
from zmq.utils.monitor import recv_monitor_message

from .bounds import ANSWER_BYTES
from .errors import Refused, RunEnded, Timeout, TrainyardError
from .finder import RunInfo, is_door

FIRST_RETRY_MS, LAST_RETRY_MS = 100, 6400
_PATIENCE_S = 5.0
_ANSWER_S = 12.0
_FILE_BYTES = 4096
_ADDRESS = re.compile(r"(?:(?P<key>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?(?P<endpoint>tcp://(?P<host>[^@/\s]+):[0-9]{1,5})")
_Z85 = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")


class Key(NamedTuple):
    name: str
    role: str
    public: bytes
    secret: bytes  # Empty if this is only the public key of another user or host.


class _Address(NamedTuple):
    key: Optional[str]
    endpoint: str
    host: str


def _parse(address: str) -> _Address:
    found = _ADDRESS.fullmatch(address)
    if not found:
        raise TrainyardError(f"{address!r:.100} is not the address of a run; it has the form KEY@tcp://HOST:PORT")
    return _Address(found["key"], found["endpoint"], found["host"])


def key_folder() -> str:
    """Returns the folder with the keys of this user."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "trainyard", "keys")


def _check_private(path: str, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise TrainyardError(f"{path}: belongs to user {status.st_uid}, not to user {os.geteuid()}")
    if status.st_mode & 0o077:
        raise TrainyardError(f"{path}: others may read or write it (mode {stat.S_IMODE(status.st_mode):o}); use `chmod`")


def _names(extension: str) -> List[str]:
    folder = key_folder()
    try:
        status = os.lstat(folder)
    except FileNotFoundError:
        return []
    if not stat.S_ISDIR(status.st_mode):
        raise TrainyardError(f"{folder}: is not a folder")
    _check_private(folder, status)
    return sorted(name[:-len(extension)] for name in os.listdir(folder) if name.endswith(extension))


def _key(path: str, fields: Dict[str, str], secret: str) -> Key:
    public = fields.get("public", "")
    if fields.get("role") not in ("watch", "control", "member") or not _Z85.fullmatch(public) or (
            secret and not _Z85.fullmatch(secret)):
        # The error does not contain the text, because that may contain the secret key.
        raise TrainyardError(f"{path}: is not a key file")
    return Key(fields.get("name", ""), fields["role"], public.encode(), secret.encode())


def _own_key(name: str) -> Key:
    """Reads a key file. Raises TrainyardError if other users could have read or changed it."""
    known = _names(".key")
    if name not in known:
        raise TrainyardError(f"no key of your own named {name!r} in {key_folder()}; known: {', '.join(known) or 'none'}")
    path = os.path.join(key_folder(), name + ".key")
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise TrainyardError(f"{path}: {error.strerror}") from None
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _FILE_BYTES:
            raise TrainyardError(f"{path}: is not a key file")
        _check_private(path, status)
        lines = file.read(_FILE_BYTES).decode("ascii", "replace").splitlines()
    fields = dict(line.split(" ", 1) for line in lines[1:5] if " " in line)
    if lines[:1] != ["trainyard-key-file 1"] or not fields.get("secret"):
        raise TrainyardError(f"{path}: is not a key file")
    return _key(path, fields, fields["secret"])


def _public_key(name: str) -> Key:
    path = os.path.join(key_folder(), name + ".pub")
    with open(path, encoding="ascii", errors="replace") as file:
        words = file.read(256).split()
    if len(words) != 4 or words[0] != "trainyard-key":
        raise TrainyardError(f"{path}: is not the line of a key")
    return _key(path, dict(zip(("name", "role", "public"), words[1:])), "")


def _only_key() -> str:
    """Returns the name of the user's only key. Raises TrainyardError if there is none, or more than one."""
    names = [name for name in _names(".key") if _own_key(name).role != "member"]
    if len(names) != 1:
        raise TrainyardError(f"which key? Write KEY@tcp://HOST:PORT; keys in {key_folder()}: {', '.join(names) or 'none'}")
    return names[0]


def _key_of_host(host: str) -> Key:
    """Returns the public key with the name of the host, or, if there is none, the only key of a host that the user
    has."""
    names = _names(".pub")
    if host in names:
        return _public_key(host)
    hosts = [key for key in map(_public_key, names) if key.role == "member"]
    if len(hosts) != 1:
        raise TrainyardError(f"the key of the host {host!r} is not known in {key_folder()}; add it with "
                             f"`trainyard keys add 'LINE' --name {host}`")
    return hosts[0]


def connect_visitor(socket: zmq.Socket[bytes], address: str) -> None:
    """Connects a socket to a registry or a gateway of this host, or to a front door."""
    if not is_door(address):
        socket.connect(address)
        return
    door = _parse(address)
    own, host = _own_key(door.key or ""), _key_of_host(door.host)
    socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = own.public, own.secret, host.public
    socket.tcp_keepalive, socket.tcp_keepalive_idle = 1, 30
    socket.tcp_keepalive_intvl, socket.tcp_keepalive_cnt = 10, 3
    socket.connect_timeout = 3000
    socket.setsockopt(zmq.IPV6, 1)  # The name of the host may have IPv6 addresses only.
    # The intervals between attempts grow, so that check_event() can recognise a front door that does not come back.
    socket.reconnect_ivl, socket.reconnect_ivl_max = FIRST_RETRY_MS, LAST_RETRY_MS
    socket.connect(door.endpoint)


def check_event(event: Mapping[str, Any], address: str) -> bool:
    """Returns True if an event of a socket monitor reports a connection. Raises RunEnded if the front door no longer
    exists."""
    if event["event"] == zmq.EVENT_CONNECT_RETRIED and event["value"] >= LAST_RETRY_MS:
        raise RunEnded(f"the connection to {address} is lost, and nobody answers there")
    return bool(event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED)


def _knock(monitor: zmq.Socket[bytes], address: str) -> None:
    """Waits until the front door has accepted the connection."""
    deadline, reached = time.monotonic() + _PATIENCE_S, False
    while (left := deadline - time.monotonic()) > 0:
        if not monitor.poll(int(left * 1000)):
            break
        event = recv_monitor_message(monitor)["event"]
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            return
        if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            raise Refused(f"{address}: this key is not admitted")
        reached = True
    raise TrainyardError(f"{address}: " + ("the host has not proved that it has the key that is known of it" if reached
                                           else f"nobody answers (waited {_PATIENCE_S:g} s)"))


def run_at_door(name: str) -> RunInfo:
    """Returns the run behind a front door. Raises TrainyardError if the front door cannot be reached, and Refused if it
    does not accept the key."""
    door = _parse(name)
    address = f"{door.key or _only_key()}@{door.endpoint}"
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger, socket.maxmsgsize = 0, ANSWER_BYTES
    monitor = socket.get_monitor_socket(
        zmq.EVENT_CONNECTED | zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
        | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
    try:
        connect_visitor(socket, address)
        _knock(monitor, address)
        socket.send(b'{"id": 1, "op": "run"}')
        if not socket.poll(int(_ANSWER_S * 1000)):
            raise Timeout(f"{address} did not say which run it is within {_ANSWER_S:g} s")
        told = json.loads(socket.recv_multipart()[-1])["result"]
        return RunInfo(str(told["run"]), str(told["name"]), str(told["file"]), "", 0, 0, address)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TrainyardError(f"{address}: what it says of its run is not what was asked for") from None
    finally:
        socket.disable_monitor()
        monitor.close(0)
        socket.close(0)
