"""Forecasts of scikit-learn's forests for the matrices that sklearn_forest.cc writes.

    sklearn_forest.py FOLDER FOLDS TREES SHARE

For each fold N reads FOLDER/N.{train_x,train_y,train_w,test_x}.csv (no header; rows are samples, w one weight a row)
and writes FOLDER/N.extra_trees.csv and FOLDER/N.random_forest.csv, a row per test sample. SHARE: of the features, tried
at every split. Exit status 77: scikit-learn is not installed.
"""
import sys

try:
    import numpy
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
except ImportError as error:
    print(error)
    sys.exit(77)


def main():
    folder, folds, trees, share = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    for fold in range(folds):
        def read(name):
            return numpy.loadtxt(f"{folder}/{fold}.{name}.csv", delimiter=",", ndmin=2)

        train_x, train_y, weights, test_x = read("train_x"), read("train_y"), read("train_w")[:, 0], read("test_x")
        for name, forest in (("extra_trees", ExtraTreesRegressor), ("random_forest", RandomForestRegressor)):
            model = forest(n_estimators=trees, max_features=share, random_state=1)
            model.fit(train_x, train_y, sample_weight=weights)
            numpy.savetxt(f"{folder}/{fold}.{name}.csv", model.predict(test_x), delimiter=",")


main()
