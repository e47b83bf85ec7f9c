"""The files of an organization: which are read, how they are merged, and what is wrong between them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tenancy.diagnostics import Diagnostic, KeyPath
from tenancy.load import COULD_NOT_CHECK, Loaded, load

ORG = "kind: Organization\n"
HEAD = "apiVersion: tenancy/v1alpha1\nkind: Departments\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files: dict[str, str], *, head: str = HEAD) -> None:
    for name, text in files.items():
        path = Path("org") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name in ("org.yaml", "org.yml") else head + text)


def clean(files: dict[str, str]) -> Loaded:
    write(files)
    loaded, diagnostics = load(Path("org"))
    assert diagnostics == []
    assert loaded is not None
    return loaded


def broken(files: dict[str, str]) -> list[Diagnostic]:
    write(files)
    return load(Path("org"))[1]


def one(files: dict[str, str], code: str) -> Diagnostic:
    (found,) = broken(files)
    assert found.code == code
    return found


def at(found: Any) -> tuple[str, int, int]:
    return found.place.file, found.place.line, found.place.column


def names(loaded: Loaded) -> Any:
    """The nested names of the departments, in order."""

    def nested(unit: Any) -> Any:
        return {name: nested(inner) for name, inner in (unit or {}).get("departments", {}).items()}

    return nested(loaded.tree)


def key_at(loaded: Loaded, path: KeyPath) -> tuple[str, int]:
    place = loaded.sources.key(path)
    return place.file, place.line


def test_files_are_merged_in_order_and_keep_their_places() -> None:
    """Departments join the root in the order of the files; their places stay in the files that define them."""
    loaded = clean(
        {
            "org.yaml": ORG + "departments:\n  own: {}\n",
            "departments/b.yml": "departments:\n  b: {weight: 2}\n",
            "departments/a/z.yaml": "departments:\n  z: {}\n  y: {}\n",
            "departments/.hidden.yaml": "departments:\n  hidden: {}\n",
            "departments/.git/c.yaml": "departments:\n  hidden: {}\n",
            "departments/notes.txt": "- no department\n",
        }
    )
    assert loaded.tree is not None
    assert list(loaded.tree["departments"]) == ["own", "z", "y", "b"]
    assert key_at(loaded, ("departments", "own")) == ("org/org.yaml", 3)
    assert key_at(loaded, ("departments", "y")) == ("org/departments/a/z.yaml", 5)
    assert key_at(loaded, ("departments", "b", "weight")) == ("org/departments/b.yml", 4)


def test_a_root_without_departments_gets_them_from_files() -> None:
    """The root need not have the key `departments`; places below it are found all the same."""
    for root in (ORG, ORG + "departments:\n"):
        loaded = clean({"org.yaml": root, "departments/a.yaml": "departments:\n  a: {w: 1}\n"})
        assert key_at(loaded, ("departments", "a", "w")) == ("org/departments/a.yaml", 4)


def test_a_parent_may_be_defined_in_any_file() -> None:
    """A file goes into the department that its parent names, whichever file defines that, and in whatever order."""
    loaded = clean(
        {
            "org.yaml": ORG + "departments: {top: }\n",
            "departments/1.yaml": "parent: top/mid/low\ndepartments:\n  leaf: {}\n",
            "departments/2.yaml": "parent: top/mid\ndepartments:\n  low: {}\n",
            "departments/3.yaml": "parent: top\ndepartments:\n  mid: {}\n",
        }
    )
    assert names(loaded) == {"top": {"mid": {"low": {"leaf": {}}}}}
    assert key_at(loaded, ("departments", "top", "departments", "mid")) == ("org/departments/3.yaml", 5)


def test_adding_to_a_department_leaves_its_alias_alone() -> None:
    """Two departments that share a value by an alias are still two: a file adds to the one it names."""
    root = ORG + "departments:\n  a: &x {departments: {in: {}}}\n  b: *x\n"
    loaded = clean({"org.yaml": root, "departments/f.yaml": "parent: a\ndepartments: {new: {}}\n"})
    assert names(loaded) == {"a": {"in": {}, "new": {}}, "b": {"in": {}}}


def test_a_reference_is_replaced_in_place() -> None:
    """A department `file:` becomes the definition in the file, at its position in org.yaml, through files of files."""
    loaded = clean(
        {
            "org.yaml": ORG
            + "departments:\n  one: {file: departments/z.yaml}\n  two: {departments: {sub: {file: more/sub.yaml}}}\n",
            "departments/a.yaml": "departments:\n  three: {}\n",
            "departments/z.yaml": "departments:\n  one: {file: more/one.yaml}\n",
            "more/one.yaml": "departments:\n  one: {weight: 7}\n",
            "more/sub.yaml": "parent: two\ndepartments:\n  sub: {departments: {}}\n",
        }
    )
    assert names(loaded) == {"one": {}, "two": {"sub": {}}, "three": {}}
    assert loaded.sources.value(("departments", "one", "weight")).file == "org/more/one.yaml"
    assert key_at(loaded, ("departments", "one")) == ("org/more/one.yaml", 4)


def test_ignores_are_kept_by_file() -> None:
    """A silencing comment belongs to its own file."""
    files = {"org.yaml": ORG + "a: 1 # tenancy: ignore[x]\n"}
    files["departments/a.yaml"] = "departments: {a: {}} # tenancy: ignore[y]\n"
    assert clean(files).sources.ignores == {
        ("org/org.yaml", 2): frozenset({"x"}),
        ("org/departments/a.yaml", 3): frozenset({"y"}),
    }


def test_the_root_may_be_named_itself() -> None:
    """ORG is a folder or the file itself; names are relative to the current folder where they lie inside."""
    write({"org.yaml": ORG})
    for org in (Path("org"), Path("org/org.yaml"), Path.cwd() / "org", Path("./org/../org")):
        loaded, _ = load(org)
        assert loaded is not None
        assert loaded.sources.files[0].name == "org/org.yaml"
    os.chdir("org")
    loaded, _ = load(Path())
    assert loaded is not None
    assert loaded.sources.files[0].name == "org.yaml"


@pytest.mark.parametrize("org", ["nowhere", "empty", "empty/org.yaml"])
def test_a_missing_root_means_not_checked(org: str) -> None:
    """Without a root there is nothing to check, which is not the same as clean."""
    Path("empty").mkdir()
    loaded, (found,) = load(Path(org))
    assert (loaded, found.code) == (None, "org-missing")
    assert found.code in COULD_NOT_CHECK


@pytest.mark.parametrize("org", [".", "org/departments", "org/departments/a.yaml", "org/departments/deep"])
def test_a_path_beside_the_root_offers_the_root(org: str) -> None:
    """The folder above the organization, one inside it, or a departments file: the organization was meant."""
    write({"org.yaml": ORG, "departments/a.yaml": "departments: {a: {}}\n"})
    loaded, (found,) = load(Path(org))
    assert (loaded, found.code, found.help) == (None, "org-missing", "did you mean `org`?")


def test_an_unreadable_root_means_not_checked() -> None:
    """A folder called org.yaml cannot be read, so the organization was not checked."""
    Path("org/org.yaml").mkdir(parents=True)
    loaded, (found,) = load(Path("org"))
    assert (loaded, found.code, found.place.file) == (None, "file-unreadable", "org/org.yaml")
    assert found.code in COULD_NOT_CHECK


def test_a_dangling_link_is_unreadable() -> None:
    """A departments file that is a link to nothing is reported; the rest of the organization is read."""
    write({"org.yaml": ORG, "departments/a.yaml": "departments: {a: {}}\n"})
    Path("org/departments/b.yaml").symlink_to("nowhere")
    loaded, (found,) = load(Path("org"))
    assert loaded is not None
    assert names(loaded) == {"a": {}}
    assert (found.code, found.place.file) == ("file-unreadable", "org/departments/b.yaml")


def test_links_in_a_circle_end() -> None:
    """A folder that contains a link to itself is read once."""
    write({"org.yaml": ORG, "departments/x/a.yaml": "departments: {a: {}}\n"})
    Path("org/departments/x/loop").symlink_to("..")
    Path("org/departments/self.yaml").symlink_to("x/a.yaml")
    loaded, diagnostics = load(Path("org"))
    assert diagnostics == []
    assert loaded is not None
    assert names(loaded) == {"a": {}}


@pytest.mark.parametrize("link", ["departments", "departments/x", "departments/x.yaml"])
def test_a_link_out_of_the_folder_is_not_followed(link: str) -> None:
    """It may lead to any file of the machine that checks a pull request: nothing behind it is read or shown."""
    write({"org.yaml": ORG})
    target = Path("elsewhere", link).absolute()
    target.parent.mkdir(parents=True)
    if target.suffix:
        target.write_text("token: secret\n")
    else:
        target.mkdir()
        (target / "a.yaml").write_text("token: secret\n")
    Path("org", link).parent.mkdir(parents=True, exist_ok=True)
    Path("org", link).symlink_to(target)
    loaded, (found,) = load(Path("org"))
    assert loaded is not None
    assert (found.code, found.place.file) == ("department-file-outside", f"org/{link}")
    assert not any("secret" in file.text for file in loaded.sources.files)


def test_both_spellings_of_the_root_are_refused() -> None:
    """With org.yaml and org.yml side by side nobody knows which one counts."""
    assert one({"org.yaml": ORG, "org.yml": ORG}, "org-ambiguous").place.file == "org/org.yaml"


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b"a: 1\nb: caf\xe9\n", "yaml-not-utf8", (2, 7)),
        ("\ufeffa: 1".encode("utf-16-le"), "yaml-utf16", (1, 1)),
        ("a: 1".encode("utf-16-be"), "yaml-utf16", (1, 1)),
        (b"a" * (16 * 1024 * 1024 + 1), "yaml-size", (1, 1)),
    ],
)
def test_bytes_that_are_no_text(data: bytes, code: str, place: tuple[int, int]) -> None:
    """A root in another encoding, or too large, has its own code; its sources are still there to show."""
    write({"org.yaml": ""})
    Path("org/org.yaml").write_bytes(data)
    loaded, (found,) = load(Path("org"))
    assert loaded is not None
    assert loaded.tree is None
    assert (found.code, (found.place.line, found.place.column)) == (code, place)


def test_a_byte_order_mark_is_skipped() -> None:
    """A UTF-8 byte order mark is no part of the first key."""
    write({"org.yaml": ""})
    Path("org/org.yaml").write_bytes(b"\xef\xbb\xbfkind: x\n")
    loaded, diagnostics = load(Path("org"))
    assert loaded is not None
    assert (loaded.tree, diagnostics) == ({"kind": "x"}, [])


def test_every_file_is_read_in_one_run() -> None:
    """A syntax error in one file, the root included, does not hide those in others."""
    found = broken({"org.yaml": "a: [\n", "departments/a.yaml": "a: b: c\n", "departments/b.yaml": "a: 'x\n"})
    assert [(each.code, each.place.file) for each in found] == [
        ("yaml-syntax", "org/org.yaml"),
        ("yaml-syntax", "org/departments/a.yaml"),
        ("yaml-syntax", "org/departments/b.yaml"),
    ]


def test_a_department_in_two_files_shows_both() -> None:
    """A department that a second file defines again is an error there, with the first place beside it."""
    files = {"org.yaml": ORG, "departments/a.yaml": "departments:\n  x: {}\n"}
    found = one(files | {"departments/b.yaml": "departments:\n  x: {}\n"}, "department-duplicate")
    assert at(found) == ("org/departments/b.yaml", 4, 3)
    assert [at(related) for related in found.related] == [("org/departments/a.yaml", 4, 3)]


def test_a_missing_parent_offers_the_nearest() -> None:
    """A parent that names nothing is reported with the department that was probably meant."""
    root = {"org.yaml": ORG + "departments: {research: {departments: {vision: {}}}}\n"}
    found = one(root | {"departments/a.yaml": "parent: reserch\ndepartments: {x: {}}\n"}, "department-parent-missing")
    assert at(found) == ("org/departments/a.yaml", 3, 9)
    assert "`research`" in found.help
    found = one(root | {"departments/a.yaml": "parent: vision\ndepartments: {x: {}}\n"}, "department-parent-missing")
    assert found.help == "did you mean `research/vision`?"


def test_only_the_first_missing_parents_are_compared_with_what_there_is() -> None:
    """A thousand files with a wrong parent are reported at once; the nearest name is looked up for the first twenty."""
    files = {f"departments/{n:02}.yaml": f"parent: reserch{n}\ndepartments: {{d{n}: {{}}}}\n" for n in range(30)}
    found = broken({"org.yaml": ORG + "departments: {research: {}}\n"} | files)
    assert [each.help.startswith("did you mean") for each in found] == [True] * 20 + [False] * 10


def test_what_follows_from_a_missing_parent_is_not_repeated() -> None:
    """A file inside a file whose parent is missing adds no finding of its own."""
    files = {"org.yaml": ORG, "departments/a.yaml": "parent: no\ndepartments: {x: {}}\n"}
    one(files | {"departments/b.yaml": "parent: no/x\ndepartments: {y: {}}\n"}, "department-parent-missing")


def test_parents_that_go_round_are_one_finding() -> None:
    """Files that wait for each other are reported once, with the place of every parent."""
    files = {f"departments/{n}.yaml": f"parent: d{(n + 1) % 3}\ndepartments: {{d{n}: {{}}}}\n" for n in range(3)}
    found = one({"org.yaml": ORG} | files, "department-cycle")
    assert at(found) == ("org/departments/0.yaml", 3, 9)
    assert [at(related)[0] for related in found.related] == ["org/departments/1.yaml", "org/departments/2.yaml"]
    assert "`d1` inside `d2` inside `d0` inside `d1`" in found.message


@pytest.mark.parametrize("root", ["", "departments: {a: {file: departments/a.yaml}}\n"])
def test_references_that_go_round_are_one_finding(root: str) -> None:
    """Files that refer to each other are reported once, whether or not org.yaml leads into the circle."""
    files = {
        "org.yaml": ORG + root,
        "departments/a.yaml": "departments:\n  a: {departments: {b: {file: departments/b.yaml}}}\n",
        "departments/b.yaml": "departments:\n  b: {departments: {a: {file: departments/a.yaml}}}\n",
    }
    found = one(files, "department-cycle")
    assert at(found)[0] == "org/departments/b.yaml"
    assert [at(related)[0] for related in found.related] == ["org/departments/a.yaml"]


def test_a_file_may_not_refer_to_itself() -> None:
    """The shortest circle is a department whose definition is a reference to its own file."""
    one({"org.yaml": ORG, "departments/a.yaml": "departments:\n  a: {file: departments/a.yaml}\n"}, "department-cycle")


def test_a_missing_file_offers_the_nearest() -> None:
    """A reference to no file is reported with a file that was probably meant."""
    files = {"org.yaml": ORG + "departments:\n  b: {file: departments/reserch.yaml}\n"}
    found = one(files | {"departments/research.yaml": "departments: {a: {}}\n"}, "department-file-missing")
    assert at(found) == ("org/org.yaml", 3, 13)
    assert found.help == "did you mean `departments/research.yaml`?"


def test_a_missing_file_does_not_offer_one_that_another_department_has() -> None:
    """What a second reference names is not what this one meant: then the file is to be made."""
    departments = "departments:\n  a: {file: departments/ab.yaml}\n  b: {file: departments/abc.yaml}\n"
    files = {"org.yaml": ORG + departments, "departments/abc.yaml": "departments: {b: {}}\n"}
    found = one(files, "department-file-missing")
    assert found.help.startswith("create the file with a definition of `a`")


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("{file: ../x.yaml}", "department-file-outside"),
        ("{file: /etc/hostname}", "department-file-outside"),
        ("{file: departments}", "department-file-missing"),
        ("{file: 5}", "department-file-missing"),
        ("{file: }", "department-file-missing"),
        ('{file: "a\\0b"}', "department-file-missing"),
        (f"{{file: {'x' * 5000}}}", "department-file-missing"),
        ("{file: departments/a.yaml, weight: 2}", "department-file-keys"),
        ("{file: departments/b.yaml}", "department-file-content"),
    ],
)
def test_references_that_are_refused(reference: str, code: str) -> None:
    """A reference must be alone, name a file inside the folder, and that file must define this department only."""
    files = {"org.yaml": ORG + f"departments:\n  a: {reference}\n"}
    if "a.yaml" in reference:
        files["departments/a.yaml"] = "departments: {a: {}}\n"
    if "b.yaml" in reference:
        files["departments/b.yaml"] = "departments: {a: {}, b: {}}\n"
    assert at(one(files, code))[:2] == ("org/org.yaml", 3)


def test_a_file_is_referenced_once() -> None:
    """The second reference to a file is an error that shows the first."""
    root = ORG + "departments:\n  a: {file: departments/a.yaml}\n  b: {departments: {a: {file: departments/a.yaml}}}\n"
    found = one({"org.yaml": root, "departments/a.yaml": "departments: {a: {}}\n"}, "department-file-twice")
    assert (at(found)[1], [at(related)[1] for related in found.related]) == (4, [3])


def test_parent_and_reference_must_agree() -> None:
    """A parent beside a reference is allowed only where both say the same place."""
    root = ORG + "departments:\n  a: {file: departments/a.yaml}\n  b: {}\n"
    files = {"org.yaml": root, "departments/a.yaml": "parent: b\ndepartments: {a: {}}\n"}
    assert at(one(files, "department-parent-conflict")) == ("org/departments/a.yaml", 3, 9)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("kind: Departments\ndepartments: {}\n", "departments-api-version", 1),
        ("kind: Departments\napiVersion: v2\ndepartments: {}\n", "departments-api-version", 2),
        ("apiVersion: tenancy/v1alpha1\nkind: Department\n", "departments-kind", 2),
        ("apiVersion: tenancy/v1alpha1\ndepartments: {}\n", "departments-kind", 1),
        (HEAD + "departments: {}\nparrent: x\n", "departments-key", 4),
        (HEAD, "departments-shape", 1),
        (HEAD + "departments: [a]\n", "departments-shape", 3),
        (HEAD + "departments: {}\nparent: 7\n", "departments-shape", 4),
    ],
)
def test_the_envelope_of_a_departments_file(text: str, code: str, line: int) -> None:
    """Kind, apiVersion, keys and shape of a departments file are checked, each under its own code."""
    write({"org.yaml": ORG})
    write({"departments/a.yaml": text}, head="")
    _, (found,) = load(Path("org"))
    assert (found.code, found.place.line) == (code, line)


def test_an_unknown_key_offers_the_nearest() -> None:
    """A misspelt key of a departments file is reported with the key that was meant."""
    files = {"org.yaml": ORG, "departments/a.yaml": "departments: {}\nparrent: x\n"}
    assert one(files, "departments-key").help == "did you mean `parent`?"


def test_departments_of_another_type_are_left_to_the_model() -> None:
    """Where the tree holds no mapping of departments nothing is merged, and loading does not fail."""
    for root in ("departments: [x]\n", "departments: {a: text}\n", "departments: {a: {departments: 5}}\n"):
        for parent in ("", "parent: a\n"):
            found = broken({"org.yaml": ORG + root, "departments/f.yaml": parent + "departments: {b: {}}\n"})
            assert {each.code for each in found} <= {"department-parent-missing"}
