# SPDX-License-Identifier: Apache-2.0
"""A member that implements another version of the wire format."""
import trainyard
from trainyard.member import control


class Newer(trainyard.Component):
    """Comes from the future."""


control.WIRE = "wire 9"
trainyard.run_member(Newer)
