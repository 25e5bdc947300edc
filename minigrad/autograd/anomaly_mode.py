"""torch.autograd.anomaly_mode: anomaly detection under its module's name."""

from minigrad.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
