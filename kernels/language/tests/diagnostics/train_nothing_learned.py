# data: {"training": true}
def program(v):
    v.h = v.degree
    return v.h
