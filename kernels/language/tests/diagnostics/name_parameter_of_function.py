def program(v):
    return layer(v, v.x, widht=16)

def layer(v, x, width):
    return linear(x, width)
