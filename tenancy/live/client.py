"""The API server of a kubeconfig: nodes with their pods, and objects of any kind. The one module that imports
`kubernetes`, a slow one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import yaml
from kubernetes import client, config
from urllib3.exceptions import HTTPError

from tenancy.live.nodes import MANAGER, LiveNode
from tenancy.live.source import Unreadable, checked

Object: TypeAlias = dict[str, Any]

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
JSON: Final = "application/json"
PAGE: Final = 500
"""Objects of one answer, as kubectl asks for."""
SECONDS: Final = (10, 60)
"""How long to wait for a connection and for an answer."""

CONNECTIONS: Final = 8
"""Requests that are under way at once, where there are many that do not depend on each other."""

_POOL: Final = re.compile(r"^\w+\(host=[^)]*\): ")
"""How urllib3 begins its messages."""


class Refused(Exception):
    """The API server said no; the message is its own."""

    def __init__(self, code: int, message: str, causes: tuple[Mapping[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.causes = causes
        """What is wrong, field by field: `field` and `message`."""


class Api:
    """One cluster. Raises `Unreadable` where the server cannot be reached, for every request."""

    def __init__(self, kubeconfig: Path | None, context: str | None) -> None:
        settings = client.Configuration()
        settings.retries = 0  # a person waits
        settings.connection_pool_maxsize = CONNECTIONS
        try:
            made = config.new_client_from_config(
                str(kubeconfig) if kubeconfig else None, context, client_configuration=settings
            )
        except (config.ConfigException, yaml.YAMLError, OSError) as error:
            raise Unreadable(f"{kubeconfig or 'the default kubeconfig'}: {_line(error)}") from error
        except (ValueError, TypeError, LookupError, AttributeError) as error:  # what the loader stumbles over
            raise Unreadable(f"{kubeconfig or 'the default kubeconfig'}: no kubeconfig: {_line(error)}") from error
        self._client: Any = made
        self._core: Any = client.CoreV1Api(made)
        self.server: str = settings.host

    def nodes(self) -> list[LiveNode]:
        """Every node of the cluster. Raises `Unreadable` where they may not be read."""
        return [checked(item, f"{self.server}: node") for item in self._items("nodes", self._core.list_node)]

    def node(self, name: str) -> Object:
        """A node with every field. Raises `Refused` where it is gone."""
        return self._asked(self._core.read_node, name)

    def pods(self, node: str) -> list[Object]:
        """The pods on a node that have not ended. Raises `Unreadable` where they may not be read."""
        selector = f"spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed"
        return list(self._items("pods", self._core.list_pod_for_all_namespaces, field_selector=selector))

    def apply(self, node: Object, *, force: bool = False) -> None:
        """Server-side apply; with `force` fields of other managers are taken over. Raises `Refused`."""
        name = node["metadata"]["name"]
        self._asked(self._core.patch_node, name, node, field_manager=MANAGER, force=force, _content_type=APPLY)

    def merge(self, name: str, change: Object) -> None:
        """A merge patch of a node. Raises `Refused`."""
        self._asked(self._core.patch_node, name, change, field_manager=MANAGER, _content_type=MERGE)

    def get(self, path: str, **query: str | int | None) -> Object:
        """Whatever lies at a path of the API, such as an object or a list. Raises `Refused`."""
        return self._asked(self._call, "GET", path, query)

    def objects(self, path: str, **query: str) -> list[Object]:
        """The objects of a collection, such as `/api/v1/namespaces`. Raises `Unreadable` where it may not be read."""

        def ask(_continue: str | None, limit: int, **_: Any) -> Any:
            return self._call("GET", path, {"limit": limit, "continue": _continue, **query})

        return list(self._items(path.rpartition("/")[2], ask))

    def rehearse(self, path: str, obj: Object, manager: str) -> Object:
        """The object as a server-side apply would leave it; nothing is stored. Raises `Refused`."""
        query = {"fieldManager": manager, "force": "true", "fieldValidation": "Strict", "dryRun": "All"}
        return self._asked(self._call, "PATCH", path, query, obj)

    def _call(
        self, method: str, path: str, query: Mapping[str, str | int | None], body: Object | None = None, **_: Any
    ) -> Any:
        """A request that the generated methods have no name for, signed as theirs are."""
        headers = {"Accept": JSON} if body is None else {"Accept": JSON, "Content-Type": APPLY}
        pairs = [(key, value) for key, value in query.items() if value is not None]
        request = self._client.param_serialize(
            method,
            quote(path, safe="/"),
            query_params=pairs,
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        answer = self._client.call_api(*request, _request_timeout=SECONDS)
        data = answer.read()
        if answer.status >= 300:
            raise client.ApiException(status=answer.status, body=data.decode(errors="replace"))
        return answer

    def _items(self, what: str, ask: Callable[..., Any], **query: Any) -> Iterator[Object]:
        """In pages, so that the answer for thousands of nodes does not have to be one."""
        page: Object = {"metadata": {"continue": ""}}
        try:
            while True:
                page = self._asked(ask, limit=PAGE, _continue=page["metadata"].get("continue") or None, **query)
                yield from page.get("items") or ()
                if not page["metadata"].get("continue"):
                    return
        except Refused as refused:
            raise Unreadable(f"{self.server}: the {what} cannot be read: {refused}") from refused

    def _asked(self, ask: Callable[..., Any], *arguments: Any, **query: Any) -> Object:
        """The answer as plain data: models of the client would drop what they do not know."""
        try:
            answer: Object = json.loads(ask(*arguments, **query, _preload_content=False, _request_timeout=SECONDS).data)
        except client.ApiException as error:
            if not error.status:  # what the client makes of a broken TLS connection
                raise Unreadable(f"{self.server}: {_line(error.reason)}") from error
            raise _refused(error.status, error.body or "") from error
        except HTTPError as error:
            reason = _line(getattr(error, "reason", None) or error)
            raise Unreadable(f"{self.server}: {_POOL.sub('', reason)}") from error
        except ValueError as error:
            raise Unreadable(f"{self.server}: no API server: the answer is not JSON") from error
        return answer


def nodes_of_cluster(kubeconfig: Path | None, context: str | None) -> list[LiveNode]:
    """The nodes of the cluster of a kubeconfig, by default the one of kubectl. Raises `Unreadable`."""
    return Api(kubeconfig, context).nodes()


def _refused(status: int, body: str) -> Refused:
    """What the API server says in a Status object; a proxy before it says something else."""
    try:
        said = json.loads(body)
        causes = (said.get("details") or {}).get("causes") or ()
        return Refused(status, str(said["message"]), tuple(causes))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refused(status, f"status {status}: {_line(body)[:200]}")


def _line(error: object) -> str:
    return " ".join(str(error).split())
