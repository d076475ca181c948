"""The families of bench/families.py: what each is called, its rows and what can be done with it. Needs no PyTorch."""
import collections

# Bits of a row; positives of a step (each with 32 negatives); whether it has images, whose channels could come last; buffers that
# ort-ed cannot tell from parameters and is told not to train, as PyTorch does not.
Family = collections.namedtuple("Family", "title dimension batch images frozen", defaults=[False, []])
FAMILIES = {
    "mlp": Family("MLP 784-512-512-1, ReLU", 784, 16),
    "rbm": Family("RBM, 784 + 500 units", 784, 16),
    "ising": Family("quadratic energy of 196 bits", 196, 64),
    "deepsets": Family("DeepSets, 32 members of 8 bits, width 64", 256, 16),
    "gcn": Family("graph convolutions, 64 nodes, width 32", 64, 16, frozen=["*.adjacency"]),
    "mixer": Family("MLP-Mixer, 49 patches, width 64, 2 layers", 784, 4),
    "transformer": Family("transformer, 16 tokens, width 64, 4 heads, 2 layers", 64, 16),
    "attention": Family("convolution, self-attention over 49 places, width 64", 784, 8, True),
    "lstm": Family("LSTM, 28 rows of 28 bits, 64 units", 784, 8),
    "gru": Family("GRU, 28 rows of 28 bits, 64 units", 784, 8),
    "conv1d": Family("dilated 1-D convolutions, 256 bits, 32 channels", 256, 8),
    "conv3d": Family("3-D convolutions, 8 x 8 x 8, 32 channels", 512, 8),
    "maxpool": Family("CNN with MaxPool, 32 and 64 channels", 784, 8, True),
    "averagepool": Family("CNN with AveragePool, 32 and 64 channels", 784, 8, True),
    "depthwise": Family("depthwise-separable CNN, 32 to 128 channels", 784, 8, True),
    "grouped": Family("grouped CNN, 64 channels in 8 groups", 784, 8, True),
    "convnext": Family("ConvNeXt blocks, 7 x 7, 48 channels", 784, 8, True),
    "instancenorm": Family("CNN with InstanceNorm, 32 channels", 784, 8, True),
    "groupnorm": Family("CNN with GroupNorm and SiLU, 32 channels", 784, 8, True),
    "unet": Family("U-Net, 16 and 32 channels", 784, 8, True),
}
