"""Optimisers of parts of a tree, over several batches, and averages of parameters.

Names and meanings are Optax's; an optimiser here is any object with `init` and
`update`, so these can be nested.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from tensorweb import tree
from tensorweb.errors import DataError, TransformError
from tensorweb.functions import where, zeros_like
from tensorweb.optim.options import count
from tensorweb.optim.state import number
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.transforms.inputs import is_float


class multi_transform:
    """An optimiser for each label of parameters.

    Parameters whose label has no optimiser are unchanged.

    >>> opt = tw.optim.multi_transform(
    ...     {"fast": tw.optim.SGD(lr=0.5), "slow": tw.optim.SGD(lr=0.125)},
    ...     {"w": "fast", "b": "slow"},
    ... )
    >>> params = {"w": tw.ones(2), "b": tw.ones(1)}
    >>> params, state = opt.update(params, params, opt.init(params))
    >>> params
    {'w': tensor([0.5, 0.5]), 'b': tensor([0.875])}
    """

    def __init__(self, transforms: Mapping[Hashable, Any], param_labels: Any) -> None:
        """Make an optimiser.

        Args:
            transforms: optimisers by label.
            param_labels: a tree like the parameters with a label for each leaf or
                subtree, or a function from the parameters to it.
        """
        self._transforms, self._labels = dict(transforms), param_labels

    def init(self, params: Any) -> dict[Hashable, Any]:
        """Return the states by label.

        Raises:
            DataError: labels and parameters are different trees.

        >>> opt = tw.optim.masked(tw.optim.Adam(), {"w": True, "b": False})
        >>> list(opt.init({"w": tw.ones(2), "b": tw.ones(1)}))
        [True]
        """
        leaves, parts = tree.flatten(params)[0], self._parts(params)
        return {
            label: self._transforms[label].init(_chosen(leaves, part))
            for label, part in parts.items()
        }

    def update(self, params: Any, grads: Any, state: Any) -> tuple[Any, Any]:
        """Return parameters and states after a step.

        Raises:
            DataError: gradients, labels and parameters are different trees.

        >>> opt = tw.optim.masked(tw.optim.SGD(lr=0.5), {"w": True, "b": False})
        >>> params = {"w": tw.ones(2), "b": tw.ones(1)}
        >>> opt.update(params, params, opt.init(params))[0]
        {'w': tensor([0.5, 0.5]), 'b': tensor([1.])}
        """
        leaves, structure = tree.flatten(params)
        given = tree.flatten(grads)[0]
        if len(given) != len(leaves):
            raise DataError("update: parameters and gradients are different trees.")
        states = dict(state)
        for label, part in self._parts(params).items():
            own = _chosen(given, part)
            if all(grad is None for grad in own.values()):
                continue
            moved, states[label] = self._transforms[label].update(
                _chosen(leaves, part), own, state[label]
            )
            for name, index in part.items():
                leaves[index] = moved[name]
        return tree.unflatten(structure, leaves), states

    def _parts(self, params: Any) -> dict[Hashable, dict[str, int]]:
        """Return the indices of the leaves of each label by their paths."""
        labels = self._labels(params) if callable(self._labels) else self._labels
        paths, leaves = tree.paths(params), tree.leaves(params)
        parts: dict[Hashable, dict[str, int]] = {}
        for index, label in enumerate(labels_of("multi_transform", labels, params)):
            if label in self._transforms and is_float(leaves[index]):
                parts.setdefault(label, {})[paths[index]] = index
        return parts


def labels_of(name: str, labels: Any, params: Any) -> list[Any]:
    """Return the label of each leaf, which may be given for a subtree.

    Raises:
        DataError: a leaf has no label, or a label no leaf.
    """
    given = dict(zip(tree.paths(labels), tree.leaves(labels), strict=True))
    found, used = [], set()
    for path in tree.paths(params):
        above = path
        while above and above not in given:
            above = above.rpartition(".")[0]
        used.add(above)
        found.append(given.get(above))
    if found and used != given.keys():
        raise DataError(
            f"{name}: labels and parameters are different trees; give a label for each "
            "leaf or subtree."
        )
    return found


def masked(inner: Any, mask: Any) -> multi_transform:
    """Return an optimiser of the parameters whose mask is true.

    Args:
        inner: the optimiser.
        mask: a tree like the parameters of True and False, or a function from the
            parameters to it.

    >>> opt = tw.optim.masked(tw.optim.SGD(lr=0.5), [True, False])
    >>> params = [tw.ones(1), tw.ones(1)]
    >>> opt.update(params, params, opt.init(params))[0]
    [tensor([0.5]), tensor([1.])]
    """
    return multi_transform({True: inner}, mask)


class _MultiStepsState(NamedTuple):
    """The state of `MultiSteps`.

    Attributes:
        mini_step: count of the gradients since the last step.
        inner: the state of the optimiser.
        mean: of these gradients.
    """

    mini_step: Tensor
    inner: Any
    mean: list[Tensor]


class MultiSteps:
    """An optimiser that takes a step with the mean of several gradients.

    For batches that do not fit into memory: `update` changes the parameters at every
    k-th call. Under `jit` it is recorded once.

    >>> opt = tw.optim.MultiSteps(tw.optim.SGD(lr=0.5), every_k_schedule=2)
    >>> params = tw.zeros(1)
    >>> state = opt.init(params)
    >>> for value in (1.0, 3.0):
    ...     params, state = opt.update(params, tw.asarray([value]), state)
    ...     print(params)
    [0.]
    [-1.]
    """

    def __init__(self, opt: Any, every_k_schedule: int) -> None:
        """Make an optimiser.

        Args:
            opt: the optimiser that takes the steps.
            every_k_schedule: count of gradients for each step.

        Raises:
            DataError: the count is no whole number above 0.
        """
        self._opt = opt
        self._every = count("MultiSteps", "every_k_schedule", every_k_schedule)

    def init(self, params: Any) -> Any:
        """Return the initial state.

        >>> opt = tw.optim.MultiSteps(tw.optim.SGD(lr=0.5), 2)
        >>> opt.init(tw.zeros(1)).mini_step
        tensor(0)
        """
        leaves = [leaf for leaf in tree.leaves(params) if is_float(leaf)]
        inner = self._opt.init(params)
        means = [zeros_like(leaf) for leaf in leaves]
        return _MultiStepsState(number(0, leaves[0].device), inner, means)

    def update(self, params: Any, grads: Any, state: Any) -> tuple[Any, Any]:
        """Return parameters and state after another gradient.

        Raises:
            TransformError: a gradient is None.

        >>> opt = tw.optim.MultiSteps(tw.optim.SGD(lr=0.5), 2)
        >>> x = tw.zeros(1)
        >>> opt.update(x, tw.ones(1), opt.init(x))[1].mini_step
        tensor(1)
        """
        return self._moved(params, grads, state, params)

    def _moved(
        self, params: Any, grads: Any, state: Any, still: Any
    ) -> tuple[Any, Any]:
        """Return the optimiser's result, or `still` between steps, and the state."""
        leaves, structure = tree.flatten(grads)
        floats = [index for index, leaf in enumerate(leaves) if is_float(leaf)]
        if len(floats) != len(state.mean):
            raise TransformError(
                "MultiSteps: a gradient is missing; it needs one of each parameter."
            )
        done = state.mini_step + 1
        is_last = done == self._every
        means = []
        for index, mean in zip(floats, state.mean, strict=True):
            mean = mean + (leaves[index] - mean) / done.astype(mean.dtype.part)
            leaves[index] = mean
            means.append(where(is_last, zeros_like(mean), mean))
        moved, inner = self._opt.update(
            params, tree.unflatten(structure, leaves), state.inner
        )

        def chosen(new: Any, old: Any) -> Any:
            return where(is_last, new, old) if isinstance(new, Tensor) else new

        result = tree.map(chosen, moved, still)
        step = where(is_last, 0, done)
        inner = tree.map(chosen, inner, state.inner)
        return result, _MultiStepsState(step, inner, means)


def incremental_update(new_tensors: Any, old_tensors: Any, step_size: float) -> Any:
    """Return a moving average of parameters: `step_size·new + (1 - step_size)·old`.

    Args:
        new_tensors: the parameters, a tree.
        old_tensors: the average so far, a tree like it.
        step_size: the weight of the new ones, 0.001 for an average over about 1,000
            steps.

    >>> average = {"w": tw.zeros(2)}
    >>> tw.optim.incremental_update({"w": tw.ones(2)}, average, step_size=0.25)
    {'w': tensor([0.25, 0.25])}
    """

    def averaged(new: Any, old: Any) -> Any:
        return step_size * new + (1 - step_size) * old if is_float(new) else new

    return tree.map(averaged, new_tensors, old_tensors)


def _chosen(leaves: list[Any], part: Mapping[str, int]) -> dict[str, Any]:
    return {name: leaves[index] for name, index in part.items()}


declare_public(__name__, hidden="labels_of")
