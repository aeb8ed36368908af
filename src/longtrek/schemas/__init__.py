"""YAML files held to a JSON Schema when they are read; an error names file, key, what was found and what is allowed."""

import difflib
import json
import math
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from longtrek.errors import LongtrekError


class _Loader(yaml.SafeLoader):
    """YAML as it stands in a file where nothing is said twice and every key is a text."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    pairs = [(loader.construct_object(key, deep=True), key, value) for key, value in node.value]
    content: dict[str, Any] = {}
    for name, key, value in pairs:
        if not isinstance(name, str):
            raise yaml.constructor.ConstructorError(None, None, f"the key {name!r} is no text", key.start_mark)
        if name in content:
            raise yaml.constructor.ConstructorError(None, None, f"the key {name!r} stands there twice", key.start_mark)
        content[name] = loader.construct_object(value, deep=True)
    return content


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(_: Any, value: Any) -> bool:
    return _integer(_, value) or (isinstance(value, float) and math.isfinite(value))


# JSON Schema takes 5.0 for an integer and YAML has .nan: no count, and no path, can be made of either.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _integer, "number": _number})
_Validator = extend(Draft202012Validator, type_checker=_TYPES)  # type: ignore[no-untyped-call]


@cache
def schema(name: str) -> Any:
    """The schema that ships as `schemas/<name>.yaml`."""
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@cache
def _validator(name: str) -> Any:
    return _Validator(schema(name))


def read(path: Path, name: str) -> Any:
    """Read a YAML file and hold it to a schema.

    Raises:
        LongtrekError: no such file, not YAML, or every fault of the content on a line of its own.
    """
    content = load(path, name)
    check(content, name, path)
    return content


def load(path: Path, name: str) -> Any:
    """Read a YAML file as it is; `name` says in the error what it should be.

    Raises:
        LongtrekError: no such file, or not YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise LongtrekError(f"{path}: no such file; expected a {name} file in YAML") from None
    except OSError as error:
        raise LongtrekError(f"{path}: cannot be read ({error.strerror}); expected a {name} file in YAML") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that is none is a ValueError
        raise LongtrekError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def check(content: Any, name: str, where: Path | str) -> None:
    """Hold a value to a schema; `where` names its origin in the error."""
    faults = sorted(_validator(name).iter_errors(content), key=lambda fault: list(map(str, fault.path)))
    if faults:
        # Every missing key is a fault of its own, and each is explained with all that are missing.
        raise LongtrekError("\n".join(dict.fromkeys(f"{where}: {_explain(fault)}" for fault in faults)))


def _explain(fault: ValidationError) -> str:
    key = ".".join(map(str, fault.absolute_path)) or "(top level)"
    rule = fault.validator
    found: Any = fault.instance
    allowed: Any = fault.validator_value
    match rule:
        case "required":
            missing = [name for name in allowed if name not in found]
            return f"{key}: missing {', '.join(missing)}"
        case "additionalProperties" if isinstance(fault.schema, dict):
            known = sorted(fault.schema.get("properties", {}))
            strange = sorted(set(found) - set(known))
            close = difflib.get_close_matches(strange[0], known, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            return f"{key}: unknown key {', '.join(map(repr, strange))}{hint}; allowed: {', '.join(known)}"
        case "not":
            return f"{key}: {', '.join(allowed.get('required', [])) or 'this'} does not go with the other keys"
        case "enum":
            return f"{key}: found {_shown(found)}; allowed: {', '.join(map(json.dumps, allowed))}"
        case "type":
            expected = allowed if isinstance(allowed, str) else " or ".join(allowed)
            return f"{key}: found {_shown(found)} ({_kind(found)}); expected {expected}"
        case "maximum" | "maxItems" if isinstance(fault.schema, dict):
            reason = " ".join(str(fault.schema.get("description", "")).split()).removesuffix(".")
            return f"{key}: found {_shown(found)}; expected {rule} {allowed}" + (f" ({reason})" if reason else "")
        case "minimum" | "exclusiveMinimum" | "exclusiveMaximum" | "minItems" | "minLength" | "pattern":
            return f"{key}: found {_shown(found)}; expected {rule} {allowed}"
        case _:
            return f"{key}: {fault.message}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "…"


def _kind(value: Any) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
