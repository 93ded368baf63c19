"""Settings of `cegdb.options` as keywords of methods."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar, overload

from cegdb.options import Option, options_of, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Method = TypeVar("_Method", bound="Callable[..., Any]")
_A = TypeVar("_A")
_B = TypeVar("_B")

_PLACE = re.compile(r"^( *)(.*?)\*\*settings\n((?:\1 +.*\n)+)", re.MULTILINE)


def takes(keywords: type, *owners: type) -> Callable[[_Method], _Method]:
    """Return a decorator for a method with ``**settings: Unpack[keywords]``.

    ``keywords`` is a TypedDict of settings that the classes ``owners`` state. The signature
    gets their names, types and defaults; the docstring, in the place of ``**settings``, their
    names and texts, or only the names if others stand before it. The function stays the same
    object: doctest skips one that wraps it.
    """

    def decorate(method: _Method) -> _Method:
        signature = inspect.signature(method)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        types = keywords.__annotations__
        options = [
            option for owner in owners for option in options_of(owner) if option.name in types
        ]
        added = [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=types[option.name].__forward_arg__,
            )
            for option in options
        ]
        changed: Any = method
        changed.__signature__ = signature.replace(parameters=[*own, *added])
        # Without docstrings (python -OO) there is nothing to fill in.
        changed.__doc__ = method.__doc__ and _PLACE.sub(
            lambda place: _entries(place, options), method.__doc__
        )
        return method

    return decorate


def _entries(place: re.Match[str], options: list[Option]) -> str:
    """Return what stands in a docstring instead of ``**settings``."""
    indent, before, text = place.groups()
    if before:
        # Names are not wrapped: numpydoc reads one line of them.
        return f"{indent}{before}{', '.join(option.name for option in options)}\n{text}"
    inner = f"{indent}    "
    texts = [
        textwrap.fill(option.help, 92, initial_indent=inner, subsequent_indent=inner)
        for option in options
    ]
    return "".join(
        f"{indent}{option.name}\n{shown}\n"
        for option, shown in zip(options, texts, strict=True)
    )


@overload
def options_from(settings: Mapping[str, object], keywords: type, a: type[_A], /) -> _A: ...


@overload
def options_from(
    settings: Mapping[str, object], keywords: type, a: type[_A], b: type[_B], /
) -> tuple[_A, _B]: ...


def options_from(settings: Mapping[str, object], keywords: type, /, *owners: type) -> Any:
    """Return the options that the keywords of a method give: an object of each class.

    Examples
    --------
    >>> from cegdb.options import ReadOptions, ReadSettings
    >>> options_from({"sheet": 2}, ReadSettings, ReadOptions).sheet
    2
    >>> options_from({"delimeter": ";"}, ReadSettings, ReadOptions)
    Traceback (most recent call last):
    ...
    TypeError: no setting named 'delimeter': did you mean 'delimiter'? Available: ...
    """
    known = keywords.__annotations__
    for name in settings:
        if name not in known:
            raise TypeError(f"no setting named {name!r}: {suggestion(name, list(known))}")
    made = tuple(
        owner(
            **{
                option.name: settings[option.name]
                for option in options_of(owner)
                if option.name in settings
            }
        )
        for owner in owners
    )
    return made if len(made) > 1 else made[0]
