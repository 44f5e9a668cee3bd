# settings: {"deep": "yes"}
def program(v, deep=False):
    return linear(v.x, 16 if deep else 8)
