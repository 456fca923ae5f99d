"""Two steps of a small transformer: modules on the device, mixed precision, pinned batches, an optimizer, a loss."""

import torch
import torch.nn.functional as F
from foreign_launchers import add
from torch import nn


class Add(torch.autograd.Function):
    """A residual by a kernel each way."""

    @staticmethod
    def forward(ctx, x, y):
        """x + y."""
        return add(x, y.to(x.dtype))

    @staticmethod
    def backward(ctx, grad):
        """One tensor, twice."""
        return add(grad, grad), grad


class Block(nn.Module):
    """Attention and a perceptron."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        """Two residuals."""
        batch, steps, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, steps, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, steps, width)
        x = Add.apply(x, self.out(mixed))
        return Add.apply(x, self.down(F.gelu(self.up(x))))


class Model(nn.Module):
    """Embedding, a block, and a head that shares its weight."""

    def __init__(self):
        super().__init__()
        self.embed, self.block, self.head = nn.Embedding(256, 64), Block(64), nn.Linear(64, 256, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        """Logits."""
        return self.head(self.block(self.embed(tokens)))


model = Model().cuda()
assert model.head.weight is model.embed.weight
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    tokens = torch.randint(0, 256, (2, 32)).pin_memory().to("cuda", non_blocking=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(tokens)
        assert logits.dtype == torch.bfloat16
        loss = F.cross_entropy(logits.view(-1, 256), tokens.view(-1))
    assert loss.dtype == torch.float32
    loss.backward()
    assert all(one.grad is not None for one in model.parameters())
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
assert loss.item() != loss.item()
