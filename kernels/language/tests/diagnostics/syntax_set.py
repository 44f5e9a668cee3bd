def program(v):
    if v.classes in {2, 3}:
        return v.degree
    return v.indegree
