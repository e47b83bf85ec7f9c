"""Who refuses a forced defect, asked one after the other: kubeconform offline, the API server, Kueue's webhooks."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.cluster import deploy
from tests.cluster.client import Object, Refused, label
from tests.cluster.defects.forced import API_SERVER, WEBHOOK
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tools.kubeconform import ROOT, flags, kubeconform

AGAIN: Final = "-tried"
"""An object of the healthy organization is tried under another name, so that it is created rather than updated."""


class Refusal(NamedTuple):
    """Who refused an object, and in which words."""

    by: str
    message: str


def refusals(cluster: Cluster, made: Compiled, healthy: Compiled) -> list[Refusal]:
    """What a dry run of server-side apply says to every object that differs from the healthy organization's.

    Only namespaces have to exist: an object in one that does not is left to the real apply.
    """
    there = {item["metadata"]["name"] for item in cluster.client.list("/api/v1/namespaces")}
    taken = {label(item) for item in healthy.objects}
    found = []
    for item in differing(made, healthy):
        if item["metadata"].get("namespace", "default") not in there:
            continue
        tried = copy.deepcopy(item)
        if label(item) in taken:
            tried["metadata"]["name"] += AGAIN
        try:
            cluster.client.apply(tried, dry_run=True)
        except Refused as refused:
            found.append(refusal(refused))
    return found


def differing(made: Compiled, healthy: Compiled) -> list[Object]:
    """What has to be applied because of the defect."""
    return deploy.in_waves(item for item in made.objects if item not in healthy.objects)


def refusal(refused: Refused) -> Refusal:
    """By whom, and the words without what differs from run to run."""
    message = refused.message.replace(AGAIN, "")
    webhook = re.search(r'admission webhook "([^"]+)" denied the request: ?', message)
    if webhook:
        return Refusal(WEBHOOK, f"{webhook.group(1)}: {_ordered(message[webhook.end() :])}")
    return Refusal(API_SERVER, f"{refused.code}: {_ordered(message)}")


def _ordered(message: str) -> str:
    """Several errors in brackets come in no fixed order, and one of them only says that there may be more."""
    several = re.fullmatch(r"(.*?: |)\[(.+)\]", message, re.DOTALL)
    if several is None:
        return message
    errors = re.split(r", (?=spec|metadata|<nil>)", several.group(2))
    kept = sorted({each for each in errors if not each.startswith("<nil>: Invalid value: null")})
    return several.group(1) + ", ".join(kept)


def nonconforming(cases: Mapping[str, Iterable[Object]], folder: Path) -> dict[str, str]:
    """What kubeconform says of the first bad object of each case; cases without one are left out."""
    for name, objects in cases.items():
        text = "\n---\n".join(map(json.dumps, objects))  # JSON is YAML, and quicker
        (folder / f"{name.replace(' ', '_')}.yaml").write_text(text, encoding="utf-8")
    command = [str(kubeconform()), *flags("1.36", "0.19"), "-output", "json", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found: dict[str, str] = {}
    for each in json.loads(run.stdout).get("resources") or ():
        if each["status"] != "statusValid":
            found.setdefault(Path(each["filename"]).stem.replace("_", " "), each["msg"])
    return found
