"""Write scikit-learn's 1,797 handwritten digits as PNG files, to a folder or to S3.

    python examples/digits/data.py digits
    python examples/digits/data.py s3://BUCKET/data

Four of five go to train/LABEL/, the fifth to test/LABEL/.
"""

import argparse
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
from PIL import Image
from sklearn.datasets import load_digits


def pngs() -> Iterator[tuple[str, bytes]]:
    """Name and content of each picture: 8 by 8 pixels, grey."""
    pictures, labels = load_digits(return_X_y=True)
    for index, (pixels, label) in enumerate(zip(pictures, labels, strict=True)):
        part = "test" if index % 5 == 4 else "train"
        png = io.BytesIO()
        Image.fromarray((pixels.reshape(8, 8) * 255 / 16).astype("uint8")).save(png, format="png")
        yield f"{part}/{label}/{index:04}.png", png.getvalue()


def write(target: str) -> int:
    """Write every picture below a folder or an S3 address, and return how many there are."""
    if target.startswith("s3://"):
        bucket, _, prefix = target.removeprefix("s3://").partition("/")
        folder = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        s3 = boto3.client("s3")

        def save(picture: tuple[str, bytes]) -> None:
            s3.put_object(Bucket=bucket, Key=folder + picture[0], Body=picture[1])
    else:

        def save(picture: tuple[str, bytes]) -> None:
            path = Path(target, picture[0])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture[1])

    with ThreadPoolExecutor(8) as pool:
        return sum(1 for _ in pool.map(save, pngs()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the digits as PNG files.")
    parser.add_argument("target", help="a folder, or s3://BUCKET/PREFIX")
    arguments = parser.parse_args()
    print(f"{write(arguments.target):,} pictures written to {arguments.target}")
