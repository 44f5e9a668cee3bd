def program(v):
    v.score = v.degree * 2
    return v.scor
