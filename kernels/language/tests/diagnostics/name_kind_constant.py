# data: {"features": null, "kinds": [{"name": "paper", "nodes": 60, "features": 12}, {"name": "author", "nodes": 30, "features": 7}, {"name": "venue", "nodes": 10, "features": null}]}
def program(v):
    return sum(where(v.kind == k, 1, 0) for k in v.graph.kinds if k != "auhtor")
