"""Gaussian and sparse random projections of a sparse matrix with scikit-learn: random_projections.py ROUNDS."""

import sys

import numpy as np
import scipy.sparse
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection


def main():
    random = np.random.RandomState(0)
    samples, features, filled = 500, 10000, 50000
    data = scipy.sparse.coo_matrix(
        (random.randn(filled), (random.randint(0, samples, filled), random.randint(0, features, filled))),
        shape=(samples, features),
    ).tocsr()
    for seed in range(int(sys.argv[1])):
        for projection in (
            GaussianRandomProjection(n_components=1500, random_state=seed),
            SparseRandomProjection(n_components=1500, random_state=seed),
        ):
            small = projection.fit_transform(data)
            scale = small.multiply(small).sum() if scipy.sparse.issparse(small) else (small * small).sum()
            ratio = scale / data.multiply(data).sum()
            print(type(projection).__name__, small.shape, "%.4f" % ratio)
            if not 0.9 < ratio < 1.1:  # distances are kept
                sys.exit("random_projections.py: lengths were changed by %.3f" % ratio)


main()
