def program(v, mode=1):
    if mode = 1:
        return v.degree
    return v.id
