"""A support vector machine on sparse binary features with scikit-learn: support_vectors.py SAMPLES."""

import sys

import numpy as np
from sklearn.svm import SVC


def main():
    samples = int(sys.argv[1])
    random = np.random.RandomState(1)
    features = 300
    data = (random.rand(2 * samples, features) < 0.04).astype(float)
    weights = random.normal(0, 1, features)
    score = data @ weights + random.normal(0, 0.4, 2 * samples)
    labels = score > np.percentile(score, 60)
    machine = SVC(C=5.0, kernel="rbf", gamma=0.03, cache_size=50)
    machine.fit(data[:samples], labels[:samples])
    right = (machine.predict(data[samples:]) == labels[samples:]).mean()
    print("%d support vectors, %.3f right" % (machine.n_support_.sum(), right))
    if not right > 0.6:
        sys.exit("support_vectors.py: no better than the most frequent label")


main()
