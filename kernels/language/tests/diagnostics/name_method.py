def program(v):
    v.h = v.x.relu()
    return v.h
