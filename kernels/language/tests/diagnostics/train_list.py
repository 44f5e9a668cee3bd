# data: {"training": true}
def program(v):
    v.h = linear(v.x, 7)
    return [e.src.h + v.h for e in v.inedges]
