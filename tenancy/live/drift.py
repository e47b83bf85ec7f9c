"""What runs otherwise than git says, object by object, with the one who has made it so; and a side of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from tenancy.backend.manifest import Object
from tenancy.compare.diff import ABSENT
from tenancy.compare.snapshot import documents as split
from tenancy.live.objects import Found, Key, Server, at_once, find, key_of
from tenancy.live.ownership import Item, Owner, Step, others, owners, shown
from tenancy.live.rehearsal import TRACKING, before, marked, moved, overlaid, rehearse, said
from tenancy.load.yaml import parse
from tenancy.render.yaml import documents

ARGOCD: Final = "argocd-controller"
"""The field manager of Argo CD's server-side apply (`ArgoCDSSAManager` in its common/common.go)."""
FLUX: Final = "kustomize-controller"
"""That of Flux, which is also its controller's name."""
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""What a plain `kubectl apply` leaves."""
HIDDEN: Final = "(hidden)"
"""In the place of what only the cluster holds of a Secret: plans are posted where many read them."""

EXPECTED: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("", ("metadata", "annotations", LAST_APPLIED)),  # what differs shows in the fields themselves
    ("", ("metadata", "finalizers")),  # Kueue's guard of what is in use, and that of foreground deletion
    ("Namespace", ("spec", "finalizers")),  # the namespace controller's, which only the API server sets
    ("Namespace", ("metadata", "labels", "kubernetes.io/metadata.name")),  # the API server's own, always the name
    ("Queue", ("metadata", "annotations", "volcano.sh/closed-by-parent")),  # the Queue controller's own record
    ("Queue", ("spec", "guarantee")),  # the scheduler makes `default` with an empty one
    ("Application", ("operation",)),  # a sync that runs now
    ("Application", ("metadata", "annotations", "argocd.argoproj.io/refresh")),  # asked for, and removed when done
)
"""By kind (empty for every one): what controllers set in objects of ours without any harm (run on Kueue 0.19.2 and
Volcano 1.15.1: tests/cluster/server_side.py)."""

State = Literal["there", "missing", "unserved", "extra"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a live object that git says otherwise, or not at all."""

    path: str
    live: Any
    """`ABSENT` where it was removed."""
    git: Any
    """`ABSENT` where a sync would remove it, or where it is somebody else's."""
    owners: tuple[Owner, ...]
    """Who has set it, the latest first; none where nobody says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One object of ours and what is to say of it."""

    key: Key
    state: State
    """`unserved`: the API server knows no such kind. `extra`: it is no longer generated."""
    changed: tuple[Field, ...] = ()
    """What a sync would change back."""
    foreign: tuple[Field, ...] = ()
    """What others have set beside what git says; a sync leaves it alone."""
    refusal: str = ""
    """What the API server, or a webhook behind it, says against the object of git."""
    untried: str = ""
    """Why that could not be asked; it is then compared by its text."""
    leaving: str = ""
    """Since when it is being deleted; empty where it is not."""
    finalizers: tuple[str, ...] = ()
    """Of an object that is being deleted: what it waits for."""
    tracked: bool = True
    """Of an extra object: whether the engine that applied it knows it, so that it prunes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What runs in a cluster against what git says of it."""

    files: Mapping[str, str]
    """A side for `tenancy.compare`: what runs of what is generated, and what is no longer generated."""
    seen: tuple[Seen, ...]
    """Every object with something to say of it, sorted."""
    unlisted: tuple[str, ...]
    """Kinds that may not be listed: extra objects among them do not show."""
    checked: int
    """How many generated objects there are."""


def drift(server: Server, files: Mapping[str, str], organization: str, manager: str = ARGOCD) -> Drift:
    """Compare the generated files of one cluster with what runs. Nothing is written: applies are dry runs.

    Raises `Unreadable` where the API server cannot be reached or does not show what is generated.
    """
    texts = {path: _documents(text) for path, text in files.items()}
    wanted = {key_of(obj): obj for parts in texts.values() for _, obj in parts if obj is not None}
    found = find(server, wanted, organization)
    looked = dict(zip(wanted, at_once(partial(_look, server, found, manager), wanted.items()), strict=True))
    sides = {key: side for key, (_, side) in looked.items()}
    cluster = next(iter(files), "").partition("/")[0]
    old = {path: text for path, parts in texts.items() if (text := _text(parts, wanted, sides))}
    extra = [_plain(_said(obj)) for _, obj in sorted(found.extra.items())]
    seen = [*(one for one, _ in looked.values()), *(_extra(key, obj) for key, obj in found.extra.items())]
    return Drift(
        files={**old, f"{cluster}/(live).yaml": documents(extra)} if extra else old,
        seen=tuple(sorted(filter(_telling, seen), key=lambda one: one.key)),
        unlisted=found.unlisted,
        checked=len(wanted),
    )


