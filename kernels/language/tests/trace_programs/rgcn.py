def rgcn(v, hidden=16):
    v.h = relu(relational(v, v.x, hidden))
    return relational(v, v.h, v.classes)

def relational(v, x, width):
    v.message = x
    return linear(x, width) + sum(linear(mean(u.message for u in v.innbs[r]), width, bias=False) for r in v.graph.relations)
