"""The methods of streams are made of the boxes' forms, and declared in stubs that say the same."""

import os
import re
from inspect import Parameter, Signature, signature
from pathlib import Path
from textwrap import fill

import pytest

import australis as au
from australis.api.methods.drawing import method
from australis.boxes import catalog
from australis.model.form import form

STUBS = {"squal": ("SqualMethods", catalog.SQUAL), "signals": ("SignalMethods", catalog.SIGNALS),
         "moving": ("MovingMethods", catalog.MOVING)}  # fmt: skip
IMPORTS = {
    "collections.abc": ("Mapping", "Sequence"),
    "australis.api.stream": ("Stream",),
    "australis.expressions": ("Expr", "Term"),
    "australis.model.parameters": ("By", "Expression", "Function", "Length", "On"),
    "australis.model.table": ("Keyed",),
}


def declared(parameters: Signature) -> list[str]:
    """Each parameter as a declaration has it, with the marks between them."""
    texts: list[str] = []
    previous = None
    for each in parameters.parameters.values():
        if previous == Parameter.POSITIONAL_ONLY and each.kind != previous:
            texts.append("/")
        if each.kind == Parameter.KEYWORD_ONLY and previous not in (Parameter.VAR_POSITIONAL, each.kind):
            texts.append("*")
        stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
        hint = "" if each.annotation is Parameter.empty else f": {each.annotation}"
        default = "" if each.default is Parameter.empty else f" = {each.default!r}"
        texts.append(f"{stars}{each.name}{hint}{default.replace(chr(39), chr(34))}")
        previous = each.kind
    return texts


def stub(module: str) -> str:
    """A class with a declaration of each method."""
    name, family = STUBS[module]
    text = f"class {name}:\n    @property\n    def _stream(self) -> Stream: ...\n"
    for kind in (each for each in catalog.boxes(family) if not each.composed):
        parameters = "".join(f"        {each},\n" for each in declared(signature(method(form(kind)))))
        text += f"    def {kind.kind}(\n{parameters}    ) -> {'tuple[Stream, ...]' if kind.forks else 'Stream'}:\n"
        doc = " ".join(form(kind).doc.split("\n\n")[0].split())
        text += fill(f'"""{doc}"""', 120, initial_indent="        ", subsequent_indent="        ") + "\n\n"
    title = f'"""The methods that draw the boxes of `{family}`; see tests/api/test_methods.py."""'
    return f"{title}\n\n{imports(text)}\n\n{text.rstrip()}\n"


def imports(text: str) -> str:
    """The lines that import what a text names."""
    used = {package: [name for name in names if re.search(rf"\b{name}\b", text)] for package, names in IMPORTS.items()}
    lines = [f"from {package} import {', '.join(names)}" for package, names in used.items() if names]
    return "\n".join(lines).replace("\nfrom australis", "\n\nfrom australis", 1)


@pytest.mark.parametrize("module", STUBS)
def test_the_stub_declares_what_the_forms_say(module: str) -> None:
    path = Path(au.__file__).parent / "api" / "methods" / f"{module}.pyi"
    if os.environ.get("AUSTRALIS_GOLDEN") == "write":
        path.write_text(stub(module))
    assert path.read_text() == stub(module), "write it anew: AUSTRALIS_GOLDEN=write pytest tests/api/test_methods.py"
