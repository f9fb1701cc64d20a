# SPDX-License-Identifier: Apache-2.0
"""Hosts that have IPv6 addresses only."""
import sys
import unittest

sys.dont_write_bytecode = True
import doctor
from lab import Lab, missing
from launches import Launch, nothing_is_left, write_key

RUN = ["launch", "mlp.toml", "component.logger.params.console=off", "run.log_level=warning", "max_steps=20"]


def use_ipv6_only(lab):
    """Takes the IPv4 addresses of the hosts away, and gives them and their names addresses of IPv6."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for host in lab.hosts:
        address = f"fd77::{host.number + 1}"
        host.on_network("ip", "-4", "address", "flush", "dev", "eth0")
        host.on_network("ip", "-6", "address", "add", f"{address}/64", "dev", "eth0", "nodad")
        lines.append(f"{address} {host.name}")
    (lab.shared / ".hosts").write_text("\n".join(lines) + "\n")


@unittest.skipIf(missing(), missing())
class Ipv6Test(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(hosts=2, visible=doctor.visible())
        self.addCleanup(self.lab.close)
        write_key(self.lab)
        use_ipv6_only(self.lab)

    def train(self, **variables):
        here, there = (Launch(self.lab, number, RUN, variables) for number in range(2))
        self.assertEqual((here.end(), there.end()), (0, 0), here.output() + there.output())
        self.assertIn("host 1 (h1, fd77::2) has joined", here.output())
        self.assertIn("run finished: max_steps = 20 reached", here.output())
        nothing_is_left(self, *self.lab.hosts)
        return here.metrics()

    def test_names_that_have_only_ipv6_addresses_give_the_losses_of_one_host(self):
        alone = Launch(self.lab, 0, [*RUN, "devices=2"], {"TRAINYARD_HOST_NUMBER": "", "TRAINYARD_HOST_NAMES": ""})
        self.assertEqual(alone.end(), 0, alone.output())
        self.assertEqual(self.train(), alone.metrics())

    def test_literal_addresses(self):
        self.assertTrue(self.train(TRAINYARD_MEET_AT="[fd77::1]:7400"))

    def test_a_host_that_is_not_there_is_named(self):
        here = Launch(self.lab, 1, [*RUN, "topology.join_timeout_s=6"], {"TRAINYARD_MEET_AT": "[fd77::1]:7400"})
        self.assertEqual(here.end(), 1)
        self.assertIn("fd77::1 (fd77::1) refuses connections at port 7400: host 0 does not listen there", here.output())


if __name__ == "__main__":
    unittest.main()
