def program(v):
    return v.aeg
