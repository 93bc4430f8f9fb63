"""What scikit-learn does with arrays of the Array API: code that both run.

`X` and `Z` are matrices of float32, `t` and `u` numbers, `y` and `p` labels of three
classes, `b` of two, `G` grades, `s` and `S` scores between 0 and 1. What a row's code
gives is compared with what NumPy's arrays give.
"""

from __future__ import annotations

ESTIMATORS = {
    "StandardScaler": "StandardScaler().fit_transform(X)",
    "StandardScaler back": "(m := StandardScaler().fit(X)).inverse_transform(m.transform(X))",
    "StandardScaler in parts": "StandardScaler().partial_fit(X).partial_fit(Z).transform(X)",
    "StandardScaler without mean": "StandardScaler(with_mean=False).fit_transform(X)",
    "MinMaxScaler": "MinMaxScaler().fit_transform(X)",
    "MinMaxScaler back": "(m := MinMaxScaler().fit(X)).inverse_transform(m.transform(X))",
    "MaxAbsScaler": "MaxAbsScaler().fit_transform(X)",
    "RobustScaler": "RobustScaler().fit_transform(X)",
    "Normalizer l1": "Normalizer('l1').fit_transform(X)",
    "Normalizer l2": "Normalizer('l2').fit_transform(X)",
    "Normalizer max": "Normalizer('max').fit_transform(X)",
    "Binarizer": "Binarizer(threshold=0.5).fit_transform(X)",
    "KernelCenterer": "KernelCenterer().fit_transform(X @ X.T)",
    "PolynomialFeatures": "PolynomialFeatures(2).fit_transform(X)",
    "LabelEncoder": "LabelEncoder().fit_transform(y)",
    "LabelEncoder back": "(m := LabelEncoder().fit(y)).inverse_transform(m.transform(y))",
    "LabelBinarizer": "LabelBinarizer().fit_transform(y)",
    "GaussianNB": "GaussianNB().fit(X, y).predict_proba(X)",
    "LinearRegression": "LinearRegression().fit(X, t).predict(X)",
    "LogisticRegression": "LogisticRegression(solver='lbfgs').fit(X, b).predict(X)",
    "PCA": "abs(PCA(3, svd_solver='full').fit_transform(X))",
    "PCA whitened": "abs(PCA(3, svd_solver='full', whiten=True).fit_transform(X))",
    "PCA covariance": "abs(PCA(3, svd_solver='covariance_eigh').fit_transform(X))",
    "PCA randomized": "abs(PCA(2, svd_solver='randomized', random_state=0, power_iteration_normalizer='QR').fit_transform(X))",
    "PCA back": "(m := PCA(3, svd_solver='full').fit(X)).inverse_transform(m.transform(X))",
    "LinearDiscriminantAnalysis": "LinearDiscriminantAnalysis().fit(X, y).predict(X)",
    "Ridge": "Ridge(solver='svd').fit(X, t).predict(X)",
    "Ridge without intercept": "Ridge(solver='svd', fit_intercept=False).fit(X, t).predict(X)",
    "RidgeCV": "RidgeCV(alphas=(0.1, 1.0)).fit(X, t).predict(X)",
    "RidgeClassifier": "RidgeClassifier(solver='svd').fit(X, b).predict(X)",
    "GaussianMixture": "GaussianMixture(2, init_params='random_from_data', random_state=0, max_iter=3, means_init=X[:2, :], reg_covar=0.1, tol=0).fit(X).means_",
    "Pipeline": "abs(make_pipeline(StandardScaler(), PCA(2, svd_solver='full')).fit_transform(X))",
    "cross_val_predict": "cross_val_predict(Ridge(solver='svd'), X, t, cv=3)",
    "GridSearchCV": "GridSearchCV(Ridge(solver='svd'), {'alpha': [0.1, 1.0]}, cv=3).fit(X, t).predict(X)",
    "KMeans": "KMeans(2, n_init=1, init=np_array(X[:2, :])).fit(np_array(X)).inertia_",
    "Nystroem": "Nystroem(n_components=4, random_state=0, kernel='linear').fit_transform(X)",
}

