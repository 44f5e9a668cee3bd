def gcn(v, hidden=16, layers=2, drop=0.5):
    "Graph convolution (Kipf & Welling 2017)."
    degree = sum(e.w for e in v.inedges)
    v.scale = where(degree > 0, rsqrt(degree), 0)
    v.h = v.x
    for k in range(layers):                       # known when compiled: unrolled in meaning
        last = k == layers - 1
        v.z = linear(v.h, v.classes if last else hidden, bias=False)
        v.h = v.scale * sum(e.w * e.src.scale * e.src.z for e in v.inedges) + bias()
        if not last:
            v.h = dropout(relu(v.h), drop)
    return v.h
