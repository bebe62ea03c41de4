"""FashionMNIST's samples for hyper-cleaning, from Debian's package dataset-fashion-mnist."""
import gzip
import pathlib

import numpy

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
CLASSES = 10
TRAINING = TRUSTED = 5000
WRONG = 0.5
SEED = 0


def idx_bytes(name, header_bytes):
    with gzip.open(FOLDER / name) as file:
        return numpy.frombuffer(file.read(), dtype=numpy.uint8, offset=header_bytes)


def write_split(folder):
    """training.npy and trusted.npy, pixels as bytes; *_labels.npy, where half of training's are always wrong."""
    images = idx_bytes("train-images-idx3-ubyte.gz", 16).reshape(-1, 28 * 28)
    labels = idx_bytes("train-labels-idx1-ubyte.gz", 8).astype(numpy.int64)
    random = numpy.random.default_rng(SEED)
    rows = random.permutation(len(labels))[: TRAINING + TRUSTED]
    parts = {"training": rows[:TRAINING], "trusted": rows[TRAINING:]}
    for part, chosen in parts.items():
        given = labels[chosen]
        if part == "training":
            wrong = random.choice(TRAINING, size=round(WRONG * TRAINING), replace=False)
            given[wrong] = (given[wrong] + random.integers(1, CLASSES, size=len(wrong))) % CLASSES
        numpy.save(folder / f"{part}.npy", images[chosen])
        numpy.save(folder / f"{part}_labels.npy", given)
