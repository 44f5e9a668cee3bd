def program(v):
    a, b = v.degree, v.indegree, v.outdegree
    return a + b
