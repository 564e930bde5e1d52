"""Networks for people: explained as text, and drawn."""
