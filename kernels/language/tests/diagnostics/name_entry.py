# entry: gcn
def gnc(v):
    return v.degree