def _look(server: Server, found: Found, manager: str, item: tuple[Key, Object]) -> tuple[Seen, Object | None]:
    """What is to say of a generated object, and its live side."""
    key, obj = item
    kind, live = found.kinds.get((key.group, key.kind)), found.objects.get(key)
    if kind is None:
        return Seen(key=key, state="unserved"), None
    if live is None:
        refusal = "" if _homeless(found, key) else rehearse(server, kind, obj, None, manager).refusal
        return Seen(key=key, state="missing", refusal=refusal), None
    tried = rehearse(server, kind, obj, live, manager)
    live = _veiled(live, obj)
    now = said(live)
    after = overlaid(now, marked(obj, live)) if tried.after is None else said(_veiled(tried.after, obj))
    metadata = live["metadata"]
    seen = Seen(
        key=key,
        state="there",
        changed=tuple(
            Field(path=shown(each.path), live=each.before, git=each.after, owners=owners(live, each.path))
            for each in moved(now, after)
        ),
        foreign=tuple(_foreign(live, obj, after, manager)),
        refusal=tried.refusal,
        untried=tried.untried,
        **_leaving(metadata),
    )
    return seen, before(obj, now, after) if seen.changed else obj


def _homeless(found: Found, key: Key) -> bool:
    """Whether the namespace of an object is missing: nothing in it can be tried before it is there."""
    home = Key("", "Namespace", "", key.namespace)
    return bool(key.namespace) and home not in found.objects and ("", "Namespace") in found.kinds


def _leaving(metadata: Mapping[str, Any]) -> dict[str, Any]:
    since = str(metadata.get("deletionTimestamp") or "")
    return {"leaving": since, "finalizers": tuple(metadata.get("finalizers") or ()) if since else ()}


def _foreign(live: Object, git: Object, after: Object, manager: str) -> Iterator[Field]:
    """Fields that others have set and that a sync would leave: not what we say, nor what is known to be harmless."""
    places: dict[str, tuple[Any, list[Owner]]] = {}
    for each in others(live, manager):
        if _has(git, each.path) or not _has(after, each.path) or _expected(live["kind"], each.path):
            continue
        places.setdefault(shown(each.path), (each.value, []))[1].append(each.owner)
    for path, (value, found) in places.items():
        latest = sorted(set(found), key=lambda owner: (owner.time, owner.manager), reverse=True)
        yield Field(path=path, live=value, git=ABSENT, owners=tuple(latest))


def _has(value: Any, path: tuple[Step, ...]) -> bool:
    """Whether a value says something of a field: has it, or has text or a number where the field would be."""
    for step in path:
        if isinstance(step, Item):
            if not isinstance(value, list):
                return value is not None
            name = step.name
            items = (each for each in value if (each.get("name") == name if _named(each, name) else each == step.value))
            value = next(items, ABSENT)
            if value is ABSENT:
                return False
        elif not isinstance(value, dict):
            return value is not None
        elif step not in value:
            return False
        else:
            value = value[step]
    return True


def _named(value: Any, name: str) -> bool:
    return isinstance(value, dict) and bool(name)


def _expected(kind: str, path: tuple[Step, ...]) -> bool:
    keys = tuple(step for step in path if isinstance(step, str))
    marks = {("metadata", part, key) for part, names in TRACKING.items() for key in names}
    return keys[:3] in marks or any(of in ("", kind) and keys[: len(known)] == known for of, known in EXPECTED)


def _veiled(live: Object, git: Object) -> Object:
    """A live object without what it keeps secret, as far as git does not say the same."""
    if live.get("kind") != "Secret":
        return live
    veiled: Object = {}
    for part in ("data", "stringData"):
        if part in live:
            known = git.get(part) or {}
            veiled[part] = {name: each if known.get(name) == each else HIDDEN for name, each in live[part].items()}
    return {**live, **veiled}


def _extra(key: Key, live: Object) -> Seen:
    metadata = live["metadata"]
    tracked = any(name in (metadata.get(part) or {}) for part, names in TRACKING.items() for name in names)
    return Seen(key=key, state="extra", tracked=tracked, **_leaving(metadata))


def _said(live: Object) -> Object:
    """What a plan shows of an object that goes: without the marks of whoever applied it."""
    whole = said(_veiled(live, {}))
    metadata = dict(whole["metadata"])
    for part in ("annotations", "labels"):
        hidden = (*TRACKING[part], LAST_APPLIED)
        metadata[part] = {key: value for key, value in (metadata.get(part) or {}).items() if key not in hidden}
    return {**whole, "metadata": metadata}


def _plain(value: Any) -> Any:
    """A live value as our YAML has it: a fraction, which only others write, becomes text."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return repr(value) if isinstance(value, float) else value


def _telling(seen: Seen) -> bool:
    return bool(seen.state != "there" or seen.changed or seen.foreign or seen.refusal or seen.untried or seen.leaving)


def _documents(text: str) -> list[tuple[str, Object | None]]:
    """The documents of a generated file, each with its object; other documents have none."""
    return [(part, _object(part)) for part in split(text)]


def _object(text: str) -> Object | None:
    if "\nkind: " not in f"\n{text}" or "\nmetadata:" not in text:
        return None
    tree = parse(text, 0, "").tree
    return tree if tree is not None and "apiVersion" in tree and isinstance(tree.get("metadata"), dict) else None


def _text(
    parts: list[tuple[str, Object | None]], wanted: Mapping[Key, Object], sides: Mapping[Key, Object | None]
) -> str:
    """A file of the live side. What runs as it was said keeps its text, so that nothing has to be read twice."""
    kept = []
    for text, obj in parts:
        side = None if obj is None else sides[key_of(obj)]
        if obj is None or side is wanted[key_of(obj)]:
            kept.append(text)
        elif side is not None:
            kept.append(documents([_plain(side)]))
    return "---\n".join(kept)
