def program(v):
    return sum(e.w for r in v.graph.relations for e in v.inedges[r])
