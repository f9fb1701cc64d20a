# SPDX-License-Identifier: Apache-2.0
"""The sockets of a client. Nothing here waits, so that plain and asynchronous programs share it."""
from __future__ import annotations

from typing import Deque

import zmq
from zmq.utils.monitor import recv_monitor_message

from .bounds import ANSWER_BYTES, BODY_BYTES, PAYLOAD_BYTES
from .door import check_event, connect_visitor
from .errors import TrainyardError
from .finder import is_door
from .session import Arrival, Session

_ROUND = 256  # The messages that are taken from a socket at once.


def open_socket(most_bytes: int, most_messages: int) -> zmq.Socket[bytes]:
    """Returns a DEALER of the one context of this process, which accepts frames of at most `most_bytes` and keeps at
    most `most_messages` messages that the program has not read."""
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger, socket.maxmsgsize, socket.rcvhwm = 0, most_bytes, most_messages
    return socket


def registry_socket(address: str) -> zmq.Socket[bytes]:
    """Returns a socket that is connected to a registry."""
    socket = open_socket(ANSWER_BYTES, 64)
    connect_visitor(socket, address)
    return socket


class Link:
    """The connection of a session. Its monitor tells when to subscribe: after each handshake."""

    def __init__(self, session: Session) -> None:
        self.session = session
        wish = session.wish
        # A publisher that keeps to the windows never has more messages under way.
        most_messages = (wish.window + 2) * len(session.feeds) + 16
        self.socket = open_socket(PAYLOAD_BYTES if wish.payloads == "inline" else BODY_BYTES, most_messages)
        # Only the sockets of front doors have intervals that grow (check_event).
        retried = zmq.EVENT_CONNECT_RETRIED if is_door(session.endpoint) else 0
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | retried)
        connect_visitor(self.socket, session.endpoint)

    def watch(self) -> None:
        """Subscribes, if the socket has connected or reconnected."""
        while self.monitor.poll(0):
            if check_event(recv_monitor_message(self.monitor, zmq.NOBLOCK), self.session.endpoint):
                self.session.connected()
        self.flush()

    def ready(self) -> bool:
        """Returns True if watch() or drain() has anything to do."""
        return bool(self.monitor.poll(0) or self.socket.poll(0))

    def drain(self, arrivals: Deque[Arrival]) -> bool:
        """Appends messages that have arrived. Returns True if there may be more."""
        take, receive = self.session.take, self.socket.recv_multipart
        try:
            for _ in range(_ROUND):
                arrival = take(receive(zmq.NOBLOCK))
                if arrival is not None:
                    arrivals.append(arrival)
        except zmq.Again:
            self.flush()
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Sends what the session wants to send."""
        outgoing = self.session.outgoing
        while outgoing:
            try:
                self.socket.send_multipart(outgoing[0], flags=zmq.NOBLOCK)
            except zmq.Again:
                raise TrainyardError(f"{self.session.endpoint} does not read what is sent to it") from None
            outgoing.pop(0)

    def close(self) -> None:
        """Unsubscribes. The last messages may still be sent within half a second."""
        self.session.close()
        try:
            self.flush()
        except TrainyardError:
            pass  # It would not have listened.
        self.socket.disable_monitor()
        self.monitor.close(0)
        self.socket.close(500)
