def program(v, source=0):
    v.label = min(u.id for u in v.nbs)
    return v.label == source
