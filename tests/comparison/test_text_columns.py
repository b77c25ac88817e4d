"""Columns of text: left out with a note, or reduced to features by the training rows of a fold."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentences import sentence
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import elmbench
from elmbench.comparison.predict_file import predict_file
from elmbench.comparison.saved_models import save
from elmbench.datasets.dataset import Columns
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.evaluation.preprocessing import TextFeatures, columns_of_inputs

pytestmark = pytest.mark.usefixtures("alone")
N = 200
GOOD = ["good", "great", "lovely", "fast"]
BAD = ["bad", "awful", "broken", "slow"]


def reviews() -> pd.DataFrame:
    """Return texts of twelve words; one that praises more often than not is positive."""
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for _ in range(N):
        words = rng.choice([*GOOD, *BAD, "item", "box", "mail"], 12)
        texts.append(" ".join(words))
        labels.append(
            "pos" if np.isin(words, GOOD).sum() > np.isin(words, BAD).sum() else "neg"
        )
    frame = pd.DataFrame(
        {"review": texts, "stars": rng.integers(1, 6, N), "label": labels}
    )
    frame.loc[::25, "review"] = None
    return frame


def hand_made() -> list:
    return [
        HashingVectorizer(n_features=2**15),
        TfidfTransformer(),
        TruncatedSVD(50, random_state=0),
    ]


def test_a_column_of_text_is_left_out_with_the_option() -> None:
    reviews().to_csv("reviews.csv", index=False)
    (settings, *_) = describe(UserData("reviews.csv", "label")).notes
    assert sentence("comparison.text.column-left-out", column="review") in settings
    names = [f"{a} {b}" for a, b in zip(range(N), range(N), strict=True)]
    reviews().assign(review=names).to_csv("names.csv", index=False)
    assert (
        "most of the words are different"
        in describe(UserData("names.csv", "label")).notes[0]
    )
    with pytest.raises(ElmbenchError, match="no column 'revue'"):
        describe(UserData("reviews.csv", "label", text=("revue",)))


def test_texts_and_categories_are_different_data() -> None:
    frame = reviews().assign(review=np.where(np.arange(N) % 2, "red box", "blue box"))
    frame.to_csv("rows.csv", index=False)
    plain, text = (
        load_from_spec(describe(UserData("rows.csv", "label", text=columns)))
        for columns in ((), ("review",))
    )
    assert (plain.columns.words, plain.columns.text) == (("review",), ())
    assert (text.columns.words, text.columns.text) == ((), ("review",))
    assert plain.checksum != text.checksum


def test_features_of_text_are_those_of_scikit_learn() -> None:
    texts = (
        reviews()[["review"]]
        .fillna("")
        .assign(more=lambda frame: frame["review"].str[::-1])
    )
    features = TextFeatures().fit(texts[:150]).transform(texts)
    expected = [
        make_pipeline(*hand_made()).fit(texts[name][:150]).transform(texts[name])
        for name in texts
    ]
    # A text of eleven different words has eleven components.
    expected = [part[:, :11] for part in expected]
    np.testing.assert_allclose(features, np.hstack(expected), atol=1e-12)
    columns = Columns(numbers=(), dates={}, words=(), text=("review", "more"))
    assert columns_of_inputs(texts, columns).tolist() == [0] * 11 + [1] * 11


def test_texts_without_words_have_features() -> None:
    empty = pd.DataFrame({"review": [""] * 30})
    assert np.isfinite(TextFeatures().fit(empty).transform(empty)).all()


def test_text_is_learnt_on_the_training_rows_as_by_scikit_learn() -> None:
    frame = reviews()
    X = frame[["review", "stars"]]
    model = LogisticRegression()
    results = elmbench.compare(X, frame["label"], model, folds=3, text="review")
    assert sentence(
        "comparison.text.hashed-words", features=50, column="review"
    ) in re.sub(r"\s+", " ", results.text)
    lines = pd.read_csv(results.folder / "predictions.csv").query("model != 'dummy'")
    cells = results.cells.query("model != 'dummy'").set_index("fold")
    texts = frame["review"].fillna("")
    for fold, group in lines.groupby("fold"):
        test = group["row"].to_numpy()
        train = np.setdiff1d(np.arange(N), test)
        components = make_pipeline(*hand_made()).fit(texts.iloc[train]).transform(texts)
        # The order of the inputs is that of the kinds: numbers before texts.
        inputs = np.column_stack([frame["stars"], components[:, :11]])
        pipeline = make_pipeline(StandardScaler(), model).fit(
            inputs[train], frame["label"].iloc[train]
        )
        accuracy = accuracy_score(
            frame["label"].iloc[test], pipeline.predict(inputs[test])
        )
        assert cells.loc[fold, "accuracy"] == pytest.approx(accuracy)
    assert cells["accuracy"].mean() > 0.75


@pytest.mark.parametrize("ending", [".joblib", ".skops"])
def test_a_saved_model_reads_new_texts(ending: str) -> None:
    if ending == ".skops":
        pytest.importorskip("skops.io")
    frame = reviews()
    X = frame[["review", "stars"]]
    grids = {"ridge": {"C": [0.1]}}
    results = elmbench.compare(
        X, frame["label"], "ridge", folds=3, text=["review"], grids=grids
    )
    best = results.best_estimator()
    path = Path(f"best{ending}")
    save(best, path)
    new = pd.DataFrame(
        {"stars": [1, 2, 3], "review": ["great lovely", "awful broken slow", None]}
    )
    new.to_csv("new.csv", index=False)
    lines, remarks = predict_file(path, Path("new.csv"), proba=True)
    assert remarks == []
    assert lines["prediction"].tolist() == best.predict(new).tolist()
    assert lines["prediction"].tolist()[:2] == ["pos", "neg"]
