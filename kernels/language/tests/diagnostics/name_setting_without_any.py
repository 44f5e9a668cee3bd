# settings: {"layers": 3}
def program(v):
    return v.degree
