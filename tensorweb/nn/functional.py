"""The functions of `tensorweb.nn` under PyTorch's names of `torch.nn.functional`.

>>> import tensorweb.nn.functional as F
>>> F.mse_loss(F.relu(tw.asarray([-1.0, 2.0])), tw.asarray([0.0, 1.0]))
tensor(0.5)
"""

from tensorweb import functions
from tensorweb.nn import classification, losses
from tensorweb.nn.activations import *
from tensorweb.nn.adaptive_pooling import *
from tensorweb.nn.affine import *
from tensorweb.nn.attention_layers import *
from tensorweb.nn.batch_statistics import *
from tensorweb.nn.classification import *
from tensorweb.nn.containers import *
from tensorweb.nn.convolution import *
from tensorweb.nn.dropout_layers import *
from tensorweb.nn.images import *
from tensorweb.nn.losses import *
from tensorweb.nn.margins import *
from tensorweb.nn.normalization import *
from tensorweb.nn.padding_layers import *
from tensorweb.nn.pooling import *
from tensorweb.tensor.arguments import answer_torch_words, answering_keywords

gaussian_nll_loss = losses.gaussian_nll
huber_loss = losses.huber
l1_loss = losses.l1
mse_loss = losses.mse
nll_loss = classification.nll
poisson_nll_loss = losses.poisson_nll
smooth_l1_loss = losses.smooth_l1

# In `tw` elementwise functions answer no keywords, which would make them slower.
relu = answering_keywords(functions.relu)
sigmoid = answering_keywords(functions.sigmoid)
tanh = answering_keywords(functions.tanh)

answer_torch_words(globals(), [name for name in globals() if name.islower()])
