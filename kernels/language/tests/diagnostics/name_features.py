def program(v):
    v.h = v.feat
    return v.h
