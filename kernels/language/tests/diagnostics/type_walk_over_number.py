def program(v, layers=2):
    for k in layers:
        v.h = v.degree
    return v.h
