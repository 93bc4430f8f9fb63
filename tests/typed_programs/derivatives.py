"""Transformations: what they return has the types of the function."""

from typing import Any, assert_type

import tensorweb as tw

Parameters = dict[str, tw.Tensor]


def loss(parameters: Parameters, x: tw.Tensor, power: int = 2) -> tw.Tensor:
    return ((x @ parameters["w"]) ** power).mean()


def energy(x: tw.Tensor) -> tw.Tensor:
    return (x * x).sum()


def both(x: tw.Tensor) -> tuple[tw.Tensor, int]:
    return x.sum(), 3


x = tw.ones((2, 2))
parameters = {"w": x}

assert_type(tw.grad(energy)(x), tw.Tensor)
assert_type(tw.grad(tw.grad(energy))(x), tw.Tensor)
assert_type(tw.grad(loss)(parameters, x), Parameters)
assert_type(tw.grad(loss)(parameters, x, power=3)["w"], tw.Tensor)
assert_type(tw.grad(both, has_aux=True)(x), tuple[tw.Tensor, int])
assert_type(tw.grad(loss, (0, 1))(parameters, x), tuple[Any, ...])
assert_type(tw.value_and_grad(loss)(parameters, x), tuple[tw.Tensor, Parameters])
assert_type(
    tw.value_and_grad(both, has_aux=True)(x), tuple[tuple[tw.Tensor, int], tw.Tensor]
)
assert_type(tw.jit(tw.grad(loss))(parameters, x), Parameters)
assert_type(tw.vmap(energy)(x), tw.Tensor)
assert_type(tw.vmap(tw.grad(loss), (None, 0))(parameters, x), Parameters)
assert_type(tw.hessian(energy)(x), tw.Tensor)
assert_type(tw.jacrev(energy)(x), tw.Tensor)
assert_type(tw.jacfwd(energy)(x), tw.Tensor)
assert_type(tw.checkpoint(loss)(parameters, x), tw.Tensor)
assert_type(tw.jvp(energy, (x,), (x,)), tuple[tw.Tensor, tw.Tensor])
assert_type(tw.vjp(energy, x)[0], tw.Tensor)
assert_type(tw.linearize(energy, x)[1](x), tw.Tensor)
assert_type(tw.stop_gradient(parameters), Parameters)


@tw.jit
def step(parameters: Parameters, x: tw.Tensor) -> tuple[tw.Tensor, Parameters]:
    value, gradients = tw.value_and_grad(loss)(parameters, x)
    return value, {key: parameters[key] - 0.1 * gradients[key] for key in parameters}


assert_type(step(parameters, x), tuple[tw.Tensor, Parameters])

tw.grad(loss)(parameters)  # wrong
tw.grad(loss)(parameters, x, power="2")  # wrong
tw.grad(3)  # wrong
tw.vmap(energy)(3)  # wrong
step(parameters)  # wrong
step(parameters, x)[1].w()  # wrong
