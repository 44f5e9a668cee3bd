def program(v):
    opts = {"heads": 8}
    return v.degree
