def program(v, source=0):
    return v.id == source + 1
