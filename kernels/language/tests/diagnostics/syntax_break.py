def program(v):
    for k in range(3):
        if k == 1:
            break
    return v.degree
