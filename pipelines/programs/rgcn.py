def rgcn(v, hidden=16, bases=0, drop=0.0):
    "Relational graph convolution (Schlichtkrull et al. 2018); bases: how many weights the relations mix theirs of, 0 for a weight each."
    v.h = relu(relational(v, v.x, hidden, bases))
    return relational(v, dropout(v.h, drop), v.classes, bases)

def relational(v, x, width, bases):
    "One layer. With bases the weight of relation r is the sum of basis[b], each times a learned share of r in b."
    if bases == 0:
        v.message = x
        v.near = sum(linear(mean(u.message for u in v.innbs[r]), width, bias=False) for r in v.graph.relations)
    else:
        v.basis = linear(x, (bases, width), bias=False)
        v.near = sum(mean(sum(param((bases, 1)) * u.basis, axis=0) for u in v.innbs[r]) for r in v.graph.relations)
    return linear(x, width) + v.near
