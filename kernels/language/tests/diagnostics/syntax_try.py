def program(v):
    try:
        v.h = v.x
    except ValueError:
        v.h = 0
    return v.h
