"""Networks as files of YAML."""
