def program(v):
    w = param((10, 4))
    return v.x @ w
