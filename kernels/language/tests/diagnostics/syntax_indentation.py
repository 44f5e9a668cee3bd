def program(v):
    v.h = v.degree
      v.h = v.h + 1
    return v.h
