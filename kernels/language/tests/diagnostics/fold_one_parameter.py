def program(v):
    return fold(join, [e.w for e in v.inedges], 0)

def join(a):
    return a
