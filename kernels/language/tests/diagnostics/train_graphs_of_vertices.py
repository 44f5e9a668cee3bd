# data: {"training": true, "many_graphs": true, "graphs": 10, "labels_of_nodes": true}
def program(v):
    v.h = relu(linear(v.x, 8))
    return linear(pool_mean(v.h), v.classes)
