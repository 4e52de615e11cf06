// The constant part of a generated Python module: a client that uses only the standard library and behaves
// like `trellisdb/client`.
// Invariant: a write that may have succeeded is sent again only with its Idempotency-Key.

/** Imports of the module; their names are reserved. */
export const pythonImports = `from __future__ import annotations

import datetime as _datetime
import http.client as _http
import json as _json
import random as _random
import time as _time
import urllib.error as _error
import urllib.parse as _parse
import urllib.request as _request
import uuid as _uuid
from typing import Any, Literal, Mapping, NotRequired, Sequence, TypedDict, Union, cast

_Date = Union[_datetime.datetime, _datetime.date, str, int]
_Vector = Sequence[float]
`;

/** Follows `Code`, and precedes the methods of the queries. */
export const pythonClient = `class TrellisError(Exception):
    """An answer of the server that is no success."""

    def __init__(self, status: int, fault: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        super().__init__(fault.get("error") or f"status {status}")
        self.status = status
        self.code = cast(Code, fault.get("code", "UNKNOWN"))
        self.path: str | None = fault.get("path")
        self.hint: str | None = fault.get("hint")
        self.details: Mapping[str, Any] = fault.get("args") or {}
        self.errors: Sequence[Any] = fault.get("errors") or ()
        self.retryable = fault.get("retryable") is True
        self.request_id = headers.get("X-Request-Id")
        after = headers.get("Retry-After") or ""
        self.retry_after = float(after) if after.isdigit() else 0.0


class UnknownOutcomeError(Exception):
    """The connection broke behind a write, at every try: it may have been done or not."""


def _plain(value: Any) -> Any:
    if isinstance(value, _datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=_datetime.timezone.utc)).isoformat()
    if isinstance(value, _datetime.date):
        return value.isoformat()
    if isinstance(value, _uuid.UUID):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class _NoRedirect(_request.HTTPRedirectHandler):
    """The key is for one address: a redirect is an error, and is not followed."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Client:
    """Calls a server. Every query is a method; \`call\` calls any by its name."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:6969",
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """timeout: seconds of a call, all tries together. retries: after the first try."""
        self._url = url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        if api_key is not None:
            self._headers["x-api-key"] = api_key
        self._opener = _request.build_opener(_NoRedirect)

    def call(
        self, name: str, params: Mapping[str, Any] | None = None, *, writes: bool = True
    ) -> Any:
        """The answer of a query; integers keep all their digits."""
        body = _json.dumps(params or {}, default=_plain, allow_nan=False).encode()
        # Under a key the server does a write once, however often it comes.
        once = {"Idempotency-Key": _uuid.uuid4().hex} if writes else {}
        end = _time.monotonic() + self._timeout
        attempt = 0
        while True:
            wait = _random.random() * 0.1 * 2**attempt
            reason: Exception
            try:
                return _json.loads(self._send(name, body, once, end))
            except TrellisError as error:
                if not error.retryable:
                    raise
                reason = error
                wait = error.retry_after or wait
            except (OSError, _http.HTTPException) as error:
                cause = getattr(error, "reason", error)
                reason = error
                if writes and not isinstance(cause, ConnectionRefusedError):
                    reason = UnknownOutcomeError(f"{name}: the connection broke")
                    reason.__cause__ = error
            if _time.monotonic() + wait >= end:
                raise TimeoutError(f"{name}: the time is up") from reason
            if attempt >= self._retries:
                raise reason
            _time.sleep(wait)
            attempt += 1

    def _send(self, name: str, body: bytes, more: Mapping[str, str], end: float) -> bytes:
        left = end - _time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{name}: the time is up")
        told_ms = max(1, int(left * 1000) - 50)
        headers = {**self._headers, **more, "X-Request-Timeout-Ms": str(told_ms)}
        url = f"{self._url}/{_parse.quote(name, safe='')}"
        request = _request.Request(url, body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=left) as response:
                return cast(bytes, response.read())
        except _error.HTTPError as error:
            try:
                fault = _json.loads(error.read())
            except ValueError:
                fault = {}
            told = fault if isinstance(fault, dict) else {}
            if 300 <= error.code < 400:
                place = error.headers.get("Location") or "elsewhere"
                reason = f"{url} redirects to {place}, which is not followed"
                told = {"error": reason, "code": "REDIRECTED"}
            raise TrellisError(error.code, told, dict(error.headers)) from None
`;
