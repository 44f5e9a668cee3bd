# data: {"training": true, "many_graphs": true, "graphs": 10}
def program(v):
    return linear(v.x, v.classes)
