"""Quality of service at work: what a network loads a machine with, what that is worth, and what to shed (Aurora 4)."""
