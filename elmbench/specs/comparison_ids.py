"""Ids of comparisons: `own/<name>-<digest>`, whose digest distinguishes the data."""

import re

#: Number of hexadecimal digits of a digest.
_DIGITS = 8
_DIGEST = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}$")


def comparison_id(name: str, digest: str) -> str:
    """Return the id `own/NAME-DIGEST` of a comparison.

    `digest`: the hexadecimal digest of its data, of which the id has the first eight digits.
    `name`: NAME.
    """
    return f"own/{name}-{digest[:_DIGITS]}"


def name_in_id(id: str) -> str:
    """Return the id of a comparison without its digest, such as `own/wine` for `own/wine-0123abcd`.

    An id without a digest is returned as it is.
    """
    return _DIGEST.sub("", id)


def is_id_of(name: str, id: str) -> bool:
    """Return True if `name` is the `id` of a comparison, or this id without its digest."""
    return name in (id, name_in_id(id))
