#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AdamW in Python, in place of the standard optimizer. It updates the parameters in shared memory (the arena) in place,
with numpy. In the precision 32-true, the losses are bit-identical to those with the standard optimizer."""
import math

import numpy as np

import trainyard


class Optimizer(trainyard.Component):
    """Updates the parameters with AdamW whenever the gradients of a step are complete."""

    per_rank = True
    restartable = False

    arena = trainyard.Input("arena", "ArenaInfo", "the blocks to work on")
    gradients = trainyard.Input("gradients", "Gradients", "the gradients are complete")
    run_state = trainyard.Input("/run_state", "RunState", "the step at which a resumed run continues", optional=True)
    parameters = trainyard.Output("parameters", "Parameters", "the arena holds the parameters after this step")
    optimizer_state = trainyard.Output("optimizer_state", "OptimizerState", "blocks for the checkpoint writer")

    lr = trainyard.Parameter(1e-3, "learning rate", at_least=0, settable=True)
    weight_decay = trainyard.Parameter(1e-2, "weight decay", at_least=0)
    beta1 = trainyard.Parameter(0.9, "decay of the average of the gradients", between=(0, 1))
    beta2 = trainyard.Parameter(0.999, "decay of the average of their squares", between=(0, 1))
    eps = trainyard.Parameter(1e-8, "added to the denominator", positive=True)

    def on_configure(self):
        self.waiting = None
        # If the run has a checkpoint writer, its message RunState contains the step at which the run begins. Otherwise
        # the run begins at step 0.
        self.step = None if self.run_state.connections else 0
        self.blocks = {}

    @arena.handler
    def on_arena(self, arena):
        # The tensors are views of the shared memory on which the accelerator host also works.
        self.blocks = {block["name"]: block["data"].numpy().reshape(-1) for block in arena["blocks"]}
        if self.blocks["parameters"].dtype != np.float32:
            raise trainyard.TrainyardError(f"the parameters are {self.blocks['parameters'].dtype}; this optimizer takes "
                                           "float32")
        count = self.blocks["parameters"].size
        self.mean, self.square = (self.allocate_permanent(count, np.float32) for _ in range(2))
        self.scratch = np.empty((2, count), np.float32)
        shape = arena["blocks"][0]["data"].shape
        self.optimizer_state.send({
            "rank": self.rank, "rule": "adamw",
            "blocks": [{"name": "exp_avg", "data": self.mean.reshape(shape)},
                       {"name": "exp_avg_sq", "data": self.square.reshape(shape)}],
            "hyperparameters": {"lr": self.lr, "beta1": self.beta1, "beta2": self.beta2, "eps": self.eps,
                                "weight_decay": self.weight_decay},
            "on_device": False, "device_blocks": []})
        self.parameters.send({"step": 0, "learning_rate": 0})
        self.update_if_complete()

    @run_state.handler
    def on_run_state(self, state):
        self.step = state["step"]
        self.take_settings(state["settings"])
        self.update_if_complete()

    @gradients.handler
    def on_gradients(self, gradients):
        self.waiting = gradients
        self.update_if_complete()

    def update_if_complete(self):
        if self.waiting is None or self.step is None or not self.blocks:
            return
        gradients, self.waiting = self.waiting, None
        if gradients["step"] != self.step + 1:
            raise trainyard.TrainyardError(f"gradients of step {gradients['step']} came after step {self.step}")
        self.step = gradients["step"]
        self.update(np.float32(gradients["scale"]))
        self.parameters.send({"step": self.step, "learning_rate": self.lr})

    def update(self, scale):
        """Computes the formula of the standard optimizer, with the same rounding. It makes no temporary arrays, so that
        its speed is limited only by memory bandwidth, like that of the standard optimizer."""
        step_size = np.float32(self.lr / (1 - math.pow(self.beta1, self.step)))
        root_scale = np.float32(1 / math.sqrt(1 - math.pow(self.beta2, self.step)))
        parameters, gradient = self.blocks["parameters"], self.blocks["gradients"]
        first, second = self.scratch
        gradient *= scale
        parameters *= np.float32(1 - self.lr * self.weight_decay)
        self.mean *= np.float32(self.beta1)
        self.mean += np.multiply(gradient, np.float32(1 - self.beta1), out=first)
        np.multiply(gradient, gradient, out=first)
        first *= np.float32(1 - self.beta2)
        self.square *= np.float32(self.beta2)
        self.square += first
        np.sqrt(self.square, out=first)
        first *= root_scale
        first += np.float32(self.eps)
        np.multiply(self.mean, step_size, out=second)
        second /= first
        parameters -= second
        gradient[:] = 0


trainyard.run_member(Optimizer)
