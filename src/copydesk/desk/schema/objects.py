"""Objects of a conjunction, as plain schemas: which keys, in which order, and how many free ones.

An object has the properties that its schema declares, and free keys only where it declares none or says what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copydesk.desk.schema import scalars
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.cases import Cases
from copydesk.desk.schema.conjunction import Conjunction, Nodes
from copydesk.desk.schema.keywords import unsupported
from copydesk.types import Json

_LONGEST_KEY = 64


class Objects:
    """Prepares the objects of one document."""

    def __init__(self, prepare: Callable[[Nodes], Json | None], cases: Cases, bounds: Bounds) -> None:
        self._prepare = prepare
        self._cases = cases
        self._bounds = bounds

    def free(self, value: Json) -> Json:
        """A map from any keys to such values."""
        return {
            "type": "object",
            "patternProperties": {scalars.any_key(1, _LONGEST_KEY): value},
            "additionalProperties": False,
            "maxProperties": self._bounds.items,
        }

    def of(self, case: Conjunction) -> Json | None:
        """The objects that satisfy a case; None if there are none."""
        names = _Names(case, self._cases)
        free = not (case.properties or case.shapes) or _says_something(case.rest or ())
        listed = names.listed if free else ()
        properties: Json = {}
        for name in dict.fromkeys([*case.properties, *case.required, *listed]):
            value = self._prepare(case.property(name)) if names.allow(name) else None
            if value is None and name in case.required:
                return None
            properties[name] = False if value is None else value
        shapes, closed = self._shapes(case, names)
        rest = self._prepare(case.rest or ()) if free and not shapes and self._has_room(case, names) else None
        if not shapes and rest is None:  # only there must names that may not stand be kept from the free keys
            properties = {name: value for name, value in properties.items() if value is not False}
        result: Json = {"type": "object", "additionalProperties": False}
        if properties:
            result["properties"] = properties
        if case.required:
            result["required"] = list(case.required)
        if shapes:
            result["patternProperties"] = shapes
        elif rest is not None and (properties or closed):
            # A pattern of any key would hold the declared ones to `rest` as well, and let the closed ones in.
            result["additionalProperties"] = rest
            result["patternProperties"] = dict.fromkeys(closed, False)
        elif rest is not None:
            result["patternProperties"] = {names.pattern or scalars.any_key(1, _LONGEST_KEY): rest}
        return self._counted(case, result)

    def _has_room(self, case: Conjunction, names: _Names) -> bool:
        """Whether any key may stand beside the declared ones."""
        return names.choices is None and case.limits.get("maxProperties") != len(case.required)

    def _shapes(self, case: Conjunction, names: _Names) -> tuple[Json, list[str]]:
        """The patterns that undeclared keys are given, with what they hold; and those whose keys are left out."""
        shapes: Json = {}
        closed = []
        for shape, nodes in case.shapes.items():
            value = self._prepare(nodes) if self._has_room(case, names) else None
            if value is not None and (not case.properties or _says_something(nodes)):
                shapes[scalars.key_pattern(shape, _LONGEST_KEY)] = value
            else:
                closed.append(shape)
        if case.shapes and names.pattern:
            raise unsupported("propertyNames", case.path, "it cannot be combined with patternProperties")
        if not scalars.disjoint([*shapes, *closed]):
            raise unsupported("patternProperties", case.path, "no key may match two patterns")
        return shapes, closed

    def _counted(self, case: Conjunction, result: Json) -> Json | None:
        """The object held to its least and most number of keys."""
        declared = result.get("properties", {})
        shapes = "patternProperties" in result or result["additionalProperties"]
        required = len(case.required)
        optional = sum(value is not False for value in declared.values()) - required
        least = int(case.limits.get("minProperties", 0))
        most = case.limits.get("maxProperties")
        if most is not None and (most < least or most < required):
            return None
        if not shapes:
            if least > required + optional:
                return None
            least = 0 if least <= required else least
            most = None if most is None or most >= required + optional else most
            if optional and (least or most is not None):
                one = least <= required + 1 and (most is None or most == required + 1)
                if not one:
                    raise unsupported(*_counting(case), "list the keys as required, or write the cases with anyOf")
            limits = {"minProperties": least or None, "maxProperties": most}
            return {**result, **{name: int(limit) for name, limit in limits.items() if limit is not None}}
        if optional:
            if least > required or most is not None:
                raise unsupported(*_counting(case), "list the keys as required, or write the cases with anyOf")
            return result
        if least > required + 1:
            raise unsupported(
                "minProperties", case.path, "free keys may repeat, so only 1 more than required can be held to"
            )
        bound = required + self._bounds.items if most is None else int(most)
        return {**result, "minProperties": least, "maxProperties": bound}


class _Names:
    """What `propertyNames` allows."""

    def __init__(self, case: Conjunction, cases: Cases) -> None:
        self.choices: frozenset[str] | None = None
        self.pattern: str | None = None
        self.listed: tuple[str, ...] = ()
        if not case.names:
            return
        allowed = [found for found in cases.of(case.names) if "string" in found.types]
        if all(found.choices is not None for found in allowed):
            texts = [text for found in allowed for text in found.choices or () if isinstance(text, str)]
            self.listed = tuple(dict.fromkeys(texts))
            self.choices = frozenset(texts)
            return
        found = allowed[0]
        if len(allowed) > 1 or found.formats or len(found.patterns) > 1 or (found.patterns and _lengths(found)):
            raise unsupported("propertyNames", case.path, "use an enum, one pattern, or lengths")
        if case.properties or case.required:
            raise unsupported("propertyNames", case.path, "leave it out where properties are declared")
        least, most = _lengths(found).get("minLength", 0), _lengths(found).get("maxLength", _LONGEST_KEY)
        self.pattern = (
            scalars.key_pattern(found.patterns[0], _LONGEST_KEY)
            if found.patterns
            else scalars.any_key(int(least), int(most))
        )

    def allow(self, name: str) -> bool:
        """Whether a declared property may have this name."""
        return self.choices is None or name in self.choices


def _lengths(case: Conjunction) -> Mapping[str, float]:
    return {name: case.limits[name] for name in ("minLength", "maxLength") if name in case.limits}


def _says_something(nodes: Nodes) -> bool:
    """Whether free keys are asked for, not only let through: `true` and `{}` let them through."""
    return any(isinstance(node.schema, Mapping) and node.schema for node in nodes)


def _counting(case: Conjunction) -> tuple[str, str]:
    name = "minProperties" if "minProperties" in case.limits else "maxProperties"
    return name, case.path
