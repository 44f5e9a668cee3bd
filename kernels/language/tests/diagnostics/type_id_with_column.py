def program(v):
    return v.id == v.degree
