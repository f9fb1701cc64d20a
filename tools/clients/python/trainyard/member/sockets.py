# SPDX-License-Identifier: Apache-2.0
"""The sockets of a member. Sockets between members accept only connections with the keys of the run."""
from __future__ import annotations

from typing import NamedTuple, Optional

import zmq
from zmq.utils import z85

from ..bounds import CONTROL_BYTES
from ..errors import TrainyardError

_ADMISSION = "inproc://zeromq.zap.01"  # The fixed address at which libzmq asks whether to accept a connection.
_HANDSHAKE_MS = 10_000
_LARGEST_FRAME = 4 << 30


class Keys(NamedTuple):
    """The key pair that all members of a run share."""

    public: bytes
    secret: bytes

    @staticmethod
    def read(text: bytes) -> Keys:
        """Reads the keys, which the launcher writes to stdin of this process. Errors never contain the keys."""
        if len(text) != 80:
            raise TrainyardError(f"the standard input has {len(text)} bytes; the launcher writes the keys of the run "
                                 "there, which have 80")
        return Keys(text[:40], text[40:])


class Sockets:
    """Makes the sockets of one process."""

    def __init__(self, keys: Keys) -> None:
        self.context, self.keys = zmq.Context(), keys

    def _make(self, kind: int) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self.context.socket(kind)
        # Queues are unlimited, because the credits of the edges limit them. After a process has closed its sockets,
        # ZeroMQ may take up to half a second to send the last messages.
        socket.linger, socket.sndhwm, socket.rcvhwm, socket.maxmsgsize = 500, 0, 0, _LARGEST_FRAME
        return socket

    def _take_part(self, socket: zmq.Socket[bytes], keys: Keys) -> None:
        socket.curve_publickey, socket.curve_secretkey = keys.public, keys.secret
        socket.setsockopt(zmq.HANDSHAKE_IVL, _HANDSHAKE_MS)

    @staticmethod
    def address(socket: zmq.Socket[bytes]) -> str:
        """Returns the address to which other processes must connect."""
        address = socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(address, bytes)
        return address.decode().rstrip("\0")

    def dealer(self, keys: Optional[Keys], identity: bytes = b"") -> zmq.Socket[bytes]:
        """Returns a socket that connects to another member, or, if `keys` is None, to a gateway."""
        socket = self._make(zmq.DEALER)
        if keys is not None:
            self._take_part(socket, keys)
            socket.curve_serverkey = keys.public
        if identity:
            socket.routing_id = identity
        return socket

    def router(self, address: str, for_members: bool) -> zmq.Socket[bytes]:
        """Returns a bound socket for members or for visitors. The socket accepts only small control messages. The
        object Admission must exist before a socket for members is made."""
        socket = self._make(zmq.ROUTER)
        if for_members:
            self._take_part(socket, self.keys)
            socket.curve_server, socket.zap_domain = True, b"run"
        socket.maxmsgsize = CONTROL_BYTES
        socket.router_mandatory, socket.router_handover = 1, 1
        socket.setsockopt(zmq.IPV6, address.startswith("tcp://["))
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            raise TrainyardError(f"cannot bind {address}: {error}") from None
        return socket


class Admission:
    """Decides which connections of members are accepted: libzmq asks it about every connection (ZAP, ZeroMQ RFC 27)."""

    def __init__(self, sockets: Sockets) -> None:
        self.socket: zmq.Socket[bytes] = sockets.context.socket(zmq.REP)
        self.socket.linger = 0
        self.socket.bind(_ADMISSION)
        self._allowed = z85.decode(sockets.keys.public)

    def poll(self) -> None:
        while True:
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            admitted = len(frames) == 7 and frames[5] == b"CURVE" and frames[6] == self._allowed
            request = frames[1] if len(frames) > 1 else b""
            self.socket.send_multipart([b"1.0", request, b"200" if admitted else b"400",
                                        b"" if admitted else b"not a member of this run", b"", b""])