CLASSIFICATION = {
    **{
        name: f"{name}(y, p)"
        for name in (
            *("accuracy_score", "zero_one_loss", "confusion_matrix"),
            *("balanced_accuracy_score", "cohen_kappa_score", "hamming_loss"),
            *("matthews_corrcoef", "multilabel_confusion_matrix"),
        )
    },
    **{
        name: f"{name}(y, p, average='macro')"
        for name in ("f1_score", "precision_score", "recall_score", "jaccard_score")
    },
    "fbeta_score": "fbeta_score(y, p, beta=2, average='weighted')",
    "precision_recall_fscore_support": "precision_recall_fscore_support(y, p)",
    "log_loss": "log_loss(b, s)",
    "brier_score_loss": "brier_score_loss(b, s)",
    "d2_log_loss_score": "d2_log_loss_score(b, s)",
    "d2_brier_score": "d2_brier_score(b, s)",
    "hinge_loss": "hinge_loss(b, s)",
    "roc_curve": "roc_curve(b, s)",
    "roc_auc_score": "roc_auc_score(b, s)",
    "precision_recall_curve": "precision_recall_curve(b, s)",
    "average_precision_score": "average_precision_score(b, s)",
    "det_curve": "det_curve(b, s)",
    "confusion_matrix_at_thresholds": "confusion_matrix_at_thresholds(b, s)",
    "ndcg_score": "ndcg_score(G, S)",
    "dcg_score": "dcg_score(G, S)",
}

REGRESSION = {
    name: f"{name}(t, u)"
    for name in (
        *("mean_absolute_error", "mean_squared_error", "root_mean_squared_error"),
        *("mean_squared_log_error", "root_mean_squared_log_error"),
        *("median_absolute_error", "mean_absolute_percentage_error", "max_error"),
        *("mean_pinball_loss", "explained_variance_score", "r2_score"),
        *("mean_tweedie_deviance", "mean_poisson_deviance", "mean_gamma_deviance"),
        *("d2_tweedie_score", "d2_absolute_error_score", "d2_pinball_score"),
    )
}

PAIRWISE = {
    name: f"{name}(X, Z)"
    for name in (
        *("cosine_similarity", "cosine_distances", "euclidean_distances"),
        *("linear_kernel", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel"),
        *("laplacian_kernel", "manhattan_distances"),
    )
} | {
    "chi2_kernel": "chi2_kernel(abs(X), abs(Z))",
    "additive_chi2_kernel": "additive_chi2_kernel(abs(X), abs(Z))",
    "paired_cosine_distances": "paired_cosine_distances(X, Z)",
    "paired_euclidean_distances": "paired_euclidean_distances(X, Z)",
    "pairwise_distances": "pairwise_distances(X, Z, metric='euclidean')",
    "pairwise_kernels": "pairwise_kernels(X, Z, metric='rbf')",
}

UTILITIES = {
    "train_test_split": "train_test_split(X, t, random_state=0)",
    "train_test_split by class": "train_test_split(X, y, random_state=0, stratify=y)",
    "check_array": "check_array(X)",
    "resample": "resample(X, random_state=0)",
    "shuffle": "shuffle(X, random_state=0)",
    "softmax": "softmax(X)",
    "randomized_svd": "abs(randomized_svd(X, 2, random_state=0, power_iteration_normalizer='QR')[1])",
    "randomized_range_finder": "abs(randomized_range_finder(X, size=3, n_iter=2, random_state=0, power_iteration_normalizer='QR'))",
    "compute_class_weight": "compute_class_weight('balanced', classes=y[:3], y=y)",
    "unique_labels": "unique_labels(y, p)",
    "type_of_target": "type_of_target(y)",
    "clone": "clone(StandardScaler()).fit(X).mean_",
}

CASES = ESTIMATORS | CLASSIFICATION | REGRESSION | PAIRWISE | UTILITIES
