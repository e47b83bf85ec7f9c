"""Addresses and branches as git understands them, and the names of Applications."""

from __future__ import annotations

import subprocess

import pytest

from tenancy.model.document import GitOps
from tenancy.model.document_hardware import Cluster, Destination
from tenancy.model.gitops import IN_CLUSTER, bare, destination, engine_namespace, is_branch, repository


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("https://git.example/acme/gpus.git", ("https", "", "", "git.example", "/acme/gpus.git")),
        ("http://git.example:8080/gpus", ("http", "", "", "git.example", "/gpus")),
        ("https://ada@git.example/gpus", ("https", "ada", "", "git.example", "/gpus")),
        ("https://ada:secret@git.example/gpus", ("https", "ada", "secret", "git.example", "/gpus")),
        ("https://[fd00::1]:8443/gpus", ("https", "", "", "fd00::1", "/gpus")),
        ("ssh://git@git.example:2222/acme/gpus.git", ("ssh", "git", "", "git.example", "/acme/gpus.git")),
        ("git@git.example:acme/gpus.git", ("", "git", "", "git.example", "acme/gpus.git")),
        ("git.example:/srv/gpus.git", ("", "", "", "git.example", "/srv/gpus.git")),
    ],
)
def test_an_address_has_its_parts(text: str, parts: tuple[str, ...]) -> None:
    """URLs of http, https and ssh, and the short form of ssh."""
    assert repository(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        *("", "gpus", "git.example/acme/gpus", "/srv/gpus.git", "file:///srv/gpus.git", "ftp://git.example/gpus"),
        *("https://", "https://git.example", "https://git.example/", "https://git.example:x/gpus", "https://a:0/gpus"),
        *("https://git.example/gpus?token=x", "https://git.example/gpus#main", "https://[fd00::1/gpus"),
        *("https://git.example/a b", "git@git.example:a b", "https://git.example/gpus\n", r"C:\gpus", "git@host:"),
    ],
)
def test_what_no_cluster_can_fetch_is_no_address(text: str) -> None:
    """Paths of a machine, other schemes, addresses without a repository, and what a shell or a URL would cut."""
    assert repository(text) is None


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("https://ada:s3cret@git.example:8443/gpus", "https://git.example:8443/gpus"),
        ("https://token@git.example/acme/*", "https://git.example/acme/*"),
        ("https://a:b@c@git.example/gpus", "https://git.example/gpus"),
        ("ssh://git:secret@git.example/gpus", "ssh://git@git.example/gpus"),
        ("ssh://git@git.example/a@b", "ssh://git@git.example/a@b"),
    ],
)
def test_credentials_are_taken_out(text: str, without: str) -> None:
    """All before the host goes, but for the user of ssh, which is no secret."""
    assert bare(text) == without


@pytest.mark.parametrize(
    "name",
    [
        *("main", "release/1.2", "feature-x", "ünicode", "a@b", "1"),
        *("", "/main", "main/", "a//b", ".a", "a/.b", "a..b", "a.lock", "a.lock/b", "a.", "-a", "@", "a@{b"),
        *("a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a\tb", "a\x7fb", "HEAD"),
    ],
)
def test_branches_are_those_of_git(name: str) -> None:
    """The answer is that of `git check-ref-format --branch`."""
    done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert is_branch(name) == (done.returncode == 0)


def test_an_engine_is_in_its_usual_namespace() -> None:
    """Unless the organization says another."""
    assert engine_namespace(GitOps(repo="x")) == "argocd"
    assert engine_namespace(GitOps(repo="x", engine="flux")) == "flux-system"
    assert engine_namespace(GitOps(repo="x", namespace="delivery")) == "delivery"


def test_a_cluster_is_where_it_says_or_where_argo_cd_runs() -> None:
    """By name or by server; by default in the cluster of Argo CD itself."""
    assert destination(Cluster()) == {"server": IN_CLUSTER}
    assert destination(Cluster(destination=Destination(name="train"))) == {"name": "train"}
    server = "https://10.0.0.1:6443"
    assert destination(Cluster(destination=Destination(server=server))) == {"server": server}
