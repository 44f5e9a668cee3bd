def sage_max(v, hidden=16, layers=2, pool=0, drop=0.0):
    "GraphSAGE with the largest of the neighbours (Hamilton, Ying & Leskovec 2017); with pool > 0 of relu(linear) of them, so wide, as in the paper."
    v.h = v.x
    for k in range(layers):
        last = k == layers - 1
        width = v.classes if last else hidden
        v.h = dropout(v.h, drop)
        v.message = relu(linear(v.h, pool)) if pool > 0 else v.h
        v.h = linear(max((u.message for u in v.innbs), default=0), width) + linear(v.h, width, bias=False)
        if not last:
            v.h = relu(v.h)
    return v.h
