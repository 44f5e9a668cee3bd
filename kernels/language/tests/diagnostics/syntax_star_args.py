def program(v, *widths):
    return v.degree
