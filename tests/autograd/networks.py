"""Energies as people write them in PyTorch: name, bits of a row, module."""
import torch
from torch import nn
from torch.nn import functional as F


class Energy(nn.Module):
    """Layers on rows that are shaped first; what they make is summed up to one number a row."""

    def __init__(self, shape, *layers, use=None):
        super().__init__()
        self.shape, self.layers, self.use = shape, nn.Sequential(*layers), use

    def forward(self, x):
        x = x.reshape(-1, *self.shape)
        y = self.layers(x)
        if self.use is not None:
            y = self.use(y)
        y = y.flatten(1)
        return (y * (0.2 + 0.1 * torch.arange(y.shape[1]))).sum(1)


class Rbm(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.visible = nn.Linear(12, 7), nn.Parameter(torch.randn(12))

    def forward(self, x):
        return -(x @ self.visible) - F.softplus(self.hidden(x)).sum(1)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.j = nn.Parameter(torch.randn(12, 12))

    def forward(self, x):
        s = 2 * x - 1
        return -torch.einsum("bi,ij,bj->b", s, (self.j + self.j.T) / 2, s)


class Tokens(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.embed, self.place, self.block, self.last = nn.Linear(3, 8), nn.Parameter(torch.randn(4, 8)), block, nn.Linear(8, 1)

    def forward(self, x):
        h = self.embed(x.reshape(-1, 4, 3)) + self.place
        h = self.block(h)
        return self.last(h[0] if isinstance(h, tuple) else h).mean(1).squeeze(-1)


class Attention(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.qkv, self.out, self.causal = nn.Linear(8, 24), nn.Linear(8, 8), causal

    def forward(self, h):
        q, k, v = (t.reshape(-1, 4, 2, 4).transpose(1, 2) for t in self.qkv(h).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return h + self.out(y.transpose(1, 2).reshape(-1, 4, 8))


class Steps(nn.Module):
    """A loop that the exporter writes out."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, 12), nn.GRUCell(12, 12)

    def forward(self, x):
        h = self.a(x)
        for _ in range(3):
            h = self.b(x, h)
        return h.sum(1)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(12, 3), nn.ModuleList(nn.Linear(12, 5) for _ in range(3))

    def forward(self, x):
        w = torch.softmax(self.gate(x), 1)
        each = torch.stack([torch.tanh(e(x)) for e in self.experts], 1)
        return torch.logsumexp((w.unsqueeze(-1) * each).sum(1), 1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1), nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = F.silu(self.a(x.reshape(-1, 1, 8, 8)))
        return self.last(torch.cat([a, F.silu(self.up(F.silu(self.b(a))))], 1)).flatten(1).sum(1)


class Warped(nn.Module):
    def __init__(self):
        super().__init__()
        self.theta, self.conv = nn.Linear(64, 6), nn.Conv2d(1, 3, 3)

    def forward(self, x):
        y, z = torch.meshgrid(torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 6), indexing="ij")
        points = torch.stack([z, y, torch.ones_like(y)], -1).reshape(1, 36, 3)
        grid = (points @ (0.1 * self.theta(x)).reshape(-1, 2, 3).transpose(1, 2)).reshape(-1, 6, 6, 2)
        return torch.tanh(self.conv(F.grid_sample(x.reshape(-1, 1, 8, 8), grid, align_corners=False))).flatten(1).sum(1)


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(1, 6)
        self.last = nn.Linear(6, 1)
        self.register_buffer("a", (torch.rand(12, 12) < 0.3).float())

    def forward(self, x):
        h = torch.relu(self.a @ self.w(x.unsqueeze(-1)))
        return self.last(torch.relu(self.a @ h)).sum((1, 2))


def networks():
    def image(*layers, use=None):
        return 64, Energy((1, 8, 8), *layers, use=use)

    def line(*layers, use=None):
        return 24, Energy((2, 12), *layers, use=use)

    def volume(*layers):
        return 64, Energy((1, 4, 4, 4), *layers)

    def flat(*layers, use=None):
        return 12, Energy((12,), *layers, use=use)

    activations = [nn.ReLU, nn.SiLU, nn.GELU, nn.ELU, nn.Softplus, nn.Mish, nn.Hardswish, nn.LeakyReLU, nn.SELU, nn.CELU, nn.Softsign,
                   nn.LogSigmoid, nn.Tanh, nn.Hardtanh, nn.PReLU, nn.Tanhshrink, nn.Softshrink]
    yield from ((f"mlp, {a.__name__}", *flat(nn.Linear(12, 16), a(), nn.Linear(16, 4), a())) for a in activations)
    yield "mlp, layer norm", *flat(nn.Linear(12, 16), nn.LayerNorm(16), nn.SiLU(), nn.Linear(16, 3))
    yield "mlp, rms norm", *flat(nn.Linear(12, 16), nn.RMSNorm(16), nn.SiLU(), nn.Linear(16, 3))
    yield "mlp, weight norm", *flat(nn.utils.parametrizations.weight_norm(nn.Linear(12, 8)), nn.Tanh())
    yield "mlp, batch norm", *flat(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    yield "mlp, glu", *flat(nn.Linear(12, 16), nn.GLU(), nn.Linear(8, 2))
    yield "mlp, bilinear", *flat(nn.Linear(12, 6), nn.Tanh(), use=lambda h: h.unsqueeze(2) * h.unsqueeze(1))
    yield "mlp, cosine", *flat(nn.Linear(12, 6), use=lambda h: F.cosine_similarity(h, h.roll(1, 1), dim=1).unsqueeze(1))
    yield "mlp, log softmax", *flat(nn.Linear(12, 6), nn.LogSoftmax(1))
    yield "mlp, sorted", *flat(nn.Linear(12, 6), use=lambda h: h.topk(3, 1).values)
    yield "mlp, norms", *flat(nn.Linear(12, 6), use=lambda h: torch.cat([h.norm(dim=1, keepdim=True), h.abs().amax(1, keepdim=True), h.prod(1, keepdim=True)], 1))
    yield "mlp, cumulated", *flat(nn.Linear(12, 6), use=lambda h: torch.cumsum(h, 1).sin() + h.clamp(-0.5, 0.5))
    yield "rbm", 12, Rbm()
    yield "pairs", 12, Pairs()
    yield "mixture", 12, Mixture()
    yield "graph", 12, Graph()
    yield "steps of a GRU cell", 12, Steps()
    yield "conv", *image(nn.Conv2d(1, 4, 3, padding=1), nn.SiLU(), nn.Conv2d(4, 6, 3, stride=2), nn.ReLU())
    yield "conv, dilated", *image(nn.Conv2d(1, 4, 3, dilation=2), nn.Tanh(), nn.Conv2d(4, 3, 2))
    yield "conv, grouped", *image(nn.Conv2d(1, 4, 3), nn.SiLU(), nn.Conv2d(4, 8, 3, groups=2, padding=1), nn.SiLU())
    yield "conv, depthwise", *image(nn.Conv2d(1, 8, 3), nn.SiLU(), nn.Conv2d(8, 8, 3, groups=8, padding=1), nn.Conv2d(8, 4, 1))
    yield "conv, group norm", *image(nn.Conv2d(1, 8, 3), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv2d(8, 2, 3))
    yield "conv, instance norm", *image(nn.Conv2d(1, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.ReLU())
    yield "conv, batch norm", *image(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    yield "conv, local response", *image(nn.Conv2d(1, 6, 3), nn.LocalResponseNorm(3, 0.5))
    yield "conv, reflected", *image(nn.ReflectionPad2d(1), nn.Conv2d(1, 4, 3), nn.SiLU())
    yield "conv, replicated", *image(nn.ReplicationPad2d(1), nn.Conv2d(1, 4, 3), nn.SiLU())
    yield "max pool", *image(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2), nn.Conv2d(4, 2, 2))
    yield "max pool, ceil", *image(nn.Conv2d(1, 4, 3), nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.Tanh())
    yield "average pool", *image(nn.Conv2d(1, 4, 3), nn.AvgPool2d(3, 2, 1, ceil_mode=True), nn.Tanh())
    yield "average pool, no padding counted", *image(nn.Conv2d(1, 4, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Tanh())
    yield "lp pool", *image(nn.Conv2d(1, 4, 3), nn.LPPool2d(2, 2), nn.Tanh())
    yield "adaptive pool", *image(nn.Conv2d(1, 4, 3), nn.SiLU(), nn.AdaptiveAvgPool2d(1))
    yield "pixel shuffle", *image(nn.Conv2d(1, 8, 3), nn.PixelShuffle(2), nn.SiLU())
    for mode in ("nearest", "bilinear", "bicubic"):
        yield f"upsampled, {mode}", *image(nn.Conv2d(1, 3, 3), nn.Upsample(scale_factor=2, mode=mode), nn.SiLU(), nn.Conv2d(3, 1, 3))
    yield "transposed conv", *image(nn.Conv2d(1, 3, 3), nn.SiLU(), nn.ConvTranspose2d(3, 2, 3, stride=2, output_padding=1))
    yield "u-net", 64, UNet()
    yield "grid sample", 64, Warped()
    yield "conv 1-d", *line(nn.Conv1d(2, 6, 3, padding=2, dilation=2), nn.SiLU(), nn.MaxPool1d(2), nn.Conv1d(6, 2, 3))
    yield "conv 3-d", *volume(nn.Conv3d(1, 4, 3, padding=1), nn.SiLU(), nn.MaxPool3d(2), nn.Conv3d(4, 2, 2))
    yield "conv 3-d, strided", *volume(nn.Conv3d(1, 4, 2, stride=2), nn.SiLU(), nn.ConvTranspose3d(4, 2, 2, stride=2))
    yield "average pool 3-d", *volume(nn.Conv3d(1, 2, 2), nn.SiLU(), nn.AvgPool3d(2, ceil_mode=True))
    yield "lstm", 12, Tokens(nn.LSTM(8, 8, batch_first=True))
    yield "gru, both ways", 12, Tokens(nn.Sequential(nn.Linear(8, 8), First(nn.GRU(8, 4, batch_first=True, bidirectional=True))))
    yield "rnn", 12, Tokens(nn.RNN(8, 8, batch_first=True))
    yield "attention", 12, Tokens(Attention())
    yield "attention, causal", 12, Tokens(Attention(causal=True))
    yield "transformer", 12, Tokens(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True))


class First(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[0]
