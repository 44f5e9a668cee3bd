def program(v):
    outs = []
    v.h = v.x
    for k in range(3):
        outs.append(v.h)
    return concat(outs)
