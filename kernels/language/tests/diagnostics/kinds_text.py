# data: {"features": null, "kinds": [{"name": "paper", "nodes": 60, "features": 12}, {"name": "author", "nodes": 30, "features": 7}, {"name": "venue", "nodes": 10, "features": null}]}
def program(v):
    return v.degree == "paper"
