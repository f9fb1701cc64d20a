# SPDX-License-Identifier: Apache-2.0
"""Launch files that train with every strategy on generated pictures, for tests on the hosts of a lab."""
import json
import random
import struct
import subprocess

import doctor

IMAGES, LABELS = "/mnt/images-idx3-ubyte", "/mnt/labels-idx1-ubyte"
RUN = ["launch", "mnist.toml", f"images={IMAGES}", f"labels={LABELS}", "train_count=600",
       "run.validate_every_epochs=0", "component.accelerator_host.params.log_every_steps=1",
       "component.logger.params.console=off", "run.log_level=warning"]


def registered_strategies():
    listed = subprocess.run([doctor.PROGRAM, "plugin", "list", "strategy", "--json"], check=True, capture_output=True)
    return [plugin["name"] for plugin in json.loads(listed.stdout)]


def write_digits(lab):
    """Made-up pictures in the format of MNIST."""
    random_numbers, count = random.Random(1), 640
    pixels = random_numbers.randbytes(count * 28 * 28)
    digits = bytes(random_numbers.randrange(10) for _ in range(count))
    (lab.shared / IMAGES.rpartition("/")[2]).write_bytes(struct.pack(">IIII", 0x803, count, 28, 28) + pixels)
    (lab.shared / LABELS.rpartition("/")[2]).write_bytes(struct.pack(">II", 0x801, count) + digits)
