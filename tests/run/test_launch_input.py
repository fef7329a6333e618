"""What the command line takes for a run."""

import pytest

from trainfeed.run import launch
from trainfeed.run.aws import UserError


@pytest.mark.parametrize(
    ("pairs", "values"),
    [
        ([], {}),
        (["epochs=3"], {"epochs": "3"}),
        (["epochs=3", "rate=0.1"], {"epochs": "3", "rate": "0.1"}),
        (["formula=a=b"], {"formula": "a=b"}),
        (["note="], {"note": ""}),
    ],
)
def test_hyperparameters_are_pairs(pairs: list[str], values: dict[str, str]) -> None:
    assert launch.hyperparameters(pairs) == values


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        (["epochs"], "'epochs' is not a hyperparameter. Write it as --hyperparameter key=value"),
        (["=3"], "'=3' is not a hyperparameter"),
        (["a=1", "a=2"], "'a' is given twice: '1' and '2'"),
    ],
)
def test_what_is_no_pair_is_refused(pairs: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        launch.hyperparameters(pairs)
