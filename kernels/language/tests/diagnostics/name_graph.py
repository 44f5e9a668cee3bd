def program(v):
    return v.degree / v.graph.node
