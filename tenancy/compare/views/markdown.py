"""A comparison as Markdown for a comment in a pull request of GitHub or GitLab: worst first, never too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tenancy.compare.amounts import few, measure, shown
from tenancy.compare.comparison import Comparison
from tenancy.compare.effects import AccessChange, NamespaceChange, QuotaChange, UnitChange
from tenancy.compare.procedures import Procedure
from tenancy.compare.rule_changes import EVERYBODY
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.views.markdown_headline import heading, headline
from tenancy.compare.views.markdown_objects import TITLE, objects
from tenancy.compare.views.markdown_text import Section, bullets, code, details, fence, name, prose, table
from tenancy.compare.views.objects import plural
from tenancy.compare.views.words import (
    ABSENT,
    COST,
    arrow,
    balanced,
    dearer,
    followers,
    money,
    promises,
    reaching,
    setting,
    signed,
    strengthened,
    total,
    touched,
)
from tenancy.diagnostics import Diagnostic, Severity

MARKER: Final = "<!-- tenancy-plan"
"""What the first line begins with. The whole line tells the comment of one organization from those of others."""

LIMIT: Final = 60_000
"""Characters, below the 65,536 of a comment on GitHub; GitLab takes 1,000,000."""

LEAST: Final = 2_000
"""The smallest limit that is kept: there is then room for the head and for what was left out."""

_ROW: Final = 600
"""Characters of the limit for each row of a table: 100 rows on GitHub."""


def markdown(
    comparison: Comparison, diagnostics: Iterable[Diagnostic] = (), limit: int = LIMIT, title: str = ""
) -> str:
    """The plan; `title` is the name of the organization, which stays the same between runs.

    Sections that do not fit are left out from the end, and the last line says which.
    """
    found = sorted([*comparison.diagnostics, *diagnostics], key=lambda each: tuple(Severity).index(each.severity))
    sections = _sections(comparison, found, max(limit // _ROW, 1))
    marker = re.sub("[^A-Za-z0-9]+", "-", title).strip("-")[:80]
    top = f"{MARKER}{' ' if marker else ''}{marker} -->\n{heading(comparison, title)}\n"
    lines = [f"- {line}" for line in headline(comparison, found)] if comparison.changes else [_unchanged(comparison)]
    return _fitted(top, lines, sections, comparison, limit)


def _unchanged(comparison: Comparison) -> str:
    if comparison.drift:
        return "The organization says what the cluster was told already. It does not run so everywhere."
    return "Merging this changes nothing on the clusters: what is compiled from the organization is there already."


def _fitted(top: str, lines: Sequence[str], sections: Sequence[Section], comparison: Comparison, limit: int) -> str:
    """Whole lines of the head, then whole sections as long as they fit, with a note of what does not."""
    names = ["Summary", *(section.title for section in sections), TITLE]
    room = limit - len(_left_out(names, limit))
    page, left = f"{top}\n", list[str]()
    for line in lines:
        if len(page) + len(line) + 1 > room:
            left = names[:1]
            break
        page += f"{line}\n"
    for section in sections:
        if left or len(page) + len(str(section)) + 1 > room:
            left.append(section.title)
        else:
            page += f"\n{section}"
    if comparison.changes:
        last = None if left else objects(comparison, room - len(page))
        if last is None or len(page) + len(str(last)) + 1 > room:
            left.append(TITLE)
        else:
            page += f"\n{last}"
    return page + (_left_out(left, limit) if left else "")


def _left_out(titles: Sequence[str], limit: int) -> str:
    return (
        f"\n**Left out, so that this stays below {limit:,} characters**: {', '.join(titles)}. `tenancy diff` with the "
        "same options shows them; `--format json` has everything.\n"
    )


def _sections(comparison: Comparison, diagnostics: Sequence[Diagnostic], most: int) -> list[Section]:
    """Worst first; no section without anything to say."""
    parts = (
        ("Findings", bullets([_finding(each) for each in diagnostics], most)),
        ("Before you merge", bullets([_procedure(each) for each in comparison.procedures], most)),
        ("What runs otherwise than it was said", _drift(comparison.drift, most)),
        ("Destroyed", bullets(list(_units(comparison, added=False)), most)),
        ("Access lost", _access(comparison, most, gained=False)),
        ("Promises", _promises(comparison, most)),
        ("What units can use while all others are idle", _reaches(comparison, most)),
        ("Promises that others make weaker or stronger", _strengths(comparison, most)),
        ("Over quota after the merge", _overruns(comparison, most, certain=True)),
        ("Could be over quota after the merge", _overruns(comparison, most, certain=False)),
        ("Settings", bullets(_settings(comparison), most)),
        ("Created", bullets(list(_units(comparison, added=True)), most)),
        ("Access gained", _access(comparison, most, gained=True)),
        ("Balance per flavor", _balances(comparison, most)),
        (COST, _costs(comparison, most)),
    )
    return [Section(title, body) for title, body in parts if body]


def _finding(found: Diagnostic) -> str:
    place = f"{found.place.file}:{found.place.line}" if found.place.path else found.place.file
    line = f"**{found.severity}** {code(found.code)} at {code(place)}: {prose(found.message)}"
    return f"{line}<br>To mend it: {prose(found.help)}" if found.help else line


def _procedure(procedure: Procedure) -> str:
    subjects = few([code(subject) for subject in procedure.subjects], 5)
    mark = f"{procedure.mark.capitalize()}{', a step by hand' if procedure.by_hand else ''}"
    return f"**{mark}**: {subjects}. {prose(procedure.happens)}<br>**What to do**: {prose(procedure.do)}"


def _drift(lines: Sequence[str], most: int) -> str:
    """Of a running cluster; its lines are laid out already."""
    if not lines:
        return ""
    more = [f"… and {len(lines) - most:,} more lines"] if len(lines) > most else []
    return details(plural(len(lines), "line"), fence([*lines[:most], *more], ""))


def _units(comparison: Comparison, *, added: bool) -> Iterator[str]:
    """Units, then namespaces."""
    for unit in comparison.effects.units:
        if unit.added is added:
            yield _unit(unit, comparison)
    for namespace in comparison.effects.namespaces:
        if namespace.added is added:
            yield _namespace(namespace, comparison)


def _unit(change: UnitChange, comparison: Comparison) -> str:
    line = f"unit **{_placed(change.cluster, change.unit, comparison)}**"
    if not change.partner:
        return line if change.added else f"{line}, which was {name(change.state)}"
    kept = "its namespaces stay" if change.keeps_namespaces else "a rename destroys its namespaces and makes new ones"
    return f"{line}: {'was' if change.added else 'becomes'} {name(change.partner)}? ({kept})"


def _namespace(change: NamespaceChange, comparison: Comparison) -> str:
    of = f" of {name(change.unit)}" if change.unit else ""
    line = f"namespace {code(change.namespace)}{of}{_cluster(change.cluster, comparison)}"
    return line if change.added else f"{line}, **with all that is in it**"


def _access(comparison: Comparison, most: int, *, gained: bool) -> str:
    changes = [change for change in comparison.effects.access if change.gained is gained]
    rows = [[code(each.subject), name(each.level), _where(each, comparison)] for each in changes]
    return table(["Who", "Level", "Where"], rows, most) if rows else ""


def _where(change: AccessChange, comparison: Comparison) -> str:
    places = few([code(each) for each in change.namespaces]) or "the whole cluster"
    return f"{places}{_cluster(change.cluster, comparison)}"


def _promises(comparison: Comparison, most: int) -> str:
    """Of units that own nothing of a flavor only limits change: they are collapsed, unless they are all there is."""
    changes = promises(comparison)
    lists = [[change for change in changes if _owned(change) is wanted] for wanted in (True, False)]
    if not lists[0]:
        lists.reverse()
    tables = [
        table(["Unit", "Flavor", "Reserved", "Quota", "Limit", "Change"], rows, most, numbers=4) if rows else ""
        for rows in ([_promise(change, comparison) for change in each] for each in lists)
    ]
    if tables[1]:
        tables[1] = details(f"{plural(len(lists[1]), 'limit')} of units that own nothing of it", tables[1])
    also = [
        f"{_placed(cluster, flavor, comparison)}: {followers(count)}"
        for cluster, flavor, count in comparison.effects.followers
    ]
    return "\n\n".join(part for part in (*tables, bullets(also, most)) if part)


def _owned(change: QuotaChange) -> bool:
    return any(each is not None and each.quota > 0 for each in (change.before, change.after))


def _promise(change: QuotaChange, comparison: Comparison) -> list[str]:
    gain = signed(change.gain, change.resource)
    return [
        _placed(change.cluster, change.unit, comparison),
        _counted(change.flavor, change.resource),
        *(_marked(arrow(change, index)) for index in range(3)),
        f"**{gain}**" if gain else "",
    ]


def _reaches(comparison: Comparison, most: int) -> str:
    rows = [
        [
            _placed(each.cluster, each.unit, comparison),
            _counted(each.flavor, each.resource),
            *(ABSENT if amount is None else shown(amount, each.resource) for amount in (each.before, each.after)),
            f"**{signed(each.gain, each.resource)}**",
        ]
        for each in reaching(comparison)
    ]
    return table(["Unit", "Flavor", "Before", "After", "Change"], rows, most, numbers=3) if rows else ""


def _strengths(comparison: Comparison, most: int) -> str:
    """Weaker ones; the stronger ones are collapsed."""
    weaker, stronger = (
        [_strength(each, units, comparison) for each, units in strengthened(comparison) if each.stronger is wanted]
        for wanted in (False, True)
    )
    parts = [bullets([f"**weaker**: {line}" for line in weaker], most)] if weaker else []
    if stronger:
        parts.append(details(f"{len(stronger)} stronger", bullets(stronger, most)))
    return "\n\n".join(parts)


def _strength(change: StrengthChange, units: Sequence[str], comparison: Comparison) -> str:
    of = f" on {name(change.flavor)}" if change.flavor else ""
    names = few([each if each == EVERYBODY else name(each) for each in units])
    return f"{_cluster_first(change.cluster, comparison)}{names}{of}: {prose(change.what)}"


def _overruns(comparison: Comparison, most: int, *, certain: bool) -> str:
    """What is used where that is known; else, collapsed, what may be used by the old promises of units that stay."""
    gone = {(each.cluster, each.unit) for each in comparison.effects.units if not each.added}
    rows = [
        [
            _placed(each.cluster, each.unit, comparison),
            _counted(each.flavor, each.resource),
            *(shown(amount, each.resource) for amount in (each.used, each.quota, each.limit)),
        ]
        for each in comparison.overruns
        if each.certain is certain and (certain or (each.cluster, each.unit) not in gone)
    ]
    if not rows:
        return ""
    used = "Uses now" if certain else "May use now"
    page = table(["Unit", "Flavor", used, "New quota", "New limit"], rows, most, numbers=3)
    summary = "By what they may use now; <code>tenancy diff --usage</code> tells who does"
    return page if certain else details(summary, page)


def _settings(comparison: Comparison) -> list[str]:
    return [
        f"{few([name(unit) for unit in change.units], 5)}{_cluster(change.cluster, comparison)}: "
        f"**{prose(setting(change, comparison))}**"
        for change in comparison.effects.settings
    ]


def _balances(comparison: Comparison, most: int) -> str:
    rows = [
        [
            f"{_cluster_first(each.cluster, comparison)}{_counted(each.flavor, each.resource)}",
            *map(_marked, balanced(each)),
        ]
        for each in touched(comparison)
    ]
    return table(["Flavor", "Installed", "Spare", "Promised", "Free"], rows, most, numbers=4) if rows else ""


def _costs(comparison: Comparison, most: int) -> str:
    """The departments whose cost changes, and the total of all where any does."""
    rows = [
        [_placed(cost.cluster, cost.unit, comparison), money(cost.before, cost.after)] for cost in dearer(comparison)
    ]
    total_row = ["**total**", f"**{money(*total(comparison))}**"]
    return table(["Department", "Cost"], [*rows[: most - 1], total_row], most, numbers=1) if rows else ""


def _marked(amounts: str) -> str:
    """Amounts in bold where they change."""
    return f"**{amounts}**" if "→" in amounts else amounts


def _counted(flavor: str, resource: str) -> str:
    """`h100 GPUs`, `cpu memory`."""
    return f"{name(flavor)} {prose(measure(resource))}"


def _placed(cluster: str, text: str, comparison: Comparison) -> str:
    """The unit, with its cluster where there are several."""
    return f"{_cluster_first(cluster, comparison)}{name(text)}"


def _cluster_first(cluster: str, comparison: Comparison) -> str:
    return f"{name(cluster)}: " if len(comparison.clusters) > 1 else ""


def _cluster(cluster: str, comparison: Comparison) -> str:
    return f" in {name(cluster)}" if len(comparison.clusters) > 1 else ""
