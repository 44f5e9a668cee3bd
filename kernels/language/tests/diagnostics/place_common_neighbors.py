def program(v):
    return common_neighbors(v, v)
