# SPDX-License-Identifier: Apache-2.0
"""Components that send the metrics of a run to tracking services (docs/send_metrics_to_wandb_or_mlflow.md).

    python3 -m trainyard.bridges.wandb     Weights & Biases
    python3 -m trainyard.bridges.mlflow    MLflow

Training never waits for a service. The handlers of the component (component.py) only put records into a queue on disk,
the outbox (outbox.py). A thread, the courier (courier.py), takes the records from there and passes them to the service
(service.py). While the service is unreachable, the courier keeps trying. """
