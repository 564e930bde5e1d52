"""`python -m australis`: the command line."""

from australis.cli.main import app

if __name__ == "__main__":
    app(prog_name="australis")
