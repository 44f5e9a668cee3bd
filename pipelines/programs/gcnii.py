def gcnii(v, hidden=64, layers=16, alpha=0.1, strength=0.5, drop=0.0):
    "Deep graph convolution with initial residual and identity mapping (Chen et al. 2020); strength is the paper's lambda."
    degree = sum(e.w for e in v.inedges)
    v.scale = where(degree > 0, rsqrt(degree), 0)
    v.first = relu(linear(dropout(v.x, drop), hidden))
    v.h = v.first
    for k in range(layers):
        beta = log(strength / (k + 1) + 1)
        v.z = dropout(v.h, drop)
        v.mixed = (1 - alpha) * v.scale * sum(e.w * e.src.scale * e.src.z for e in v.inedges) + alpha * v.first
        v.h = relu((1 - beta) * v.mixed + beta * linear(v.mixed, hidden, bias=False))
    return linear(dropout(v.h, drop), v.classes)
