# settings: {"hidden": 16.5}
def program(v, hidden=16):
    return linear(v.x, hidden)
