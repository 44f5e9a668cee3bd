def triangles(v):
    "Triangles through each vertex, and its clustering (Watts & Strogatz 1998). Reads a symmetric set without loops or double edges."
    v.triangles = sum(common_neighbors(u, v) for u in v.innbs) // 2
    v.clustering = where(v.indegree > 1, 2 * v.triangles / (v.indegree * (v.indegree - 1)), 0)
    return v.triangles, v.clustering
