WIDTH = 16

def program(v):
    return linear(v.x, WIDTH)
