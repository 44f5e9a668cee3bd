def program(v):
    return v.x[0]
