"""Train a classifier of handwritten digits from the PNG files of the channel `train`.

It reads plain files from the folder SM_CHANNEL_TRAIN, so it runs unchanged with S3 File mode, with
FSx for Lustre, and on a laptop. Any SageMaker image with scikit-learn and Pillow will do.
"""

import argparse
import json
import os
import pickle
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.svm import SVC


def load(folder):
    """Read every LABEL/*.png below a folder: pixels from 0 to 1, one row a picture, and the labels."""
    files = sorted(Path(folder).glob("*/*.png"))
    if not files:
        raise SystemExit(f"There is no LABEL/*.png below {folder}.")
    pixels = np.stack([np.asarray(Image.open(file), dtype=np.float32).ravel() / 255 for file in files])
    return pixels, np.array([int(file.parent.name) for file in files])


def main():
    """Fit on train/, measure on test/, and leave the model with its metrics."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--C", type=float, default=10.0, help="how hard to fit")
    parser.add_argument("--gamma", type=float, default=0.05, help="how local each example's influence is")
    arguments = parser.parse_args()

    data = Path(os.environ["SM_CHANNEL_TRAIN"])
    train, test = load(data / "train"), load(data / "test")
    print(f"{len(train[1]):,} pictures to train on, {len(test[1]):,} to test with")

    model = SVC(C=arguments.C, gamma=arguments.gamma).fit(*train)
    accuracy = float(model.score(*test))
    print(f"accuracy={accuracy:.4f}")

    target = Path(os.environ["SM_MODEL_DIR"])
    (target / "model.pkl").write_bytes(pickle.dumps(model))
    (target / "metrics.json").write_text(json.dumps({"accuracy": accuracy}))


if __name__ == "__main__":
    main()
