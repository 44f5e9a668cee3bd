def sssp(v, source=0):
    "Shortest paths along out-edges from one vertex (Bellman 1958, Ford 1956); weights are not negative, inf is out of reach."
    v.distance = 0.0 if v.id == source else inf
    while changed(v.distance):
        v.distance = min(v.distance, min(e.src.distance + e.w for e in v.inedges))
    return v.distance
