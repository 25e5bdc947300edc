"""What users call: plain functions on tensors, which are methods too."""
