"""What a tensor can do, by topic: mixins that `tensorweb.tensor.Tensor` joins."""
