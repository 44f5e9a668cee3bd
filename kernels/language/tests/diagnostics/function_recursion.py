def program(v, depth=3):
    return layer(v, v.x, depth)

def layer(v, x, depth):
    return layer(v, linear(x, 16), depth - 1) if depth > 0 else x
