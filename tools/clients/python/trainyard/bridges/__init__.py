# SPDX-License-Identifier: Apache-2.0
"""Components that carry what a run measures to tracking services (docs/send_metrics_to_wandb_or_mlflow.md).

    python3 -m trainyard.bridges.wandb     Weights & Biases
    python3 -m trainyard.bridges.mlflow    MLflow

Training never waits for a service. The handlers of the component (component.py) only put records into the outbox
(outbox.py), which keeps them on disk. A thread (courier.py) takes them from there and passes them to the service
(service.py), and goes on trying while the service is away.
"""
