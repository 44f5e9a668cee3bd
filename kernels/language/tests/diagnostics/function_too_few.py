def program(v):
    return layer(v)

def layer(v, x, width=16):
    return linear(x, width)
