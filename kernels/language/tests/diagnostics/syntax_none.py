def program(v, width=None):
    return v.degree
