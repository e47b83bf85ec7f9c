"""What a guard judges: facts of an object, of which an update is judged only by those that it brings.

So work from before the policies can still be finished, suspended, scaled and deleted.
"""

from __future__ import annotations

from tenancy.backend.shared.cel import text


def fact(what: str, value: str, at: str = "each.path") -> str:
    """CEL for a fact: where it stands, what it is, and its value; the last two are CEL for texts."""
    return f'{{"at": string({at}), "what": {text(what)}, "value": string({value})}}'


def news(facts: str) -> dict[str, str]:
    """The variables `facts` and `news`: the facts that only the new object has. Reads `templates`.

    `facts` is CEL for a list, of the object `it` whose templates are `variables.templates[at]`.
    """
    return {
        "facts": f"variables.revisions.transformList(at, it,\n{facts})",
        "news": "variables.facts.size() == 1 ? variables.facts[0] :\n"
        "  variables.facts[0] == variables.facts[1] ? [] :\n"
        "  variables.facts[0].filter(it, !(it in variables.facts[1]))",
    }


def named(variable: str) -> str:
    """CEL for the names in a variable, for a message; `none` where there are none."""
    return f'(variables.{variable}.size() == 0 ? "none" : variables.{variable}.join(", "))'


def none(what: str, wrong: str = 'it.value != ""') -> str:
    """CEL: no news of this sort is wrong."""
    return f"!variables.news.exists(it, it.what == {text(what)} && {wrong})"


def first(what: str, wrong: str = 'it.value != ""', *, key: str = "value") -> str:
    """CEL for the value of the first news of this sort that is wrong, where there is one."""
    return f"variables.news.filter(it, it.what == {text(what)} && {wrong})[0].{key}"
