def program(v, widths=(16, 8)):
    return mlp(v.x, *widths)
