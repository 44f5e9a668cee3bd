def program(v):
    return v.degree and v.indegree
