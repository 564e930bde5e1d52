"""YAML as people mean it: `on` and `no` are words, `1:30` is no number, a key stands once, and places are known.

PyYAML reads and writes it. ruamel.yaml takes twice the time, and would need the same rules for words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml

from australis.errors import NetworkError, TextPlace

_RESOLVERS = (
    ("tag:yaml.org,2002:bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)"), "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
        "-+.0123456789",
    ),
    ("tag:yaml.org,2002:null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
)


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str, called: str) -> None:
        super().__init__(text)
        self.called = called

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if isinstance(name, list | dict):
                raise _error(self.called, "a key is a name, not a list or a mapping", key.start_mark)
            if name in seen:
                again = f"the key `{name}` stands here again; it is in line {seen[name]} too"
                raise _error(self.called, again, key.start_mark)
            seen[name] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


for _class in (_Loader, _Dumper):
    _class.yaml_implicit_resolvers = {}
    for _tag, _pattern, _first in _RESOLVERS:
        _class.add_implicit_resolver(_tag, re.compile(f"(?:{_pattern.pattern})$"), list(_first))


class Document:
    """What a text holds, and on which line each part of it stands."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        try:
            loader = _Loader(text, name)
        except yaml.YAMLError as error:
            raise NetworkError(" ".join(str(error).split()), TextPlace(name)) from error
        try:
            self._root = loader.get_single_node()
            self.data: Any = None if self._root is None else loader.construct_document(self._root)
        except yaml.MarkedYAMLError as error:
            problem = " ".join(filter(None, (error.context, error.problem)))
            raise _error(name, problem, error.problem_mark or error.context_mark) from error
        except (yaml.YAMLError, ValueError) as error:  # such as a number of thousands of digits
            raise NetworkError(str(error), TextPlace(name)) from error
        except RecursionError:
            raise NetworkError("it is nested too deeply", TextPlace(name)) from None
        finally:
            loader.dispose()

    def place(self, path: Sequence[object] = (), *inside: str) -> TextPlace:
        """The line and the column of a part, or of the innermost one around it that is there.

        Of the keys `inside` it, those that are not there are passed over.
        """
        mark, node = (None if self._root is None else self._root.start_mark), self._root
        for step in path:
            key, child = _child(node, step)
            if child is None:
                return self._at(mark)
            mark, node = (key or child).start_mark, child
        for step in inside:
            key, child = _child(node, step)
            if key is not None:
                mark, node = key.start_mark, child
        return self._at(mark)

    def _at(self, mark: Any) -> TextPlace:
        return TextPlace(self.name, 1, 1) if mark is None else TextPlace(self.name, mark.line + 1, mark.column + 1)


def _child(node: Any, step: object) -> tuple[Any, Any]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if getattr(key, "value", None) == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def _error(name: str, problem: str, mark: Any) -> NetworkError:
    place = TextPlace(name, mark.line + 1, mark.column + 1, exact=True) if mark else TextPlace(name)
    return NetworkError(problem, place)


class Block(dict[str, Any]):
    """A mapping that is written with one key a line, however short."""


def dumps(data: object) -> str:
    """Text of plain data, in the order given; what fits on a line and is no Block stands on one."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)


def _represent(dumper: _Dumper, data: Any) -> yaml.Node:
    short = not isinstance(data, Block) and len(str(data)) < 100
    if isinstance(data, dict):
        return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=short)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)


for _type in (dict, list, Block):
    _Dumper.add_representer(_type, _represent)
