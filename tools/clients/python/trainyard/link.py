# SPDX-License-Identifier: Apache-2.0
"""The sockets of a client. No function here waits, so synchronous and asynchronous programs can share this code."""
from __future__ import annotations

from typing import Deque

import zmq
from zmq.utils.monitor import recv_monitor_message

from .bounds import ANSWER_BYTES, BODY_BYTES, PAYLOAD_BYTES
from .door import check_event, connect_visitor
from .errors import TrainyardError
from .finder import is_door
from .session import Arrival, Session

_ROUND = 256  # The largest number of messages that one call takes from a socket.


def open_socket(most_bytes: int, most_messages: int) -> zmq.Socket[bytes]:
    """Returns a DEALER socket of the only ZeroMQ context of this process. The socket accepts frames of at most
    `most_bytes` bytes, and keeps at most `most_messages` messages that the program has not read."""
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger, socket.maxmsgsize, socket.rcvhwm = 0, most_bytes, most_messages
    return socket


def registry_socket(address: str) -> zmq.Socket[bytes]:
    """Returns a socket that is connected to a registry."""
    socket = open_socket(ANSWER_BYTES, 64)
    connect_visitor(socket, address)
    return socket


class Link:
    """The connection to one endpoint, with its session. It has a socket monitor, because it must subscribe after each
    handshake, that is, also after a reconnection."""

    def __init__(self, session: Session) -> None:
        self.session = session
        wish = session.wish
        # A publisher that respects the windows never has more messages in flight.
        most_messages = (wish.window + 2) * len(session.feeds) + 16
        self.socket = open_socket(PAYLOAD_BYTES if wish.payloads == "inline" else BODY_BYTES, most_messages)
        # Only sockets to front doors use growing intervals between attempts (check_event).
        retried = zmq.EVENT_CONNECT_RETRIED if is_door(session.endpoint) else 0
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | retried)
        connect_visitor(self.socket, session.endpoint)

    def watch(self) -> None:
        """Subscribes if the socket has connected or reconnected since the last call."""
        while self.monitor.poll(0):
            if check_event(recv_monitor_message(self.monitor, zmq.NOBLOCK), self.session.endpoint):
                self.session.connected()
        self.flush()

    def ready(self) -> bool:
        """Returns True if watch() or drain() has anything to do."""
        return bool(self.monitor.poll(0) or self.socket.poll(0))

    def drain(self, arrivals: Deque[Arrival]) -> bool:
        """Appends messages that have arrived to `arrivals`. Returns True if there may be more."""
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
        """Sends the frames that the session has prepared."""
        outgoing = self.session.outgoing
        while outgoing:
            try:
                self.socket.send_multipart(outgoing[0], flags=zmq.NOBLOCK)
            except zmq.Again:
                raise TrainyardError(f"{self.session.endpoint} does not read what is sent to it") from None
            outgoing.pop(0)

    def close(self) -> None:
        """Unsubscribes and closes the socket. ZeroMQ may take up to half a second to send the last frames."""
        self.session.close()
        try:
            self.flush()
        except TrainyardError:
            pass  # The publisher is not reading, so it cannot be told.
        self.socket.disable_monitor()
        self.monitor.close(0)
        self.socket.close(500)
