def components(v):
    v.label = v.id
    while changed(v.label):
        v.label = min(v.label, min(u.label for u in v.nbs))
    return v.label
