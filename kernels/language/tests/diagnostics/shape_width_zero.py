# settings: {"hidden": 0}
def program(v, hidden=16):
    return linear(v.x, hidden)
