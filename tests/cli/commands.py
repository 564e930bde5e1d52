"""Commands as people write them, and what they tell."""

from typer.testing import CliRunner

from australis.cli.main import app

RUN = CliRunner()
FILE = """\
australis: 2
inputs:
  reports: time int, mph int
boxes:
  fast: {filter: mph > 60, from: reports}
outputs:
  fast: fast
"""


def told(*arguments, code=0):
    result = RUN.invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result
