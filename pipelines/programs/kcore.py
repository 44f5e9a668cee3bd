def kcore(v):
    "Core numbers (Seidman 1983), as the h-index of the neighbours' until it stays (Lue et al. 2016). Reads a symmetric set without loops."
    v.core = v.indegree
    while changed(v.core):
        v.core = hindex(u.core for u in v.innbs)
    return v.core
