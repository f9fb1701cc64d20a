# SPDX-License-Identifier: Apache-2.0
"""Writes results of torch.optim, for torch_oracle_test.cpp. Usage: torch_reference.py rules|schedules OUTPUT.json"""

import json
import sys

import torch

STEPS = 60
ELEMENTS = 19

RULES = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop,
    "adagrad": torch.optim.Adagrad,
}

CASES = [
    ("sgd", dict(lr=0.1)),
    ("sgd", dict(lr=0.1, weight_decay=0.01)),
    ("sgd", dict(lr=0.1, momentum=0.9)),
    ("sgd", dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.02)),
    ("sgd", dict(lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.02)),
    ("sgd", dict(lr=0.05, momentum=0.8, maximize=True, weight_decay=0.02)),
    ("adam", dict()),
    ("adam", dict(lr=0.01, betas=[0.8, 0.95], eps=1e-6, weight_decay=0.1)),
    ("adam", dict(lr=0.01, amsgrad=True)),
    ("adamw", dict()),
    ("adamw", dict(lr=0.01, betas=[0.9, 0.95], eps=1e-7, weight_decay=0.1)),
    ("adamw", dict(lr=0.01, amsgrad=True, maximize=True)),
    ("rmsprop", dict()),
    ("rmsprop", dict(lr=0.02, alpha=0.9, eps=1e-5, weight_decay=0.05)),
    ("rmsprop", dict(lr=0.01, momentum=0.7)),
    ("rmsprop", dict(lr=0.01, centered=True)),
    ("rmsprop", dict(lr=0.01, centered=True, momentum=0.5, weight_decay=0.01)),
    ("adagrad", dict()),
    ("adagrad", dict(lr=0.1, lr_decay=0.01, weight_decay=0.03, initial_accumulator_value=0.2, eps=1e-8)),
]


def trajectory(rule, options, dtype):
    """Returns random gradients of varying size, so that averages, maxima and first steps all affect the results."""
    generator = torch.Generator().manual_seed(1)
    parameter = torch.randn(ELEMENTS, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    start = parameter.tolist()
    optimizer = RULES[rule]([parameter], **options)
    gradients, parameters = [], []
    for step in range(STEPS):
        gradient = torch.randn(ELEMENTS, generator=generator, dtype=torch.float64) * (2.0 if step % 7 == 3 else 0.3)
        parameter.grad = gradient.to(dtype)
        gradients.append(parameter.grad.tolist())
        optimizer.step()
        parameters.append(parameter.tolist())
    return dict(rule=rule, options=options, dtype=str(dtype).split(".")[1], start=start, gradients=gradients,
                parameters=parameters, torch=torch.__version__)


def rules():
    return [trajectory(rule, options, dtype) for rule, options in CASES for dtype in (torch.float32, torch.float64)]


def learning_rates(settings, lr, steps, make, **optimizer_options):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr, **optimizer_options)
    scheduler = make(optimizer)
    rates, momenta = [], []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        momenta.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        scheduler.step()
    return dict(settings=settings, lr=lr, rates=rates, momenta=momenta)


def one_cycle(lr, steps, **options):
    settings = dict(kind="one_cycle", **options)
    return learning_rates(settings, lr, steps,
                          lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=lr, total_steps=steps, **options),
                          momentum=0.9)


def schedules():
    scheduler = torch.optim.lr_scheduler
    return [
        learning_rates(dict(kind="constant"), 0.3, 80, lambda o: scheduler.LambdaLR(o, lambda _: 1.0)),
        learning_rates(dict(kind="step", step_size=7, gamma=0.5), 0.3, 80, lambda o: scheduler.StepLR(o, 7, 0.5)),
        learning_rates(dict(kind="cosine", min_lr=0.02), 0.3, 80,
                       lambda o: scheduler.CosineAnnealingLR(o, T_max=80, eta_min=0.02)),
        learning_rates(dict(kind="linear", min_lr=0.03), 0.3, 80,
                       lambda o: scheduler.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=80)),
        one_cycle(0.1, 80),
        one_cycle(0.1, 97, pct_start=0.21, div_factor=10.0, final_div_factor=100.0, base_momentum=0.8,
                  max_momentum=0.9),
        one_cycle(0.1, 60, cycle_momentum=False),
    ]


if __name__ == "__main__":
    cases = {"rules": rules, "schedules": schedules}[sys.argv[1]]()
    with open(sys.argv[2], "w") as file:
        json.dump(cases, file)
