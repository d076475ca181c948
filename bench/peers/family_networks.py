"""The networks of bench/families.py, as their users would write them in PyTorch: bits [rows, dimension] to energies [rows]."""
import torch
from torch import nn
import torch.nn.functional as F


class Flat(nn.Module):
    """Energies as one number for each row."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x).squeeze(-1)


class Images(Flat):
    """Rows as black and white images, 28 x 28."""

    def forward(self, x):
        image = x.view(-1, 1, 28, 28)
        if getattr(self, "channels_last", False):
            image = image.contiguous(memory_format=torch.channels_last)
        return super().forward(image)


class View(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return x.reshape(-1, *self.shape)


class Mean(nn.Module):
    def __init__(self, *axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return x.mean(self.axes)


class Permuted(nn.Module):
    """Layers that work along another axis than the last."""

    def __init__(self, order, *layers):
        super().__init__()
        self.order, self.layers = order, nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x.permute(self.order))


class Residual(Permuted):
    def __init__(self, *layers, order=None):
        super().__init__(order, *layers)

    def forward(self, x):
        if self.order is None:
            return x + self.layers(x)
        return x + super().forward(x).permute(self.order)


class Rbm(nn.Module):
    def __init__(self, visible=784, hidden=500):
        super().__init__()
        self.field = nn.Parameter(0.01 * torch.randn(visible))
        self.hidden = nn.Linear(visible, hidden)

    def forward(self, x):
        return -x @ self.field - F.softplus(self.hidden(x)).sum(1)


class Quadratic(nn.Module):
    def __init__(self, dimension=196):
        super().__init__()
        self.coupling = nn.Parameter(0.01 * torch.randn(dimension, dimension))

    def forward(self, x):
        return ((x @ self.coupling) * x).sum(1)


class GraphConvolution(nn.Module):
    """Sums over neighbours on a ring with chords."""

    def __init__(self, inputs, outputs, nodes=64):
        super().__init__()
        places = torch.arange(nodes)
        adjacency = sum(((places[:, None] - places) % nodes == step).float() for step in (0, 1, nodes - 1, 8, nodes - 8)) / 5
        self.register_buffer("adjacency", adjacency)
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return F.relu(self.adjacency @ self.linear(x))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        rows, tokens, width = x.shape
        q, k, v = self.inputs(x).view(-1, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.output(mixed.transpose(1, 2).reshape(-1, tokens, width))


class Positions(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.values = nn.Parameter(0.02 * torch.randn(tokens, width))

    def forward(self, x):
        return x + self.values


def feed_forward(width, hidden):
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


def transformer(width=64, layers=2):
    blocks = [part for _ in range(layers) for part in (Residual(nn.LayerNorm(width), Attention(width, 4)),
                                                       Residual(nn.LayerNorm(width), feed_forward(width, 4 * width)))]
    return Flat(View(16, 4), nn.Linear(4, width), Positions(16, width), *blocks, nn.LayerNorm(width), Mean(1), nn.Linear(width, 1))


def mixer(width=64, layers=2):
    blocks = [part for _ in range(layers) for part in (Residual(feed_forward(49, 128), order=(0, 2, 1)),
                                                       Residual(nn.LayerNorm(width), feed_forward(width, 4 * width)))]
    return Flat(View(49, 16), nn.Linear(16, width), *blocks, Mean(1), nn.Linear(width, 1))


class Recurrent(nn.Module):
    def __init__(self, kind, units=64):
        super().__init__()
        self.cells, self.output = kind(28, units, batch_first=True), nn.Linear(units, 1)

    def forward(self, x):
        return self.output(self.cells(x.view(-1, 28, 28))[0][:, -1]).squeeze(1)


def separable(inputs, outputs, stride=1):
    return [nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs), nn.ReLU(), nn.Conv2d(inputs, outputs, 1), nn.ReLU()]


def convnext_block(width):
    return Residual(nn.Conv2d(width, width, 7, padding=3, groups=width),
                    Permuted((0, 2, 3, 1), nn.LayerNorm(width), feed_forward(width, 4 * width)), Permuted((0, 3, 1, 2)))


def pooled(pool):
    return Images(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), pool(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), pool(2),
                  nn.Flatten(), nn.Linear(64 * 49, 1))


def normalised(norm, activation, width=32):
    parts = [part for inputs, stride in ((1, 2), (width, 1), (width, 1))
             for part in (nn.Conv2d(inputs, width, 3, stride, 1), norm(width), activation())]
    return Images(*parts, Mean(2, 3), nn.Linear(width, 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        conv = lambda inputs, outputs, stride=1: nn.Conv2d(inputs, outputs, 3, stride, 1)
        self.first, self.down, self.middle = conv(1, 16), conv(16, 32, 2), conv(32, 32)
        self.up, self.last = nn.ConvTranspose2d(32, 16, 2, 2), conv(32, 16)
        self.output = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        fine = F.relu(self.first(x))
        coarse = F.relu(self.middle(F.relu(self.down(fine))))
        joined = torch.cat([fine, F.relu(self.up(coarse))], 1)
        return self.output(F.relu(self.last(joined))).sum((1, 2, 3), keepdim=True).flatten(1)


NETWORKS = {
    "mlp": lambda: Flat(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1)),
    "rbm": Rbm,
    "ising": Quadratic,
    "deepsets": lambda: Flat(View(32, 8), nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), Mean(1), nn.Linear(64, 64),
                             nn.ReLU(), nn.Linear(64, 1)),
    "gcn": lambda: Flat(View(64, 1), GraphConvolution(1, 32), GraphConvolution(32, 32), GraphConvolution(32, 32), Mean(1),
                        nn.Linear(32, 1)),
    "mixer": mixer,
    "transformer": transformer,
    "attention": lambda: Images(nn.Conv2d(1, 64, 4, 4), nn.ReLU(), nn.Flatten(2), Permuted((0, 2, 1)), Attention(64, 4), Mean(1),
                                nn.Linear(64, 1)),
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU),
    "conv1d": lambda: Flat(View(1, 256), *(part for inputs, dilation in ((1, 1), (32, 2), (32, 4), (32, 8)) for part in (
        nn.Conv1d(inputs, 32, 3, padding=dilation, dilation=dilation), nn.ReLU())), Mean(2), nn.Linear(32, 1)),
    "conv3d": lambda: Flat(View(1, 8, 8, 8), nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 32, 3, 2, 1), nn.ReLU(),
                           nn.Conv3d(32, 32, 3, padding=1), nn.ReLU(), Mean(2, 3, 4), nn.Linear(32, 1)),
    "maxpool": lambda: pooled(nn.MaxPool2d),
    "averagepool": lambda: pooled(nn.AvgPool2d),
    "depthwise": lambda: Images(nn.Conv2d(1, 32, 3, 2, 1), nn.ReLU(), *separable(32, 64), *separable(64, 128, 2),
                                *separable(128, 128), *separable(128, 128), Mean(2, 3), nn.Linear(128, 1)),
    "grouped": lambda: Images(nn.Conv2d(1, 64, 3, 2, 1), nn.ReLU(), *(part for _ in range(3) for part in (
        nn.Conv2d(64, 64, 3, padding=1, groups=8), nn.ReLU())), Mean(2, 3), nn.Linear(64, 1)),
    "convnext": lambda: Images(nn.Conv2d(1, 48, 4, 4), *(convnext_block(48) for _ in range(3)), Mean(2, 3), nn.LayerNorm(48),
                               nn.Linear(48, 1)),
    "instancenorm": lambda: normalised(lambda width: nn.InstanceNorm2d(width, affine=True), nn.ReLU),
    "groupnorm": lambda: normalised(lambda width: nn.GroupNorm(8, width), nn.SiLU),
    "unet": lambda: Images(UNet()),
}


def network(family):
    torch.manual_seed(1)
    return NETWORKS[family]()
