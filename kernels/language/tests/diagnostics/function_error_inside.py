def program(v):
    v.h = layer(v, v.x)
    return layer(v, v.h)

def layer(v, x):
    w = param((12, 8))
    return x @ w
