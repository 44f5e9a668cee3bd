# settings: {"hiden": 32}
def program(v, hidden=16, layers=2):
    return v.degree * hidden * layers
