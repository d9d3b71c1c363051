"""Reading and running the JSON case files: our own corpus, and any other in the same form.

A file holds one case or an array of them. A reducer case is `{description, reducer, initial, actions,
expected}`, or has `"noOp": true` in place of `expected`; a round trip is `{name, type, input,
acceptableOutputs}`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast.protocol import codec, jsonrpc
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import Wire
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

__all__ = ["CORPUS", "Case", "canonical", "load_cases", "round_trip", "run_case", "states_of", "strip_nulls"]

Case: TypeAlias = dict[str, Any]

CORPUS: Final = Path(__file__).with_name("corpus")


def strip_nulls(value: Any) -> Any:
    """The same JSON without the keys whose value is null; a null in a list stays."""
    if isinstance(value, dict):
        return {key: strip_nulls(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [strip_nulls(entry) for entry in value]
    return value


def canonical(value: Any) -> str:
    """JSON as text to compare by: key order does not matter, `1`, `1.0` and `true` differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def load_cases(folder: Path) -> list[tuple[str, Case]]:
    """Every case below a folder, each with a readable name of its own."""
    cases: list[tuple[str, Case]] = []
    for file in sorted(folder.rglob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        place = file.relative_to(folder).with_suffix("").as_posix()
        found = content if isinstance(content, list) else [content]
        cases.extend((f"{place}: {case.get('description') or case.get('name')}", case) for case in found)
    return cases


def states_of(case: Case) -> list[Wire]:
    """The initial state of a reducer case and the state after each action; a malformed action is skipped."""
    kind = case["reducer"]
    states = [codec.convert(STATES[kind], case["initial"])]
    for action in case["actions"]:
        try:
            decoded = decode_action(json.dumps(action).encode())
        except InvalidValue:
            states.append(states[-1])
        else:
            states.append(REDUCERS[kind](states[-1], decoded))
    return states


def run_case(case: Case) -> Any:
    """The final state of a reducer case, as JSON."""
    return codec.to_json(states_of(case)[-1])


def round_trip(case: Case) -> Any:
    """What a round-trip case's input reads as once it has been decoded and encoded again."""
    data = json.dumps(case["input"]).encode()
    if case["type"] == "JsonRpcMessage":
        return json.loads(codec.encode(jsonrpc.parse(data)))
    return json.loads(codec.encode(codec.decode(types_by_name()[case["type"]], data)))
