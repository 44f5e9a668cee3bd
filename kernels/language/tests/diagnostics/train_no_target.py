# data: {"training": true, "target": null}
def program(v):
    return linear(v.x, 3)
