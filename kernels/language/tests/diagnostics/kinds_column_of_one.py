# data: {"columns": {}}
def program(v):
    return v.kind
