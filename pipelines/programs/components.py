def components(v):
    "Weakly connected components; a vertex's label is the smallest id in its component."
    v.label = v.id
    while changed(v.label):
        v.label = min(v.label, min(u.label for u in v.nbs))
    return v.label
