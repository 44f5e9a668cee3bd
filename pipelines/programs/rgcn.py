def rgcn(v, hidden=16, bases=0, drop=0.0):
    "Relational graph convolution (Schlichtkrull et al. 2018); bases: how many weights the relations mix theirs of, 0 for a weight each."
    v.h = relu(relational(v, v.x, hidden, bases))
    return relational(v, dropout(v.h, drop), v.classes, bases)

def relational(v, x, width, bases):
    "One layer. With bases, sum over r of W_r mean_r is sum over b of V_b (sum over r of share[r, b] mean_r)."
    v.message = x
    if bases == 0:
        v.near = sum(linear(mean(u.message for u in v.innbs[r]), width, bias=False) for r in v.graph.relations)
    else:
        v.mixed = sum(param((bases, 1)) * mean(u.message for u in v.innbs[r]) for r in v.graph.relations)
        v.near = linear(flatten(v.mixed), width, bias=False)
    return linear(x, width) + v.near
