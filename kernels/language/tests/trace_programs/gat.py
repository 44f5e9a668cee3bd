def gat(v, heads=8, hidden=8, slope=0.2):
    v.h = elu(attend(v, v.x, heads, hidden, slope))         # [heads, hidden] per vertex
    return mean(attend(v, flatten(v.h), 1, v.classes, slope), axis=0)

def attend(v, x, heads, width, slope):
    v.z = linear(x, (heads, width), bias=False)
    v.left, v.right = dot(v.z, param((heads, width))), dot(v.z, param((heads, width)))
    score = [leaky_relu(e.src.left + v.right, slope) for e in v.inedges]
    share = softmax(score)
    return sum(a * e.src.z for a, e in zip(share, v.inedges)) + bias()
