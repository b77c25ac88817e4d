"""Categories and missing values of a fold: replaced by what its training rows say."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.protocol.scaling import MOST_CATEGORIES, prepared_inputs
from elmbench.specs.protocol import Scale

NAN = float("nan")
#: A number, a category, and a number that no training row has; the last two rows are for testing.
X = np.array([[1.0, 0, NAN], [NAN, 0, NAN], [5.0, 1, NAN], [3.0, NAN, NAN], [NAN, NAN, 7.0], [9.0, 2, NAN]])
TRAIN = np.arange(4)


def test_what_is_missing_and_what_is_a_word() -> None:
    result = prepared_inputs(X, TRAIN, None, (1,))
    # The median of 1, 5 and 3; the frequent category; no indicator of a category that is only tested; zero where there
    # is no value to learn from.
    assert result.tolist() == [
        [1, 0, 1, 0],
        [3, 0, 1, 0],
        [5, 0, 0, 1],
        [3, 0, 1, 0],
        [3, 7, 1, 0],
        [9, 0, 0, 0],
    ]


def test_a_category_that_no_training_row_has_a_value_of() -> None:
    words = np.array([[1.0, NAN], [2.0, NAN], [3.0, 4.0]])
    result = prepared_inputs(words, np.arange(2), None, (1,))
    # It is one category, 0, which the test row does not have.
    assert result.tolist() == [[1, 1], [2, 1], [3, 0]]


def test_scaled_by_the_same_rows() -> None:
    result = prepared_inputs(X, TRAIN, Scale.model_validate({"range": [-1, 1], "fit-on": "train"}), (1,))
    assert result[:, 0].tolist() == [-1, 0, 1, 0, 0, 3]
    assert result[:, 2].tolist() == [1, 1, -1, 1, 1, -1]


@pytest.mark.parametrize("categories", [MOST_CATEGORIES, MOST_CATEGORIES + 1])
def test_rare_categories_share_an_indicator(categories: int) -> None:
    # Each twice, but the last two once.
    words = np.concatenate([np.arange(categories), np.arange(categories - 2)]).astype(float)
    result = prepared_inputs(words[:, np.newaxis], np.arange(len(words)), None, (0,))
    assert result.shape[1] == MOST_CATEGORIES == 50
    assert result.sum(axis=1).tolist() == [1] * len(words)
    shared = (result[categories - 2] == result[categories - 1]).all()
    assert shared == (categories > MOST_CATEGORIES)
