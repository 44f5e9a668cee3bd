def program(v):
    return v.degree

def program(v):
    return v.id
