def sssp(v, source=0):
    v.distance = 0.0 if v.id == source else inf
    while changed(v.distance):
        v.distance = min(v.distance, min(e.src.distance + e.w for e in v.inedges))
    return v.distance
