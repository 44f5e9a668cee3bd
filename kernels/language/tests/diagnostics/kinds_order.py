# data: {"features": null, "kinds": [{"name": "paper", "nodes": 60, "features": 12}, {"name": "author", "nodes": 40, "features": 7}]}
def program(v):
    return sum(where(v.kind == k, 1, 0) for k in v.graph.kinds if k > "author")
