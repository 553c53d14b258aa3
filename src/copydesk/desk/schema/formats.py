"""String formats as regular expressions. Each matches only strings that its standard allows, all of bounded length;
rare forms that a standard also allows are left out.

Knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Mapping

_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = "[A-Za-z0-9](?:-?[A-Za-z0-9]){0,31}"
_HOST = f"{_LABEL}(?:\\.{_LABEL}){{0,5}}"
_DOMAIN = f"{_LABEL}(?:\\.{_LABEL}){{0,4}}\\.[A-Za-z]{{2,24}}"
_LOCAL = "[A-Za-z0-9_+-]{1,32}(?:\\.[A-Za-z0-9_+-]{1,16}){0,2}"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = f"{_OCTET}(?:\\.{_OCTET}){{3}}"
_HEX = "[0-9A-Fa-f]{1,4}"
_IPV6 = (
    f"(?:{_HEX}(?::{_HEX}){{7}}|::|"
    + "|".join(f"{_HEX}(?::{_HEX}){{0,{left}}}::(?:{_HEX}(?::{_HEX}){{0,{5 - left}}})?" for left in range(6))
    + f"|::{_HEX}(?::{_HEX}){{0,6}})"
)
_PATH = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_TAIL = f"(?:\\?{_PATH}{{0,256}})?(?:#{_PATH}{{0,128}})?"
_HIERARCHY = f"//{_HOST}(?::[0-9]{{1,5}})?(?:/{_PATH}{{0,256}})?"
_IRI_PATH = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/\u00a1-\ud7ff\uf900-\ufdcf-]|%[0-9A-Fa-f]{2})"
_URI = f"(?:(?:https?|ftp|wss?):{_HIERARCHY}|(?:mailto|urn|tel|file|data|doi|isbn):{_PATH}{{1,256}}){_TAIL}"
_DURATION = (
    "P(?:[0-9]{1,6}W|(?:[0-9]{1,6}Y(?:[0-9]{1,6}M(?:[0-9]{1,6}D)?)?|[0-9]{1,6}M(?:[0-9]{1,6}D)?|[0-9]{1,6}D)"
    "(?:T(?:[0-9]{1,6}H(?:[0-9]{1,6}M(?:[0-9]{1,6}S)?)?|[0-9]{1,6}M(?:[0-9]{1,6}S)?|[0-9]{1,6}S))?"
    "|T(?:[0-9]{1,6}H(?:[0-9]{1,6}M(?:[0-9]{1,6}S)?)?|[0-9]{1,6}M(?:[0-9]{1,6}S)?|[0-9]{1,6}S))"
)
_BASE64 = "(?:[A-Za-z0-9+/]{4}){0,64}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_BASE64URL = "(?:[A-Za-z0-9_-]{4}){0,64}(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?"
_POINTER = '(?:/(?:[^~/"\\\\\\x00-\\x1f]|~[01]){0,32}){0,8}'

FORMATS: Mapping[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": _DURATION,
    "email": f"{_LOCAL}@{_DOMAIN}",
    "idn-email": f"{_LOCAL}@{_DOMAIN}",
    "hostname": _HOST,
    "idn-hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "ipvanyaddress": f"(?:{_IPV4}|{_IPV6})",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "uri": _URI,
    "url": _URI,
    "iri": f"https?:{_HIERARCHY.replace(_PATH, _IRI_PATH)}",
    "uri-reference": f"(?:{_URI}|/(?:[A-Za-z0-9._~-]{_PATH}{{0,255}})?{_TAIL})",
    "iri-reference": f"(?:{_URI}|/(?:[A-Za-z0-9._~-]{_IRI_PATH}{{0,255}})?)",
    "json-pointer": _POINTER,
    "byte": _BASE64,
    "base64": _BASE64,
    "base64url": _BASE64URL,
}

FREE = frozenset({"binary", "password", "path", "multi-line", "text", "textarea", "float", "double", "int-or-string"})
"""Formats that describe how a string is shown or read and allow every string."""

INTEGER_RANGES: Mapping[str, tuple[int, int]] = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 10**18),
}
"""Formats of numbers that bound them (`int64` holds every integer an answer may have)."""
