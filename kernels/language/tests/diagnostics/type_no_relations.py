# data: {"relations": []}
def program(v):
    return sum(linear(mean(u.x for u in v.innbs[r]), 8) for r in v.graph.relations)
