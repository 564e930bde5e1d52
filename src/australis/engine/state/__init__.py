"""The state of boxes on the checkpoint."""
