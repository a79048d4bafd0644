"""Shared by the scripts that record networks."""
import torch
from torch import nn


class CausalTransformerEncoderLayer(nn.TransformerEncoderLayer):
    """With the mask alone, and no hint of what it is."""

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return super().forward(x, src_mask=mask)


class PaddedSequential(nn.Sequential):
    """With the mask that nn.MultiheadAttention calls key_padding_mask."""

    def forward(self, x):
        padding = x.eq(self[0].padding_idx)
        for layer in self:
            if isinstance(layer, nn.TransformerEncoderLayer):
                x = layer(x, None, padding)
            elif isinstance(layer, MaskedMean):
                x = layer(x, padding)
            else:
                x = layer(x)
        return x


class MaskedMean(nn.Module):
    """The mean of each sample's own positions, cut out of the batch."""

    def forward(self, x, padding):
        parts = [row[~hidden] for row, hidden in zip(x, padding)]
        return torch.stack([part.sum(0) / max(len(part), 1) for part in parts])


def put_waves(model):
    """Sets value i of parameter k (of the state dict) to (0.3 + 0.1 (k % 4)) sin(0.7 i + k)."""
    with torch.no_grad():
        for k, value in enumerate(model.state_dict().values()):
            wave = (0.7 * torch.arange(value.numel(), dtype=torch.float64) + k).sin()
            value.copy_(((0.3 + 0.1 * (k % 4)) * wave).reshape(value.shape))
